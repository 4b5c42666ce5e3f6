"""Is a fault of the generator named, and a healthy one left valid? (issue 26, goal "validity")

    PYTHONPATH=python:tests/accuracy python tests/accuracy/validity_scorecard.py [--scale 1] [--seed 40000]

Seconds of generators with a planted fault, and twins with the same load, noise and target without it. The noise is that
of a shared virtual machine with two cores: lag p99 log-normal around 1 ms, single hiccups of up to 0.4 s, threads that
wait for a core for up to a third of the time. What is judged is what `run` and `capacity` judge by: `diagnose`,
`generator_health` and `binding_cap`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from score_line import Job, Line, Lines, print_rows

from plimsoll.findings.generator import figures_of, generator_health
from plimsoll.findings.run import run_finding
from plimsoll.findings.script_caps import binding_cap, declared_caps
from plimsoll.runs.generator_seconds import GeneratorSeconds
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series, Snapshot

Random = np.random.Generator
Told = dict[str, Any]
# (named, valid): whether the planted fault is named, and whether the conclusion about throughput is valid.
Trial = Callable[[Random, bool], tuple[bool, bool]]
VUS = 50


class Generator:
    """Seconds of a generator on a shared machine; `rate` arrivals a second, iterations of `iteration_ms`."""

    def __init__(self, random: Random, seconds: int, rate: float, iteration_ms: float) -> None:
        self.random, self.seconds, self.rate, self.iteration_ms = random, seconds, rate, iteration_ms
        self.busy = random.uniform(0.05, 0.5)
        self.waits = random.uniform(0.0, 0.25)
        self.told: list[Told] = [self._healthy() for _ in range(seconds)]
        self.loads: list[Told] = [{} for _ in range(seconds)]
        self.machine: list[Told] = [{} for _ in range(seconds)]

    def _healthy(self) -> Told:
        random = self.random
        p99_ms = float(np.exp(0.7 * random.standard_normal()))
        hiccup_ms = random.uniform(50, 400) if random.random() < 0.03 else 0.0
        busy = min(0.7, self.busy * random.uniform(0.8, 1.2))
        return {
            "cpu_s": busy, "threads": 1, "lag_p50_ms": 0.03, "lag_p99_ms": p99_ms,
            "lag_max_ms": max(p99_ms * random.uniform(1, 3), hiccup_ms), "longest_turn_ms": random.uniform(0.2, 3.0),
            "busiest_thread_share": busy, "stalled_share": 0.0,
            "waiting_share": min(0.9 - busy - 0.05, max(0.0, self.waits + 0.05 * random.standard_normal())),
        }  # fmt: skip

    def facts(self) -> GeneratorSeconds:
        """As a run gathers them."""
        found = GeneratorSeconds()
        for second in range(self.seconds):
            load = {"planned": round(self.rate), "started": round(self.rate), "iteration_ms": self.iteration_ms}
            load |= self.loads[second]
            mean_ms = load.pop("iteration_ms")
            times = mean_ms * np.exp(0.1 * self.random.standard_normal(max(1, int(load["started"]))))
            names = ("http_req_duration", "iteration_duration")
            series = [Series.of_trend(name, {}, Histogram.from_values(times)) for name in names]
            silent = load["started"] == 0
            found.add(
                Snapshot(
                    second, vus_max=VUS, series=() if silent else tuple(series), generator=self.told[second], **load
                )
            )
            if self.machine[second]:
                found.add_row({"second": second, "source": "generator", "values": self.machine[second]})
        return found


def _made(random: Random) -> Generator:
    return Generator(random, int(random.integers(10, 61)), random.uniform(40, 400), random.uniform(5, 200))


def _named(made: Generator, name: str) -> tuple[bool, bool]:
    finding = run_finding(made.facts())
    return any(one["name"] == name for one in finding["diagnoses"]), bool(finding["valid"])


def stopped(random: Random, planted: bool) -> tuple[bool, bool]:
    """SIGSTOP, docker pause, a machine that pauses: as the engine told it, one late timer and empty seconds."""
    made = _made(random)
    if planted:
        length_s = random.uniform(max(0.6, 0.06 * made.seconds), 0.5 * made.seconds)
        at = int(random.integers(0, max(1, made.seconds - int(length_s) - 1)))
        made.told[at] |= {"lag_max_ms": 1000 * length_s, "cpu_s": 0.05}
        empty = {"lag_max_ms": 0.0, "lag_p99_ms": 0.0, "longest_turn_ms": 0.0, "cpu_s": 0.0, "waiting_share": 0.0}
        for second in range(at + 1, at + int(length_s)):
            made.told[second], made.loads[second] = made.told[second] | empty, {"planned": 0, "started": 0}
    return _named(made, "stood_still")


def starved(random: Random, planted: bool) -> tuple[bool, bool]:
    """Other work of a higher weight: the thread has work all the time and a core for a part of it."""
    made = _made(random)
    if planted:
        for told in made.told:
            got = random.uniform(0.2, 0.6)
            late_ms = random.uniform(20, 200)
            told |= {
                "busiest_thread_share": got, "cpu_s": got, "waiting_share": 1 - got - random.uniform(0, 0.05),
                "lag_p50_ms": late_ms / 4, "lag_p99_ms": late_ms, "lag_max_ms": 2 * late_ms,
            }  # fmt: skip
    return _named(made, "starved")


def full(random: Random, planted: bool) -> tuple[bool, bool]:
    """A thread that computes all the time."""
    made = _made(random)
    if planted:
        for told in made.told:
            busy = random.uniform(0.93, 1.0)
            told |= {"busiest_thread_share": busy, "cpu_s": busy, "waiting_share": 0.0}
    return _named(made, "thread")


def refused(name: str) -> Trial:
    """No free file or port for some connections in a second."""

    def trial(random: Random, planted: bool) -> tuple[bool, bool]:
        made = _made(random)
        if planted:
            made.told[int(random.integers(0, made.seconds))][f"refused_{name}"] = int(random.integers(1, 200))
        return _named(made, name)

    return trial


def capped_run(random: Random, planted: bool) -> tuple[bool, bool]:
    """More arrivals than the VUs can take in their think time; of the twin the target is what is slow."""
    made = _made(random)
    made.iteration_ms = random.uniform(50, 500)
    allowed = 1000 * VUS / made.iteration_ms
    made.rate = allowed * random.uniform(1.1, 3.0)
    slow = 1.0 if planted else random.uniform(2.0, 20.0)
    for second, load in enumerate(made.loads):
        done = allowed / slow
        of_second = made.iteration_ms * (1 + (slow - 1) * min(1.0, second / 3))
        late = round(made.rate - done) if planted or second else 0
        load |= {"started": round(done) or 1, "late": late, "iteration_ms": of_second}
    return _named(made, "script_cap")


def capped_search(option: str) -> Trial:
    """What the most throughput of a search says of the option; of the twin the target carries less than it allows."""

    def trial(random: Random, planted: bool) -> tuple[bool, bool]:
        low_s, vus = random.uniform(0.02, 0.5), int(random.integers(10, 200))
        allowed = vus / low_s
        common = {"executor": "constant-arrival-rate", "rate": 10}
        options: Told = {"scenarios": {"a": common | {"maxVUs": vus}}}
        if option == "rps":
            options = {"rps": allowed, "scenarios": {"a": common}}
        if option == "iterations":
            each = {"executor": "shared-iterations", "vus": 4 * vus, "iterations": round(10 * allowed)}
            options = {"scenarios": {"a": each | {"maxDuration": "10s"}}}
        share = random.uniform(0.97, 1.0) if planted else random.uniform(0.1, 0.8)
        # All VUs are taken by what the target makes wait (Little's law).
        high_s = low_s * random.uniform(0.98, 1.1) if planted else low_s / share * random.uniform(1.0, 1.5)
        found = binding_cap(
            declared_caps(options),
            low_iteration_s=low_s * random.uniform(0.98, 1.02),
            high_iteration_s=high_s,
            iterations_per_s=share * allowed,
            requests_per_s=share * allowed,
        )
        return found is not None and found.cap.option == option, found is None

    return trial


def foreign(random: Random, planted: bool) -> tuple[bool, bool]:
    """Work of others that fills the host in the step that was not carried; of the twin the target fills it."""
    made = _made(random)
    cores = float(random.choice([2, 4, 8]))
    own = random.uniform(0.03, 0.08) * cores
    others = random.uniform(0.25, 0.6) * cores if planted else random.uniform(0.0, 0.12) * cores
    busy = random.uniform(0.94, 1.0)
    target = busy * cores - own - others
    means = {
        "host": {"cores": cores, "cpu_share": busy, "cpu_steal_share": random.uniform(0, 0.03)},
        "process:app": {"cpu_cores_used": target, "busiest_thread_cores_used": min(0.9, target)},
    }
    facts = made.facts()
    step = {
        "level": 100.0,
        "verdict": "bad",
        **figures_of(facts),
        "generator_cores": own,
        "generator_share": own / cores,
    }
    health = generator_health([step], [means], [facts])
    return any("other processes used" in text for text in health["reasons"]), bool(health["healthy"])


TRIALS: dict[str, Trial] = {
    "stopped or paused": stopped,
    "starved by other work": starved,
    "a full thread": full,
    "no files": refused("files"),
    "no ports": refused("ports"),
    "too few VUs, in a run": capped_run,
    "maxVUs, in a search": capped_search("maxVUs"),
    "rps, in a search": capped_search("rps"),
    "iterations": capped_search("iterations"),
    "work of others on a full host": foreign,
}


def lines(name: str, repeat: int, first_seed: int) -> Lines:
    """How often the fault is named, and how often the twin without it is void."""
    trial, hits, void = TRIALS[name], 0, 0
    for seed in range(first_seed, first_seed + repeat):
        named, valid = trial(np.random.default_rng([seed, 21]), True)
        hits += named and not valid
        void += not trial(np.random.default_rng([seed, 21]), False)[1]
    return [
        Line("V1", f"generator: {name}: named, and throughput void", hits, repeat, repeat, "≥", 0.95),
        Line("V2", f"generator: twin without “{name}”: throughput void", void, repeat, repeat, "≤", 0.02),
    ]


def late_lines(repeat: int, first_seed: int) -> Lines:
    """Lag of 0.5 to 50 ms, whatever the response times: throughput is valid, and the error of times holds the lag."""
    kept = told = 0
    for seed in range(first_seed, first_seed + repeat):
        random = np.random.default_rng([seed, 22])
        made = _made(random)
        lag_ms = float(np.exp(random.uniform(np.log(0.5), np.log(50))))
        for one in made.told:
            one |= {"lag_p50_ms": lag_ms / 5, "lag_p99_ms": lag_ms, "lag_max_ms": 1.2 * lag_ms}
        facts = made.facts()
        step = {"level": 100.0, "verdict": "bad", **figures_of(facts), "generator_cores": 0.1, "generator_share": 0.1}
        health = generator_health([step], [{}], [facts])
        kept += bool(health["healthy"])
        times = [one for one in health["validity"] if one.get("quantile") == 0.99]
        small = lag_ms <= 0.01 * (facts.response_ms(0.99) or 0.0)
        told += small or (len(times) == 1 and abs(times[0].get("error", 0.0) - lag_ms) < 0.01 * lag_ms)
    return [
        Line("V3", "generator late by 0.5 to 50 ms: throughput stays valid", kept, repeat, repeat, "≥", 0.98),
        Line("V3", "generator late by 0.5 to 50 ms: that is the error of p99", told, repeat, repeat, "≥", 0.95),
    ]


def jobs(scale: float, first_seed: int) -> Iterator[Job]:
    """400 pairs of each fault at scale 1, 100 at least."""
    repeat = max(100, round(400 * scale))
    for name in TRIALS:
        yield Job(f"validity {name}", partial(lines, name, repeat, first_seed))
    yield Job("validity late", partial(late_lines, repeat, first_seed))


if __name__ == "__main__":
    print_rows(jobs, __doc__)
