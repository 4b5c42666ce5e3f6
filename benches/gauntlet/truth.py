"""The truth about a level: k6 itself offers it at a constant arrival rate, and a rule fixed beforehand judges.

The script runs unchanged inside a wrapper, which sets the rate, notes when each iteration began and how long it took,
and samples how many are in flight. The rule (RULE) was written before the first trial was made.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from core_speed import measured
from machine import between, usage
from processes import GENERATOR_CORES, on_cores, prefer, tail
from registries import Cache

K6 = ("k6", "go.k6.io/k6/v2", "v2.2.0", "go.k6.io/k6/v2")
RAMP_S, WARM_UP_S, SECONDS = 10, 15, 60
READY_S, SPARE_S, LEAST_VUS, MOST_VUS = 0.5, 2.0, 50, 1500
Verdict = Literal["carried", "not carried", "border", "no truth"]
RULE = """
carried      no arrival dropped (by k6 while it was still making VUs at most 2%), at least 98% of the asked rate
             completed in time, at most 1% of requests failed,
             p50 of the last third at most twice that of the first third + 50 ms, and
             in flight in the last 5 s at most 3 times the median of the first half + 5
not carried  more than 1% of arrivals dropped with all VUs in use, or less than 95% completed in time, or more than
             5% of requests failed, or p50 of the last third above 4 times that of the first third + 200 ms, or
             in flight in the last 5 s above 10 times the median of the first half + 20
border       anything between
no truth     k6 used more than 85% of its core, or others used more than 10% of a core and could not be put behind;
             or the product's core was another one than in the search's steps near that level, as far as that explains
             what k6 saw: more than 5% faster, and it carried with so much of the core that at the search's speed more
             than 80% of it would have been used (in the mean of the trial, its ramp of 10 s with it), or more than 5%
             slower and it did not carry

Two trials are held at each end, in the order good, bad, bad, good. Where both say the same, that is the truth. Where
one says carried and the other not carried, the host or the product is another one from minute to minute: no truth.
Where one says border: border.
"""
FULL_GENERATOR, FOREIGN_CORES, OTHER_SPEED, FULL_CORE = 0.85, 0.10, 0.05, 0.8


@dataclass(frozen=True)
class Trial:
    """What k6 saw at a constant rate after the warm-up; times in ms, rates per second, shares of 1; `vus_made` of at
    most `vus`; `core_speed` of the product's core, `searched_speed` in the search near that level, in one unit."""

    asked_per_s: float
    completed_per_s: float
    dropped_share: float
    failed_share: float
    p50_first_third_ms: float
    p50_last_third_ms: float
    p99_ms: float
    in_flight_first_half: float
    in_flight_end: float
    vus: int
    vus_made: int
    generator_cores: float
    target_cores: float
    foreign_cores: float
    stolen_cores: float
    preferred: bool
    core_speed: float | None = None
    searched_speed: float | None = None

    @property
    def faster(self) -> float:
        """By which share the product's core was faster than in the search; below 0: slower; 0 where it is not known."""
        return self.core_speed / self.searched_speed - 1 if self.core_speed and self.searched_speed else 0.0


def judge(trial: Trial) -> Verdict:
    """The verdict by RULE."""
    if trial.generator_cores > FULL_GENERATOR or (trial.foreign_cores > FOREIGN_CORES and not trial.preferred):
        return "no truth"
    seen = _seen(trial)
    needed = trial.target_cores * (1 + trial.faster)  # of the core as fast as in the search
    explained = {
        "carried": trial.faster > OTHER_SPEED and needed > FULL_CORE,
        "not carried": trial.faster < -OTHER_SPEED,
    }
    return "no truth" if explained.get(seen, abs(trial.faster) > OTHER_SPEED) else seen


def _seen(trial: Trial) -> Verdict:
    """What k6 saw, on whatever host."""
    achieved = trial.completed_per_s / trial.asked_per_s
    first, last = trial.p50_first_third_ms, trial.p50_last_third_ms
    spent = trial.vus_made >= trial.vus  # else k6 dropped, while it made more VUs
    if (
        trial.dropped_share <= (0 if spent else 0.02)
        and achieved >= 0.98
        and trial.failed_share <= 0.01
        and last <= 2 * first + 50
        and trial.in_flight_end <= 3 * trial.in_flight_first_half + 5
    ):
        return "carried"
    if (
        (trial.dropped_share > 0.01 and spent)
        or achieved < 0.95
        or trial.failed_share > 0.05
        or last > 4 * first + 200
        or trial.in_flight_end > 10 * trial.in_flight_first_half + 20
    ):
        return "not carried"
    return "border"


def of_both(first: Verdict, second: Verdict) -> Verdict:
    """The truth about a level of which two trials say this."""
    told = {first, second} - {"no truth"}
    if not told or told == {"carried", "not carried"}:
        return "no truth"
    return told.pop() if len(told) == 1 else "border"


def offered(
    cache: Cache,
    script: Path,
    env: Mapping[str, str],
    level: float,
    think_s: float,
    folder: Path,
    searched_speed: float | None = None,
) -> Trial:
    """Offer `level` times the script's declared rates for SECONDS, after a warm-up of WARM_UP_S that begins with a ramp
    of RAMP_S; RuntimeError if k6 tells nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    wrapper, told, log = folder / "wrapper.js", folder / "told.json", folder / "k6.log"
    declared = declared_rates(script)
    asked = level * sum(declared.values())
    ready, vus = (min(MOST_VUS, max(LEAST_VUS, math.ceil(asked * (of + think_s)))) for of in (READY_S, SPARE_S))
    wrapper.write_text(wrapped(script, declared, level, ready, vus))
    told.unlink(missing_ok=True)
    words = [str(cache.go(*K6)), "run", "--quiet", "--no-usage-report", "--address", "", str(wrapper)]
    before = usage()
    with measured() as speeds, on_cores(GENERATOR_CORES), log.open("wb") as output:
        subprocess.run(
            words, stdout=output, stderr=output, cwd=folder, timeout=SECONDS + WARM_UP_S + 90, check=False,
            env={**os.environ, **env, "TOLD": str(told), "GOMAXPROCS": "1"},
        )  # fmt: skip
    machine = between(before, usage()) | {
        "preferred": prefer(),
        "core_speed": speeds.mean_after(WARM_UP_S),
        "searched_speed": searched_speed,
    }
    if not told.exists():
        raise RuntimeError(f"k6 told nothing:\n{tail(log)}")
    return trial_of(json.loads(told.read_text())["metrics"], asked, vus, machine)


def declared_rates(script: Path) -> dict[str, float]:
    """Arrivals per second of each scenario; the bench's scripts declare constant rates per second only."""
    text = script.read_text()
    pairs = re.findall(r"(\w+): \{\s*executor: 'constant-arrival-rate',\s*rate: (\d+),\s*timeUnit: '1s'", text)
    if not pairs or len(pairs) != text.count("executor:"):
        raise ValueError(f"{script}: declare each scenario as constant-arrival-rate with rate and timeUnit '1s' first")
    return {name: float(rate) for name, rate in pairs}


def wrapped(script: Path, declared: Mapping[str, float], level: float, ready: int, vus: int) -> str:
    """The wrapper's text; `ready` VUs from the start, at most `vus`."""
    total = sum(declared.values())
    rates = {
        name: [round(100 * level * rate), *(max(1, round(count * rate / total)) for count in (ready, vus))]
        for name, rate in declared.items()
    }
    return (
        WRAPPER.replace("SCRIPT", json.dumps(str(script)))
        .replace("RATES", json.dumps(rates))
        .replace("RAMP_S", str(RAMP_S))
        .replace("WARM_UP_S", str(WARM_UP_S))
        .replace("SECONDS", str(SECONDS))
    )


def trial_of(
    metrics: Mapping[str, Any],
    asked: float,
    vus: int,
    machine: Mapping[str, Any],
) -> Trial:
    """k6's metrics of the wrapper as a trial."""

    def value(name: str, key: str) -> float:
        return float(metrics.get(name, {}).get("values", {}).get(key, 0.0))

    dropped = value("dropped_iterations", "count")
    return Trial(
        asked_per_s=round(asked, 3),
        completed_per_s=round(value("in_time", "count") / SECONDS, 3),
        dropped_share=round(dropped / (asked * (SECONDS + WARM_UP_S - RAMP_S / 2)), 5),
        failed_share=round(value("http_req_failed", "rate"), 5),
        p50_first_third_ms=value("third_0", "med"),
        p50_last_third_ms=value("third_2", "med"),
        p99_ms=value("third_2", "p(99)"),
        in_flight_first_half=value("in_flight_first_half", "med"),
        in_flight_end=value("in_flight_end", "med"),
        vus=vus,
        vus_made=int(value("vus_max", "max")),
        **machine,
    )


def record_of(trial: Trial) -> dict[str, Any]:
    """The trial with its verdict, as kept."""
    return {"verdict": judge(trial), **asdict(trial)}


WRAPPER = """import * as script from SCRIPT;
import exec from 'k6/execution';
import { Counter, Trend } from 'k6/metrics';

const RATE = RATES, RAMP = RAMP_S, WARM_UP = WARM_UP_S, LASTS = SECONDS;
const declared = script.options.scenarios;
const thirds = [new Trend('third_0'), new Trend('third_1'), new Trend('third_2')];
const inTime = new Counter('in_time');
const firstHalf = new Trend('in_flight_first_half'), atEnd = new Trend('in_flight_end');
const scenarios = {
  observer: { executor: 'constant-arrival-rate', rate: 2, timeUnit: '1s', duration: `${WARM_UP + LASTS}s`,
    preAllocatedVUs: 2, maxVUs: 2, exec: 'observe' },
};
for (const name of Object.keys(RATE)) {
  scenarios[name] = { executor: 'ramping-arrival-rate', startRate: 0, timeUnit: '100s',
    stages: [
      { target: RATE[name][0], duration: `${RAMP}s` },
      { target: RATE[name][0], duration: `${WARM_UP + LASTS - RAMP}s` },
    ],
    preAllocatedVUs: RATE[name][1], maxVUs: RATE[name][2], exec: 'iteration',
    gracefulStop: '20s', env: declared[name].env || {}, tags: declared[name].tags || {} };
}
export const options = Object.assign({}, script.options, {
  scenarios, thresholds: {}, summaryTrendStats: ['med', 'p(99)', 'max', 'count'],
});

export function setup() { return script.setup ? script.setup() : undefined; }
export function teardown(data) { if (script.teardown) script.teardown(data); }
function elapsed() { return (Date.now() - exec.scenario.startTime) / 1000 - WARM_UP; }

export function iteration(data) {
  const began = Date.now(), at = elapsed();
  try {
    script[declared[exec.scenario.name].exec || 'default'](data);
  } finally {
    const ended = elapsed();
    if (at >= 0) thirds[Math.min(2, Math.floor(3 * at / LASTS))].add(Date.now() - began);
    if (ended >= 0 && ended <= LASTS) inTime.add(1);
  }
}

export function observe() {
  const at = elapsed(), active = exec.instance.vusActive - 1;
  if (at >= 0 && at < LASTS / 2) firstHalf.add(active);
  if (at >= LASTS - 5) atEnd.add(active);
}

export function handleSummary(data) { return { [__ENV.TOLD]: JSON.stringify(data) }; }
"""
