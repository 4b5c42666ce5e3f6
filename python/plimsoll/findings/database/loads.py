"""A database at half load and at the knee: which steps these are, and what its statements and tables did in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.words import level_words

HALF_AT_MOST = 0.75
Event = Mapping[str, Any]


@dataclass(frozen=True)
class Load:
    """A step with what the database did in it; `alone`: one user before the load."""

    level: float
    seconds: float
    verdict: str
    alone: bool
    found: Event


@dataclass(frozen=True)
class Loads:
    """The steps of a run; `half` and `top`: the two that are compared, None where there are no two such loads."""

    steps: Sequence[Load]
    unit: str
    half: Load | None
    top: Load | None

    def words(self, load: Load | None) -> str | None:
        """ "240 users", "one user alone"."""
        if load is None:
            return None
        return "one user alone" if load.alone else level_words(load.level, self.unit)

    def short(self, load: Load | None) -> str:
        """The same for the head of a column."""
        return "one user" if load is not None and load.alone else self.words(load) or ""

    def change_of(self, statement: str) -> dict[str, Any]:
        """The mean time of a statement at both loads; absent where it ran in one of them only."""
        means = [_mean_ms(load, statement) for load in (self.half, self.top)]
        if None in means:
            return {}
        return {"mean_half_ms": means[0], "mean_top_ms": means[1]}

    def with_growth(self, tables: Iterable[Event]) -> list[dict[str, Any]]:
        """Tables with the rows per second that sequential scans read at both loads."""
        found = []
        for table in tables:
            rates = {}
            for name, load in (("half", self.half), ("top", self.top)):
                if load is not None and self.half is not None and self.top is not None:
                    there = [one for one in load.found.get("tables") or () if one["table"] == table["table"]]
                    rates[f"{name}_rows_per_s"] = sum(one["rows_read"] for one in there) / max(load.seconds, 1e-9)
            found.append({**table, **rates})
        return found

    def added_up(self) -> dict[str, Any]:
        """What the steps were together, for a run without an end."""
        statements: dict[str, dict[str, Any]] = {}
        tables: dict[str, dict[str, Any]] = {}
        for step in self.steps:
            for one in step.found.get("statements") or ():
                _add(statements.setdefault(one["id"], {"id": one["id"]}), one, ("total_ms", "calls", "rows", *_COUNTS))
            for one in step.found.get("tables") or ():
                _add(tables.setdefault(one["table"], {"table": one["table"]}), one, ("scans", "rows_read", "written"))
        total = sum(float(step.found.get("total_ms") or 0.0) for step in self.steps)
        for one in statements.values():
            one |= {"share": one["total_ms"] / total if total else 0.0, "mean_ms": one["total_ms"] / one["calls"]}
        for one in tables.values():
            if "scans" in one:
                one["rows_per_scan"] = one["rows_read"] / one["scans"]
        statistics = [step.found["statistics"] for step in self.steps if "statistics" in step.found]
        flags = {
            name: any(step.found.get(name) for step in self.steps) for name in ("was_reset", "evicted", "began_anew")
        }
        return {
            **({"total_ms": total} if any("total_ms" in step.found for step in self.steps) else {}),
            "statements": sorted(statements.values(), key=lambda one: -one["total_ms"]),
            "tables": sorted(tables.values(), key=lambda one: -one["rows_read"]),
            "partial": True,
            **({"statistics": statistics[0]} if statistics else {}),
            **flags,
        }


_COUNTS = (
    *("blocks_hit", "blocks_read", "blocks_written", "temp_blocks", "wal_bytes"),
    *("rows_examined", "no_index_calls", "temp_disk_tables", "errors", "lock_ms"),
)


def compared_of(steps: Sequence[Load], unit: str, main: Mapping[str, Any]) -> Loads:
    """These steps, and which two of them are compared; in a hold the load is with one user alone. `main`: the run's
    first finding, which may tell the knee."""
    knee = (main.get("capacity") or {}).get("knee") if isinstance(main.get("capacity"), Mapping) else None
    half, top = _compared([step for step in steps if not step.alone and step.level > 0], knee)
    if half is None and top is not None:
        half = next((step for step in steps if step.alone), None)
    return Loads(steps, unit, half, top if half is not None else None)


def loads_of(events: Iterable[Event], source: str, main: Mapping[str, Any]) -> Loads:
    """The steps of a run's events. `main`: its first finding, which may tell the knee and the unit of the levels."""
    steps: list[Load] = []
    ended: Event | None = None
    begun_s, unit = 0.0, "users"
    for event in events:
        kind = event.get("kind")
        if kind == "experiment_started":
            unit = str(event.get("unit") or unit)
        elif kind == "step_started":
            begun_s = float(event["second"])
        elif kind == "step_ended":
            ended = event
        elif kind == "database_step" and event["source"] == source and ended is not None:
            seconds = max(float(ended.get("end_s", event["second"])) - begun_s, 0.0)
            alone = ended.get("step_kind") == "baseline"
            steps.append(Load(float(ended.get("level") or 0.0), seconds, str(ended.get("verdict")), alone, event))
    return compared_of(steps, unit, main)


def _compared(steps: Sequence[Load], knee: float | None) -> tuple[Load | None, Load | None]:
    """The step at the knee (nearest to it; where it is not known, at the highest level that was carried) and the one
    at half of its level; of several the longest."""
    carried = [step for step in steps if step.verdict != "bad"] or list(steps)
    if not carried:
        return None, None
    if knee is not None:
        top = min(steps, key=lambda step: (abs(step.level - knee), -step.seconds))
    else:
        top = max(carried, key=lambda step: (step.level, step.seconds))
    lower = [step for step in steps if step.level <= HALF_AT_MOST * top.level]
    return min(lower, key=lambda step: (abs(step.level - top.level / 2), -step.seconds), default=None), top


def _mean_ms(load: Load | None, statement: str) -> float | None:
    found = [one for one in (load.found.get("statements") or () if load else ()) if one["id"] == statement]
    return float(found[0]["mean_ms"]) if found else None


def _add(sums: dict[str, Any], more: Event, names: Iterable[str]) -> None:
    for name in names:
        if name in more:
            sums[name] = sums.get(name, 0) + more[name]
