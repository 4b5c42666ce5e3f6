"""Locust's --csv …_stats.csv: one line an endpoint, for the whole test."""

from __future__ import annotations

from typing import Any

from plimsoll.runs.importers.contradictions import Told, impossible_counts
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.locust.history import PERCENTILES, ROUNDED
from plimsoll.runs.importers.order_of_times import Stated, check_order
from plimsoll.runs.importers.source import HIDES_QUEUEING, NO_GENERATOR, ONE_RUN, ONE_SUMMARY, BadRecord, Format
from plimsoll.runs.importers.units import quantity, whole
from plimsoll.runs.readings.step_table import Row, StepTable

NEEDED = ("Name", "Request Count", "Failure Count", "Requests/s")
_TIMES = {"Average Response Time": "mean", "Min Response Time": "min", "Max Response Time": "max", **PERCENTILES}


def looks_like(head: str) -> bool:
    """Whether its first line names the columns of the statistics."""
    return head.startswith("Type,Name,") and "Request Count" in head.partition("\n")[0]


def read(file: SourceFile, into: Any = None) -> StepTable:
    """A row an endpoint, and one for all."""
    rows = file.rows()
    header = next(rows)
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise file.error(BadRecord(f"the columns {', '.join(missing)} are missing", None, "Export it with --csv."))
    found: list[Row] = []

    def take(cells: list[str]) -> None:
        if not cells:
            return
        if len(cells) != len(header):
            raise BadRecord(f"{len(cells)} columns instead of {len(header)}")
        row = dict(zip(header, cells, strict=True))
        times = {name: one for key, name in _TIMES.items() if key in row and (one := _stated(row[key], key))}
        check_order(times)
        requests, failed = (_count(row[column], column) for column in ("Request Count", "Failure Count"))
        for problem in impossible_counts(Told("Request Count", requests), Told("Failure Count", failed)):
            raise problem
        name = None if row["Name"] == "Aggregated" else f"{row.get('Type', '')} {row['Name']}".strip()
        found.append(
            Row(
                line=file.line,
                operation=name,
                throughput_per_s=_number(row["Requests/s"], "Requests/s"),
                times_ms={key: (one.value_ms, one.value_ms) for key, one in times.items()},
                samples=requests,
                failed=failed,
            )
        )

    file.records(rows, take)
    if not found:
        raise file.error(BadRecord("there are no endpoints in it", None, "Check that the test ran."))
    return StepTable(
        tuple(found), "users", ("It does not say how many users there were, so it is of no level.", ROUNDED)
    )


def _number(cell: str, column: str) -> float | None:
    found = quantity(cell, column)
    if found is not None and found.unit:
        raise BadRecord(f"{cell.strip()[:40]!r} is no number", column)
    return None if found is None else found.value


def _stated(cell: str, column: str) -> Stated | None:
    value = _number(cell, column)
    return None if value is None else Stated(column, cell.strip(), value, 1.0)


def _count(cell: str, column: str) -> int:
    return whole(_number(cell, column) or 0.0, cell, column)


FORMAT = Format(
    name="locust-stats",
    title="Locust, stats",
    shape="summary",
    loop="closed",
    looks_like=looks_like,
    read=read,
    supports="objectives per endpoint over the whole test",
    cannot=(ONE_SUMMARY, ONE_RUN, HIDES_QUEUEING, NO_GENERATOR),
)
