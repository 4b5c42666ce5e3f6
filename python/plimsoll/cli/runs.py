"""`plimsoll runs`: what is on this disk, and tidying it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.flags.quantities import duration
from plimsoll.cli.flags.shared import Details, Runs
from plimsoll.plain_text import plain
from plimsoll.study.bounds import MOST_AGE_S
from plimsoll.words import change_words, joined, level_words, ms_words, number, size_words, time_words

if TYPE_CHECKING:
    from plimsoll.runs.kept.catalogue import StoredRun
    from plimsoll.verbs.trend import Point

ANSWER_WIDTH = 60
MUCH_BYTES = 1_000_000  # a tenth of what an hour of load takes
app = typer.Typer(
    name="runs",
    help="List, show, search, follow, tag, delete, prune, export and import runs.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
Run = Annotated[str, typer.Argument(help="a run directory; or its name in --runs, the end of that, or latest")]
AsJson = Annotated[bool, typer.Option("--json", help="print the runs as JSON on stdout")]


@app.command("list")
def list_(runs: Runs = Path("runs"), as_json: AsJson = False) -> None:
    """List the runs in a folder, newest first: when, verb, script or target, the answer, the size."""
    from plimsoll.verbs.stored import stored_runs, unlisted_runs

    _print(stored_runs(runs), runs, as_json)
    for words in unlisted_runs(runs):
        print(f"plimsoll: {words}", file=sys.stderr)
    if not as_json:
        _say_unfinished(runs)


@app.command()
def show(
    run: Run,
    series: Annotated[
        bool,
        typer.Option("--series", help="print its seconds instead, one a line as JSON, each series with its names"),
    ] = False,
    resources: Annotated[
        bool, typer.Option("--resources", help="print what its probes read instead, one row a line as JSON")
    ] = False,
    runs: Runs = Path("runs"),
    as_json: AsJson = False,
    details: Details = False,
) -> None:
    """Show a run: what it was, its answers, its files. With --series or --resources: what it holds, for jq."""
    from plimsoll.errors import InputError, RunDirectoryError
    from plimsoll.findings.validity.self_diagnosis import damage_words, unread_words
    from plimsoll.runs.directory import RESOURCES, SERIES, file_of, json_text
    from plimsoll.runs.format.damaged import understood
    from plimsoll.runs.reader import RunReader
    from plimsoll.runs.readings.generator_seconds import generator_seconds_of
    from plimsoll.verbs.stored import find_run, seconds_of

    found = find_run(run, runs)
    if (series or resources) and found.experiment == "study":
        raise InputError(f"{found.path} is a run of a study", "Give one of the runs in it.")
    if series or resources:
        with understood(found.path):
            reader = RunReader(found.path)
            printed = _print_lines(map(json_text, seconds_of(found.path) if series else reader.resources()))
            damage = (
                unread_words(generator_seconds_of(reader), "these lines")
                if series
                else damage_words(reader.damaged_files(), "these lines")
            )
        file = file_of(found.path, SERIES if series else RESOURCES)
        if not printed and file.exists() and file.stat().st_size:
            step = "It is damaged from its beginning on; take it from a copy, or make the run again."
            raise RunDirectoryError(f"{file} has no line that can be read", step)
        for words in damage:
            print(f"warning: {words}", file=sys.stderr)
        return
    if as_json:
        print(json_text(found.to_json(), indent=2))
        return
    print("\n".join(_shown(found, details)))


@app.command()
def search(
    words: Annotated[
        list[str], typer.Argument(help="words that a run's name, tags, script, target, answers or notes have")
    ],
    runs: Runs = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Search the runs for words; those that have all of them are listed."""
    from plimsoll.verbs.stored import search_runs

    found = search_runs(words, runs)
    if found or as_json:
        _print(found, runs, as_json)
        return
    wanted = plain(", ".join(words))
    print(f"No run in {plain(runs)} has {wanted}. Try fewer words; `plimsoll runs list` shows all runs.")


@app.command()
def delete(
    run: Annotated[list[str], typer.Argument(help="run directories; or names in --runs, their ends, or latest")],
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
    runs: Runs = Path("runs"),
) -> None:
    """Delete runs, after asking. Only directories that Plimsoll made are deleted, and none through a link."""
    from plimsoll.runs.kept.tidying import check_deletable
    from plimsoll.verbs.stored import delete_runs, find_run

    found = check_deletable(dict.fromkeys(find_run(one, runs).path for one in run))
    _print(found, runs, as_json=False)
    if not yes:
        _ask(f"Delete {_counted(found)} ({size_words(sum(one.size_bytes for one in found))})?")
    delete_runs([one.path for one in found])
    print(f"{_counted(found)} deleted")


@app.command()
def prune(
    older_than: Annotated[
        float | None,
        typer.Option(
            parser=duration("--older-than", most_s=MOST_AGE_S),
            metavar="TIME",
            help="runs that ended longer ago go, as in 30d",
        ),
    ] = None,
    keep_size: Annotated[
        str | None, typer.Option(metavar="SIZE", help="the oldest go until the rest takes at most this, as in 5GB")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only show which would go and which stay")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
    runs: Runs = Path("runs"),
) -> None:
    """Delete old runs, by their age, by the size of all, or both, after asking. Kept runs (plimsoll runs keep) and runs
    that go on stay."""
    from plimsoll.memory_size import disk_size
    from plimsoll.runs.kept.unfinished import forget_unfinished
    from plimsoll.verbs.stored import delete_runs, prune_runs

    keep_bytes = None if keep_size is None else disk_size(keep_size, "--keep-size")
    found = prune_runs(runs, older_than_s=older_than, keep_bytes=keep_bytes, dry_run=True)
    for one in (*found.staying, *found.gone):
        reason = "kept " if one.kept else "runs " if one.status == "running" else "stays"
        print(f"{'goes ' if one in found.gone else reason}  {_line(one)}")
    staying_bytes = sum(one.size_bytes for one in found.staying)
    print(f"\n{_counted(found.gone)} of {size_words(found.freed_bytes)} go; {size_words(staying_bytes)} stay")
    if dry_run:
        _say_unfinished(runs)
        return
    freed = forget_unfinished(runs)
    if freed:
        print(f"{size_words(freed)} removed that interrupted deletions and imports left")
    if not found.gone:
        return
    if not yes:
        _ask("Delete them?")
    delete_runs([one.path for one in found.gone])  # those that were shown
    print(f"{_counted(found.gone)} deleted")


@app.command()
def keep(
    run: Run,
    off: Annotated[bool, typer.Option("--off", help="let prune delete it again")] = False,
    runs: Runs = Path("runs"),
) -> None:
    """Keep a run: prune leaves it."""
    from plimsoll.verbs.stored import find_run, keep_run

    path = find_run(run, runs).path
    keep_run(path, not off)
    print(f"{plain(path.name)} is {'no longer kept' if off else 'kept'}")


@app.command()
def tag(
    run: Run,
    tags: Annotated[list[str] | None, typer.Argument(help="its tags from now on; none: it has none any more")] = None,
    add: Annotated[bool, typer.Option("--add", help="beside those that it has")] = False,
    runs: Runs = Path("runs"),
) -> None:
    """Set the tags of a run, which search and the live page show."""
    from plimsoll.verbs.stored import find_run, tag_run

    found = find_run(run, runs)
    told = tag_run(found.path, [*(found.tags if add else ()), *(tags or ())])
    print(f"{plain(found.path.name)} has {f'the tags {joined(told)}' if told else 'no tags'}")


@app.command()
def note(
    run: Run, text: Annotated[str, typer.Argument(help="one sentence or more")], runs: Runs = Path("runs")
) -> None:
    """Add a note to a run; to one that goes on, with the second of its load."""
    from plimsoll.verbs.stored import find_run, note_run

    path = find_run(run, runs).path
    note_run(path, text)
    print(f"noted in {plain(path.name)}")


@app.command()
def export(
    run: Run,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="the file to write, .tar.zst or .zip (default: NAME.tar.zst here)"),
    ] = None,
    runs: Runs = Path("runs"),
) -> None:
    """Write a run into one file. It has no secrets, as the run has none (docs/run-directory.md)."""
    from plimsoll.verbs.stored import export_run, find_run

    print(plain(export_run(find_run(run, runs).path, output)))


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="a file that plimsoll runs export made")], runs: Runs = Path("runs")
) -> None:
    """Unpack an exported run into the folder of runs."""
    from plimsoll.verbs.stored import import_run

    print(plain(import_run(file, runs)))


def _shown(run: StoredRun, details: bool) -> list[str]:
    """The run, its answers and its files; without `details` a screen at most, where files may be counted."""
    from plimsoll.report.screen import MOST_LINES
    from plimsoll.report.text import wrapped
    from plimsoll.runs.kept.catalogue import size_of

    state = f"  {_when(run)}{_lasted(run)}  {_state(run)}{'  kept' if run.kept else ''}"
    lines = [plain(run.path), *wrapped(f"{run.experiment}  {run.about}", "  "), state, *_labels(run), ""]
    if run.experiment != "study" and run.status != "damaged":
        answers = _answers(run, details, MOST_LINES - len(lines) - 2)
        lines += [*answers.splitlines(), ""] if answers else []
    files = []
    for path in sorted(run.path.iterdir()):
        size = size_of(path) if path.is_dir() and not path.is_symlink() else path.lstat().st_size
        files.append(f"  {size_words(size):>9}  {plain(path.name)}")
    if details or len(lines) + len(files) <= MOST_LINES:
        return lines + files
    return [*lines, f"{len(files):,} files, {size_words(run.size_bytes)}."]


def _labels(run: StoredRun) -> list[str]:
    """Its tags, and its notes with their times."""
    from plimsoll.report.text import wrapped
    from plimsoll.runs.kept.labels import notes_of, when_words

    tags = [f"  Tags: {plain(joined(run.tags))}"] if run.tags else []
    notes = [f"{when_words(one)}: {plain(one['text'])}" for one in notes_of(run.path)]
    return [*tags, *(line for one in notes for line in wrapped(one, "  "))]


def _answers(run: StoredRun, details: bool, most_lines: int) -> str:
    """The answers of a run that is none of a study, or why there are none to read."""
    from plimsoll.cli.answers import words_of
    from plimsoll.errors import RunDirectoryError
    from plimsoll.report.run_evidence import read_findings
    from plimsoll.report.text import wrapped
    from plimsoll.runs.format.damaged import understood
    from plimsoll.runs.reader import RunReader

    is_plain = run.experiment == "run"  # whose findings take no longer than its seconds to read
    try:
        with understood(run.path):
            findings = read_findings(run.path) if is_plain else RunReader(run.path).findings()
            words = words_of(findings, run.path, None, details, most_lines) if findings else ""
    except RunDirectoryError as error:
        return "\n".join(wrapped(str(error), "  "))
    if words:
        return words
    failure = _no_answer(run, is_plain)
    if failure:
        return "\n".join(wrapped(failure, "  "))
    return f"  No answer is here: `plimsoll analyze {plain(run.path)}` judges what was measured."


def _no_answer(run: StoredRun, is_plain: bool) -> str:
    """Why a run has none; empty where what was measured may give one."""
    from plimsoll.runs.reader import RunReader
    from plimsoll.runs.readings.failure import failure_of

    reader = RunReader(run.path)
    if is_plain or run.answer:
        failure = "" if is_plain else failure_of(reader.events())
        return failure or run.answer or "Nothing was recorded."
    if next(iter(reader.snapshots(metrics=())), None) is None:
        return "Nothing was measured: it ended before it put any load on. Run it again."
    return ""


@app.command()
def trend(
    about: Annotated[
        str | None,
        typer.Argument(help="a script, a target, or the end of its name; or a study.yaml (default: the newest run's)"),
    ] = None,
    runs: Runs = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """How capacity and the CPU of an operation went over the runs of a script, oldest first, and what differed."""
    from plimsoll.report.text import row_lines
    from plimsoll.runs.directory import json_text
    from plimsoll.verbs.trend import trend as points_of

    points = points_of(about, runs)
    if as_json:
        print(json_text([one.to_json() for one in points], indent=2))
        return
    head = [
        "when",
        "carries",
        "not carried from",
        "change",
        "CPU of an operation",
        "change",
        "other than before",
        "run",
    ]
    rows = [[plain(cell) for cell in _trend_row(*pair)] for pair in zip([None, *points], points, strict=False)]
    print(plain(f"{points[-1].run.about}: {len(points)} run{'s' if len(points) > 1 else ''} of capacity"))
    print("\n".join(row_lines([head, *rows])))


def _trend_row(before: Point | None, point: Point) -> list[str]:
    changes = (point.change(before), point.change_of_cpu(before))
    changed, changed_cpu = ("" if one is None else f"{change_words(100 * one, 2)}%" for one in changes)
    carries = "?" if point.good is None else level_words(point.good, point.unit)
    carries = f"at least {carries}" if point.good is not None and point.bad is None else carries
    if point.per_s is not None and point.good is not None:
        carries += f" ({number(point.per_s)}/s)"
    return [
        _when(point.run),
        f"{carries}{'' if point.valid else ' (not valid)'}",
        "?" if point.bad is None else level_words(point.bad, point.unit),
        changed,
        "?" if point.cpu_ms is None else ms_words(point.cpu_ms),
        changed_cpu,
        joined(point.differs),
        point.run.path.name.rpartition("-")[2],
    ]


def _print(found: list[StoredRun], root: Path, as_json: bool) -> None:
    from plimsoll.runs.directory import json_text

    if as_json:
        print(json_text([one.to_json() for one in found], indent=2))
        return
    for one in found:
        print(_line(one))
    print(f"\n{_counted(found)} in {plain(root)}, {size_words(sum(one.size_bytes for one in found))}")


def _say_unfinished(root: Path) -> None:
    """What takes space and is no run, where it is much."""
    from plimsoll.runs.kept.unfinished import unfinished_bytes

    left = unfinished_bytes(root)
    if left >= MUCH_BYTES:
        print(f"{size_words(left)} more are left of interrupted deletions and imports; the next prune removes them")


def _print_lines(lines: Iterable[str]) -> int:
    """Print lines of data; how many there were. A reader that has enough (head) ends it without a word."""
    import os
    import sys

    printed = 0
    try:
        for line in lines:
            printed += 1
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return printed


def _line(run: StoredRun) -> str:
    """Two lines: facts, then the answer."""

    mark = f"{'  kept' if run.kept else ''}{''.join(f'  [{tag}]' for tag in run.tags)}"
    facts = f"{_when(run)}  {run.experiment:<9}  {size_words(run.size_bytes):>9}  {_state(run)}{mark}"
    about = " – ".join(text for text in (run.about, _shortened(run.answer)) if text)
    return "\n      ".join(plain(text) for text in (f"{facts}  {run.path.name}", about) if text)


def _state(run: StoredRun) -> str:
    """How it ended, and what spoils it."""
    if run.status == "finished" and run.valid is False:
        words = ["invalid"]
    else:
        words = [run.status, *(["invalid"] if run.valid is False else [])]
    return ", ".join([*words, *(["thresholds failed"] if run.failed_thresholds else [])])


def _shortened(text: str) -> str:
    width = 2 * ANSWER_WIDTH
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _lasted(run: StoredRun) -> str:
    if run.ended_unix is None or not 0 < run.began_unix <= run.ended_unix:
        return ""
    return f", {time_words(run.ended_unix - run.began_unix)} in all"


def _when(run: StoredRun) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(run.began_unix)) if run.began_unix else f"{'?':<16}"


def _counted(runs: Iterable[StoredRun]) -> str:
    count = len(list(runs))
    return "1 run" if count == 1 else f"{count:,} runs"


def _ask(question: str) -> None:
    """Goes on after a yes; InputError where nobody can answer, an end of the verb after a no."""
    import sys

    from plimsoll.errors import InputError

    if not sys.stdin.isatty():
        raise InputError("nobody can be asked here", "Add --yes to delete without asking.")
    if not typer.confirm(question):
        raise typer.Exit(1)
