"""One comparison after the other: the trials of A and B at a level, an endpoint and a statistic, judged together.

Primary comparisons (all requests, the statistics declared before) decide the answer and are corrected by Holm's
step-down, so that the chance of any false alarm among them is at most 4% and of one at most 1%. All others are
exploratory: Benjamini and Hochberg at 1%. Where A and B do not differ, a report
therefore raises an alarm in at most 5% of cases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from plimsoll.findings.trials.trials import MOST_FAILED, Figure
from plimsoll.stats.comparison.log_ratio import LogRatio, paired_difference_p, paired_log_ratio, welch_log_ratio
from plimsoll.stats.comparison.multiple_comparisons import benjamini_hochberg_level, holm_levels
from plimsoll.stats.comparison.outliers import outliers
from plimsoll.stats.comparison.pairs_needed import pairs_to_call_same, pairs_to_tell, scatter_to_plan_by
from plimsoll.words import share_words

Trial = Mapping[str, Any]
Verdict = Literal["slower", "faster", "same", "undecided"]
SINGLE, FAMILY, EXPLORATORY = 0.01, 0.04, 0.01
FAILS_MORE, FAILURE_LEVEL = 0.01, 0.001
STATISTICS = {"mean": "mean_ms", "p50": "p50_ms", "p90": "p90_ms", "p95": "p95_ms", "p99": "p99_ms"}
QUANTILES = {"mean": 0.0, "p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99}
THROUGHPUT = "throughput"
_NO_DIFFERENCE = 1e-12


@dataclass
class Comparison:
    """A against B. `a`, `b`: values of the trials (ms; iterations/s for throughput), of pairs in the same order;
    `repetitions`: of the pairs; `failed_a`, `failed_b`: failed shares; `effect` is None with too few trials."""

    level: float
    load: str
    operation: str | None
    request: str | None
    statistic: str
    primary: bool
    paired: bool
    a: list[float] = field(default_factory=list)
    b: list[float] = field(default_factory=list)
    repetitions: list[int] = field(default_factory=list)
    fewest_samples: int = 0
    failed_a: float = 0.0
    failed_b: float = 0.0
    effect: LogRatio | None = None
    alpha: float = SINGLE
    verdict: Verdict = "undecided"
    reasons: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What it compares, without the statistic: "all requests", "create_issue"."""
        return self.operation or self.request or "all requests"

    @property
    def slowdown(self) -> float:
        """Mean logarithm of how much slower B is; of throughput, how much less it does."""
        assert self.effect is not None
        return -self.effect.mean if self.statistic == THROUGHPUT else self.effect.mean

    @property
    def bounds(self) -> tuple[float, float]:
        """Interval of the ratio B ÷ A at the level it was tested at."""
        assert self.effect is not None
        return self.effect.interval(self.alpha)

    def judge(self, margin: float) -> None:
        """Set the verdict; `margin` is the relative change that does not matter."""
        if self.effect is None:
            self.reasons.append(
                f"Too few trials can be compared: {len(self.a)} of A, {len(self.b)} of B; two of each are needed."
            )
            return
        low, high = self.bounds
        inside = self.within(margin)
        if low > 1 + _NO_DIFFERENCE or high < 1 - _NO_DIFFERENCE:
            self.verdict = "slower" if self.slowdown > 0 else "faster"
        elif inside:
            self.verdict = "same"
        self._mind_failures()

    def within(self, margin: float) -> bool:
        """Whether the interval lies within ± margin: the test of equivalence (two one-sided tests)."""
        low, high = self.bounds
        return low > 1 / (1 + margin) and high < 1 + margin

    def _mind_failures(self) -> None:
        """A failed request is often a quick one: times of an arm that fails more say nothing in its favour, and those
        of which many failed in both are largely of failures."""
        more = self.failed_b - self.failed_a
        if abs(more) < FAILS_MORE:
            if self.verdict in ("faster", "same") and max(self.failed_a, self.failed_b) > MOST_FAILED:
                self.verdict = "undecided"
                self.reasons.append(
                    f"A failed {share_words(self.failed_a, 3)} of what it was to do and B "
                    f"{share_words(self.failed_b, 3)}: their times tell little of that work."
                )
            return
        favoured: tuple[Verdict, ...] = ("faster", "same") if more > 0 else ("slower", "same")
        if self.verdict in favoured:
            self.verdict = "undecided"
            self.reasons.append(
                f"B failed {share_words(self.failed_b, 3)} of its requests and A {share_words(self.failed_a, 3)}: "
                "their times are not of the same work."
            )

    def pairs_to_settle(self, margin: float) -> int | None:
        """Pairs (of two sets: runs of each) that would settle it with 80% power if the difference is what it seems;
        None where more than anybody makes, or where failures keep it undecided."""
        if self.effect is None or self.verdict != "undecided" or self.reasons:
            return None
        effect, sd = self.effect.mean, scatter_to_plan_by(self.effect.sd, min(len(self.a), len(self.b)))
        found = (
            pairs_to_tell(effect, sd, self.alpha),
            pairs_to_call_same(effect, math.log1p(margin), sd, self.alpha),
        )
        wanted = [pairs for pairs in found if pairs is not None]
        return max(min(wanted), len(self.a) + 1) if wanted else None

    def odd_pairs(self) -> list[int]:
        """Places of the pairs that lie far from the rest."""
        if not self.paired or self.effect is None:
            return []
        return outliers([math.log(b / a) for a, b in zip(self.a, self.b, strict=True)])

    def to_json(self, margin: float) -> dict[str, Any]:
        """The comparison as a finding holds it; `ratio` is B ÷ A."""
        known = self.effect is not None
        low, high = self.bounds if known else (None, None)
        return {
            "level": self.level,
            "load": self.load,
            "operation": self.operation,
            "request": self.request,
            "statistic": self.statistic,
            "unit": "1/s" if self.statistic == THROUGHPUT else "ms",
            "primary": self.primary,
            "verdict": self.verdict,
            "ratio": self.effect.ratio if self.effect else None,
            "interval": [low, high] if known else None,
            "confidence": 1 - self.alpha,
            "p": self.effect.p if self.effect else None,
            "within_margin": self.within(margin) if known else None,
            "a": geometric_mean(self.a),
            "b": geometric_mean(self.b),
            "paired": self.paired,
            "pairs": min(len(self.a), len(self.b)),
            "pair_sd": self.effect.sd if self.effect else None,
            "fewest_samples": self.fewest_samples,
            "failed_a": self.failed_a,
            "failed_b": self.failed_b,
            "pairs_to_settle": self.pairs_to_settle(margin),
            "reasons": list(self.reasons),
        }


def geometric_mean(values: Sequence[float]) -> float | None:
    """The mean that belongs to ratios; None without values."""
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else None


def figure_of(statistic: str) -> Figure:
    """Which kind of figure a statistic is."""
    return "counts" if statistic == THROUGHPUT else "middle" if statistic in ("mean", "p50") else "tail"


def compare_trials(
    trials_of: Callable[[Figure], Sequence[Trial]],
    primary: Sequence[str],
    margin: float,
    *,
    paired: bool,
    closed: bool,
) -> list[Comparison]:
    """All comparisons of variants "a" and "b", primary ones first, each judged; `trials_of`: those of which a figure
    counts."""
    found = []
    counted = trials_of("counts")
    for level in sorted({trial["level"] for trial in counted}):
        compared = [
            (*endpoint, statistic, statistic in primary and endpoint == (None, None))
            for endpoint in _endpoints([trial for trial in counted if trial["level"] == level])
            for statistic in STATISTICS
        ]
        compared = [one for one in compared if one[-1] or one[-2] in ("mean", "p50", "p95")]
        compared += [(None, None, THROUGHPUT, False)] if closed else []
        for operation, request, statistic, is_primary in compared:
            here = [trial for trial in trials_of(figure_of(statistic)) if trial["level"] == level]
            if here:
                found.append(_comparison(here, operation, request, statistic, is_primary, paired))
    found = [one for one in found if one.a and one.b] or found[:1]
    for one in found:
        one.effect = (paired_log_ratio if one.paired else welch_log_ratio)(one.a, one.b)
    _set_levels(found)
    for one in found:
        one.judge(margin)
    return sorted(found, key=lambda one: not one.primary)


def _set_levels(found: Sequence[Comparison]) -> None:
    """The level at which each is tested, so that many comparisons raise no more alarms than one may."""
    tested = [one for one in found if one.effect is not None]
    primary = [one for one in tested if one.primary]
    for one, alpha in zip(primary, holm_levels([p_of(one) for one in primary], FAMILY, SINGLE), strict=True):
        one.alpha = alpha
    others = [one for one in tested if not one.primary]
    level = benjamini_hochberg_level([p_of(one) for one in others], EXPLORATORY)
    for one in others:
        one.alpha = level


@dataclass(frozen=True)
class FailureChange:
    """B fails another share of its requests than A at a level, beyond chance and by `FAILS_MORE` or more."""

    load: str
    a: float
    b: float
    p: float

    @property
    def more(self) -> bool:
        """Whether it is B that fails more."""
        return self.b > self.a


def failure_changes(trials: Sequence[Trial]) -> list[FailureChange]:
    """Levels at which A and B do not fail alike; pairs by their number, also for sets of runs."""
    found = []
    for level in dict.fromkeys(trial["level"] for trial in trials):
        here = [trial for trial in trials if trial["level"] == level and trial["requests"]]
        shares = {
            arm: {t["repetition"]: t["failed"] / t["requests"] for t in here if t["variant"] == arm} for arm in "ab"
        }
        both = sorted(set(shares["a"]) & set(shares["b"]))
        a, b = ([shares[arm][at] for at in both] for arm in "ab")
        if not both or abs(sum(b) - sum(a)) / len(both) < FAILS_MORE:
            continue
        p = paired_difference_p(a, b)
        if p <= FAILURE_LEVEL:
            load = next(str(trial["load"]) for trial in here)
            found.append(FailureChange(load, sum(a) / len(a), sum(b) / len(b), p))
    return found


def p_of(comparison: Comparison) -> float:
    """Its p-value."""
    assert comparison.effect is not None
    return comparison.effect.p


def _endpoints(trials: Sequence[Trial]) -> list[tuple[str | None, str | None]]:
    """All requests together; operations and requests where there are several."""
    keys = list(dict.fromkeys((one["operation"], one["request"]) for trial in trials for one in trial["endpoints"]))
    operations = [key for key in keys if key[0] is not None]
    requests = [key for key in keys if key[1] is not None]
    found: list[tuple[str | None, str | None]] = [(None, None)]
    return found + [key for many in (operations, requests) if len(many) > 1 for key in many]


def _comparison(
    trials: Sequence[Trial], operation: str | None, request: str | None, statistic: str, primary: bool, paired: bool
) -> Comparison:
    one = Comparison(trials[0]["level"], str(trials[0]["load"]), operation, request, statistic, primary, paired)
    values: dict[str, dict[int, float]] = {"a": {}, "b": {}}
    failed, judged = {"a": 0, "b": 0}, {"a": 0, "b": 0}
    counts = []
    for trial in trials:
        arm, repetition = trial["variant"], trial["repetition"]
        seen = next(
            (each for each in trial["endpoints"] if (each["operation"], each["request"]) == (operation, request)), None
        )
        if seen is None or arm not in values:
            continue
        failed[arm] += seen["failed"]
        judged[arm] += seen["requests"]
        value = trial["done_per_s"] if statistic == THROUGHPUT else seen[STATISTICS[statistic]]
        if value and value > 0 and (statistic == THROUGHPUT or seen["count"] >= _least_samples(statistic)):
            values[arm][repetition] = float(value)
            counts.append(seen["count"])
    one.repetitions = sorted(set(values["a"]) & set(values["b"])) if paired else []
    one.a, one.b = (
        [values[arm][at] for at in (one.repetitions if paired else sorted(values[arm]))] for arm in ("a", "b")
    )
    one.fewest_samples = min(counts, default=0)
    one.failed_a, one.failed_b = (failed[arm] / judged[arm] if judged[arm] else 0.0 for arm in ("a", "b"))
    return one


def _least_samples(statistic: str) -> int:
    """A quantile of fewer samples is only their greatest."""
    return math.ceil(1 / (1 - QUANTILES[statistic]) - 1e-9) if QUANTILES[statistic] else 1
