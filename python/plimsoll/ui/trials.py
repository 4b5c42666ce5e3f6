"""The trials of compare, decompose and sweep, by plan.json and trials.jsonl: how many, and what each variant did at
each load so far."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from plimsoll.plain_text import plain
from plimsoll.runs import directory
from plimsoll.runs.format.read_numbers import plausible
from plimsoll.runs.kept import catalogue
from plimsoll.words import count_words, counted_words, ms_words, number

Record = Mapping[str, Any]
MOST_ROWS = 200
NONE = "–"


class Trials:
    """Of a run directory; there is nothing to tell of one without a plan."""

    def __init__(self, run_dir: Path) -> None:
        self._file = run_dir / directory.PLAN
        self._plan: Record = {}
        self._made: dict[tuple[str, str], list[Record]] = {}
        self.count = 0

    def look(self) -> None:
        """Read the plan, once it is there."""
        if not self._plan:
            found = catalogue.read_json(self._file)
            self._plan = found if isinstance(found, Mapping) else {}

    def take(self, record: Record) -> None:
        """A complete trial."""
        self.count += 1
        self._made.setdefault((str(record.get("variant")), str(record.get("load"))), []).append(record)

    @property
    def planned_s(self) -> float | None:
        """Seconds of load of all trials; None without a plan."""
        each = [plausible(self._plan.get(key)) for key in ("trial_s", "warm_up_s")]
        of = self._of()
        return None if of is None or None in each else of * sum(one for one in each if one is not None)

    def _of(self) -> int | None:
        parts = [self._plan.get("variants"), self._plan.get("levels")]
        repetitions = plausible(self._plan.get("repetitions"))
        if repetitions is None or not all(isinstance(one, list) for one in parts):
            return None
        return int(repetitions) * len(parts[0] or ()) * len(parts[1] or ())

    def state(self) -> dict[str, str] | None:
        """Which trial is made, in words; None without a plan."""
        of = self._of()
        if of is None:
            return None
        done = f"{counted_words(self.count, 'trial')} complete"
        if self.count >= of:
            return {"phase": "all trials are complete", "name": done, "why": ""}
        return {"phase": f"trial {count_words(self.count + 1)} of {count_words(of)}", "name": done, "why": ""}

    def rows(self) -> list[dict[str, Any]]:
        """A row for each variant and load that has a complete trial: means of its trials."""
        labels = {
            str(one.get("name")): str(one.get("label") or one.get("name"))
            for one in self._plan.get("variants") or ()
            if isinstance(one, Mapping)
        }
        return [
            {
                "name": plain(", ".join(text for text in (labels.get(variant, variant), load) if text)),
                "level": None,
                "done": f"{number(_mean(records, 'done_per_s'))}/s" if records else NONE,
                "p95": _p95_words(records),
                "sign": "other",
                "words": counted_words(len(records), "trial"),
            }
            for (variant, load), records in list(self._made.items())[:MOST_ROWS]
        ]


def _mean(records: list[Record], key: str) -> float:
    return fmean(plausible(one.get(key)) or 0.0 for one in records)


def _p95_words(records: list[Record]) -> str:
    known = [value for value in map(_p95_of, records) if value is not None]
    return ms_words(fmean(known)) if known else NONE


def _p95_of(record: Record) -> float | None:
    every = (one for one in record.get("endpoints") or () if isinstance(one, Mapping))
    whole = next((one for one in every if one.get("operation") is one.get("request") is None), {})
    return plausible(whole.get("p95_ms"))
