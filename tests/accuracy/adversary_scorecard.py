"""Is a bracket right for targets that break what estimators assume? The truth is what the same target does when the
level is held.

A level is *carried by a trial* if it is held for 60 s, after half of it for as long as the target needs to get warm,
with at most 1% of failures and at the end no more than half a second's work left over. Near its capacity a target that
collapses tips over in some minutes and not in others. So a bracket is *right* if at least half of the trials carry its
carried level, and at least one in ten does not carry the other: what falls over once in ten minutes is not carried.
Ten trials are held, and twenty where ten leave that open.
Levels are rounded outwards to 1% for the trials, which are shared by searches. A search that names no carried level,
or no other, says "cannot tell".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

from adversaries import (
    Autoscaling,
    Bucket,
    ClosedMetastable,
    ClosedRetrograde,
    ColdCache,
    Collector,
    Compiler,
    Connections,
    Credits,
    Foreign,
    ForeignAgain,
    ForeignAlways,
    HeavyTail,
    Helper,
    Journeys,
    LightStart,
    LongPauses,
    Metastable,
    OneOperationCollapses,
    Probed,
    Quota,
    Retries,
    Retrograde,
    Sessions,
    Stuck,
    WaitsElsewhere,
    WarmUp,
)
from adversary import Adversary
from score_line import Job, Line, Lines, percent

from plimsoll.experiments.capacity.experiment import run_capacity
from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.experiments.steps.measure import Measurement

TRIAL_S, TRIALS, MORE_TRIALS = 60, 10, 20
MOST_FAILED = 0.01


@dataclass(frozen=True)
class Case:
    """A target: `servers` of `per_s` together; `warm_s` at half the level before a trial; `truth`: what trials hold, if
    not the same (without the trouble that passes); `left_over_s`: seconds of work that may be left when a trial ends:
    more where arrivals come in batches."""

    name: str
    make: type[Adversary]
    servers: int = 4
    per_s: float = 300.0
    warm_s: int = 5
    service: str = "exponential"
    truth: type[Adversary] | None = None
    left_over_s: float = 0.5

    def source(self, seed: int) -> Adversary:
        """A fresh target; level 1 is one arrival a second."""
        return self.make(self.servers, self.servers / self.per_s, seed, service=self.service)


CASES = (
    Case("none of it", Adversary),
    Case("throughput falls past its top", Retrograde, 8),
    Case("throughput falls past its top, fast target", Retrograde, 8, 1500.0),
    Case("metastable: twice the work behind a queue of 60", Metastable, 1, 250.0),
    Case("retries that amplify", Retries),
    Case("a cold cache", ColdCache, warm_s=60),
    Case("warms up", WarmUp, warm_s=60),
    Case("compiles for two minutes", Compiler, warm_s=240),
    Case("scales itself from two to eight servers", Autoscaling, 2, 200.0, warm_s=90),
    Case("stands still to collect garbage", Collector),
    Case("heavy-tailed service", HeavyTail, 16),
    Case("arrivals in batches of eight", Sessions, left_over_s=1.5),
    Case("a limit of the rate, with a burst", Bucket, 8, 800.0),
    Case("a quota of one user that is used up", Quota, truth=Adversary),
    Case("credits for 20 s of half again the speed", Credits, warm_s=0),
    Case("a limit of connections", Connections),
    Case("requests that are never answered past 64 inside", Stuck),
    Case("foreign work on the host for 20 s", Foreign, truth=Adversary),
    Case("foreign work on the host for 10 s of each 50 s", ForeignAgain, truth=Adversary),
    Case("foreign work on the host all the time", ForeignAlways),
    Case("a helper that is not probed works more under overload", Helper),
    Case("iterations of four requests with pauses", Journeys, per_s=60.0, left_over_s=2.2),
    Case("iterations that last for six seconds", LongPauses, per_s=60.0, warm_s=15, left_over_s=6.9),
    Case("iterations that begin with a light request", LightStart, per_s=60.0, left_over_s=2.2),
    Case("iterations whose first request waits elsewhere", WaitsElsewhere, per_s=60.0, left_over_s=2.3),
    Case("one operation of two collapses", OneOperationCollapses, 8, 1200.0),
)


CLOSED_SERVERS, CLOSED_PER_S, THINK_S, COLLAPSED = 8, 400.0, 1.0, 0.92
CLOSED_CASES = {
    "closed load: throughput falls past its top": ClosedRetrograde,
    "closed load: metastable": ClosedMetastable,
}


def closed_source(make: type[ClosedRetrograde], seed: int) -> ClosedRetrograde:
    """A fresh target of users who think for a second."""
    return make(CLOSED_SERVERS, CLOSED_SERVERS / CLOSED_PER_S, THINK_S, seed)


@cache
def closed_carried(name: str, users: int, seed: int) -> bool:
    """Whether in that trial of 60 s, from rest, so many users get 92% or more of what they would alone."""
    source = closed_source(CLOSED_CASES[name], 900_000 + seed)
    source.set_level(users)
    done = [snapshot.done for snapshot in source.snapshots(5 + TRIAL_S)][5:]
    return sum(done) / TRIAL_S >= COLLAPSED * users / (THINK_S + CLOSED_SERVERS / CLOSED_PER_S)


def closed_carry(name: str, users: int, least: int) -> bool:
    """Whether at least so many of ten trials carry it. No more trials are made than decide it."""
    carried = 0
    for made in range(1, TRIALS + 1):
        carried += closed_carried(name, users, made - 1)
        if carried >= least or made - carried > TRIALS - least:
            break
    return carried >= least


def closed_search(name: str, seed: int) -> Verdict:
    """One search of a closed load, judged by trials; shares are of the nominal throughput × cycle."""
    result = run_capacity(closed_source(CLOSED_CASES[name], seed), CapacitySettings(budget_s=300, max_level=5000))
    good, bad, most = result.bracket.good, result.bracket.bad, CLOSED_PER_S * THINK_S
    return Verdict(
        None if good is None else good / most,
        None if bad is None else bad / most,
        good is None or closed_carry(name, round(good), TRIALS // 2),
        bad is not None and closed_carry(name, round(bad), TRIALS),
        result.load_s,
        result.reason,
    )


def trial(case: Case, level: float, seed: int) -> bool:
    """Whether one trial carries that level."""
    source = replace(case, make=case.truth or case.make).source(seed)
    source.timed = False
    source.set_level(level / 2)
    for _ in source.snapshots(case.warm_s):
        pass
    source.set_level(level)
    seen = Measurement(level)
    for snapshot in source.snapshots(case.warm_s + 2 + TRIAL_S):
        if snapshot.second < case.warm_s + 2:
            seen.unfinished_start = float(snapshot.in_flight)
        else:
            seen.add(snapshot)
    return seen.error_share <= MOST_FAILED and seen.in_flight <= max(case.left_over_s * level, 3 * case.servers)


@cache
def carried_by(name: str, hundredths: int, seed: int) -> bool:
    """Whether that trial carries a level of so many hundredths of the nominal capacity."""
    case = next(one for one in CASES if one.name == name)
    return trial(case, hundredths / 100 * case.per_s, 900_000 + seed)


def most_carry(name: str, hundredths: int) -> bool:
    """Whether at least half of ten trials carry a level; of twenty where ten leave it open (three to seven of them).
    No more trials are made than decide it."""
    carried = 0
    for made in range(1, TRIALS + 1):
        carried += carried_by(name, hundredths, made - 1)
        if carried >= 0.8 * TRIALS or made - carried >= 0.8 * TRIALS:
            return carried >= 0.8 * TRIALS
    carried += sum(carried_by(name, hundredths, seed) for seed in range(TRIALS, MORE_TRIALS))
    return carried >= 0.5 * MORE_TRIALS


def nearly_all_carry(name: str, hundredths: int) -> bool:
    """Whether ten of ten trials carry a level, and of twenty all but one, as ten of ten do by chance at a level at
    which one in five does not (0.8^10 = 11%). No more trials are made than decide it."""
    lost = 0
    for seed in range(MORE_TRIALS):
        lost += not carried_by(name, hundredths, seed)
        if lost > (0 if seed < TRIALS else 1):
            return False
    return True


@dataclass(frozen=True)
class Verdict:
    """What a search found, in shares of the nominal capacity, and whether trials agree."""

    good: float | None
    bad: float | None
    good_carried: bool
    bad_carried: bool
    load_s: float
    reason: str

    @property
    def answers(self) -> bool:
        """Whether both bounds are there."""
        return self.good is not None and self.bad is not None

    @property
    def right(self) -> bool:
        """Whether trials agree with both."""
        return self.answers and self.good_carried and not self.bad_carried

    @property
    def width(self) -> float:
        """Of the bracket; 1 without one."""
        return 1 - self.good / self.bad if self.good and self.bad else 1.0


def search(case: Case, seed: int, settings: CapacitySettings | None = None) -> Verdict:
    """One search, judged by trials."""
    source = case.source(seed)
    result = run_capacity(
        source,
        settings or CapacitySettings(arrivals_per_level_s=1.0, budget_s=300),
        probes_sampler=source.sample if isinstance(source, Probed) else None,
    )
    good, bad = (None if bound is None else bound / case.per_s for bound in (result.bracket.good, result.bracket.bad))
    return Verdict(
        good,
        bad,
        good is None or most_carry(case.name, math.floor(100 * good)),
        bad is not None and nearly_all_carry(case.name, math.ceil(100 * bad)),
        result.load_s,
        result.reason,
    )


def lines(kind: str, searched: Callable[[int], Verdict], repeat: int, first_seed: int) -> Lines:
    """The lines of one target."""
    found = [searched(first_seed + seed) for seed in range(repeat)]
    told = [one for one in found if one.answers]
    middle = percent(sorted(one.width for one in told)[len(told) // 2]) if told else "–"
    name = f"{kind}: "
    return [
        Line("R1", f"{name}bracket right (median width {middle})", sum(one.right for one in told), len(told), repeat,
             "≥", 0.95, True),
        Line("R1", f"{name}a carried level is contradicted by trials", sum(not one.good_carried for one in found),
             repeat, repeat, "≤", 0.0),
    ]  # fmt: skip


def jobs(scale: float, first_seed: int) -> Iterator[Job]:
    """100 searches of each target at scale 1."""
    for name, searched in searches().items():
        run: Callable[[], Lines] = partial(lines, name, searched, max(5, round(100 * scale)), first_seed)
        yield Job(f"R1 {name}", run)


def searches() -> dict[str, Callable[[int], Verdict]]:
    """A search of each target, by its name."""
    open_ones = {case.name: partial(search, case) for case in CASES}
    return {**open_ones, **{name: partial(closed_search, name) for name in CLOSED_CASES}}


def main() -> None:
    """Print a line a target: `adversary_scorecard.py [RUNS [NAME]]`."""
    import sys
    from collections import Counter
    from concurrent.futures import ProcessPoolExecutor

    repeat, only = int(sys.argv[1]) if len(sys.argv) > 1 else 10, sys.argv[2] if len(sys.argv) > 2 else ""
    with ProcessPoolExecutor(2) as pool:
        for name, searched in searches().items():
            if only not in name:
                continue
            found = list(pool.map(searched, range(70_000, 70_000 + repeat)))
            told = [one for one in found if one.answers]
            bounds = sorted((round(one.good or 0, 2), round(one.bad or 0, 2)) for one in found)
            print(
                f"{name:48s} answers {len(told)}/{repeat} right {sum(o.right for o in told)} "
                f"good contradicted {sum(not o.good_carried for o in found)} bad carried "
                f"{sum(o.bad_carried for o in found)} "
                f"width {sorted(o.width for o in found)[repeat // 2]:.0%} load {max(o.load_s for o in found):.0f} "
                f"{bounds[:: max(1, repeat // 5)]} {Counter(o.reason[:60] for o in found if not o.answers)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
