"""The text that wrk and wrk2 print; several outputs one after the other are several levels (connections).

github.com/wg/wrk, github.com/giltene/wrk2. wrk2 sends at a rate (-R) and times from the planned start; wrk's
connections wait for their answers.
"""

from __future__ import annotations

import re
from typing import Any

from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import HIDES_QUEUEING, NO_GENERATOR, ONE_RUN, ONE_SUMMARY, BadRecord, Format
from plimsoll.runs.importers.units import factor_of, quantity
from plimsoll.runs.step_table import Row, StepTable

GUESSES = (
    "wrk adds to its times those of requests that it takes to have missed (stats_correct in wrk.c), so they are not "
    "only what was measured, and their mean can be more than throughput and connections allow."
)
_BEGIN = re.compile(r"^Running .* test @ ")
_CONNECTIONS = re.compile(r"^\s*\d+ threads? and (\d+) connections?")
_LATENCY = re.compile(r"^\s*Latency\s+(\S+)\s+\S+\s+(\S+)")
_QUANTILE = re.compile(r"^\s*(\d+(?:\.\d+)?)%\s+([\d.]+(?:us|ms|s|m|h))\s*$")
_TOTAL = re.compile(r"^\s*(\d+) requests in ([\d.]+(?:us|ms|s|m|h))")
_RATE = re.compile(r"^Requests/sec:\s*(\d+(?:\.\d+)?)\s*$")
_REFUSED = re.compile(r"Non-2xx or 3xx responses: (\d+)")
_SOCKET = re.compile(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)")
_UNCORRECTED = "Uncorrected Latency"
WRK2 = re.compile(r"Thread calibration|HdrHistogram|Recorded Latency")


def looks_like(head: str) -> bool:
    """Whether it has the first two lines of wrk."""
    return any(_BEGIN.match(line) for line in head.splitlines()) and "connections" in head


def read(file: SourceFile, into: Any = None) -> StepTable:
    """A row a run."""
    lines = list(enumerate(file.whole_text().splitlines(), 1))
    begins = [place for place, (_, line) in enumerate(lines) if _BEGIN.match(line)]
    if not begins:
        raise file.error(BadRecord("no line says “Running … test @”, so this is no output of wrk"))
    runs = [lines[start:end] for start, end in zip(begins, [*begins[1:], len(lines)], strict=True)]
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
    notes = []
    if any(WRK2.search(line) for _, line in lines):
        notes.append("This is wrk2, which times from the planned start: queueing is in its times.")
        if any(_UNCORRECTED in line for _, line in lines):
            notes.append("The uncorrected times in it (-U) are not used.")
    elif len({row.times_ms.get("p99") for row in rows}) == 1 and not rows[0].times_ms.get("p99"):
        notes.append("Without --latency wrk prints no percentiles.")
    return StepTable(tuple(rows), "connections", tuple(notes))


def _row(file: SourceFile, run: list[tuple[int, str]]) -> Row | None:
    text = "\n".join(line for _, line in run)
    rate = re.search(_RATE.pattern, text, re.MULTILINE)
    total = re.search(_TOTAL.pattern, text, re.MULTILINE)
    if rate is None or total is None:
        return None
    times: dict[str, tuple[float, float]] = {}
    for number, line in run:
        if _UNCORRECTED in line:
            break
        try:
            _times(line, times)
        except BadRecord as problem:
            raise file.error(problem, number) from problem
    refused, socket = _REFUSED.search(text), _SOCKET.search(text)
    connections = re.search(_CONNECTIONS.pattern, text, re.MULTILINE)
    failed = int(refused.group(1)) if refused else 0
    failed += sum(int(count) for count in socket.groups()) if socket else 0
    count = int(total.group(1)) + (sum(map(int, socket.groups())) if socket else 0)
    return Row(
        line=run[0][0],
        level=float(connections.group(1)) if connections else None,
        throughput_per_s=float(rate.group(1)),
        times_ms=times,
        samples=count,
        failed=failed,
        duration_s=_ms(total.group(2)) / 1000,
    )


def _times(line: str, times: dict[str, tuple[float, float]]) -> None:
    latency, quantile = _LATENCY.match(line), _QUANTILE.match(line)
    if latency:
        for name, cell in (("mean", latency.group(1)), ("max", latency.group(2))):
            if "nan" not in cell and name not in times:
                times[name] = (_ms(cell), _ms(cell))
    elif quantile and float(quantile.group(1)) < 100:
        times.setdefault(f"p{float(quantile.group(1)):g}", (_ms(quantile.group(2)), _ms(quantile.group(2))))


def _ms(cell: str) -> float:
    found = quantity(cell, "Latency")
    if found is None or not found.unit:
        raise BadRecord(f"{cell!r} is no time", "Latency")
    return found.value * factor_of(found.unit, "time", "Latency")


FORMAT = Format(
    name="wrk",
    title="wrk or wrk2, text",
    shape="summary",
    loop="closed",
    looks_like=looks_like,
    read=read,
    supports="objectives per number of connections; where throughput flattens, of several outputs in one file",
    cannot=(ONE_SUMMARY, ONE_RUN, f"wrk: {HIDES_QUEUEING[0].lower()}{HIDES_QUEUEING[1:]}", GUESSES, NO_GENERATOR),
)
