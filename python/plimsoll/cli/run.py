"""`plimsoll run script.js`: a k6 script as it is, with k6's flags, summary and exit codes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from plimsoll.cli.run_tally import Tally
    from plimsoll.engine import EngineRun
    from plimsoll.runs.writer import RunWriter

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
}


def run(
    script: Annotated[Path, typer.Argument(help="a k6 script")],
    vus: Annotated[int | None, typer.Option("-u", "--vus", min=1, help="number of VUs")] = None,
    duration: Annotated[str | None, typer.Option("-d", "--duration", help="for how long, as in 30s")] = None,
    iterations: Annotated[int | None, typer.Option("-i", "--iterations", min=1, help="iterations in all")] = None,
    stage: Annotated[list[str] | None, typer.Option("-s", "--stage", help="duration:target, as in 30s:10")] = None,
    env: Annotated[list[str] | None, typer.Option("-e", "--env", help="NAME=value for __ENV")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="name=value on every sample")] = None,
    secret_source: Annotated[
        list[str] | None, typer.Option(help="secrets for k6/secrets: mock=name=value,… or file=path")
    ] = None,
    max_redirects: Annotated[int | None, typer.Option(min=0, help="follow at most this many redirects")] = None,
    user_agent: Annotated[str | None, typer.Option(help="the header User-Agent")] = None,
    insecure_skip_tls_verify: Annotated[
        bool, typer.Option("--insecure-skip-tls-verify", help="accept any certificate of the target")
    ] = False,
    no_connection_reuse: Annotated[
        bool, typer.Option("--no-connection-reuse", help="a connection of its own for every request")
    ] = False,
    no_vu_connection_reuse: Annotated[
        bool, typer.Option("--no-vu-connection-reuse", help="new connections in every iteration")
    ] = False,
    discard_response_bodies: Annotated[
        bool, typer.Option("--discard-response-bodies", help="read bodies, but do not keep them for the script")
    ] = False,
    min_iteration_duration: Annotated[
        str | None, typer.Option(help="an iteration keeps its VU for at least this long, as in 1s")
    ] = None,
    throw: Annotated[bool, typer.Option("-w", "--throw", help="a failed request throws in the script")] = False,
    no_setup: Annotated[bool, typer.Option("--no-setup", help="do not run setup()")] = False,
    no_teardown: Annotated[bool, typer.Option("--no-teardown", help="do not run teardown()")] = False,
    no_thresholds: Annotated[bool, typer.Option("--no-thresholds", help="judge no thresholds")] = False,
    threads: Annotated[int, typer.Option(min=1, help="threads of the engine")] = 1,
    late_arrivals: Annotated[str | None, typer.Option(help="wait or drop: arrivals that find no VU")] = None,
    arrival_process: Annotated[str, typer.Option(help="even (k6's) or poisson")] = "even",
    seed: Annotated[int, typer.Option(help="for random arrivals")] = 1,
    vu_memory: Annotated[
        str | None,
        typer.Option(
            envvar="PLIMSOLL_VU_MEMORY", help="what a VU's JavaScript may allocate, as in 256MB; 512MiB if not given"
        ),
    ] = None,
    import_map: Annotated[
        Path | None,
        typer.Option(help="local files for remote modules; plimsoll.importmap.json beside the script if not given"),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="an undecided threshold fails the run")] = False,
    runs: Annotated[Path, typer.Option(help="folder of run directories")] = Path("runs"),
    summary_export: Annotated[Path | None, typer.Option(help="write the summary as JSON here, in k6's form")] = None,
    summary_trend_stats: Annotated[
        str | None, typer.Option(help="what is said of trends: avg,min,med,max,count,p(N) by commas")
    ] = None,
    summary_time_unit: Annotated[str | None, typer.Option(help="s, ms or us; each time's own by default")] = None,
    no_summary: Annotated[bool, typer.Option("--no-summary", help="no summary and no handleSummary")] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="as always: nothing here is coloured")] = False,
    no_usage_report: Annotated[
        bool, typer.Option("--no-usage-report", help="as always: nothing is reported to anybody")
    ] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="no progress")] = False,
) -> None:
    """Run a k6 script; prints k6's summary. Exit codes are k6's: 99 thresholds, 104 options, 105 interrupted, 107 error
    in the script, 108 test.abort(), 110 test.fail()."""
    from plimsoll.cli.k6_flags import OPTION_OF_FLAG, named_by_flags, script_options
    from plimsoll.cli.memory_size import memory_size
    from plimsoll.cli.run_tally import Tally
    from plimsoll.engine import DEFAULT_VU_MEMORY_BYTES, EngineConfig, EngineRun
    from plimsoll.errors import InputError, RunDirectoryError, ScriptError
    from plimsoll.runs.writer import RunFacts, RunWriter

    flags = {name: value for name, value in locals().items() if name in OPTION_OF_FLAG}
    options = script_options(flags, stage or [], pairs(tag or [], "--tag"), no_thresholds)
    if summary_export is not None and not summary_export.parent.is_dir():
        raise InputError(f"--summary-export {summary_export}: there is no such folder", "Make it, or correct the path.")
    config = EngineConfig(
        script=script,
        env={**os.environ, **pairs(env or [], "--env")},
        options=options,
        threads=threads,
        late_arrivals=late_arrivals,
        arrival_process=arrival_process,
        seed=seed,
        secret_sources=tuple(secret_source or ()),
        vu_memory_bytes=DEFAULT_VU_MEMORY_BYTES if vu_memory is None else memory_size(vu_memory, "--vu-memory"),
        import_map=import_map,
    )
    facts = RunFacts("run", script=script, options=options, seed=seed, level_unit="multiple")
    tally = Tally()
    try:
        engine = EngineRun(config)  # a script that cannot run leaves no run directory
        with RunWriter.create(runs, facts, tables=False) as writer:
            _say_policy(engine, quiet)
            engine.begin()  # no load that could not be kept
            try:
                _follow(engine, writer, tally, quiet)
                ended = engine.result()
                writer.append_event("note", second=0.0, summary=ended["summary"].get("metrics", {}))
            except RunDirectoryError:  # the disk is full: what was measured until then is still shown
                engine.stop(at_once=True)
                _print_results(engine.result(), no_summary, None)
                raise
            if tally.interrupted:
                writer.finish("interrupted")
    except ScriptError as error:
        error = named_by_flags(error, flags, script)
        error.exit_code = EXIT_OF_SCRIPT[error.end]
        raise error from None
    _print_results(ended, no_summary, summary_export)
    for warning in tally.warnings():
        print(f"\nwarning: {warning}", file=sys.stderr)
    print(f"\n     run directory: {writer.path}; plimsoll report {writer.path} makes its report", file=sys.stderr)
    failure = engine.failure()
    if failure is not None:
        failure.exit_code = EXIT_OF_SCRIPT[failure.end]
        raise failure
    raise typer.Exit(_exit_code(ended, tally.interrupted, strict))


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


def _follow(engine: EngineRun, writer: RunWriter, tally: Tally, quiet: bool) -> None:
    """Write and count every second until the end; Ctrl-C stops gracefully, a second one at once."""
    while True:
        try:
            for snapshot in engine.snapshots():
                if snapshot.second == 0:
                    writer.set_t0(snapshot.t_unix)
                writer.append_snapshot(snapshot)
                tally.add(snapshot)
                if not quiet and (sys.stderr.isatty() or snapshot.second % 5 == 4):
                    counts = f"{snapshot.vus} VUs  {snapshot.done}/s done  {snapshot.backlog} waiting"
                    text = f"{snapshot.second + 1:5.0f} s  {counts}"
                    print(text, end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)
            return
        except KeyboardInterrupt:
            engine.stop(at_once=tally.interrupted)
            if not tally.interrupted:
                tally.interrupted = True
                print("\nstopping: running iterations may end; Ctrl-C again stops at once", file=sys.stderr)
                writer.append_event("interrupted", second=engine.elapsed_s() or 0.0)


def _print_results(ended: dict[str, Any], no_summary: bool, summary_export: Path | None) -> None:
    """The summary as handleSummary or k6's layout has it, and the file of --summary-export."""
    from plimsoll.report.k6_export import summary_export as exported
    from plimsoll.report.k6_summary import summary_text
    from plimsoll.runs.directory import write_json

    if ended["handled"] is not None:
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


def _exit_code(ended: dict[str, Any], interrupted: bool, strict: bool) -> int:
    """What ended the run first counts, as in k6: an abort, an interruption, test.fail(), then thresholds."""
    if ended["aborted"] and ended["aborted"]["by_script"]:
        return EXIT_ABORTED
    if interrupted:
        return EXIT_INTERRUPTED
    if ended["marked_failed"]:
        return EXIT_MARKED_FAILED
    verdicts = [
        row["verdict"]
        for metric in ended["summary"].get("metrics", {}).values()
        for row in metric.get("thresholds", {}).values()
    ]
    failed = ended["aborted"] or "failed" in verdicts or (strict and "undecided" in verdicts)
    return EXIT_THRESHOLDS if failed else 0
