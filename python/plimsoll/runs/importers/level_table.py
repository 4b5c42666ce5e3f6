"""A plain table, one row a level (and operation), as published reports print them: level, throughput, percentiles, …

The first line that is no comment (#) names the columns; a heading carries its unit: "p95 (ms)", "throughput (req/s)",
"gc cpu (%)", "links (per hour)". A "%" column with cpu, disk, memory or utilisation in its heading is the utilisation
of the resource that the rest of the heading names. Cells may carry units instead. Empty and "-" are "not published".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from plimsoll.errors import InputError, InputErrors
from plimsoll.runs.importers.contradictions import Told, impossible_counts
from plimsoll.runs.importers.jmeter import report as jmeter_report
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.order_of_times import Stated, check_order
from plimsoll.runs.importers.source import HIDES_QUEUEING, NO_GENERATOR, ONE_RUN, ONE_SUMMARY, BadRecord, Format
from plimsoll.runs.importers.telling_apart import telling_apart
from plimsoll.runs.importers.units import UNITS, Dimension, UnknownUnit, factor_of, quantity, whole
from plimsoll.runs.readings.step_table import Row, StepTable

Role = Literal[
    "level", "operation", "throughput", "time", "error_share", "failed", "samples", "duration", "utilisation", "rate",
    "other",
]  # fmt: skip
MOST_ROWS = 10_000
_TOTALS = ("total", "totals", "aggregated", "overall", "all requests", "sum")
_LEVEL = re.compile(
    r"^(#? ?users?|clients?|no\.? of (clients|users)|vus?|threads?|connections?|concurrency|level|load)$"
)
# Levels where nothing above is one: rates of arrival, and what else a load or a target is made larger by.
_ALSO_LEVEL = re.compile(
    r"^((arrival |offered |target |request )?rate|offered load|injectors?|generators?|items?|processors?|cores|cpus|"
    r"nodes|instances|replicas|workers?|sessions?)$"
)
_OPERATION = re.compile(
    r"^(operation|endpoint|methods?|name|label|scenario|use case|transaction|integration scenario)$"
)
_THROUGHPUT = re.compile(
    r"^(throughput|req(uests?)?( ?(/|per) ?s(ec(ond)?)?)|rps|tps|qps|transactions?( ?(/|per) ?s(ec(ond)?)?))$"
)
_PERCENTILE = re.compile(
    r"^(?:p ?(\d{1,2}(?:\.\d+)?)|(\d{1,2}(?:\.\d+)?) ?(?:%|%ile|th(?: percentile)?|st|percentile))"
    r"(?: (?:response )?time)?$"
)
_NAMED_TIME = {
    "median": "p50", "median response time": "p50", "mean": "mean", "avg": "mean", "average": "mean", "min": "min",
    "max": "max", "average response time": "mean", "response time": "mean", "latency": "mean",
    "avg response time": "mean", "mean response time": "mean",
}  # fmt: skip
_RESOURCE = re.compile(r"\b(cpu|disk|memory|mem|ram|utilisation|utilization|util|busy)\b")
_UNIT_SUFFIX = re.compile(r"^(.*?)_(ms|us|s|percent|ratio|share|bytes|per_s|per_h|per_hour|per_min)$")
_LEVEL_UNITS = {"vu": "vus", "concurrency": "users", "level": "users", "load": "users"}
_MAYBE_THOUSAND = re.compile(r"[1-9]\d{0,2}\.\d{3}(?![\d.])")


class _NoUnit(BadRecord):
    """A number without a unit, of a column whose heading has none: told once, not for each row."""


@dataclass
class Column:
    """A column: its heading, what it is, its statistic or name, and the unit, of the heading or of its first cell."""

    heading: str
    role: Role
    name: str
    dimension: Dimension
    unit: str = ""
    unit_from: str = "heading"
    first_line: int = 0
    unit_asked: bool = False
    not_understood: str = ""
    maybe_thousand: str = ""  # the first cell such as 1.500, while no other says that the point begins a fraction
    has_fraction: bool = False

    @property
    def place(self) -> str:
        """What of a row it says; two columns of one place would overwrite each other."""
        return f"{self.role} {self.name}" if self.role in ("time", "utilisation", "rate", "other") else self.role

    def number(self, cell: str, delimiter: str) -> float | None:
        """The cell in ms, share, bytes, per s or as a count; cells are parted by `delimiter`."""
        found = quantity(cell, self.heading, delimiter)
        if found is None:
            return None
        if delimiter in ";\t" and "." in cell:
            like = _MAYBE_THOUSAND.match(cell.strip())
            self.has_fraction = self.has_fraction or like is None
            self.maybe_thousand = self.maybe_thousand or (like.group() if like else "")
        if found.unit:
            self._agree(found.unit)
        elif self.unit_from == "cell":
            raise BadRecord(f"mixed units: none here, {self.unit!r} above", self.heading, "Give every cell its unit.")
        if not self.unit:
            if self.dimension != "count":
                what = "no unit says whether this is ms or s" if self.dimension == "time" else "it has no unit"
                step = f"Write the heading as {self.name} ({_example(self.dimension)}), or the unit into every cell."
                raise _NoUnit(what, self.heading, step)
            return found.value
        return found.value * factor_of(self.unit, self.dimension, self.heading)

    def _agree(self, unit: str) -> None:
        if not self.unit and self.first_line == 0:
            if self.dimension == "count":
                raise BadRecord(f"a count has no unit, but this has {unit!r}", self.heading, "Correct it.")
            self.unit, self.unit_from = unit, "cell"
            factor_of(unit, self.dimension, self.heading)
        elif unit != self.unit.lower():
            before = f"{self.unit!r} in the heading" if self.unit_from == "heading" else f"{self.unit!r} above"
            raise BadRecord(f"mixed units: {unit!r} here, {before}", self.heading, "Use one unit in a column.")


def _example(dimension: Dimension) -> str:
    return {"time": "ms", "share": "%", "rate": "/s", "bytes": "MB"}.get(dimension, "")


def column_of(heading: str) -> Column:
    """What a heading says."""
    text, unit = _split(heading.strip())
    words = re.sub(r"[_\s]+", " ", text.lower()).strip()
    percentile = _PERCENTILE.match(words)
    if _LEVEL.match(words):
        return Column(heading, "level", words, "count")
    if _OPERATION.match(words) and not unit:
        return Column(heading, "operation", words, "count")
    if percentile:
        return Column(heading, "time", f"p{float(percentile.group(1) or percentile.group(2)):g}", "time", unit)
    if words in _NAMED_TIME:
        return Column(heading, "time", _NAMED_TIME[words], "time", unit)
    if _THROUGHPUT.match(words):
        return Column(heading, "throughput", words, "rate", unit or ("" if words == "throughput" else "/s"))
    return _other_column(heading, text.strip(), words, unit)


def _other_column(heading: str, text: str, words: str, unit: str) -> Column:
    if re.search(r"\b(errors?|fail(ed|ures?)?)\b", words):
        if unit or "rate" in words:
            return Column(heading, "error_share", words, "share", unit)
        return Column(heading, "failed", words, "count")
    if re.fullmatch(r"samples|count|#? ?requests|total requests|request count", words) and not unit:
        return Column(heading, "samples", words, "count")
    if words in ("duration", "length"):
        return Column(heading, "duration", words, "time", unit)
    dimension = UNITS[unit.lower()][0] if unit.lower() in UNITS else "count"
    if _RESOURCE.search(words) and (dimension == "share" or not unit):
        name = re.sub(r"\s+", " ", _RESOURCE.sub("", text, count=1) if len(words.split()) > 1 else text).strip()
        if not re.search(r"\bcpu\b", words) and len(words.split()) > 1:
            name = text
        return Column(heading, "utilisation", name or text, "share", unit)
    if dimension == "rate":
        return Column(heading, "rate", text, "rate", unit)
    return Column(heading, "other", heading.strip(), dimension, unit)


def _split(heading: str) -> tuple[str, str]:
    text, unit = _bracketed(heading)
    if unit.lower() in UNITS:
        return text, unit
    found = _UNIT_SUFFIX.match(heading.lower())
    if found:
        return found.group(1), found.group(2).replace("per_s", "/s").replace("per_hour", "/h").replace("per_", "per ")
    for unit in sorted(UNITS, key=len, reverse=True):
        if len(unit) > 2 and unit.startswith("per ") and heading.lower().endswith(" " + unit):
            return heading[: -len(unit)].rstrip(), unit
    return (heading[:-1].rstrip(), "%") if heading.endswith(" %") else (heading, "")


def _bracketed(heading: str) -> tuple[str, str]:
    """What stands before the brackets at the end, and in them; nothing without these."""
    if not heading.endswith((")", "]")):
        return heading, ""
    opening = max(heading.rfind("("), heading.rfind("["))
    return (heading[:opening].rstrip(), heading[opening + 1 : -1].strip()) if opening >= 0 else (heading, "")


def _columns(headings: Sequence[str]) -> list[Column]:
    """What the headings of a table say together."""
    with_units = jmeter_report.with_units(headings) or headings
    nameless = [f"column {place}" for place in range(1, len(headings) + 1)]  # spreadsheets save columns without a name
    told = zip(headings, with_units, nameless, strict=True)
    return [replace(column_of(known or name), heading=heading or name) for heading, known, name in told]


def looks_like(head: str) -> bool:
    """Whether the first line is a heading with a level or a throughput, and a number follows."""
    lines = [line for line in head.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        return False
    roles = [column.role for column in _columns(_cells(lines[0], _delimiter(lines[0])))]
    return len(roles) > 1 and ("level" in roles or "throughput" in roles or "utilisation" in roles)


def _delimiter(line: str) -> str:
    return max("\t;|,", key=line.count)


def _cells(line: str, delimiter: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.strip().strip("|").split(delimiter)]


@dataclass
class _Reading:
    columns: list[Column]
    delimiter: str
    rows: list[Row] = field(default_factory=list)
    unjudged: list[dict[str, str]] = field(default_factory=list)
    mistakes: list[InputError] = field(default_factory=list)


def read(file: SourceFile, into: Any = None, level: str | None = None) -> StepTable:
    """The table; `level`: heading of the column that is the load. InputErrors with all mistakes, each with file, line
    and column."""
    head = file.head().decode("utf-8-sig", errors="replace")
    first = next((line for line in head.splitlines() if line.strip() and not line.startswith("#")), "")
    delimiter = _delimiter(first)
    rows = _without_comments(file.rows(delimiter), framed=delimiter == "|")
    heading = next(rows, None)
    if not heading:
        raise file.error(BadRecord("the table has no heading", None, "Name the columns in its first line."), 1)
    reading = _Reading(_columns(heading), delimiter)
    _choose_level(file, reading.columns, level)
    _check_columns(file, reading)
    file.records(rows, _taker(file, reading))
    if reading.mistakes:
        raise InputErrors(reading.mistakes)
    if not reading.rows:
        raise file.error(BadRecord("the table has a heading and no rows", None, "Give it a row a level."), 1)
    left_out = [column for column in reading.columns if column.not_understood]
    telling = telling_apart(reading.rows, reading.unjudged)
    found = tuple(
        _finished(row, cells, telling, left_out) for row, cells in zip(reading.rows, reading.unjudged, strict=True)
    )
    return StepTable(
        found, _level_unit(reading.columns), tuple(_notes(reading, telling, left_out)), together=_is_of_jmeter(reading)
    )


def _choose_level(file: SourceFile, columns: list[Column], wanted: str | None) -> None:
    """Make one column the level: the one of that heading, else a known one, else one of _ALSO_LEVEL."""
    if wanted is not None:
        plain = wanted.strip().lower()
        chosen = next((one for one in columns if plain in (one.heading.lower(), _split(one.heading)[0].lower())), None)
        if chosen is None:
            known = ", ".join(one.heading for one in columns)
            raise InputError(f"--level {wanted}: there is no such column; it has {known}", "Name one.", file=file.path)
    elif any(one.role == "level" for one in columns):
        return
    else:
        chosen = next((one for one in columns if _ALSO_LEVEL.match(_words(one.heading))), None)
        if chosen is None:
            return
    for one in columns:
        if one.role == "level" and one is not chosen:
            one.role = "other"
    text, unit = _split(chosen.heading)
    is_rate = UNITS.get(unit.lower(), ("count", 1.0))[0] == "rate"
    chosen.role, chosen.name, chosen.unit = "level", _words(text), unit if is_rate else ""
    chosen.dimension = "rate" if is_rate else "count"


def _words(heading: str) -> str:
    return re.sub(r"[_\s]+", " ", _split(heading)[0].lower()).strip()


def _level_unit(columns: Sequence[Column]) -> str:
    """The unit of the levels, in words."""
    column = next((one for one in columns if one.role == "level"), None)
    if column is None or "user" in column.name or "client" in column.name:
        return "users"
    if column.dimension == "rate":
        return "requests/s"
    return _LEVEL_UNITS.get(column.name) or (column.name if column.name.endswith("s") else f"{column.name}s")


def _finished(row: Row, cells: Mapping[str, str], telling: Sequence[str], left_out: Sequence[Column]) -> Row:
    """The row with its variant, and without what was not understood."""
    names = {column.name for column in left_out}
    used = {name: value for name, value in row.utilisation.items() if name not in names}
    rates = {name: value for name, value in row.rates.items() if name not in names}
    words = [cells[name] if not _is_number(cells[name]) else f"{name} {cells[name]}" for name in telling]
    return replace(row, variant=", ".join(words) or None, utilisation=used, rates=rates)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


def _is_of_jmeter(reading: _Reading) -> bool:
    """Whether it is a report of JMeter, whose labels all ran in the same test."""
    return jmeter_report.with_units([one.heading for one in reading.columns]) is not None


def _notes(reading: _Reading, telling: Sequence[str], left_out: Sequence[Column]) -> Iterator[str]:
    unknown = [one.heading for one in reading.columns if one.role == "other" and one.heading not in telling]
    if _is_of_jmeter(reading):
        yield jmeter_report.READ_AS
    if telling:
        yield f"Rows that {' and '.join(telling)} tells apart are tests of their own, with one answer each."
    if unknown:
        yield f"Columns kept and not judged: {', '.join(unknown)}."
    for column in left_out:
        yield f"Left out: {column.heading}: {column.not_understood}."
    for column in reading.columns:
        if column.maybe_thousand and not column.has_fraction and column.role not in ("other", "operation"):
            small, large = float(column.maybe_thousand), column.maybe_thousand.replace(".", "")
            yield (
                f"{column.heading}: {column.maybe_thousand} was read as {small:g}, as a point begins a fraction. If it "
                f"means {large}, write thousands without a point."
            )


def _without_comments(rows: Iterator[list[str]], framed: bool) -> Iterator[list[str]]:
    """Rows that say something; of a Markdown table, without the empty cells outside its frame."""
    for row in rows:
        if row and not row[0].startswith("#") and any(cell.strip() for cell in row):
            inside = row[1:-1] if framed and row[0].strip() == row[-1].strip() == "" and len(row) > 2 else row
            yield [cell.strip() for cell in inside]


def _check_columns(file: SourceFile, reading: _Reading) -> None:
    """Only names of an operation may stand in several columns, as method and endpoint: they are joined."""
    headings: set[str] = set()
    places: dict[str, Column] = {}
    for column in reading.columns:
        first = places.setdefault(column.place, column)
        if column.heading in headings:
            reading.mistakes.append(file.error(BadRecord("two columns have this name", column.heading, "Rename one.")))
        elif first is not column and column.role != "operation":
            what = f"this and {first.heading!r} both say {_told(column)}"
            step = "Leave one out, or give it a name that is not judged."
            reading.mistakes.append(file.error(BadRecord(what, column.heading, step)))
        headings.add(column.heading)


def _told(column: Column) -> str:
    """What a column says, in words."""
    if column.role in ("time", "rate"):
        return f"the {column.name}"
    if column.role == "utilisation":
        return f"the utilisation of {column.name}"
    return {"level": "the level", "failed": "how many failed", "samples": "how many there were",
            "error_share": "the share of errors"}.get(column.role, f"the {column.role}")  # fmt: skip


def _taker(file: SourceFile, reading: _Reading) -> Callable[[list[str]], None]:
    def take(cells: list[str]) -> None:
        if set("".join(cells)) <= set("-: "):  # the rule under a Markdown heading
            return
        if len(cells) != len(reading.columns):
            raise BadRecord(f"{len(cells)} cells under {len(reading.columns)} headings", None, "Correct the row.")
        if len(reading.rows) >= MOST_ROWS:
            step = "Name its format with --format, or put the rows of a level together."
            raise file.error(BadRecord(f"a table of levels has at most {MOST_ROWS:,} rows", None, step))
        row = _row(file, reading, cells)
        if row is not None:
            reading.rows.append(row)
            columns = zip(reading.columns, cells, strict=True)
            reading.unjudged.append({column.heading: cell for column, cell in columns if column.role == "other"})

    return take


def _row(file: SourceFile, reading: _Reading, cells: list[str]) -> Row | None:
    """The row, or None after noting its mistakes."""
    known: dict[str, Any] = {"line": file.line}
    groups: dict[str, dict[str, Any]] = {"times_ms": {}, "utilisation": {}, "rates": {}, "others": {}}
    stated: dict[str, Stated] = {}
    failed = False
    for column, cell in zip(reading.columns, cells, strict=True):
        if column.role == "operation":
            known["operation"] = " ".join(part for part in (known.get("operation"), cell) if part) or None
            continue
        try:
            value = _number(column, cell, reading.delimiter, file.line)
        except BadRecord as problem:
            if isinstance(problem, _NoUnit | UnknownUnit) and column.role in ("utilisation", "rate"):
                column.not_understood = _why_not(column, problem)
                continue
            if not (isinstance(problem, _NoUnit) and column.unit_asked):
                reading.mistakes.append(file.error(problem))
            column.unit_asked = column.unit_asked or isinstance(problem, _NoUnit)
            failed = True
            continue
        if value is not None:
            _place(column, value, known, groups)
            if column.role == "time":
                unit_ms = factor_of(column.unit, "time", column.heading)
                stated[column.name] = Stated(column.heading, cell.strip(), value, unit_ms)
    try:
        check_order(stated)
    except BadRecord as problem:
        reading.mistakes.append(file.error(problem))
        failed = True
    for contradiction in impossible_counts(_told_of("samples", reading, known), _told_of("failed", reading, known)):
        reading.mistakes.append(file.error(contradiction))
        failed = True
    if str(known.get("operation", "")).lower() in _TOTALS:
        known["operation"] = None
    return None if failed else Row(**(known | groups))


def _told_of(role: str, reading: _Reading, known: Mapping[str, Any]) -> Told:
    heading = next((column.heading for column in reading.columns if column.role == role), role)
    return Told(heading, known.get(role))


def _why_not(column: Column, problem: BadRecord) -> str:
    """Why a column says nothing, in a clause."""
    if column.heading.endswith((")", "]")) and not _split(column.heading)[1]:
        return f"{column.heading[max(column.heading.rfind('('), column.heading.rfind('[')) :]} is no unit that is known"
    return f"{problem.what}; {problem.next_step[:1].lower()}{problem.next_step[1:].rstrip('.')}"


def _number(column: Column, cell: str, delimiter: str, line: int) -> float | None:
    if column.role == "other":
        try:
            return column.number(cell, delimiter)
        except BadRecord:
            return None  # words in a column that nothing is judged by
    value = column.number(cell, delimiter)
    if value is not None:
        column.first_line = column.first_line or line
    if value is not None and column.role in ("utilisation", "error_share") and value > 1 + 1e-9:
        raise BadRecord(f"{cell.strip()!r} is above 100%", column.heading, "Give the share of all that there is.")
    if value is not None and column.role == "level" and value <= 0:
        raise BadRecord(f"a level of {cell.strip()} is none", column.heading, "Levels are above 0.")
    if value is not None and column.role in ("failed", "samples"):
        return whole(value, cell, column.heading)
    return value


def _place(column: Column, value: float, known: dict[str, Any], groups: dict[str, dict[str, Any]]) -> None:
    if column.role == "time":
        groups["times_ms"][column.name] = (value, value)
    elif column.role in ("utilisation", "rate", "other"):
        groups[{"utilisation": "utilisation", "rate": "rates", "other": "others"}[column.role]][column.name] = value
    elif column.role in ("failed", "samples"):
        known[column.role] = int(value)
    else:
        key = {"throughput": "throughput_per_s", "duration": "duration_s"}.get(column.role, column.role)
        known[key] = value / 1000 if column.role == "duration" else value


FORMAT = Format(
    name="table",
    title="a table of levels (CSV)",
    shape="summary",
    loop="unknown",
    looks_like=looks_like,
    read=read,
    supports="where throughput flattens, objectives per level, service demand and its extrapolation",
    cannot=(ONE_SUMMARY, ONE_RUN, HIDES_QUEUEING.replace("Its users wait", "If its users waited"), NO_GENERATOR),
)
