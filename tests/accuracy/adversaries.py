"""Targets that break what estimators of capacity assume. Each is a kind that real products show: throughput that falls
past its top, hysteresis, retries, caches, credits, limits, foreign work on the host (adversary.py has their loop)."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import replace
from typing import Any

import numpy as np
from adversary import END, RETRY, Adversary, Job
from simulators import ClosedQueue

from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series


class Retrograde(Adversary):
    """Past `from_jobs` inside, each more costs a share `cost` of the work, up to `most` times it: throughput falls
    past its top, and further the further it is overloaded (the coherency of the USL)."""

    from_jobs, cost, most = 16, 0.02, 3.0

    def slowdown(self, now: float, job: Job) -> float:
        return min(self.most, 1 + self.cost * max(0, self.open_jobs - self.from_jobs))


class Metastable(Adversary):
    """Twice the work from the moment that `on` requests wait until fewer than `off` do."""

    on, off, factor = 60, 5, 2.0
    behind = False

    def slowdown(self, now: float, job: Job) -> float:
        if self.open_jobs >= self.on:
            self.behind = True
        elif self.open_jobs < self.off:
            self.behind = False
        return self.factor if self.behind else 1.0


class Retries(Adversary):
    """A proxy before it sends a request again that had no answer after half a second, up to twice; the target does the
    work of each."""

    after_s, times = 0.5, 2

    def arrived(self, now: float, job: Job) -> None:
        for again in range(1, self.times + 1):
            self.push(now + again * self.after_s, RETRY, job)

    def retry(self, now: float, job: Job) -> None:
        self.enqueue(now, job)


class ColdCache(Adversary):
    """Two and a half times the work at first; the cache fills as it serves."""

    def slowdown(self, now: float, job: Job) -> float:
        return 1 + 1.5 * math.exp(-self.served / 2000)


class WarmUp(Adversary):
    """Half as fast at first, at full speed after 40 s under load."""

    def speed(self, now: float) -> float:
        return 0.5 + 0.5 * min(1.0, self.served / 3000)


class Compiler(Adversary):
    """Three fifths more work at first, then less and less for minutes, as a runtime compiles what is called often."""

    def slowdown(self, now: float, job: Job) -> float:
        return 1 + 0.6 * math.exp(-self.served / 10_000)


class Ageing(Adversary):
    """More and more work for each request, as the load itself writes the data that each looks through."""

    requests_to_double = 60_000

    def slowdown(self, now: float, job: Job) -> float:
        return 1 + self.served / self.requests_to_double


class Autoscaling(Adversary):
    """Two servers; twice as many 15 s after two thirds of them were busy, up to eight; never fewer again."""

    most = 8
    decided_s: float | None = None

    def ended(self, now: float, job: Job) -> None:
        if self.decided_s is None and self.servers < self.most and self.busy >= 0.67 * self.servers and self.waiting:
            self.decided_s = now + 15
        if self.decided_s is not None and now >= self.decided_s:
            self.servers, self.decided_s = min(self.most, 2 * self.servers), None


class Collector(Adversary):
    """Stands still for 0.4 s after each 3,000 requests."""

    until, collected = 0.0, 0

    def ended(self, now: float, job: Job) -> None:
        if self.served - self.collected >= 3000:
            self.collected, self.until = self.served, now + 0.4

    def pause_s(self, now: float) -> float:
        return max(0.0, self.until - now)


class HeavyTail(Adversary):
    """Log-normal service with 20 times the variance of an exponential one."""

    def __init__(self, servers: int, mean_s: float, seed: int, **trouble: Any) -> None:
        super().__init__(servers, mean_s, seed, **trouble)
        sigma = math.sqrt(math.log(21))
        self.draw = lambda random, count: random.lognormal(math.log(mean_s) - sigma**2 / 2, sigma, count)


class Sessions(Adversary):
    """Arrivals come in batches of eight in the mean."""

    def _arrivals(self) -> np.ndarray:
        starts = self.random.poisson(self.level * self.rate_per_level_s / 8)
        sizes = self.random.geometric(1 / 8, starts)
        times = self.second + self.random.random(starts)
        return np.sort(np.repeat(times, sizes))


class Bucket(Adversary):
    """Takes `rate` a second and `burst` at once; refuses the others."""

    rate, burst = 200.0, 200.0
    tokens, filled_s = 200.0, 0.0

    def refuses(self, now: float, job: Job) -> str:
        self.tokens = min(self.burst, self.tokens + (now - self.filled_s) * self.rate)
        self.filled_s = now
        if self.tokens < 1:
            return "fails"
        self.tokens -= 1
        return ""


class Quota(Adversary):
    """Refuses one request in fifty, whatever the load, once it has served 10,000: of a user, whose quota is used up."""

    def refuses(self, now: float, job: Job) -> str:
        return "fails" if self.served > 10_000 and self.random.random() < 0.02 else ""


class Credits(Adversary):
    """Half again as fast while credits last; a busy second takes one, an idle one gives one, 20 at most."""

    credits, at_s = 20.0, 0.0

    def speed(self, now: float) -> float:
        used = self.busy / self.servers
        self.credits = min(20.0, max(0.0, self.credits + (now - self.at_s) * (1 - 2 * used)))
        self.at_s = now
        return 1.5 if self.credits > 0 else 1.0


class Connections(Adversary):
    """Refuses what comes while 64 are inside."""

    most = 64

    def refuses(self, now: float, job: Job) -> str:
        return "fails" if self.open_jobs > self.most else ""


class Stuck(Connections):
    """Never answers what comes while 64 are inside, as with a full accept queue."""

    def refuses(self, now: float, job: Job) -> str:
        return "stuck" if self.open_jobs - self.lost(now) > self.most else ""

    def lost(self, now: float) -> int:
        """Those that will never be answered; what waits or is served will be."""
        return max(0, self.open_jobs - 1 - len(self.waiting) - self.busy)


class Probed(Adversary):
    """Each server is a core of the host, whose probes see what others use of it: `others(second)`, and a helper that
    takes `helper` cores for each that the target works, `behind` while more than 40 requests wait. The target has four
    threads for each core."""

    helper, behind = 0.0, 0.0

    def __init__(self, servers: int, mean_s: float, seed: int, **trouble: Any) -> None:
        super().__init__(servers, mean_s, seed, **trouble)
        self.cores_random = np.random.default_rng([seed, 80])
        self.at_s, self.own_s, self.helper_s = 0.0, 0.0, 0.0

    def others(self, second: float) -> float:
        """Cores that work of others uses then."""
        return 0.0

    def speed(self, now: float) -> float:
        return 1 - self.others(now) / self.servers

    def _happen(self, now: float, what: int, job: Job) -> None:
        self._work_until(now)
        super()._happen(now, what, job)

    def _work_until(self, now: float) -> None:
        took = self.speed(self.at_s) * self.busy * (now - self.at_s)
        self.own_s += took
        self.helper_s += took * (self.behind if len(self.waiting) > 40 else self.helper)
        self.at_s = now

    def sample(self, second: int, t_unix: float) -> list[dict[str, Any]]:
        """Rows of the probes of the host and of the target's process; what each takes is known to 0.03 cores."""
        self._work_until(second + 1.0)
        own, others = self.own_s, self.others(second + 0.5) + self.helper_s
        self.own_s = self.helper_s = 0.0
        cores = self.servers * (1 + max(self.helper, self.behind))
        used = min(cores, max(0.0, own + others + self.generator["cpu_s"] + 0.03 * self.cores_random.standard_normal()))
        host = {"cores": cores, "cpu_cores_used": used, "cpu_share": used / cores}
        target = {"restarts": 0.0, "cpu_cores_used": own, "busiest_thread_cores_used": own / self.servers / 4}
        return [{"source": source, "second": second, "t_unix": t_unix, "values": values}
                for source, values in (("host", host), ("process:target", target))]  # fmt: skip


class Foreign(Probed):
    """Other work takes 45% of the host for 20 s, which begin at any second up to the 100th."""

    lasts_s = 20.0

    def __init__(self, servers: int, mean_s: float, seed: int, **trouble: Any) -> None:
        super().__init__(servers, mean_s, seed, **trouble)
        self.from_s = float(np.random.default_rng([seed, 79]).uniform(0, 100))

    def others(self, second: float) -> float:
        return 0.45 * self.servers if self.from_s <= second < self.from_s + self.lasts_s else 0.0


class ForeignAgain(Foreign):
    """It comes for 10 s in each 50 s."""

    def others(self, second: float) -> float:
        return 0.45 * self.servers if (second - self.from_s) % 50 < 10 else 0.0


class ForeignAlways(Foreign):
    """It is there all the time."""

    def others(self, second: float) -> float:
        return 0.45 * self.servers


class Helper(Probed):
    """A database that is not probed works for the target: twice as much for each request while many wait."""

    helper, behind = 0.3, 0.6


class Journeys(Adversary):
    """An iteration is four requests, half a second apart, and the first costs `first` times what each other does: under
    overload the servers are busy with the first ones of many, and few iterations end. The first waits `elsewhere`
    seconds for another service besides."""

    requests, pause, first, elsewhere = 4, 0.5, 1.0, 0.0

    def __init__(self, *arguments: Any, **trouble: Any) -> None:
        super().__init__(*arguments, **trouble)
        self.left: dict[Job, int] = {}
        self.answered_ms: dict[tuple[int, int], list[float]] = {}

    def arrived(self, now: float, job: Job) -> None:
        self.left[job] = self.requests

    def slowdown(self, now: float, job: Job) -> float:
        share = self.first if self.left.get(job) == self.requests else 1.0
        return share / (self.first + self.requests - 1)

    def enqueue(self, now: float, job: Job) -> None:
        job.asked = now
        super().enqueue(now, job)

    def retry(self, now: float, job: Job) -> None:
        self.enqueue(now, job)

    def _happen(self, now: float, what: int, job: Job) -> None:
        if what != END:
            super()._happen(now, what, job)
            return
        self.busy -= 1
        if not job.over:
            number = self.requests - self.left[job]
            elsewhere = 0.0 if number else self.elsewhere
            self.answered_ms.setdefault((job.epoch, number), []).append(1000 * (now + elsewhere - job.asked))
            self.left[job] -= 1
            if self.left[job]:
                self.push(now + elsewhere + self.pause, RETRY, job)
            else:
                self._finish(now, job, False)
        self._begin(now)

    def _finish(self, now: float, job: Job, failed: bool) -> None:
        self.left.pop(job, None)
        super()._finish(now, job, failed)

    def rows(self, finished: list[tuple[float, float, bool]]) -> tuple[Series, ...]:
        found = []
        for (epoch, number), times in sorted(self.answered_ms.items()):
            tags, of = {"scenario": "work", "name": f"GET /{number}", "method": "GET"}, self.told_epoch(epoch)
            trend = Series.of_trend("http_req_response_time", tags, Histogram.from_values(times))
            rate = Series("http_req_failed", "rate", tags, passes=0, total=len(times), epoch=of)
            found += [replace(trend, epoch=of), rate]
        for epoch, ended in self.ended_ms.items():
            of, tags = self.told_epoch(epoch), {"scenario": "work"}
            trend = Series.of_trend("iteration_duration", tags, Histogram.from_values([ms for ms, _ in ended]))
            failed = sum(bad for _, bad in ended)
            rate = Series("http_req_failed", "rate", tags, passes=failed, total=failed, epoch=of)
            found += [replace(trend, epoch=of), rate]
        self.answered_ms = {}
        return tuple(found)


class LongPauses(Journeys):
    """Two seconds between the requests, so that iterations last for more than six."""

    pause = 2.0


class LightStart(Journeys):
    """The first request costs a quarter of what each other does."""

    first = 0.25


class WaitsElsewhere(LightStart):
    """And it waits for another service besides, so that its time says nothing of its work here."""

    elsewhere = 0.1


class OneOperationCollapses(Adversary):
    """A tenth of the requests need a lock, which one at a time holds for 25 ms; 50 ms where more than 20 wait for it.
    The others are served by the servers."""

    def __init__(self, *arguments: Any, **trouble: Any) -> None:
        super().__init__(*arguments, **trouble)
        self.queue: deque[Job] = deque()
        self.held = False

    def kind_of(self) -> int:
        return int(self.random.random() < 0.1)

    def enqueue(self, now: float, job: Job) -> None:
        if job.kind:
            self.queue.append(job)
            self._hold(now)
        else:
            super().enqueue(now, job)

    def _hold(self, now: float) -> None:
        if self.queue and not self.held:
            self.held = True
            took = self.random.exponential(0.050 if len(self.queue) > 20 else 0.025)
            self.push(now + took, END, self.queue.popleft())

    def _happen(self, now: float, what: int, job: Job) -> None:
        if what == END and job.kind:
            self.held = False
            self._finish(now, job, False)
            self._hold(now)
        else:
            super()._happen(now, what, job)


class ClosedRetrograde(ClosedQueue):
    """Users who wait. Past `from_jobs` inside, each more costs a share `cost` of the work, up to `most` times it."""

    from_jobs, cost, most = 40, 0.02, 3.0

    def _serve(self, arrivals: np.ndarray) -> None:
        plain, factor = self.draw, self.slowdown(len(self.running))
        self.draw = lambda random, count: plain(random, count) * factor
        super()._serve(arrivals)
        self.draw = plain

    def slowdown(self, inside: int) -> float:
        """Factor of the work of a request that comes now."""
        return min(self.most, 1 + self.cost * max(0, inside - self.from_jobs))


class ClosedMetastable(ClosedRetrograde):
    """Users who wait. Twice the work from the moment that `on` requests are inside until fewer than `off` are."""

    on, off = 60, 5
    behind = False

    def slowdown(self, inside: int) -> float:
        self.behind = inside >= self.on or (self.behind and inside >= self.off)
        return 2.0 if self.behind else 1.0


class ClosedQuota(ClosedQueue):
    """A closed load. One request in fifty is refused, whatever the load, once 5,000 have been served."""

    served = 0

    def _emit(self, arrived: int, finished: list[Any]) -> None:
        self.served += len(finished)
        if self.served > 5000:
            finished = [(end, begin, failed or self.random.random() < 0.02) for end, begin, failed in finished]
        super()._emit(arrived, finished)
