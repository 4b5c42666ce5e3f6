"""`plimsoll run script.js`: a k6 script as it is, with k6's flags, summary and exit codes; or one URL without one."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.cli.run_control import RunControl
    from plimsoll.cli.run_settings import Settings
    from plimsoll.cli.run_tally import Tally
    from plimsoll.cli.run_watch import RunWatch
    from plimsoll.engine import EngineConfig, EngineRun
    from plimsoll.runs.snapshot import Snapshot

EXIT_INVALID = 3
EXIT_STOPPED = 103
EXIT_THRESHOLDS = 99
EXIT_INTERRUPTED = 105
EXIT_ABORTED = 108
EXIT_MARKED_FAILED = 110
EXIT_OF_SCRIPT = {
    "setup_timeout": 100,
    "teardown_timeout": 101,
    "options": 104,
    "exception": 107,
    "abort": EXIT_ABORTED,
    "output": 255,
}


def run(arguments: Sequence[str]) -> int:
    """The verb with its arguments; the exit code."""
    from plimsoll.cli.run_flags import parse
    from plimsoll.cli.run_settings import settings

    flags = parse(list(arguments))
    told = settings(flags, os.environ)
    return _run(flags, told)


def _run(flags: Mapping[str, Any], told: Settings) -> int:
    from plimsoll.cli.run_checks import check_thresholds, checked, script_caps, unmade_iterations
    from plimsoll.cli.run_control import RunControl
    from plimsoll.cli.run_settings import named_by_origin
    from plimsoll.cli.run_tally import Tally
    from plimsoll.cli.run_watch import RunWatch, is_own_fault, not_made, sentences
    from plimsoll.engine import EngineRun
    from plimsoll.errors import RunDirectoryError, ScriptError
    from plimsoll.probes.ignored_proxy import ignored_proxy
    from plimsoll.runs.writer import RunFacts, RunWriter

    no_summary, export = checked(flags, told)
    quiet = bool(told.run.get("quiet"))
    config = _config(flags, told)
    facts = RunFacts("run", script=config.script, options=told.above, seed=config.seed, level_unit="multiple")
    check_thresholds(config, told)
    tally, watch = Tally(), RunWatch()
    try:
        engine = EngineRun(config)  # a script that cannot run leaves no run directory
        with RunWriter.create(flags["runs"], facts, tables=False) as writer:
            _say_policy(engine, quiet)
            control = RunControl(engine, writer)

            def ended_early() -> bool:
                return tally.interrupted or control.stopped

            if engine.starts_paused and not _resumed(control):
                writer.finish("interrupted")
                return EXIT_STOPPED if control.stopped else EXIT_INTERRUPTED
            engine.begin()  # no load that could not be kept
            try:
                _follow(control, tally, watch, quiet)
                ended = engine.result()
                tally.without_times(ended["summary"])
                writer.append_event("note", second=0.0, summary=ended["summary"].get("metrics", {}))
                watch.proxy = ignored_proxy(os.environ, engine.connections())
                status, caps = "interrupted" if ended_early() else "finished", script_caps(config, told, tally)
                finding = watch.finding(status, str(writer.path), tally.unanswered, caps)
                writer.write_findings([finding] if finding else [])
            except RunDirectoryError:  # the disk is full: what was measured until then is still shown
                engine.stop(at_once=True)
                _print_results(engine.result(), no_summary, None)
                raise
            if ended_early():
                writer.finish("interrupted")
    except ScriptError as error:
        error = named_by_origin(error, told.origins, config.script)
        error.exit_code = EXIT_OF_SCRIPT[error.end]
        raise error from None
    _print_results(ended, no_summary, export)
    warnings = [
        *not_made(finding),
        *tally.warnings(is_own_fault=is_own_fault(finding)),
        *tally.without_data(ended["summary"]),
        *_sample_warnings(ended),
        *sentences(finding),
    ]
    unmade = [] if ended_early() or ended["aborted"] else unmade_iterations(config, tally, engine.fixed_iterations)
    for warning in [*warnings, *unmade, *watch.warnings()]:
        print(f"\nwarning: {warning}", file=sys.stderr)
    print(f"\n     run directory: {writer.path}; plimsoll report {writer.path} makes its report", file=sys.stderr)
    failure = engine.failure()
    if failure is not None:
        failure.exit_code = EXIT_OF_SCRIPT[failure.end]
        raise failure
    return EXIT_STOPPED if control.stopped else _exit_code(ended, tally, flags["strict"])


def _config(flags: Mapping[str, Any], told: Settings) -> EngineConfig:
    from plimsoll.cli.run_checks import outputs, plain_url, script_environment
    from plimsoll.engine import EngineConfig
    from plimsoll.memory_size import memory_size

    config = EngineConfig(
        script=flags["script"],
        env=script_environment(told.run, os.environ),
        options=told.above,
        options_below=told.below,
        threads=flags["threads"],
        late_arrivals=flags["late_arrivals"],
        arrival_process=flags["arrival_process"],
        seed=flags["seed"],
        secret_sources=tuple(told.run.get("secretSource") or ()),
        console_output=Path(told.run["consoleOutput"]) if told.run.get("consoleOutput") else None,
        import_map=flags["import_map"],
        outputs=outputs(told.run),
        url=plain_url(flags),
    )
    if flags["vu_memory"]:
        config = replace(config, vu_memory_bytes=memory_size(flags["vu_memory"], "--vu-memory"))
    if flags["max_body"]:
        config = replace(config, max_body_bytes=memory_size(flags["max_body"], "--max-body"))
    return config


def _sample_warnings(ended: Mapping[str, Any]) -> list[str]:
    samples = ended.get("samples") or {}
    found = []
    if samples.get("failure"):
        found.append(f"raw samples are not complete: {samples['failure']}. Give --out a place with room and run again.")
    if samples.get("lost"):
        found.append(
            f"{samples['lost']:,} raw samples were lost, because writing did not keep up; the summary has them all. "
            "Write to a faster disk, leave .gz out, or lower the load."
        )
    return found


def pairs(texts: list[str], flag: str) -> dict[str, str]:
    """`NAME=value` texts of a repeatable flag as a mapping. Raises InputError that names the flag."""
    from plimsoll.errors import InputError

    wrong = [text for text in texts if "=" not in text]
    if wrong:
        raise InputError(f"{flag} {wrong[0]}: no '=' in it", f"Write {flag} NAME=value.")
    return dict(text.split("=", 1) for text in texts)


def _say_policy(engine: EngineRun, quiet: bool) -> None:
    if quiet:
        return
    cap, reason = engine.vu_cap
    late = {
        "wait": "arrivals that find no VU wait, are sent late and are measured from their plan",
        "drop": "arrivals that find no VU are dropped at once, as k6 does",
    }[engine.late_arrivals]
    print(f"at most {cap} VUs where the script states no maxVUs ({reason}); {late}", file=sys.stderr)


def _resumed(control: RunControl) -> bool:
    """Waits for the word to begin; False if a word to stop or Ctrl-C came instead."""
    run_dir = control.writer.path
    print(f"paused: plimsoll control {run_dir} resume begins the load", file=sys.stderr, flush=True)
    try:
        control.wait_until_resumed()
    except KeyboardInterrupt:
        print("\nstopped before the load began", file=sys.stderr)
        return False
    return not control.stopped


def _follow(control: RunControl, tally: Tally, watch: RunWatch, quiet: bool) -> None:
    """Write and count every second until the end, and serve what `plimsoll control` says; Ctrl-C stops gracefully, a
    second one at once."""
    engine, writer = control.engine, control.writer
    while True:
        try:
            control.serve()
            snapshot = engine.next_snapshot()
            if snapshot is None:
                continue
            if snapshot.second == 0:
                writer.set_t0(snapshot.t_unix)
            writer.append_snapshot(snapshot)
            tally.add(snapshot)
            watch.add(snapshot, writer)
            _show_progress(snapshot, quiet)
        except StopIteration:
            return
        except KeyboardInterrupt:
            engine.stop(at_once=tally.interrupted)
            if not tally.interrupted:
                tally.interrupted = True
                print("\nstopping: running iterations may end; Ctrl-C again stops at once", file=sys.stderr)
                writer.append_event("interrupted", second=engine.elapsed_s() or 0.0)


def _show_progress(snapshot: Snapshot, quiet: bool) -> None:
    live = sys.stderr.isatty()
    if quiet or not (live or snapshot.second % 5 == 4):
        return
    level = "" if snapshot.level == 1 else f"  level {snapshot.level:g}"
    counts = f"{snapshot.vus} VUs  {snapshot.done}/s done  {snapshot.backlog} waiting{level}"
    print(f"{snapshot.second + 1:5.0f} s  {counts}", end="\r" if live else "\n", file=sys.stderr, flush=True)


def _print_results(ended: dict[str, Any], no_summary: bool, summary_export: Path | None) -> None:
    """The summary as handleSummary or k6's layout has it, and the file of --summary-export."""
    from plimsoll.report.k6_export import summary_export as exported
    from plimsoll.report.k6_summary import summary_text
    from plimsoll.runs.directory import write_json

    if ended["handled"] is not None and not no_summary:
        _write_handled(ended["handled"])
    elif not no_summary:
        print(summary_text(ended["summary"]))
    if summary_export is not None:
        write_json(summary_export, exported(ended["summary"]))


def _write_handled(handled: dict[str, Any]) -> None:
    """What handleSummary returned: texts for stdout and stderr, and files."""
    import json

    from plimsoll.runs.directory import run_error

    for name, content in handled.items():
        text = content if isinstance(content, str) else json.dumps(content)
        if name in ("stdout", "stderr"):
            getattr(sys, name).write(text)
            continue
        try:
            Path(name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise run_error("write what handleSummary returned to", Path(name), error) from error


def _exit_code(ended: dict[str, Any], tally: Tally, strict: bool) -> int:
    """What ended the run first counts, as in k6: an abort, an interruption, test.fail(), then thresholds, of which none
    is met where no request was answered. Without thresholds such a run measured nothing, and is not valid."""
    if ended["aborted"] and ended["aborted"]["by_script"]:
        return EXIT_ABORTED
    if tally.interrupted:
        return EXIT_INTERRUPTED
    if ended["marked_failed"]:
        return EXIT_MARKED_FAILED
    verdicts = [
        row["verdict"]
        for metric in ended["summary"].get("metrics", {}).values()
        for row in metric.get("thresholds", {}).values()
    ]
    unmeasured = bool(verdicts) and tally.nothing_answered
    failed = ended["aborted"] or "failed" in verdicts or (strict and "undecided" in verdicts) or unmeasured
    return EXIT_THRESHOLDS if failed else EXIT_INVALID if tally.nothing_answered else 0
