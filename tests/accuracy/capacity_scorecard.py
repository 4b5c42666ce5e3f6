"""How often does the capacity search tell the truth? Many seeded searches of simulated queues, as a table.

    PYTHONPATH=python:tests/accuracy python tests/accuracy/capacity_scorecard.py --runs 200

`held`: c μ lies in [good, bad]; `narrow`: width at most the goal; `both` is what the acceptance asks for.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from simulators import OpenQueue

from plimsoll.experiments.capacity import run_capacity
from plimsoll.experiments.result import CapacitySettings


@dataclass(frozen=True)
class Case:
    """One simulated target and the settings to search it with; rates per second, times in seconds."""

    name: str
    servers: int
    capacity_per_s: float
    step_s: float
    service: str = "exponential"
    declared: bool = True
    width: float = 0.10


@dataclass(frozen=True)
class Outcome:
    """What one search found of the truth 1 (levels are multiples of the true capacity)."""

    good: float | None
    bad: float | None
    load_s: float
    steps: int


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
)


def search_once(case: Case, seed: int) -> Outcome:
    """One seeded search; a user makes 50 operations an hour."""
    per_user_s = 50 / 3600
    source = OpenQueue(
        case.servers, case.servers / case.capacity_per_s, seed, rate_per_level_s=per_user_s, service=case.service
    )
    settings = CapacitySettings(
        width=case.width, step_s=case.step_s, arrivals_per_level_s=per_user_s if case.declared else None
    )
    result = run_capacity(source, settings)
    truth = case.capacity_per_s / per_user_s
    good, bad = result.bracket.good, result.bracket.bad
    return Outcome(good and good / truth, bad and bad / truth, result.load_s, len(result.steps))


def score(case: Case, runs: int, workers: int) -> str:
    """A line of the table."""
    with ProcessPoolExecutor(workers) as pool:
        found = list(pool.map(search_once, [case] * runs, range(runs), chunksize=4))
    return line(case, found)


def line(case: Case, found: Sequence[Outcome]) -> str:
    """Shares and quantiles of the outcomes."""
    held = [o.good is not None and o.bad is not None and o.good <= 1 <= o.bad for o in found]
    widths = np.array([(o.bad - o.good) / o.bad if o.good and o.bad else 1.0 for o in found])
    narrow = widths <= case.width + 1e-9
    load = np.array([o.load_s for o in found])
    both = np.mean(narrow & held)
    above, below = np.mean([(o.good or 0) > 1 for o in found]), np.mean([(o.bad or 9) < 1 for o in found])
    return (
        f"{case.name:34s} held {np.mean(held):6.1%}  narrow {np.mean(narrow):6.1%}  both {both:6.1%}  "
        f"width {np.median(widths):5.1%}  load {np.median(load):4.0f} s (p95 {np.quantile(load, 0.95):4.0f}, "
        f"max {load.max():4.0f})  good>1 {above:5.1%}  bad<1 {below:5.1%}"
    )


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
