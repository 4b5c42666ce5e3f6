"""What the script itself allows, and whether that and not the target was the limit of a load: decided here alone, for
the search while it runs, for the findings of a run directory and for `plimsoll run`.

maxVUs (and the VUs that the machine allows, where a script says none) bound an open load: a VU serves one iteration at
a time, so that N of them finish no more than N ÷ the time of an iteration while the target is idle (Little's law,
N = X R: Little 1961). That time holds all that the script adds: sleep, minIterationDuration, batches that go a few
requests at a time. `rps` bounds the requests of all VUs. A closed load has the VUs that it is asked for, so they are
its level and no cap; iterations, maxDuration, startTime and stages are replaced where an experiment holds a level.

A cap was the limit if it was used up (all VUs busy and arrivals found none, or the rate of `rps` reached) and the
target did not become slow: a target that limits makes requests longer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from plimsoll.runs.readings.declared_caps import MACHINE, SOME, DeclaredCap
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.words import count_words, ms_words, number

METRICS = (
    "iteration_duration",
    "http_req_duration",
    "http_req_blocked",
    "http_reqs",
    "late_iterations",
    "dropped_iterations",
)
# Of what the cap allows, from which on it was the limit however slow requests became: they are little of an iteration.
NEAR = 0.85
NEAR_RATE = 0.95  # where the option says the rate itself
EXACT_RATE = 0.99  # `rps` paces evenly: this near it was the limit, whatever the target did
# How much longer requests may take than at low load before the target was what was slow. A target of c servers that
# are all busy makes the requests of N VUs N ÷ c times as long, which is little where N is not much more than c.
SLOWER = 1.25
SLOWER_THAN_SHORTEST = 1.5  # beside the shortest iteration, where no low load is known
UNSERVED_SHARE = 0.01  # of the arrivals, which found no VU; fewer are a burst
LEAST_ITERATIONS = 10  # of a load that is to tell how long an iteration takes
ENOUGH_ITERATIONS = 100  # after which no more of a higher load are taken
LEAST_ENDED = 3
MOSTLY = 0.5
MORE = 4.0  # times the VUs that are advised to try


@dataclass
class ScenarioSeconds:
    """Iterations of one scenario that ended in some seconds, times in ms: their number, sum and the shortest of the
    first second; their requests with what these took from the call to the answer; arrivals that found no VU
    (`unserved`)."""

    iterations: int = 0
    iteration_ms: float = 0.0
    shortest_ms: float | None = None
    requests: int = 0
    request_ms: float = 0.0
    unserved: int = 0

    def add(self, series: Series) -> None:
        """Add one series of a second."""
        if series.metric == "iteration_duration" and series.count:
            self.iterations += series.count
            self.iteration_ms += series.sum
            self.shortest_ms = series.min if self.shortest_ms is None else self.shortest_ms
        elif series.metric in ("http_req_duration", "http_req_blocked"):
            self.request_ms += series.sum
        elif series.metric == "http_reqs":
            self.requests += int(series.value or 0)
        elif series.metric in ("late_iterations", "dropped_iterations"):
            self.unserved += int(series.value or 0)

    def merge(self, other: ScenarioSeconds) -> None:
        """Add those of other seconds."""
        for name in ("iterations", "iteration_ms", "requests", "request_ms", "unserved"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        known = [one for one in (self.shortest_ms, other.shortest_ms) if one is not None]
        self.shortest_ms = min(known, default=None)

    @property
    def iteration_s(self) -> float | None:
        """Mean seconds of an iteration; None without any."""
        return self.iteration_ms / self.iterations / 1000 if self.iterations else None

    @property
    def request_s(self) -> float | None:
        """Mean seconds that the requests of an iteration took, one after the other; None without any."""
        known = self.iterations and self.requests and self.request_ms
        return self.request_ms / self.iterations / 1000 if known else None


@dataclass
class LoadSeconds:
    """A load over some seconds, as far as its caps need it. `vus_max`: VUs that there were."""

    seconds: int = 0
    planned: int = 0
    done: int = 0
    unserved: int = 0
    waiting_start: int | None = None
    waiting_end: int = 0
    vus_max: int = 0
    scenarios: dict[str | None, ScenarioSeconds] = field(default_factory=dict)

    def add(self, snapshot: Snapshot) -> None:
        """Add one second; what arrived at an earlier level is left out of the times."""
        self.seconds += 1
        self.planned += int(snapshot.planned)
        self.done += int(snapshot.done)
        self.unserved += int(snapshot.late + snapshot.dropped)
        self.waiting_end = int(snapshot.backlog)
        self.waiting_start = self.waiting_end if self.waiting_start is None else self.waiting_start
        self.vus_max = max(self.vus_max, int(snapshot.vus_max))
        for series in snapshot.series:
            if series.epoch is None and series.metric in METRICS:
                self.scenarios.setdefault(series.tags.get("scenario"), ScenarioSeconds()).add(series)

    def merge(self, other: LoadSeconds) -> None:
        """Add those of other seconds."""
        for name in ("seconds", "planned", "done", "unserved"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.vus_max = max(self.vus_max, other.vus_max)
        for scenario, seen in other.scenarios.items():
            self.scenarios.setdefault(scenario, ScenarioSeconds()).merge(seen)

    def fill(self, higher: LoadSeconds) -> None:
        """Add what a higher load says of the scenarios of which too few iterations are known; not of those in which
        most arrivals found no VU: of a few VUs some are always busy."""
        for scenario, seen in higher.scenarios.items():
            known = self.scenarios.setdefault(scenario, ScenarioSeconds())
            missing = higher.missing if scenario is None else seen.unserved
            if known.iterations < ENOUGH_ITERATIONS and missing <= MOSTLY * seen.iterations:
                known.merge(seen)

    def of(self, scenario: str | None) -> ScenarioSeconds:
        """Those of a scenario; of all, where their series do not tell them apart, or for None."""
        if scenario in self.scenarios and scenario is not None:
            return self.scenarios[scenario]
        whole = ScenarioSeconds()
        if scenario is None or set(self.scenarios) <= {None}:
            for seen in self.scenarios.values():
                whole.merge(seen)
        return whole

    @property
    def missing(self) -> int:
        """Arrivals that found no VU, or wait for one."""
        return self.unserved + max(0, self.waiting_end - (self.waiting_start or 0))

    @property
    def requests_per_s(self) -> float:
        """Requests that ended, of all scenarios."""
        return self.of(None).requests / max(1, self.seconds)


@dataclass(frozen=True)
class BindingCap:
    """A cap that was the limit: it allows `allows_per_s` in its unit, and `reached_per_s` were reached. `iteration_s`:
    of an iteration while the target is not busy, `own_s` of it the script's own waiting; `rounds`: its requests went
    batchPerHost at a time."""

    cap: DeclaredCap
    allows_per_s: float
    reached_per_s: float
    iteration_s: float | None = None
    own_s: float | None = None
    rounds: bool = False

    @property
    def name(self) -> str:
        """ "maxVUs of 50 (line 5)"."""
        cap, where = self.cap, list[str]()
        if cap.option == MACHINE:
            return f"the {count_words(cap.value)} VUs that this machine allows"
        if cap.option == SOME:
            return f"its {count_words(cap.value)} VUs"
        where += [f"scenario {cap.scenario}"] if cap.scenario not in (None, "default") else []
        where += [f"line {cap.line}"] if cap.line is not None else []
        return f"{cap.option} of {cap.value:g}" + (f" ({', '.join(where)})" if where else "")

    @property
    def words(self) -> str:
        """ "The script cannot send more: maxVUs of 50 (line 5) allows about 495 iterations/s. An iteration takes
        101 ms, of which 100 ms are the script's own waiting (line 9)."."""
        verb = "allow" if self.cap.option in (MACHINE, SOME) else "allows"
        allows = f"{verb} about {number(self.allows_per_s)} {self.cap.unit}/s{self._each}"
        return f"The script cannot send more: {self.name} {allows}. The target was not the limit."

    @property
    def _each(self) -> str:
        cap = self.cap
        if cap.vus is None or self.iteration_s is None:
            return ""
        if cap.least_iteration_s > self.iteration_s:
            return f", as minIterationDuration keeps a VU for {ms_words(1000 * cap.least_iteration_s)}"
        each = f". An iteration takes {ms_words(1000 * self.iteration_s)}"
        if self.own_s is not None and self.own_s > MOSTLY * self.iteration_s:
            at = f" (line {cap.sleep_line})" if cap.sleep_line is not None else ""
            return f"{each}, of which {ms_words(1000 * self.own_s)} are the script's own waiting{at}"
        return f"{each}: it sends {cap.per_host} requests at a time (batchPerHost)" if self.rounds else each

    @property
    def remedy(self) -> str:
        """What to set."""
        cap = self.cap
        if cap.option == MACHINE:
            return (
                "Raise what bounds VUs here (memory, ulimit -n, local ports), shorten what an iteration waits, or "
                "spread the load over several machines (executionSegment)."
            )
        if cap.vus is None:
            return f"Raise {cap.option}, or leave it out."
        least = self.iteration_s is not None and cap.least_iteration_s > self.iteration_s
        other = ", or lower minIterationDuration" if least else ", or raise batchPerHost" if self.rounds else ""
        option = "maxVUs" if cap.option == SOME else cap.option
        to = f"{option} to {count_words(MORE * cap.vus)} for up to {number(MORE * self.allows_per_s)} {cap.unit}/s"
        return f"Raise {to} (and preAllocatedVUs){other}."

    def to_json(self) -> dict[str, Any]:
        """As a finding holds it."""
        return {
            "option": self.cap.option,
            "scenario": self.cap.scenario,
            "value": self.cap.value,
            "value_unit": "requests/s" if self.cap.vus is None else "VUs",
            "allows_per_s": self.allows_per_s,
            "unit": self.cap.unit,
            "words": self.words,
            "remedy": self.remedy,
        }


def binding_cap(
    caps: Iterable[DeclaredCap], high: LoadSeconds, low: LoadSeconds | None = None, *, presses: bool = False
) -> BindingCap | None:
    """The cap that was the limit of the load `high`, the one that allows least; None without one. `low`: the same
    script while the target was not busy, where that is known; `presses`: more was asked for than what was finished,
    however much that is, as by a search that adds VUs."""
    short = presses or high.planned - high.done > UNSERVED_SHARE * high.planned
    each = (
        _vus_cap(cap, high, low) if cap.vus is not None else _rate_cap(cap, high, low) if short else None
        for cap in caps
    )
    found = [one for one in each if one is not None]
    return min(found, key=lambda one: one.allows_per_s, default=None)


def _vus_cap(cap: DeclaredCap, high: LoadSeconds, low: LoadSeconds | None) -> BindingCap | None:
    busy, vus = high.of(cap.scenario), cap.vus or float(high.vus_max)
    alone = cap.scenario not in high.scenarios or len(high.scenarios) == 1
    missing = high.unserved if not cap.vus else high.missing if alone else busy.unserved
    planned = high.planned if alone else busy.iterations + busy.unserved
    if busy.iteration_s is None or busy.iterations < LEAST_ENDED or missing <= UNSERVED_SHARE * planned:
        return None
    least_s = cap.least_iteration_s
    reached = (max(high.done, busy.iterations) if alone else busy.iterations) / max(1, high.seconds)
    if reached * max(busy.iteration_s, least_s) < NEAR * vus:
        return None  # VUs were free
    calm = low.of(cap.scenario) if low is not None else ScenarioSeconds()
    known = calm if calm.iterations >= LEAST_ITERATIONS else None
    idle_s = _idle_s(busy, known) or busy.iteration_s
    allows = vus / max(idle_s, least_s)
    if reached < NEAR * allows and _became_slow(busy, known, idle_s):
        return None
    own_s = _own_s(known or busy)
    told = DeclaredCap(**{**cap.__dict__, "value": vus, "vus": vus})
    return BindingCap(told, allows, reached, idle_s, own_s, _in_rounds(busy, cap.per_host))


def _rate_cap(cap: DeclaredCap, high: LoadSeconds, low: LoadSeconds | None) -> BindingCap | None:
    reached, allows = high.requests_per_s, float(cap.per_s or 0.0)
    if reached < NEAR_RATE * allows:
        return None
    busy, calm = high.of(None), low.of(None) if low is not None else ScenarioSeconds()
    is_known = calm.iterations >= LEAST_ITERATIONS and calm.request_s is not None
    slow = is_known and (busy.request_s or 0.0) > SLOWER * (calm.request_s or 0.0)
    return None if slow and reached < EXACT_RATE * allows else BindingCap(cap, allows, reached)


def _idle_s(busy: ScenarioSeconds, calm: ScenarioSeconds | None) -> float:
    """What an iteration takes while the target is not busy: its own waiting as it is now, and requests as at low load;
    where no low load is known, as the shortest one."""
    if calm is None:
        return (busy.shortest_ms or 0.0) / 1000 or busy.iteration_s or 0.0
    own_s = _own_s(busy)
    if own_s is not None and calm.request_s is not None:
        return own_s + calm.request_s
    return calm.iteration_s or 0.0


def _became_slow(busy: ScenarioSeconds, calm: ScenarioSeconds | None, idle_s: float) -> bool:
    """Whether the target takes longer than at low load, by its requests where they are known, and beyond one standard
    error of times that scatter as much as their mean."""
    if calm is not None and busy.request_s is not None and calm.request_s:
        error = math.sqrt(1 / calm.iterations + 1 / busy.iterations)
        return busy.request_s > SLOWER * (1 + error) * calm.request_s
    return (busy.iteration_s or 0.0) > (SLOWER if calm is not None else SLOWER_THAN_SHORTEST) * idle_s


def _own_s(seen: ScenarioSeconds) -> float | None:
    """What an iteration waits beside its requests; None where these are not known or overlap."""
    if seen.request_s is None or seen.iteration_s is None or seen.request_s > seen.iteration_s:
        return None
    return seen.iteration_s - seen.request_s


def _in_rounds(seen: ScenarioSeconds, per_host: int) -> bool:
    """Whether a VU had as many requests under way as one batch may send to a host, and more to send."""
    if not seen.iterations or not seen.iteration_ms:
        return False
    return seen.requests > per_host * seen.iterations and seen.request_ms >= MOSTLY * per_host * seen.iteration_ms
