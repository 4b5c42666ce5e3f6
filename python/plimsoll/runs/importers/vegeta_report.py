"""vegeta's report as JSON (`vegeta report -type json`): one summary of a whole attack; times in ns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll import words
from plimsoll.runs.importers.contradictions import STEP, Told, impossible_rate
from plimsoll.runs.importers.documents import document, exact, needed, number
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import FAILURES_UNKNOWN, NO_GENERATOR, ONE_RUN, ONE_SUMMARY, BadRecord, Format
from plimsoll.runs.importers.vegeta import NS_PER_MS, STAMPED_LATE
from plimsoll.runs.readings.step_table import Row, StepTable
from plimsoll.words import counted_words

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
    ok = _succeeded(file, data, count) if isinstance(codes, Mapping) else None
    success = number(file, data, "success", most=1.0)
    row = Row(
        throughput_per_s=count / seconds if seconds else None,
        times_ms=exact(file, data, {name: ("latencies", key) for name, key in _TIMES.items()}, 1 / NS_PER_MS),
        samples=count,
        failed=None if ok is None else count - ok,
        error_share=None if ok is not None or success is None else 1 - success,
        duration_s=seconds,
    )
    rate = number(file, data, "rate")
    unknown = [FAILURES_UNKNOWN.format(key="status_codes")] if ok is None and success is None else []
    sent_s = Told("duration", needed(file, data, "duration") / 1e9 or None)
    for problem in impossible_rate(Told("rate", rate), Told("requests", count), sent_s):
        raise file.error(problem)
    return StepTable((row,), "users", (*([f"Requests were sent at {words.number(rate)}/s."] if rate else []), *unknown))


def _succeeded(file: SourceFile, data: Mapping[str, Any], count: int) -> int:
    """How many of `count` requests have a code of 200 to 399. InputError if that is more than there were."""
    found = {str(code): int(needed(file, data, "status_codes", code)) for code in data["status_codes"]}
    ok = sum(times for code, times in found.items() if "200" <= code < "400")
    if ok > count:
        what = f"{ok:,} answers of {counted_words(count, 'request')} cannot have succeeded"
        raise file.error(BadRecord(what, "status_codes", "Export it again."))
    answered = sum(found.values())
    if answered > count:
        what = f"{answered:,} codes of {counted_words(count, 'request')} is impossible"
        raise file.error(BadRecord(what, "status_codes", STEP))
    return ok


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
