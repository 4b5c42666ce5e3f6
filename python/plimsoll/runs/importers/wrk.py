"""The text that wrk and wrk2 print; several outputs one after the other are several levels (connections).

github.com/wg/wrk, github.com/giltene/wrk2. wrk2 sends at a rate (-R) and times from the planned start; wrk's
connections wait for their answers. wrk2 is known by lines that only it prints: its calibration, and its histogram.
"""

from __future__ import annotations

import re
from typing import Any

from plimsoll.errors import InputErrors
from plimsoll.runs.importers.contradictions import STEP, Told, impossible_counts, impossible_rate
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.order_of_times import Stated, check_order
from plimsoll.runs.importers.source import HIDES_QUEUEING, NO_GENERATOR, ONE_RUN, ONE_SUMMARY, BadRecord, Format
from plimsoll.runs.importers.units import factor_of, quantity
from plimsoll.runs.readings.step_table import Row, StepTable

GUESSES = (
    "wrk adds to its times those of requests that it takes to have missed (stats_correct in wrk.c), so they are not "
    "only what was measured, and their mean can be more than throughput and connections allow."
)
RATE_UNKNOWN = (
    "wrk2 does not print the rate at which it was to send (-R): the levels are its connections, so throughput that is "
    "flat over them may be that rate, and whether the rate was reached cannot be told."
)
_BEGIN = re.compile(r"^Running .* test @ ")
_CONNECTIONS = re.compile(r"^\s*\d+ threads? and (\d+) connections?", re.ASCII)
_LATENCY = re.compile(r"^\s*Latency\s+(\S+)\s+\S+\s+(\S+)", re.ASCII)
_QUANTILE = re.compile(r"^\s*(\d+(?:\.\d+)?)%\s+([\d.]+(?:us|ms|s|m|h))\s*$", re.ASCII)
_TOTAL = re.compile(r"^\s*(\d+) requests in ([\d.]+(?:us|ms|s|m|h))", re.ASCII)
_RATE = re.compile(r"^Requests/sec:\s*(\d+(?:\.\d+)?)\s*$", re.ASCII)
_REFUSED = re.compile(r"Non-2xx or 3xx responses: (\d+)", re.ASCII)
_SOCKET = re.compile(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", re.ASCII)
_NEGATIVE = re.compile(r"^\s*(?:(Latency|Req/Sec|[\d.]+%|Requests/sec|Non-2xx|Socket errors).*\s)?(-\d\S*)")
_KNOWN = (  # how a line that is used begins, and what it looks like
    (re.compile(r"^\s*\d+ threads? and "), _CONNECTIONS),
    (re.compile(r"^\s*Latency\s+(?!Distribution)"), _LATENCY),
    (re.compile(r"^\s*[\d.]+%\s"), _QUANTILE),
    (re.compile(r"^\s*\S+ requests in "), _TOTAL),
    (re.compile(r"^Requests/sec:"), _RATE),
    (re.compile(r"^\s*Non-2xx or 3xx responses:"), re.compile(r"^\s*Non-2xx or 3xx responses: \d+\s*$", re.ASCII)),
    (re.compile(r"^\s*Socket errors:"), _SOCKET),
)
_MOST_DIGITS = 15
_LONG_NUMBER = re.compile(rf"\d{{{_MOST_DIGITS + 1},}}")
_UNCORRECTED = "Uncorrected Latency"
TIMED_NOTHING = "It has no time of a request: wrk prints 0.00us where none was answered"
WRK2 = re.compile(r"Thread calibration|HdrHistogram|Recorded Latency")


def looks_like(head: str) -> bool:
    """Whether it has the first two lines of wrk."""
    return any(_BEGIN.match(line) for line in head.splitlines()) and "connections" in head


def looks_like_wrk2(head: str) -> bool:
    """Whether it has them, and a line that only wrk2 prints."""
    return looks_like(head) and WRK2.search(head) is not None


def read(file: SourceFile, into: Any = None) -> StepTable:
    """A row a run of wrk. InputError for wrk2's, of whose times another thing is true."""
    runs = _runs(file)
    if any(_is_wrk2(run) for run in runs):
        raise file.error(BadRecord("this is what wrk2 prints", None, "Name its format with --format wrk2."))
    rows = _rows(file, runs)
    without = all("p99" not in row.times_ms for row in rows)
    return StepTable(rows, "connections", ("Without --latency wrk prints no percentiles.",) if without else ())


def read_wrk2(file: SourceFile, into: Any = None) -> StepTable:
    """A row a run of wrk2; runs without a line that only wrk2 prints are taken as its, and counted."""
    runs = _runs(file)
    notes = ["This is wrk2, which times from the planned start: queueing is in its times."]
    if unmarked := sum(1 for run in runs if not _is_wrk2(run)):
        notes.append(f"{unmarked} of {len(runs)} runs have no line that wrk does not print too; taken as wrk2's.")
    if any(_UNCORRECTED in line for run in runs for _, line in run):
        notes.append("The uncorrected times in it (-U) are not used.")
    return StepTable(_rows(file, runs), "connections", tuple(notes))


def _is_wrk2(run: list[tuple[int, str]]) -> bool:
    return any(WRK2.search(line) for _, line in run)


def _runs(file: SourceFile) -> list[list[tuple[int, str]]]:
    """The numbered lines of each run. InputError without any."""
    lines = list(enumerate(file.whole_text().splitlines(), 1))
    begins = [place for place, (_, line) in enumerate(lines) if _BEGIN.match(line)]
    if not begins:
        raise file.error(BadRecord("no line says “Running … test @”, so this is no output of wrk"))
    return [lines[start:end] for start, end in zip(begins, [*begins[1:], len(lines)], strict=True)]


def _rows(file: SourceFile, runs: list[list[tuple[int, str]]]) -> tuple[Row, ...]:
    """A row of each run that is whole. InputError if none is."""
    rows = []
    for run in runs:
        row = _row(file, run)
        if row is None:
            file.notes.append(
                f"The run that begins in line {run[0][0]} has no “Requests/sec”: it is cut, and not used."
            )
        else:
            rows.append(row)
    if not rows:
        raise file.error(BadRecord("no run in it has an end (“Requests/sec”)", None, "Let wrk end by itself."))
    return tuple(rows)


def _row(file: SourceFile, run: list[tuple[int, str]]) -> Row | None:
    text = "\n".join(line for _, line in run)
    negative = [
        file.error(BadRecord(f"{found.group(2)!r} is negative", found.group(1), STEP), number)
        for number, line in run
        if (found := _NEGATIVE.match(line))
    ]
    if negative:
        raise InputErrors.of(negative)
    _check_lines(file, run)
    rate = re.search(_RATE.pattern, text, re.MULTILINE | re.ASCII)
    total = re.search(_TOTAL.pattern, text, re.MULTILINE | re.ASCII)
    if rate is None or total is None:
        return None
    times: dict[str, Stated] = {}
    for number, line in run:
        if _UNCORRECTED in line:
            break
        try:
            _times(line, times)
        except BadRecord as problem:
            raise file.error(problem, number) from problem
    try:
        check_order(times)
    except BadRecord as problem:
        raise file.error(problem, run[0][0]) from problem
    if times and not any(one.value_ms for one in times.values()):
        times = {}
        file.notes.append(f"The run that begins in line {run[0][0]}: {TIMED_NOTHING}{_why_none(text)}.")
    requests = Told("requests", float(total.group(1)))
    try:
        duration_s = _stated("requests in", total.group(2)).value_ms / 1000
    except BadRecord as problem:
        raise file.error(problem, run[0][0]) from problem
    refused = _REFUSED.search(text)
    mistakes = [
        *impossible_counts(requests, Told("Non-2xx or 3xx responses", float(refused.group(1)) if refused else None)),
        *impossible_rate(Told("Requests/sec", float(rate.group(1))), requests, Told("requests in", duration_s)),
    ]
    if mistakes:
        raise InputErrors.of([file.error(problem, run[0][0]) for problem in mistakes])
    connections = re.search(_CONNECTIONS.pattern, text, re.MULTILINE | re.ASCII)
    count, failed = _counts(int(total.group(1)), text, late_ones_count=not _is_wrk2(run))
    return Row(
        line=run[0][0],
        level=float(connections.group(1)) if connections else None,
        throughput_per_s=float(rate.group(1)),
        times_ms={name: (one.value_ms, one.value_ms) for name, one in times.items()},
        samples=count,
        failed=failed,
        duration_s=duration_s,
    )


def _check_lines(file: SourceFile, run: list[tuple[int, str]]) -> None:
    """Note the lines that begin as one that is used and cannot be read. InputErrors for gigantic numbers in others."""
    gigantic = []
    for number, line in run:
        if _UNCORRECTED in line:
            break
        for begins, whole in _KNOWN:
            if not begins.match(line):
                continue
            if _LONG_NUMBER.search(line.partition(".")[0]) and whole.search(line):
                what = f"{line.strip()[:40]!r} has a number larger than anything measured can be"
                gigantic.append(file.error(BadRecord(what, None, STEP), number))
            elif not whole.search(line):
                file.notes.append(f"Line {number} cannot be read and is not used: {line.strip()[:60]!r}.")
    if gigantic:
        raise InputErrors.of(gigantic)


def _why_none(text: str) -> str:
    """The errors that it counts, as it names them."""
    socket = _SOCKET.search(text)
    kinds = ("connect errors", "read errors", "write errors", "timeouts")
    counted = [f"{int(count):,} {kind}" for count, kind in zip(socket.groups(), kinds, strict=True)] if socket else []
    told = [words for words in counted if not words.startswith("0 ")]
    return f"; it counts {', '.join(told)}" if told else " within --timeout"


def _counts(answered: int, text: str, *, late_ones_count: bool) -> tuple[int, int]:
    """Requests, and how many of them failed. `late_ones_count`: answers after --timeout are among those that were
    answered, as wrk has it since 4.0 (response_complete in wrk.c); wrk2 counts them apart."""
    refused, socket = _REFUSED.search(text), _SOCKET.search(text)
    connect, read, write, late = map(int, socket.groups()) if socket else (0, 0, 0, 0)
    broken = connect + read + write
    failed = (int(refused.group(1)) if refused else 0) + late
    if not late_ones_count:
        return answered + broken + late, failed + broken
    return answered + broken, min(answered, failed) + broken


def _times(line: str, times: dict[str, Stated]) -> None:
    latency, quantile = _LATENCY.match(line), _QUANTILE.match(line)
    if latency:
        for name, column, cell in (("mean", "Latency Avg", latency.group(1)), ("max", "Latency Max", latency.group(2))):
            if "nan" not in cell and name not in times:
                times[name] = _stated(column, cell)
    elif quantile and float(quantile.group(1)) < 100:
        times.setdefault(f"p{float(quantile.group(1)):g}", _stated(f"{quantile.group(1)}%", quantile.group(2)))


def _stated(column: str, cell: str) -> Stated:
    found = quantity(cell, "Latency")
    if found is None or not found.unit:
        raise BadRecord(f"{cell!r} is no time", "Latency")
    unit_ms = factor_of(found.unit, "time", "Latency")
    return Stated(column, cell, found.value * unit_ms, unit_ms)


FORMAT = Format(
    name="wrk",
    title="wrk, text",
    shape="summary",
    loop="closed",
    looks_like=looks_like,
    read=read,
    supports="objectives per number of connections; where throughput flattens, of several outputs in one file",
    cannot=(ONE_SUMMARY, ONE_RUN, f"wrk: {HIDES_QUEUEING[0].lower()}{HIDES_QUEUEING[1:]}", GUESSES, NO_GENERATOR),
)
WRK2_FORMAT = Format(
    name="wrk2",
    title="wrk2, text",
    shape="summary",
    loop="open",
    looks_like=looks_like_wrk2,
    read=read_wrk2,
    supports="objectives per number of connections, at the rate at which it sent",
    cannot=(ONE_SUMMARY, ONE_RUN, RATE_UNKNOWN, NO_GENERATOR),
)
