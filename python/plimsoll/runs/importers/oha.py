"""oha's summary as JSON (`oha --output-format json`, earlier `-j`): one summary of a whole test; times in s.

github.com/hatoo/oha, schema.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.runs.importers.documents import document, exact, needed, number
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import (
    FAILURES_UNKNOWN,
    HIDES_QUEUEING,
    NO_GENERATOR,
    ONE_RUN,
    ONE_SUMMARY,
    BadRecord,
    Format,
)
from plimsoll.runs.readings.failures import requests_words
from plimsoll.runs.readings.step_table import Row, StepTable

DEADLINE = "aborted due to deadline"


def looks_like(head: str) -> bool:
    """Whether it is one object with oha's summary."""
    return head.lstrip().startswith("{") and '"requestsPerSec"' in head and '"successRate"' in head


def read(file: SourceFile, into: Any = None) -> StepTable:
    """One row: the whole test, of no level, as oha does not write how many connections it had."""
    data = document(file)
    percentiles = data.get("latencyPercentiles")
    if percentiles is not None and not isinstance(percentiles, Mapping):
        what = f"{repr(percentiles)[:40]} is no object of percentiles"
        raise file.error(BadRecord(what, "latencyPercentiles", "Export it again."))
    keys = {str(name): ("latencyPercentiles", str(name)) for name in percentiles or {}}
    keys |= {"mean": ("summary", "average"), "min": ("summary", "fastest"), "max": ("summary", "slowest")}
    codes, errors = _counts(file, data, "statusCodeDistribution"), _counts(file, data, "errorDistribution")
    aborted = (errors or {}).pop(DEADLINE, 0)
    known = codes is not None and errors is not None
    failed = sum(count for code, count in (codes or {}).items() if code >= "400") + sum((errors or {}).values())
    row = Row(
        throughput_per_s=needed(file, data, "summary", "requestsPerSec"),
        times_ms=exact(file, data, keys, 1000.0),
        samples=sum((codes or {}).values()) + sum((errors or {}).values()) if known else None,
        failed=failed if known else None,
        duration_s=number(file, data, "summary", "total"),
    )
    notes = ["oha does not write how many connections it had, so it is of no level."]
    lost = [key for key, found in (("statusCodeDistribution", codes), ("errorDistribution", errors)) if found is None]
    notes += [FAILURES_UNKNOWN.format(key=key) for key in lost]
    if aborted:
        many = "was under way when it ended; it counts" if aborted == 1 else "were under way when it ended; they count"
        notes.append(f"{requests_words(aborted)} {many} nowhere.")
    return StepTable((row,), "users", tuple(notes))


def _counts(file: SourceFile, data: Mapping[str, Any], key: str) -> dict[str, int] | None:
    """How often each was counted; None where the file does not say that."""
    found = data.get(key)
    return {str(name): int(needed(file, found, name)) for name in found} if isinstance(found, Mapping) else None


FORMAT = Format(
    name="oha",
    title="oha, summary as JSON",
    shape="summary",
    loop="closed",
    looks_like=looks_like,
    read=read,
    supports="objectives over the whole test",
    cannot=(ONE_SUMMARY, ONE_RUN, HIDES_QUEUEING, NO_GENERATOR),
)
