"""Is a fault of the generator named, and a healthy one left valid? (issue 26, goal "validity")

    PYTHONPATH=python:tests/accuracy python tests/accuracy/validity_scorecard.py [--scale 1] [--seed 40000]

Seconds of generators with a planted fault, and twins with the same load, noise and target without it. The noise is that
of a shared virtual machine with two cores: lag p99 log-normal around 1 ms, single hiccups of up to 0.4 s, threads that
wait for a core for up to a third of the time. What is judged is what `run` and `capacity` judge by: `diagnose`,
`generator_health` and `judge`, which ask `binding_cap` for the script's own options. Steps of a search are those of
queues behind such a script (capped_targets.py): of the twin the queue is full at 20 to 65% of what the script allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from capped_targets import CappedQueue
from score_line import Job, Line, Lines, print_rows

from plimsoll.experiments.steps.evidence import Context
from plimsoll.experiments.steps.judge import judge
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.findings.run import run_finding
from plimsoll.findings.validity.generator import figures_of, generator_health
from plimsoll.findings.validity.slow_names import with_slow_names
from plimsoll.findings.validity.validity import Validity
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.declared_caps import declared_caps
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.readings.name_lookups import NameLookups
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
        self.failed: dict[int, tuple[str, int]] = {}  # by second: error code and requests

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
            load.setdefault("done", load["started"])
            mean_ms = load.pop("iteration_ms")
            each = np.exp(0.1 * self.random.standard_normal(max(1, int(load["done"]))))
            times = {"http_req_duration": load.pop("request_ms", mean_ms), "iteration_duration": mean_ms}
            series = [Series.of_trend(name, {}, Histogram.from_values(ms * each)) for name, ms in times.items()]
            series.append(Series("http_reqs", "counter", {}, value=float(load["done"])))
            if (failed := self.failed.get(second)) is not None:
                tags = {"status": "0", "error_code": failed[0]}
                series.append(Series("http_req_failed", "rate", tags, passes=failed[1], total=failed[1]))
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


def paced_run(random: Random, planted: bool) -> tuple[bool, bool]:
    """More requests than `rps` lets start; of the twin the target finishes less than that, and is what is slow."""
    made = _made(random)
    made.iteration_ms = random.uniform(2, 100)
    rps = round(random.uniform(20, 300))
    made.rate = rps * random.uniform(1.2, 3.0)
    done = rps if planted else rps * random.uniform(0.3, 0.9)
    for second, load in enumerate(made.loads):
        behind = second + 1
        waits_ms = 1000 * (made.rate - done) * behind / done
        load |= {"started": round(made.rate), "done": round(done), "iteration_ms": made.iteration_ms + waits_ms}
        load |= {"request_ms": made.iteration_ms if planted else made.iteration_ms + waits_ms}
    caps = declared_caps({"rps": rps, "scenarios": {"a": {"executor": "constant-arrival-rate"}}})
    finding = run_finding(made.facts(), caps=caps)
    return any(one["name"] == "script_cap" for one in finding["diagnoses"]), bool(finding["valid"])


def judged_step(option: str) -> Trial:
    """A step of a search above what the option allows; of the twin above what the target carries, which is less."""

    def trial(random: Random, planted: bool) -> tuple[bool, bool]:
        # One VU less than two thirds of the servers is needed where nothing but the target takes a VU's time.
        servers, mean_s = int(random.integers(3 if option == "latency" else 1, 7)), random.uniform(0.004, 0.04)
        carried = servers / mean_s
        allowed = carried / (random.uniform(1.5, 6) if planted else random.uniform(0.2, 0.65))
        waits_s = random.uniform(0.05, 0.5) if option in ("sleep", "minIterationDuration") else 0.0
        vus = max(1, (math.floor if planted else math.ceil)(allowed * (waits_s + mean_s)))
        options: Told = {"scenarios": {"work": {"executor": "constant-arrival-rate", "maxVUs": vus}}}
        behind: Told = {"vus": vus, "own_s": waits_s}
        if option == "rps":
            options = {"rps": round(allowed), "scenarios": {"work": {"executor": "constant-arrival-rate"}}}
            allowed, behind = float(round(allowed)), {"rps": float(round(allowed))}
        if option == "minIterationDuration":
            allowed = vus / (waits_s + mean_s)
            options |= {"minIterationDuration": f"{1000 * (waits_s + mean_s):.3f}ms"}
            behind = {"vus": vus, "least_s": waits_s + mean_s}
        load = CappedQueue(servers, mean_s, int(random.integers(1 << 30)), **behind)
        most = min(allowed, carried)
        low = _seconds_at(load, 0.3 * most, max(10, math.ceil(100 / (0.3 * most))))
        load.drain(300.0)
        seen = _seconds_at(load, most * random.uniform(1.2, 2.0), 10)
        found = judge(seen, Context(1.0, 0.048, 10, caps=declared_caps(options), low=low.load))
        return found.capped, not found.capped

    return trial


def _seconds_at(load: CappedQueue, level: float, seconds: int) -> Measurement:
    """Measured seconds at a level after two to settle."""
    load.set_level(level)
    settled = list(load.snapshots(load.now() + 2))
    seen = Measurement(level, unfinished_start=float(settled[-1].backlog + settled[-1].in_flight))
    for snapshot in load.snapshots(load.now() + seconds):
        seen.add(snapshot)
    return seen


def unknown_name(random: Random, planted: bool) -> tuple[bool, bool]:
    """A name server that does not answer for some requests in a second; of the twin the target refuses as many."""
    made = _made(random)
    code = str(random.choice(["1100", "1101"])) if planted else "1212"
    made.failed[int(random.integers(0, made.seconds))] = (code, int(random.integers(1, 200)))
    return _named(made, "names")


def slow_name(random: Random, planted: bool) -> tuple[bool, bool]:
    """A slow name server: a part of the requests opens a connection and looks the name up; of the twin connections take
    as long to be made, and names do not."""
    lookup_ms, answer_ms = random.uniform(20, 2000), random.uniform(2, 200)
    share, found = random.uniform(0.02, 1.0), NameLookups()
    for second in range(int(random.integers(10, 61))):
        count = int(random.integers(40, 400))
        opens = random.random(count) < share
        lookups = np.where(opens, lookup_ms * np.exp(0.3 * random.standard_normal(count)), 0.0)
        made = np.where(opens, random.uniform(0.05, 3.0, count), 0.0)
        connecting = made if planted else made + lookups
        times = {
            "http_req_blocked": made + lookups,
            "http_req_connecting": connecting,
            "http_req_tls_handshaking": 0 * made,
            "http_req_duration": random.exponential(answer_ms, count),
        }
        rows = (Series.of_trend(name, {}, Histogram.from_values(values)) for name, values in times.items())
        found.add(Snapshot(second, series=tuple(rows)))
    times_of = [Validity("response_time", quantile=0.99), Validity("throughput")]
    main = {"status": "finished", "validity": [one.to_json() for one in times_of]}
    told = with_slow_names(main, found)
    valid = told["validity"][0]["verdict"] == "valid"
    return "(DNS)" in " ".join(told.get("notes") or ()), valid and told["validity"][1]["verdict"] == "valid"


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
    "rps, in a run": paced_run,
    "maxVUs and a sleep, in a search": judged_step("sleep"),
    "maxVUs and a target of that latency, in a search": judged_step("latency"),
    "maxVUs and minIterationDuration, in a search": judged_step("minIterationDuration"),
    "rps, in a search": judged_step("rps"),
    "a name that is not looked up": unknown_name,
    "a slow name server": slow_name,
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
