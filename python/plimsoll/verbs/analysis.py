"""Another tool's results → a run directory → the same findings as for our own runs. `plimsoll analyze` is this; a run
directory of our own is judged again (own_runs.py)."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from plimsoll.errors import InputError, InputErrors
from plimsoll.findings.capacity.demand import demand_findings
from plimsoll.findings.capacity.scaling import scaling_of_imported
from plimsoll.findings.consistency.check import consistent
from plimsoll.findings.imported.hold import NO_RESOURCES, has_resources, held_findings
from plimsoll.findings.imported.levels import levels_of
from plimsoll.findings.imported.open_growth import growth_finding
from plimsoll.findings.imported.resources import limit_of_levels
from plimsoll.findings.imported.run import (
    Stretch,
    as_steps,
    most_interval,
    overview_finding,
    repeats_of,
    source_finding,
    table_of,
    table_of_whole,
    whole_of,
    with_windows,
)
from plimsoll.findings.imported.table_comparison import comparison_finding
from plimsoll.findings.imported.table_curve import curve_of
from plimsoll.findings.imported.table_levels import levels_finding
from plimsoll.findings.shape.units_of import with_units
from plimsoll.report.html import write_html
from plimsoll.runs.importers import level_table
from plimsoll.runs.importers.catalogue import format_of
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.locust.history import Window
from plimsoll.runs.importers.resources.points import Aligned, aligned
from plimsoll.runs.importers.resources.reading import read_resources
from plimsoll.runs.importers.source import HIDES_QUEUEING, LOOP_UNKNOWN, Format
from plimsoll.runs.importers.spill import MOST_TAG_SETS, Spill
from plimsoll.runs.reader import RunReader
from plimsoll.runs.readings.step_table import StepTable, write_step_table
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.objectives import parse_objective
from plimsoll.study.secrets.redactor import Redactor
from plimsoll.verbs.own_runs import Again, is_own_run, judge_again
from plimsoll.verbs.table_analysis import apart_words, check_tests, limited_at, table_findings, with_limit
from plimsoll.verbs.told import Told
from plimsoll.words import change_words, time_words

BESIDE = ("totals", "cannot")  # of the source, told beside the first answer as well
A_DAY_S = 86_400.0


@dataclass(frozen=True)
class AnalysisChoices:
    """What a caller may choose.

    `format`: name of a format, else recognised by content; `resources`: files with the server's side, `offset_s` is
    added to their times; `objectives`: mappings with `objective` and perhaps `request`, as in a study; `budgets`: share
    of each resource that may be used; `expected`: the load that headroom counts from; `model`: whether users wait for
    answers; `report`: write report.html; `together`: the files are summaries of levels of one test;
    `compare`: two summaries, A and B, are also put side by side; `cores`: of another host, for a run of capacity;
    `level`: the heading of the column of a table that is the load.

    Of a run directory of our own only `objectives`, `budgets`, `cores`, `expected` and `report` may be chosen.
    """

    runs: Path = Path("runs")
    format: str | None = None
    resources: tuple[Path, ...] = ()
    offset_s: float = 0.0
    objectives: tuple[Mapping[str, Any], ...] = ()
    budgets: Mapping[str, float] = field(default_factory=dict)
    expected: float | None = None
    model: Literal["open", "closed"] | None = None
    report: bool = True
    together: bool = False
    compare: bool = False
    cores: int | None = None
    level: str | None = None


@dataclass(frozen=True)
class Analysed(Told):
    """What a file told, where the run directory made of it and its report lie, and the file."""

    source: str


def analyze(
    files: Iterable[str | Path],
    choices: AnalysisChoices | None = None,
    on_progress: Callable[[str, float], None] | None = None,
) -> list[Analysed]:
    """Analyse each file, or run directory, by itself. `on_progress` is told again and again what is done and the share
    of it that is. Raises InputError for what cannot be read, with file, line and column; RunDirectoryError if a run
    cannot be written."""
    choices = choices or AnalysisChoices()
    for given in choices.objectives:
        parse_objective(str(given["objective"]))
    # Requests are called here as the run directory calls them.
    choices = replace(choices, objectives=tuple(Redactor().data(list(choices.objectives))))
    paths = [Path(path) for path in files]
    own = [path for path in paths if is_own_run(path)]
    if own:
        return _again(own, [path for path in paths if path not in own], choices)
    files = paths
    if choices.cores is not None:
        raise InputError("--cores is for a run of plimsoll capacity", "Leave it out, or give --budget.")
    sources = [SourceFile(Path(path)) for path in files]
    if on_progress is not None:
        for source in sources:
            source.watch = partial(on_progress, f"reading {source.path.name}")
    formats, mistakes = [], []
    for source in sources:
        try:
            formats.append(format_of(source, choices.format or ("table" if choices.level is not None else None)))
        except InputError as error:
            mistakes.append(error)
    if mistakes:
        raise InputErrors(mistakes)
    for path in choices.resources:
        deque(read_resources(SourceFile(path)), maxlen=0)  # a mistake in them is told before a long import
    if choices.compare:
        return _analyse_both(sources, formats, choices)
    if choices.together:
        return [_analyse_together(sources, formats, choices)]
    told = on_progress or (lambda what, share: None)
    return [
        _analyse(source, found, choices, partial(told, f"putting {source.path.name} into seconds"))
        for source, found in zip(sources, formats, strict=True)
    ]


def _again(runs: Sequence[Path], others: Sequence[Path], choices: AnalysisChoices) -> list[Analysed]:
    """Our own runs, each judged again."""
    for_files = {
        "--resources": choices.resources, "--offset": choices.offset_s, "--format": choices.format,
        "--model": choices.model, "--together": choices.together, "--compare": choices.compare,
        "--level": choices.level,
    }  # fmt: skip
    problems = [
        InputError(f"{flag} is for other tools' results; {runs[0]} is a run of Plimsoll's own", "Leave it out.")
        for flag, value in for_files.items()
        if value
    ]
    if others:
        what = f"{others[0]} and the run {runs[0]} are given together"
        problems.append(InputError(what, "Analyze other tools' results by themselves."))
    if problems:
        raise InputErrors(problems)
    again = Again(tuple(choices.objectives), choices.budgets, choices.cores, choices.expected)
    found = [(path, *judge_again(path, again, report=choices.report)) for path in runs]
    return [Analysed(findings, path, report, str(path)) for path, findings, report in found]


def _analyse_both(sources: Sequence[SourceFile], formats: Sequence[Format], choices: AnalysisChoices) -> list[Analysed]:
    """Two summaries each by itself; the comparison is a finding of the second."""
    if len(sources) != 2 or any(found.shape != "summary" for found in formats):
        what = "--compare takes two summaries or tables of levels, A and B"
        raise InputError(what, "Compare samples with plimsoll compare, which interleaves runs.")
    first, second = (_summary(source, found, choices) for source, found in zip(sources, formats, strict=True))
    names = (sources[0].path.name, sources[1].path.name)
    alone = _analyse_table(sources[0], formats[0], choices, first)
    side_by_side = comparison_finding(first, second, names)
    return [alone, _analyse_table(sources[1], formats[1], choices, second, (side_by_side,))]


def _analyse_together(sources: Sequence[SourceFile], formats: Sequence[Format], choices: AnalysisChoices) -> Analysed:
    """Summaries of one tool as the levels of one table."""
    if len(set(formats)) > 1 or formats[0].shape != "summary":
        names = ", ".join(dict.fromkeys(found.title for found in formats))
        raise InputError(f"--together is for summaries of one tool; these are {names}", "Leave it out.")
    tables = [_summary(source, found, choices) for source, found in zip(sources, formats, strict=True)]
    rows = tuple(row for table in tables for row in table.rows)
    notes = tuple(dict.fromkeys(note for table in tables for note in table.notes))
    return _analyse_table(sources[0], formats[0], choices, StepTable(rows, tables[0].level_unit, notes))


def _analyse(source: SourceFile, found: Format, choices: AnalysisChoices, told: Callable[[float], None]) -> Analysed:
    if found.shape == "summary":
        if choices.resources:
            what = f"--resources: {found.title} has no times to put them beside"
            raise InputError(what, "Put the utilisation of each level into a column of a table of levels.")
        return _analyse_table(source, found, choices, _summary(source, found, choices))
    with Spill() as spill:
        windows = found.read(source, spill) or ()
        if not spill.samples:
            raise InputError("there is no request in it", "Check that the test ran.", file=source.path)
        return _analyse_samples(source, found, choices, spill, windows, told)


def _summary(source: SourceFile, found: Format, choices: AnalysisChoices) -> StepTable:
    """The step table of a summary, without secrets; of a table of levels with the column that the caller names as its
    level."""
    if choices.level is None:
        table: StepTable = found.read(source, None)
        return table.without_secrets(Redactor())
    if found.name != level_table.FORMAT.name:
        raise InputError(f"--level is for tables of levels; this is {found.title}", "Leave it out.", file=source.path)
    return level_table.read(source, None, choices.level).without_secrets(Redactor())


def _facts(source: SourceFile, found: Format, choices: AnalysisChoices, unit: str, t0: float | None) -> RunFacts:
    options = {"source": str(source.path), "format": found.name, "model": choices.model or found.loop}
    if choices.resources:
        options["resources_offset_s"] = choices.offset_s  # type: ignore[assignment]
    return RunFacts("analyze", options=options, level_unit=unit, t0_unix=t0)  # type: ignore[arg-type]


def _model(found: Format, choices: AnalysisChoices) -> Literal["open", "closed"]:
    """Whether users wait for their answers: as asked, else as the format does; closed where nobody knows."""
    return choices.model or ("open" if found.loop == "open" else "closed")


def _analyse_samples(
    source: SourceFile,
    found: Format,
    choices: AnalysisChoices,
    spill: Spill,
    windows: Sequence[Window],
    told: Callable[[float], None],
) -> Analysed:
    t0 = float(math.floor(spill.first_s))
    unit = "vus" if found.name.startswith("k6") else "users"
    with RunWriter.create(choices.runs, _facts(source, found, choices, unit, t0), tables=False) as writer:
        seconds, whole_s = 0, max(1.0, spill.last_s - t0)
        for snapshot in spill.snapshots():
            writer.append_snapshot(snapshot)
            seconds = snapshot.second + 1
            told(seconds / whole_s)
        notes = [*source.notes, *_spill_notes(spill), *_future_notes(spill, time.time())]
        if choices.resources:
            files = [SourceFile(path) for path in choices.resources]
            points = chain.from_iterable(map(read_resources, files))
            notes += _add_resources(writer, aligned(points, t0, seconds, choices.offset_s), choices.offset_s)
            notes += [f"Resources of {file.path}: {note}" for file in files for note in file.notes]
        run, path = RunReader(writer.path), str(writer.path)
        whole, span_s = whole_of(run), max(spill.last_s - spill.first_s, 0.0) + (found.shape == "seconds")
        is_open = _model(found, choices) == "open"
        levels, stretches, cannot = _level_findings(run, whole, unit, choices, path, windows, _model(found, choices))
        by_rate = is_open or not spill.has_levels
        held = held_findings(run, stretches, whole, unit, by_rate=by_rate, run_path=path)
        cannot = [*_cannot(found, choices), *held.cannot, *cannot]
        growth = [growth_finding(whole.started, whole.done, path)] if is_open else []
        about = overview_finding(found.title, whole, span_s, cannot, notes, path)
        return _end(writer, [*growth, *levels, *held.findings, about], source, choices)


def _cannot(found: Format, choices: AnalysisChoices) -> list[str]:
    """What the format does not support, with what the caller knows about its users."""
    if choices.model is None:
        return list(found.cannot)
    rest = [text for text in found.cannot if text not in (LOOP_UNKNOWN, HIDES_QUEUEING)]
    return [HIDES_QUEUEING, *rest] if choices.model == "closed" else rest


def _add_resources(writer: RunWriter, found: Aligned, offset_s: float) -> list[str]:
    """Write the rows; what the reader should know about how they were put beside the run."""
    for row in found.rows:
        writer.append_resource(row)
    assumed = (
        f"{offset_s:+g} s were added to the times of the resources" if offset_s else "the clocks are taken to agree"
    )
    words = f"Resources: {assumed}; {found.inside:,} points lie in the run"
    words += f", {found.outside:,} outside it are left out" if found.outside else ""
    notes = [f"{words}. Seconds without a point have no value; nothing is interpolated."]
    if not found.inside and found.outside:
        apart = found.first_s - writer.t0_unix
        notes.append(
            f"No point lies in the run: they begin {change_words(apart)} s from its start. Correct it with --offset."
        )
    return notes


def _level_findings(
    run: RunReader,
    whole: Stretch,
    unit: str,
    choices: AnalysisChoices,
    path: str,
    windows: Sequence[Window],
    model: Literal["open", "closed"],
) -> tuple[list[dict[str, Any]], list[Stretch], list[str]]:
    """The findings about levels, the stretches at one level, and what could not be asked."""
    levels = levels_of(run)
    steady, stretches = levels.held, levels.all
    t0 = float(run.manifest["clock"]["t0_unix"])
    table = with_windows(table_of(stretches, run, unit), stretches, windows, t0)
    table = table if table.rows else table_of_whole(whole, unit)
    _check_budgets(table, choices.budgets)
    curve = curve_of(table, model, choices.objectives, repeats_of(steady))
    verdicts = {row.level: curve.verdict(row.level) for row in curve.rows if row.level is not None}
    interval = most_interval(stretches, curve.highest.level) if curve.highest else None
    steps = as_steps(stretches, verdicts)
    finding = levels_finding(
        table, choices.objectives, expected=choices.expected, steps=steps, interval=interval,
        run_path=path, notes=levels.notes, model=model, curve=curve,
    )  # fmt: skip
    at = limited_at(finding["capacity"], table)
    finding = with_limit(finding, limit_of_levels(run, steps, at, unit), at)
    cannot = [] if has_resources(run) else [NO_RESOURCES]
    scaling, why = scaling_of_imported(as_steps(steady, verdicts), unit, model, path, falls=curve.falls_by is not None)
    return [finding, *scaling, *demand_findings(table, choices.budgets, path)], steady, [*cannot, *why]


def _future_notes(spill: Spill, now_unix: float) -> list[str]:
    """That the samples are of a time that has not come, where they are."""
    if spill.last_s <= now_unix + A_DAY_S:
        return []
    last = datetime.fromtimestamp(spill.last_s, UTC).strftime("%Y-%m-%d %H:%M")
    return [f"Its last request is of {last} UTC, which is in the future by the clock of this computer: one is wrong."]


def _spill_notes(spill: Spill) -> list[str]:
    paused = []
    if spill.paused_s:
        words = time_words(spill.paused_s)
        paused = [f"For {words} nothing was sent or under way: a pause between tests, which is no level."]
    if not spill.merged_tag_sets:
        return paused
    return [
        *paused,
        f"There are more than {MOST_TAG_SETS:,} names with codes; what came after them counts as “other”. "
        "Give requests that differ only by an id one name.",
    ]


def _analyse_table(
    source: SourceFile,
    found: Format,
    choices: AnalysisChoices,
    table: StepTable,
    more: Sequence[dict[str, Any]] = (),
) -> Analysed:
    _check_budgets(table, choices.budgets)
    tests = table.tests()
    check_tests(tests, source.path)
    facts = _facts(source, found, choices, table.level_unit, None)
    with RunWriter.create(choices.runs, facts, tables=False) as writer:
        write_step_table(writer.path, table)
        path = str(writer.path)
        words = f"{found.title}: {_contents(table)}."
        notes = [*source.notes, *table.notes, *apart_words(table, tests)]
        findings = [
            *({**one, "run": path} for one in more),
            *table_findings(
                table, tests, choices.objectives, choices.budgets, choices.expected, _model(found, choices), path
            ),
            source_finding(words, found.cannot, notes, path, len(table.rows)),
        ]
        return _end(writer, findings, source, choices)


def _check_budgets(table: StepTable, budgets: Mapping[str, float]) -> None:
    known = table.resources
    unknown = [name for name in budgets if any(part.strip() not in known for part in name.split("+"))]
    if unknown:
        has = f"it has {', '.join(known)}" if known else "it has no utilisation of anything"
        raise InputError(f"--budget {unknown[0]}: the source has no such resource; {has}", "Name one that it has.")


def _contents(table: StepTable) -> str:
    levels = {row.level for row in table.rows if row.level is not None}
    operations = [name for name in table.operations if name is not None]
    parts = [
        f"{len(table.rows)} row{'s' if len(table.rows) != 1 else ''}",
        f"{len(levels)} level{'s' if len(levels) != 1 else ''}",
    ]
    parts += [f"{len(operations)} operations"] if operations else []
    parts += [f"times: {', '.join(table.statistics)}"] if table.statistics else ["no times"]
    parts += [f"utilisation of {', '.join(table.resources)}"] if table.resources else []
    return ", ".join(parts)


def _end(
    writer: RunWriter, findings: Sequence[dict[str, Any]], source: SourceFile, choices: AnalysisChoices
) -> Analysed:
    *_, source_told = findings
    told = [{**{key: source_told[key] for key in BESIDE if key in source_told}, **findings[0]}, *findings[1:]]
    found = writer.redactor.data([with_units(one) for one in consistent(told)])
    writer.write_findings(found)
    writer.finish("finished")
    report = write_html(writer.path) if choices.report else None
    return Analysed(found, writer.path, report, str(source.path))
