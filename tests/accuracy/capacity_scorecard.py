"""How often does the capacity search tell the truth? Many seeded searches of simulated queues, as a table.

    PYTHONPATH=python:tests/accuracy python tests/accuracy/capacity_scorecard.py --runs 200

`held`: c μ lies in [good, bad]; `narrow`: width at most the goal; `both` is what the acceptance asks for. Where the
host drifts, also whether the bracket holds the capacity at the mean speed that the host had during this run: no search
can know another one. A target that thrashes (what has waited for longer takes so many times the work) tips over below
c μ after a while, so that is not its truth; the medians of its bounds are printed.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from simulators import OpenQueue, drifting_speeds

from plimsoll.experiments.capacity.experiment import run_capacity
from plimsoll.experiments.capacity.result import CapacitySettings


@dataclass(frozen=True)
class Case:
    """One simulated target and the settings to search it with; rates per second, times in seconds.

    `drift`, `cv`: how the speed of its host wanders, as the demo's does; `probed`: with the probe of that speed. Such
    a target is asked for its data volume between the steps, which takes the time of a request. `idle_reads`: what the
    probe reads of a core that idles.
    """

    name: str
    servers: int
    capacity_per_s: float
    step_s: float
    service: str = "exponential"
    declared: bool = True
    width: float = 0.10
    drift: str = ""
    cv: float = 0.0
    probed: bool = False
    idle_reads: float = 1.0
    thrash_wait_s: float = 0.0
    thrash_factor: float = 1.0


@dataclass(frozen=True)
class Outcome:
    """What one search found of the truth 1 (levels are multiples of the true capacity); `mean_speed` of the host while
    the load was on, which is the capacity that this run could see."""

    good: float | None
    bad: float | None
    load_s: float
    steps: int
    mean_speed: float = 1.0


CASES = (
    Case("M/M/1 300/s, 30 s steps", 1, 300, 30),
    Case("M/M/4 300/s, 30 s steps", 4, 300, 30),
    Case("M/M/16 300/s, 30 s steps", 16, 300, 30),
    Case("M/M/1 300/s, rate not declared", 1, 300, 30, declared=False),
    Case("M/D/1 300/s, 30 s steps", 1, 300, 30, "constant"),
    Case("M/G/1 scv 4 300/s, 30 s steps", 1, 300, 30, "bursty"),
    Case("M/M/1 1000/s, 10 s steps (demo)", 1, 1000, 10),
    Case("M/M/1 300/s, 10 s steps (demo)", 1, 300, 10),
    Case("M/M/1 150/s, 10 s steps", 1, 150, 10),
    Case("M/M/1 2.3/s, 30 s steps", 1, 2.3, 30),
    Case("M/M/4 300/s, thrashes after 0.2 s", 4, 300, 10, thrash_wait_s=0.2, thrash_factor=1.5),
    Case("M/M/1 300/s, thrashes after 0.5 s", 1, 300, 10, thrash_wait_s=0.5, thrash_factor=1.25),
    Case("demo 290/s, steady host", 1, 290, 10, drift="quick", cv=0.0),
    Case("demo 290/s, quick drift 9%", 1, 290, 10, drift="quick", cv=0.09),
    Case("demo 290/s, slow drift 9%", 1, 290, 10, drift="slow", cv=0.09),
    Case("demo 290/s, quick drift 9%, probed", 1, 290, 10, drift="quick", cv=0.09, probed=True),
    Case("demo 290/s, slow drift 9%, probed", 1, 290, 10, drift="slow", cv=0.09, probed=True),
    Case(
        "demo 290/s, quick drift 9%, idle cores read slower",
        1,
        290,
        10,
        drift="quick",
        cv=0.09,
        probed=True,
        idle_reads=0.75,
    ),
    Case("demo 180/s, 20% slower for 25 s", 1, 180, 10, drift="warms up", cv=0.2),
    Case("demo 180/s, 35% slower for 25 s", 1, 180, 10, drift="warms up", cv=0.35),
    Case("demo 180/s, quick drift 9%, probed", 1, 180, 10, "bursty", drift="quick", cv=0.09, probed=True),
    Case("demo 290/s, slow drift 15%, probed", 1, 290, 10, drift="slow", cv=0.15, probed=True),
)


def search_once(case: Case, seed: int) -> Outcome:
    """One seeded search; a user makes 50 operations an hour."""
    per_user_s = 50 / 3600
    drifts = bool(case.drift)
    speeds = drifting_speeds(case.drift, case.cv, seed) if drifts else None
    source = OpenQueue(
        case.servers,
        case.servers / case.capacity_per_s,
        seed,
        rate_per_level_s=per_user_s,
        service=case.service,
        speeds=speeds,
        idle_reads=case.idle_reads,
        thrash_wait_s=case.thrash_wait_s or math.inf,
        thrash_factor=case.thrash_factor,
    )
    settings = CapacitySettings(
        width=case.width,
        step_s=case.step_s,
        arrivals_per_level_s=per_user_s if case.declared else None,
        min_level=100 if drifts else None,
        expected_level=5000 if drifts else None,
    )
    result = run_capacity(
        source,
        settings,
        probes_sampler=source.sample if case.probed else None,
        data_volume=source.ask if drifts else None,
    )
    truth = case.capacity_per_s / per_user_s
    good, bad = result.bracket.good, result.bracket.bad
    mean_speed = 1.0 if speeds is None else float(speeds[: int(result.load_s)].mean())
    return Outcome(good and good / truth, bad and bad / truth, result.load_s, len(result.steps), mean_speed)


def score(case: Case, runs: int, workers: int) -> str:
    """A line of the table."""
    with ProcessPoolExecutor(workers) as pool:
        found = list(pool.map(search_once, [case] * runs, range(runs), chunksize=4))
    return line(case, found)


def line(case: Case, found: Sequence[Outcome]) -> str:
    """Shares and quantiles of the outcomes."""
    held = [_holds(o, 1.0) for o in found]
    widths = np.array([(o.bad - o.good) / o.bad if o.good and o.bad else 1.0 for o in found])
    narrow = widths <= case.width + 1e-9
    load = np.array([o.load_s for o in found])
    both = np.mean(narrow & held)
    above, below = np.mean([(o.good or 0) > 1 for o in found]), np.mean([(o.bad or 9) < 1 for o in found])
    bounds = [(o.good, o.bad) for o in found]
    if case.drift:
        seen = np.array([_holds(o, o.mean_speed) for o in found])
        seen_words = f"  of the run's mean speed: held {np.mean(seen):6.1%}  both {np.mean(narrow & seen):6.1%}"
    else:
        seen_words = ""
    if case.thrash_wait_s:
        good, bad = (np.median([bound or math.nan for bound in many]) for many in zip(*bounds, strict=True))
        seen_words = f"  medians of the bounds {good:.2f}, {bad:.2f}"
    return (
        f"{case.name:36s} held {np.mean(held):6.1%}  narrow {np.mean(narrow):6.1%}  both {both:6.1%}  "
        f"width {np.median(widths):5.1%}  load {np.median(load):4.0f} s (p95 {np.quantile(load, 0.95):4.0f}, "
        f"max {load.max():4.0f})  good>1 {above:5.1%}  bad<1 {below:5.1%}{seen_words}"
    )


def _holds(outcome: Outcome, truth: float) -> bool:
    return outcome.good is not None and outcome.bad is not None and outcome.good <= truth <= outcome.bad


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()
    for case in CASES:
        if options.only in case.name:
            print(score(case, options.runs, options.workers), flush=True)


if __name__ == "__main__":
    main()
