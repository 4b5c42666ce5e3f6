"""oha's summary as JSON (`oha --output-format json`, earlier `-j`): one summary of a whole test; times in s.

github.com/hatoo/oha, schema.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.runs.failures import requests_words
from plimsoll.runs.importers.documents import document, exact, needed, number
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import HIDES_QUEUEING, NO_GENERATOR, ONE_RUN, ONE_SUMMARY, Format
from plimsoll.runs.step_table import Row, StepTable

DEADLINE = "aborted due to deadline"


def looks_like(head: str) -> bool:
    """Whether it is one object with oha's summary."""
    return head.lstrip().startswith("{") and '"requestsPerSec"' in head and '"successRate"' in head


def read(file: SourceFile, into: Any = None) -> StepTable:
    """One row: the whole test, of no level, as oha does not write how many connections it had."""
    data = document(file)
    percentiles = data.get("latencyPercentiles")
    keys = {name: ("latencyPercentiles", name) for name in percentiles or {}}
    keys |= {"mean": ("summary", "average"), "min": ("summary", "fastest"), "max": ("summary", "slowest")}
    codes, errors = _counts(file, data, "statusCodeDistribution"), _counts(file, data, "errorDistribution")
    aborted = errors.pop(DEADLINE, 0)
    failed = sum(count for code, count in codes.items() if code >= "400") + sum(errors.values())
    row = Row(
        throughput_per_s=needed(file, data, "summary", "requestsPerSec"),
        times_ms=exact(file, data, keys, 1000.0),
        samples=sum(codes.values()) + sum(errors.values()),
        failed=failed,
        duration_s=number(file, data, "summary", "total"),
    )
    notes = ["oha does not write how many connections it had, so it is of no level."]
    if aborted:
        many = "was under way when it ended; it counts" if aborted == 1 else "were under way when it ended; they count"
        notes.append(f"{requests_words(aborted)} {many} nowhere.")
    return StepTable((row,), "users", tuple(notes))


def _counts(file: SourceFile, data: Mapping[str, Any], key: str) -> dict[str, int]:
    found = data.get(key)
    return {str(name): int(needed(file, found, name)) for name in found} if isinstance(found, Mapping) else {}


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
