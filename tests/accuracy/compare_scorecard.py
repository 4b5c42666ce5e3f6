"""How often is a comparison wrong, and what does it find? Simulated runs whose difference is known, as a table.

    PYTHONPATH=python:tests/accuracy python tests/accuracy/compare_scorecard.py --repetitions 5000

A run is one value a comparison: its true time × exp(scatter). `noise` is the standard deviation of that scatter. Beside
ours stand what others do: a percentile bootstrap over pairs, and Mann and Whitney's test on all requests pooled.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from score_line import Line

from plimsoll.findings.trials.comparisons import SINGLE, compare_trials
from plimsoll.stats.comparison.log_ratio import paired_log_ratio, welch_log_ratio
from plimsoll.stats.comparison.shares import layer_shares, shares_per_repetition
from plimsoll.stats.estimates.wilson import wilson_interval

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
MARGIN = 0.05


@dataclass(frozen=True)
class Row:
    """`hits` of `trials`, beside its target: "≤" or "≥" a rate; None where it is only published."""

    name: str
    hits: int
    trials: int
    sign: str = ""
    target: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the Wilson 95% interval does not exclude the target."""
        interval = wilson_interval(self.hits, self.trials)
        if self.target is None:
            return None
        return interval.low <= self.target if self.sign == "≤" else interval.high >= self.target

    @property
    def line(self) -> Line:
        """The row as a line of the scorecard; its goal is the first word of the name, if that is one."""
        goal, _, what = self.name.partition(" ")
        if not (len(goal) == 2 and goal[1].isdigit()):
            goal, what = "", self.name
        return Line(goal, what, self.hits, self.trials, self.trials, self.sign or "≥", self.target)

    def __str__(self) -> str:
        interval = wilson_interval(self.hits, self.trials)
        rate = f"{100 * self.hits / self.trials:.1f}% ({100 * interval.low:.1f} to {100 * interval.high:.1f})"
        goal = "" if self.target is None else f"{self.sign} {100 * self.target:g}%"
        verdict = {True: "met", False: "MISSED", None: ""}[self.met]
        return f"| {self.name} | {rate} | {self.trials} | {goal} | {verdict} |"


def normal(noise: float) -> Draw:
    """Log-normal scatter."""
    return lambda draw, count: noise * draw.standard_normal(count)


def heavy(noise: float) -> Draw:
    """Student's t with 3 degrees of freedom, of the same standard deviation."""
    return lambda draw, count: noise * draw.standard_t(3, count) / math.sqrt(3)


def spiked(noise: float) -> Draw:
    """One run in ten is a fifth slower."""
    return lambda draw, count: noise * draw.standard_normal(count) + 0.18 * (draw.random(count) < 0.1)


def pairs(draw: np.random.Generator, count: int, effect: float, scatter: Draw, drift: float = 0.0) -> Any:
    """Times of A and B in pairs of random order; `drift`: sd of an AR(1) walk (0.9) over the session."""
    session = scatter(draw, 2 * count)
    if drift:
        walk = 0.0
        for place in range(2 * count):
            walk = 0.9 * walk + drift * math.sqrt(1 - 0.81) * draw.standard_normal()
            session[place] += walk
    first = np.repeat(draw.random((count + 1) // 2) < 0.5, 2)[:count]
    first[1::2] = ~first[1::2]
    a = np.where(first, session[0::2], session[1::2])
    b = np.where(first, session[1::2], session[0::2])
    return np.exp(a), np.exp(b + math.log1p(effect))


def single(
    name: str, count: int, effect: float, scatter: Draw, repetitions: int, first_seed: int = 2026, **wanted: Any
) -> Row:
    """How often one comparison of `count` pairs, tested at 1%, calls B other than A."""
    draw = np.random.default_rng([first_seed, count, round(1e4 * effect)])
    drift = wanted.pop("drift", 0.0)
    hits = 0
    for _ in range(repetitions):
        effect_seen = paired_log_ratio(*pairs(draw, count, effect, scatter, drift))
        assert effect_seen is not None
        low, high = effect_seen.interval(SINGLE)
        hits += low > 1 or high < 1
    return Row(name, hits, repetitions, **wanted)


def sets(
    name: str, count: int, effect: float, noise: float, repetitions: int, first_seed: int = 0, **wanted: Any
) -> Row:
    """The same for two sets of runs that are no pairs."""
    draw = np.random.default_rng([first_seed, 7 * count])
    hits = 0
    for _ in range(repetitions):
        a, b = np.exp(noise * draw.standard_normal((2, count)))
        seen = welch_log_ratio(a, b * (1 + effect))
        assert seen is not None
        hits += seen.p < SINGLE
    return Row(name, hits, repetitions, **wanted)


def bootstrap(name: str, count: int, repetitions: int, first_seed: int = 0) -> Row:
    """False alarms of a percentile bootstrap over pairs at nominally 1%, for comparison."""
    draw = np.random.default_rng([first_seed, 11 * count])
    hits = 0
    for _ in range(repetitions):
        a, b = pairs(draw, count, 0.0, normal(0.02))
        logs = np.log(b / a)
        means = logs[draw.integers(0, count, (2000, count))].mean(axis=1)
        low, high = np.quantile(means, [SINGLE / 2, 1 - SINGLE / 2])
        hits += bool(low > 0 or high < 0)
    return Row(name, hits, repetitions)


def pooled(name: str, repetitions: int, first_seed: int = 0) -> Row:
    """False alarms of Mann and Whitney's test on the requests of 10 runs of each pooled, run noise 2%, at 1%."""
    from scipy.stats import mannwhitneyu

    draw = np.random.default_rng([first_seed, 13])
    hits = 0
    for _ in range(repetitions):
        arms = [np.exp(0.3 * draw.standard_normal((10, 500)) + 0.02 * draw.standard_normal((10, 1))) for _ in "ab"]
        hits += bool(mannwhitneyu(*(arm.ravel() for arm in arms)).pvalue < SINGLE)
    return Row(name, hits, repetitions)


def trials_of(draw: np.random.Generator, count: int, levels: int, operations: int, effect: float, noise: float) -> Any:
    """Lines of trials.jsonl: every statistic of an operation scatters by `noise`, half of it shared within a trial.

    `effect` is that of all requests and of the first operation; the others do not differ.
    """
    number = 0
    for level in range(1, levels + 1):
        for repetition in range(1, count + 1):
            for variant in "ab":
                number += 1
                shared = math.sqrt(0.5) * noise * draw.standard_normal()
                own = math.sqrt(0.5) * noise
                endpoints = []
                for place in range(operations + 1):
                    change = math.log1p(effect) if variant == "b" and place <= 1 else 0.0
                    times = 100 * np.exp(change + shared + own * draw.standard_normal(5))
                    names = ("mean_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms")
                    name = f"op{place}" if place else None
                    seen = {"operation": name, "request": None, "count": 1000, "failed": 0, "requests": 1000}
                    endpoints.append(seen | dict(zip(names, map(float, times), strict=True)))
                yield {
                    "trial": number, "repetition": repetition, "variant": variant, "level": float(level),
                    "load": f"{level}", "done_per_s": 10.0, "endpoints": endpoints,
                }  # fmt: skip


def reports(
    name: str,
    count: int,
    levels: int,
    operations: int,
    effect: float,
    repetitions: int,
    counted: str,
    first_seed: int = 0,
    **wanted: Any,
) -> Row:
    """Whole reports. `counted`: "alarm" any verdict slower or faster; "wrong" one where nothing differs; "primary"
    p95 of all requests at the first level called slower; "exploratory" p95 of the first operation there; "same" all
    primary comparisons called the same."""
    draw = np.random.default_rng([first_seed, 17 + levels + 100 * operations + count])
    hits = 0
    for _ in range(repetitions):
        trials = list(trials_of(draw, count, levels, operations, effect, 0.02))
        found = compare_trials(lambda _, of=trials: of, ("p95",), MARGIN, paired=True, closed=False)
        first = [one for one in found if one.level == 1 and one.statistic == "p95"]
        if counted == "same":
            hits += all(one.verdict == "same" for one in found if one.primary)
        elif counted == "primary":
            hits += any(one.primary and one.verdict == "slower" for one in first)
        elif counted == "exploratory":
            hits += any(one.operation == "op1" and one.verdict == "slower" for one in first)
        else:
            innocent = [one for one in found if one.operation not in (None, "op1")] if counted == "wrong" else found
            hits += any(one.verdict in ("slower", "faster") for one in innocent)
    return Row(name, hits, repetitions, **wanted)


def layers(name: str, rounds: int, repetitions: int, first_seed: int = 0, **wanted: Any) -> Row:
    """How often all shares of whole/orm/static (50, 30, 20%) lie in their simultaneous 95% intervals."""
    draw = np.random.default_rng([first_seed, 19])
    truth = np.array([0.5, 0.3, 0.2])
    hits = 0
    for _ in range(repetitions):
        values = np.array([100.0, 50.0, 20.0]) * np.exp(0.02 * draw.standard_normal((rounds, 3)))
        shares = layer_shares(shares_per_repetition(values, nested=True))
        assert shares is not None
        hits += all(share.low <= true <= share.high for share, true in zip(shares, truth, strict=True))
    return Row(name, hits, repetitions, **wanted)


def calls(repetitions: int, first_seed: int = 0) -> Iterator[partial[Row]]:
    """The whole scorecard, row by row: each call makes the row whose name is its first argument. Whole reports and the
    others' methods are tried a tenth as often."""
    few = max(50, repetitions // 10)
    seed = {"first_seed": first_seed}
    alarm, power = {"sign": "≤", "target": 0.01}, {"sign": "≥", "target": 0.90}
    for count in (5, 10, 20, 40):
        yield partial(
            single,
            f"C1 A/A alarm, one comparison, {count} pairs",
            count,
            0.0,
            normal(0.02),
            repetitions,
            **alarm,
            **seed,
        )
    for kind, scatter in (("heavy tails", heavy(0.02)), ("1 run in 10 a fifth slower", spiked(0.02))):
        for count in (10, 40):
            yield partial(
                single, f"C1 A/A alarm, {kind}, {count} pairs", count, 0.0, scatter, repetitions, **alarm, **seed
            )
    yield partial(
        single,
        "C1 A/A alarm, session drifts by 5%, 10 pairs",
        10,
        0.0,
        normal(0.02),
        repetitions,
        drift=0.05,
        **alarm,
        **seed,
    )
    yield partial(sets, "C1 A/A alarm, 10 runs of each that are no pairs", 10, 0.0, 0.02, repetitions, **alarm, **seed)
    family = {"sign": "≤", "target": 0.05}
    yield partial(
        reports, "C1 A/A any alarm in a report, 1 level, 9 operations", 10, 1, 9, 0.0, few, "alarm", **family, **seed
    )
    yield partial(
        reports, "C1 A/A any alarm in a report, 5 levels, 10 operations", 10, 5, 10, 0.0, few, "alarm", **family, **seed
    )
    yield partial(single, "C2 5% slower found, 10 pairs", 10, 0.05, normal(0.02), repetitions, **power, **seed)
    yield partial(single, "C2 2% slower found, 40 pairs", 40, 0.02, normal(0.02), repetitions, **power, **seed)
    yield partial(
        single,
        "C2 5% slower found, 10 pairs, session drifts by 5%",
        10,
        0.05,
        normal(0.02),
        repetitions,
        drift=0.05,
        **seed,
    )
    yield partial(single, "C2 5% slower found, 10 pairs, heavy tails", 10, 0.05, heavy(0.02), repetitions, **seed)
    yield partial(
        single, "C2 5% slower found, 10 pairs, 1 run in 10 a fifth slower", 10, 0.05, spiked(0.02), repetitions, **seed
    )
    yield partial(sets, "C2 5% slower found, 10 runs of each that are no pairs", 10, 0.05, 0.02, repetitions, **seed)
    yield partial(
        reports, "C2 5% slower found as 1 of 5 declared comparisons, 10 pairs", 10, 5, 0, 0.05, few, "primary", **seed
    )
    yield partial(
        reports,
        "C2 5% slower found, exploratory, 55 comparisons, 10 pairs",
        10,
        1,
        18,
        0.05,
        few,
        "exploratory",
        **seed,
    )
    yield partial(
        reports,
        "C1 an alarm where nothing differs, beside a true 5%, 55 comparisons",
        10,
        1,
        18,
        0.05,
        few,
        "wrong",
        **seed,
    )
    yield partial(reports, "C2 A/A called the same (margin 5%), 10 pairs", 10, 1, 0, 0.0, few, "same", **seed)
    yield partial(
        layers, "decompose: all shares in their intervals, 10 rounds", 10, repetitions, sign="≥", target=0.95, **seed
    )
    for count in (10, 20, 40):
        yield partial(bootstrap, f"C1 peer: percentile bootstrap, A/A alarm at 1%, {count} pairs", count, few, **seed)
    yield partial(pooled, "C1 peer: Mann–Whitney on pooled requests, A/A alarm at 1%", few, **seed)


def rows(repetitions: int, first_seed: int = 0) -> Iterator[Row]:
    """All rows, one after the other."""
    return (call() for call in calls(repetitions, first_seed))


def table(found: Iterable[Row]) -> str:
    """Markdown; "met" means that the Wilson 95% interval does not exclude the target."""
    head = "| what | rate (Wilson 95%) | n | target | |\n|---|---|---|---|---|"
    return "\n".join([head, *map(str, found)])


def main() -> None:
    """The scorecard on standard output."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repetitions", type=int, default=5000)
    print(table(rows(parser.parse_args().repetitions)))


if __name__ == "__main__":
    main()
