"""vegeta's report as JSON (`vegeta report -type json`): one summary of a whole attack; times in ns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.runs.importers.documents import document, exact, needed, number
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import NO_GENERATOR, ONE_RUN, ONE_SUMMARY, Format
from plimsoll.runs.importers.vegeta import NS_PER_MS, STAMPED_LATE
from plimsoll.runs.step_table import Row, StepTable

_TIMES = {"p50": "50th", "p90": "90th", "p95": "95th", "p99": "99th", "mean": "mean", "min": "min", "max": "max"}


def looks_like(head: str) -> bool:
    """Whether it is one object with vegeta's latencies."""
    return head.lstrip().startswith("{") and all(f'"{key}"' in head for key in ("latencies", "bytes_in", "99th"))


def read(file: SourceFile, into: Any = None) -> StepTable:
    """One row: the whole attack; its level is the rate at which requests were sent."""
    data = document(file)
    count = int(needed(file, data, "requests"))
    seconds = (needed(file, data, "duration") + (number(file, data, "wait") or 0.0)) / 1e9
    codes = data.get("status_codes")
    ok = sum(int(n) for code, n in codes.items() if "200" <= str(code) < "400") if isinstance(codes, Mapping) else None
    times = {name: number(file, data, "latencies", key) for name, key in _TIMES.items()}
    row = Row(
        throughput_per_s=count / seconds if seconds else None,
        times_ms=exact(**{name: None if ns is None else ns / NS_PER_MS for name, ns in times.items()}),
        samples=count,
        failed=None if ok is None else count - ok,
        error_share=None if ok is not None else 1 - (number(file, data, "success") or 0.0),
        duration_s=seconds,
    )
    rate = number(file, data, "rate")
    return StepTable((row,), "users", (f"Requests were sent at {rate:,.4g}/s.",) if rate else ())


FORMAT = Format(
    name="vegeta-report",
    title="vegeta, report as JSON",
    shape="summary",
    loop="open",
    looks_like=looks_like,
    read=read,
    supports="objectives over the whole attack",
    cannot=(ONE_SUMMARY, ONE_RUN, STAMPED_LATE, NO_GENERATOR),
)
