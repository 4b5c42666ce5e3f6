"""`plimsoll run script.js`: a k6 script as it is, with k6's flags, summary and exit codes; or one URL without one."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.cli.messages import EXIT_UNWRITTEN
from plimsoll.listed_names import listed
from plimsoll.plain_text import plain

if TYPE_CHECKING:
    from plimsoll.cli.live.followed import Fold
    from plimsoll.cli.run.checks import Summary
    from plimsoll.cli.run.live_control import RunControl
    from plimsoll.cli.run.settings import Settings
    from plimsoll.cli.run.tally import Tally
    from plimsoll.cli.run.watch import RunWatch
    from plimsoll.engine import EngineConfig, EngineRun
    from plimsoll.runs.readings.summary_parts import SummaryParts
    from plimsoll.runs.snapshot import Snapshot
    from plimsoll.study.secrets.redactor import Redactor

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
    from plimsoll.cli.run.flags import parse
    from plimsoll.cli.run.settings import settings
    from plimsoll.script_mistakes import STANDARD_INPUT

    flags = parse(list(arguments))
    told = settings(flags, os.environ)
    if flags["script"] != STANDARD_INPUT:
        return _run(flags, told)
    from plimsoll.cli.run.standard_input import script_of_standard_input

    with script_of_standard_input() as script:
        return _run({**flags, "script": script, "home": Path.cwd()}, told)


def _run(flags: Mapping[str, Any], told: Settings) -> int:
    from plimsoll.cli.flags.page_beside import page_beside

    with page_beside(flags["ui"], flags["runs"]):
        return _run_script(flags, told)


def _run_script(flags: Mapping[str, Any], told: Settings) -> int:
    from plimsoll.cli.run.checks import (
        check_texts,
        check_thresholds,
        checked,
        files_of_engine,
        script_caps,
        unmade_iterations,
        without_parts,
    )
    from plimsoll.cli.run.declared import tell_declared
    from plimsoll.cli.run.ending import note_of, settled_end
    from plimsoll.cli.run.files import check_written_files
    from plimsoll.cli.run.live_control import RunControl
    from plimsoll.cli.run.secret_pipes import without_pipe
    from plimsoll.cli.run.settings import named_by_origin
    from plimsoll.cli.run.tally import Tally
    from plimsoll.cli.run.told_secrets import redactor_of_run
    from plimsoll.cli.run.watch import RunWatch, is_own_fault, not_made, sentences
    from plimsoll.engine import DeafScript, EngineRun, vu_runtimes
    from plimsoll.errors import RunDirectoryError, ScriptError
    from plimsoll.probes.machine.vu_runtimes import own_runtimes_words
    from plimsoll.probes.processes.proxy_between import proxy_words
    from plimsoll.runs.readings.summary_parts import SummaryParts
    from plimsoll.runs.writer import RunFacts, RunWriter
    from plimsoll.written_files import ready_for_others

    summary = checked(flags, told)
    check_texts(flags, told)
    told.run["secretSource"] = [without_pipe(flag) for flag in told.run.get("secretSource") or ()]
    quiet = bool(told.run.get("quiet"))
    config = _config(flags, told)
    facts = RunFacts("run", script=config.script, options=told.above, seed=config.seed, level_unit="multiple")
    redactor = redactor_of_run(flags, told, os.environ)
    tally = Tally(parts=SummaryParts() if summary.mode == "full" else None)
    config_file = flags.get("config") or os.environ.get("K6_CONFIG")
    check_written_files(config, told.run, Path(config_file) if config_file else None)
    try:
        check_thresholds(config, told)
        with ready_for_others(files_of_engine(config)):
            engine = EngineRun(config, redactor)  # a script that cannot run leaves no run directory
        watch = RunWatch(engine.connections)
        watch.own_runtimes = own_runtimes_words(vu_runtimes())
        with RunWriter.create(flags["runs"], facts, redactor=redactor, tables=False) as writer:
            _say_warnings(engine)
            if writer.warning:
                print(f"warning: {writer.warning}", file=sys.stderr)
            _say_policy(engine, quiet)
            if flags["ui"]:
                tell_declared(config, engine, writer)
            control = RunControl(engine, writer, config)

            def ended_early() -> bool:
                return tally.interrupted or control.stopped

            if engine.starts_paused and not _resumed(control):
                writer.finish("interrupted")
                return EXIT_STOPPED if control.stopped else EXIT_INTERRUPTED
            try:
                # All imports come before the load: a Ctrl-C is one of the load from its first moment on.
                with _shown(quiet) as show:
                    engine.begin()  # no load that could not be kept
                    _follow(control, tally, watch, show)
                ended = settled_end(engine.result(), tally, flags["strict"])
                watch.end(writer)
                note = note_of(ended, tally)
                writer.append_event("note", second=0.0, **note)
                watch.proxy = proxy_words(engine.proxies())
                status = "interrupted" if ended_early() else "finished"
                caps = () if tally.ended_at_once else script_caps(config, told, tally)
                finding = watch.finding(status, str(writer.path), note, tally.unanswered, caps)
                writer.write_findings([finding] if finding else [])
            except RunDirectoryError:  # the disk is full: what was measured until then is still shown
                engine.cut()
                cut = settled_end(engine.result(), tally, flags["strict"])
                _print_results(cut, redactor, replace(without_parts(summary), export=None))
                raise
            except DeafScript as error:
                writer.finish("interrupted")
                print(f"plimsoll: {error}\n     run directory: {plain(writer.path)}", file=sys.stderr)
                return EXIT_INTERRUPTED
            if ended_early():
                writer.finish("interrupted")
    except ScriptError as error:
        error = named_by_origin(error, told.origins, config.script)
        error.exit_code = EXIT_OF_SCRIPT[error.end]
        raise error from None
    unwritten = _print_results(ended, redactor, summary, tally.parts)
    warnings = [
        *unwritten,
        *not_made(finding),
        *tally.warnings(is_own_fault=is_own_fault(finding)),
        *tally.without_data(ended["summary"]),
        *_sample_warnings(ended),
        *sentences(finding),
    ]
    unmade = [] if ended_early() or ended["aborted"] else unmade_iterations(config, tally, engine.fixed_iterations)
    for warning in [*warnings, *unmade, *watch.warnings()]:
        print(f"\nwarning: {redactor.text(warning)}", file=sys.stderr)
    print(
        f"\n     run directory: {plain(writer.path)}; plimsoll report {plain(writer.path)} makes its report",
        file=sys.stderr,
    )
    failure = engine.failure()
    if failure is not None:
        failure.exit_code = EXIT_OF_SCRIPT[failure.end]
        raise failure
    code = EXIT_STOPPED if control.stopped else _exit_code(ended, tally, flags["strict"])
    is_incomplete = bool((ended.get("samples") or {}).get("failure"))
    return code or (EXIT_UNWRITTEN if unwritten or is_incomplete else 0)


def _config(flags: Mapping[str, Any], told: Settings) -> EngineConfig:
    from plimsoll.cli.run.checks import outputs, plain_url, script_environment
    from plimsoll.engine import EngineConfig
    from plimsoll.memory_size import memory_size

    config = EngineConfig(
        script=flags["script"],
        home=flags.get("home"),
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
        offline=flags["offline"],
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


def _say_warnings(engine: EngineRun) -> None:
    for words in engine.warnings:
        print(f"warning: {words}", file=sys.stderr)


def _say_policy(engine: EngineRun, quiet: bool) -> None:
    without = engine.without_most_vus
    if quiet or not without:
        return
    cap, reason = engine.vu_cap
    late = {
        "wait": "An arrival that finds no free VU waits, and its time counts from when it was planned.",
        "drop": "An arrival that finds no free VU is dropped, as k6 does.",
    }[engine.late_arrivals]
    print(
        f"No maxVUs is stated ({listed(without, 3)}): at most {cap:,} VUs, the least of {reason}. {late}",
        file=sys.stderr,
    )


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


def _follow(control: RunControl, tally: Tally, watch: RunWatch, show: Callable[[Snapshot], None]) -> None:
    """Write and count every second until the end, and serve what `plimsoll control` says; Ctrl-C stops gracefully, a
    second one at once. Raises DeafScript where that does not end it."""
    from plimsoll.engine import END_AT_ONCE_S, DeafScript

    engine, writer = control.engine, control.writer
    last_s = math.inf
    while True:
        try:
            if time.monotonic() > last_s:
                raise DeafScript
            control.serve()
            snapshot = engine.next_snapshot()
            if snapshot is None:
                continue
            if snapshot.second == 0:
                writer.set_t0(snapshot.t_unix)
            writer.append_snapshot(snapshot)
            tally.add(snapshot)
            watch.add(snapshot, writer)
            show(snapshot)
        except StopIteration:
            return
        except KeyboardInterrupt:
            _end(control, tally)
            last_s = min(last_s, time.monotonic() + END_AT_ONCE_S) if tally.ended_at_once else math.inf


def _end(control: RunControl, tally: Tally) -> None:
    """Serve Ctrl-C, and another one that comes meanwhile."""
    engine = control.engine
    try:
        again, tally.interrupted = tally.interrupted, True
        tally.ended_at_once = again
        engine.stop(at_once=again)
        if not again:
            print("\nstopping: running iterations may end; Ctrl-C again stops at once", file=sys.stderr)
            control.writer.append_event("interrupted", second=engine.elapsed_s() or 0.0)
    except KeyboardInterrupt:
        _end(control, tally)


@contextmanager
def _shown(quiet: bool) -> Iterator[Callable[[Snapshot], None]]:
    """Who is shown each second: the live view where there is a terminal for it, else a line."""
    from plimsoll.cli.live.followed import Followed, shows_views

    if quiet or not shows_views():
        yield lambda snapshot: _show_line(snapshot, quiet)
        return
    followed = Followed(lambda snapshot: _show_line(snapshot, quiet), _run_fold)
    try:
        yield followed
    finally:
        followed.close()


def _run_fold() -> Fold:
    from plimsoll.cli.live.run import RunFolded

    return RunFolded()


def _show_line(snapshot: Snapshot, quiet: bool) -> None:
    from plimsoll.cli.live.followed import is_steerable, replace_line

    live = is_steerable()
    if quiet or not (live or snapshot.second % 5 == 4):
        return
    level = "" if snapshot.level == 1 else f"  level {snapshot.level:g}"
    counts = f"{snapshot.vus} VUs  {snapshot.done}/s done  {snapshot.backlog} waiting{level}"
    text = f"{snapshot.second + 1:5.0f} s  {counts}"
    if live:
        replace_line(text)
    else:
        print(text, file=sys.stderr, flush=True)


def _print_results(
    ended: dict[str, Any], redactor: Redactor, summary: Summary, parts: SummaryParts | None = None
) -> list[str]:
    """The summary as handleSummary or k6's layout has it, and the file of --summary-export; what of handleSummary's
    could not be written, in words. What handleSummary returned is the script's own and stays as it is."""
    from plimsoll.report.k6.export import summary_export as exported
    from plimsoll.report.k6.summary import summary_text
    from plimsoll.runs.clean_summary import clean_summary
    from plimsoll.runs.directory import json_text

    unwritten: list[str] = []
    if ended["handled"] is not None and summary.mode:
        unwritten = list(_write_handled(ended["handled"]))
    elif summary.mode:
        data = ended["summary"] if parts is None else {**ended["summary"], "parts": parts.of(ended["summary"])}
        print(summary_text(clean_summary(data, redactor), summary.mode))
    if summary.export is not None:
        text = json_text(exported(clean_summary(ended["summary"], redactor)), indent=2) + "\n"
        _write(summary.export, text)
    return unwritten


def _write_handled(handled: Mapping[str, Any]) -> Iterator[str]:
    """What handleSummary returned: texts for stdout and stderr, and files, each as far as it can be written. Yields a
    sentence for each that cannot."""
    import json

    from plimsoll.written_files import write_named

    for name, content in handled.items():
        text = content if isinstance(content, str) else json.dumps(content)
        if name in ("stdout", "stderr"):
            getattr(sys, name).write(text)
            continue
        try:
            write_named(Path(name), text)
        except (OSError, ValueError) as error:  # ValueError: a name that no file can have
            yield f"handleSummary: cannot write {name!r}: {_why_unwritten(Path(name), error)}"


def _why_unwritten(path: Path, error: OSError | ValueError) -> str:
    """Why a file of handleSummary was not written, and what to do."""
    from plimsoll.runs.directory import remedy_of

    if isinstance(error, FileNotFoundError):
        return f"there is no folder {path.parent}. Make it, or correct the path in the script."
    if isinstance(error, OSError):
        return f"{error.strerror or error}. {remedy_of(error, ' in the script')}"
    return f"{error}. Correct the path in the script."


def _write(path: Path, text: str) -> None:
    """A file that the user named; RunDirectoryError if it cannot be written."""
    from plimsoll.runs.directory import run_error
    from plimsoll.written_files import write_named

    try:
        write_named(path, text)
    except OSError as error:
        raise run_error("write", path, error, elsewhere="") from error


def _exit_code(ended: dict[str, Any], tally: Tally, strict: bool) -> int:
    """What ended the run first counts, as in k6: an abort, an interruption, test.fail(), then thresholds, of which none
    is met where no request was answered. Without thresholds such a run measured nothing, and is not valid."""
    from plimsoll.cli.run.ending import settled_end
    from plimsoll.runs.readings.thresholds import thresholds_of

    if ended["aborted"] and ended["aborted"]["by_script"]:
        return EXIT_ABORTED
    if tally.interrupted:
        return EXIT_INTERRUPTED
    if ended["marked_failed"]:
        return EXIT_MARKED_FAILED
    verdicts = [one.verdict for one in thresholds_of(settled_end(ended, tally, strict)["summary"].get("metrics", {}))]
    if ended["aborted"] or "failed" in verdicts:
        return EXIT_THRESHOLDS
    return EXIT_INVALID if tally.nothing_answered else 0
