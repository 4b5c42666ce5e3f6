"""A step table: what a summary or a published table says of each level, and nothing that it does not say.

The honest shape of sources without single samples (docs/decisions/0008): no seconds, no histograms, no intervals. A
statistic is a pair of bounds [low, high]: equal where the source states the number, apart where it only bounds it (the
p95 of windows bounds the p95 of the whole: a mixture's quantile lies between those of its parts).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from plimsoll.errors import RunDirectoryError
from plimsoll.runs.directory import run_error, write_json
from plimsoll.study.secrets.redactor import Redactor

STEP_TABLE = "step_table.json"
SCHEMA = 1
Bounds = tuple[float, float]


@dataclass(frozen=True)
class Row:
    """One operation (None: all together) at one level, at `line` of the source; None is "not published". `variant`:
    which of several targets or configurations, where the source tells them apart.

    Rates per s, times in ms, `duration_s` the time measured. `utilisation`: share in [0, 1] of each resource; `rates`:
    other rates by their name, per s; `others`: further numbers by their heading, in the unit that it says.
    """

    line: int | None = None
    level: float | None = None
    operation: str | None = None
    throughput_per_s: float | None = None
    times_ms: Mapping[str, Bounds] = field(default_factory=dict)
    samples: int | None = None
    failed: int | None = None
    error_share: float | None = None
    duration_s: float | None = None
    utilisation: Mapping[str, float] = field(default_factory=dict)
    rates: Mapping[str, float] = field(default_factory=dict)
    others: Mapping[str, float] = field(default_factory=dict)
    variant: str | None = None

    @property
    def good_per_s(self) -> float | None:
        """Throughput without what failed, as far as the source says what did."""
        return None if self.throughput_per_s is None else self.throughput_per_s * (1 - (self.errors or 0.0))

    @property
    def errors(self) -> float | None:
        """Share of failed requests; None where the source does not say."""
        if self.error_share is not None:
            return self.error_share
        if self.failed is None or not self.samples:
            return None
        return self.failed / self.samples


@dataclass(frozen=True)
class StepTable:
    """The rows of a source in its order; `level_unit` as in a manifest; `together`: whether its operations ran at the
    same time, as the requests of one load do, or each in a test of its own."""

    rows: tuple[Row, ...]
    level_unit: str = "users"
    notes: tuple[str, ...] = ()
    together: bool = True

    @property
    def statistics(self) -> tuple[str, ...]:
        """The statistics of times that any row has, in order of appearance."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.times_ms))

    @property
    def operations(self) -> tuple[str | None, ...]:
        """The operations, in order of appearance; None is all together."""
        return tuple(dict.fromkeys(row.operation for row in self.rows))

    @property
    def resources(self) -> tuple[str, ...]:
        """The resources whose utilisation any row has."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.utilisation))

    def of(self, operation: str | None) -> tuple[Row, ...]:
        """The rows of one operation."""
        return tuple(row for row in self.rows if row.operation == operation)

    def totals(self) -> tuple[Row, ...]:
        """One row a level for the whole load: the rows of no operation, else those of the only one, else the sums of
        the operations' rates."""
        whole = self.of(None)
        if whole or len(self.operations) == 1:
            return whole or self.rows
        return tuple(_sum_of_levels(self.rows, set(self.operations)))

    def tests(self) -> tuple[tuple[str | None, StepTable], ...]:
        """The tests in it that ran apart, each with its name (None: there is but one): one a variant, and unless they
        ran `together`, one an operation with a throughput."""
        found: list[tuple[str | None, StepTable]] = []
        for variant, rows in _parted(self.rows, lambda row: row.variant).items():
            part = replace(self, rows=tuple(rows))
            operations = _parted(rows, lambda row: row.operation)
            apart = [name for name in operations if any(row.throughput_per_s is not None for row in operations[name])]
            if self.together or None in operations or len(apart) < 2:
                found.append((variant, part))
                continue
            for name in apart:
                label = " ".join(word for word in (variant, name) if word)
                found.append((label, replace(part, rows=tuple(operations[name]))))
        return tuple(found)

    def without_secrets(self, redactor: Redactor) -> StepTable:
        """The same, with no secrets in what its source calls operations and variants."""

        def clean(text: str | None) -> str | None:
            return None if text is None else redactor.text(text)

        rows = (replace(row, operation=clean(row.operation), variant=clean(row.variant)) for row in self.rows)
        return replace(self, rows=tuple(rows), notes=tuple(map(redactor.text, self.notes)))

    def to_json(self) -> dict[str, Any]:
        """As step_table.json holds it."""
        return {"schema": SCHEMA, **asdict(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> StepTable:
        """From step_table.json."""
        rows = tuple(
            Row(**{**row, "times_ms": {name: (low, high) for name, (low, high) in row["times_ms"].items()}})
            for row in data["rows"]
        )
        return cls(rows, data["level_unit"], tuple(data.get("notes") or ()), bool(data.get("together", True)))


def _parted(rows: Iterable[Row], by: Callable[[Row], str | None]) -> dict[str | None, list[Row]]:
    """The rows by what `by` says of them, in order of appearance: one pass, however many parts there are."""
    parts: dict[str | None, list[Row]] = {}
    for row in rows:
        parts.setdefault(by(row), []).append(row)
    return parts


def _sum_of_levels(rows: Iterable[Row], operations: set[str | None]) -> Iterable[Row]:
    """Throughput and counts added up per level where every operation has them, the mean of its repeats; times cannot be
    added (law 6)."""
    levels: dict[float | None, list[Row]] = {}
    for row in rows:
        levels.setdefault(row.level, []).append(row)
    for level, found in levels.items():
        each: dict[str | None, list[Row]] = {}
        for row in found:
            each.setdefault(row.operation, []).append(row)
        used = {name: share for row in found for name, share in row.utilisation.items()}
        rates = [_mean(row.throughput_per_s for row in parts) for parts in each.values()]
        good = [_mean(row.good_per_s for row in parts) for parts in each.values()]
        whole = each.keys() == operations and None not in rates
        total = sum(rate or 0.0 for rate in rates)
        share = 1 - sum(rate or 0.0 for rate in good) / total if total and any(row.errors for row in found) else None
        yield Row(found[0].line, level, None, total if whole else None, error_share=share, utilisation=used)


def _mean(values: Iterable[float | None]) -> float | None:
    """None where one is missing."""
    known = list(values)
    return None if None in known else sum(value or 0.0 for value in known) / len(known)


def write_step_table(run: Path, table: StepTable) -> None:
    """Write it into a run directory."""
    write_json(run / STEP_TABLE, table.to_json())


def read_step_table(run: Path) -> StepTable | None:
    """The step table of a run directory; None if it has none. RunDirectoryError if it cannot be read."""
    path = run / STEP_TABLE
    try:
        return StepTable.from_json(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise run_error("read", path, error) from error
    except (ValueError, KeyError, TypeError) as error:
        raise RunDirectoryError(f"{path} is no step table", "Analyse the source again.") from error
