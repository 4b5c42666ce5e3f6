"""What `plimsoll run` must tell beside k6's summary: why requests failed, and how many iterations were cut off."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from plimsoll.runs.failures import METRIC as FAILED
from plimsoll.runs.failures import Failures, is_unanswered
from plimsoll.runs.snapshot import Snapshot


@dataclass
class Tally:
    """Counts over a run; grows with the number of causes only."""

    failures: Failures = field(default_factory=Failures)
    planned: int = 0
    late: int = 0
    dropped: int = 0
    started: int = 0
    done: int = 0
    interrupted: bool = False
    requests: int = 0
    answered: int = 0
    iterations: Counter[str] = field(default_factory=Counter)  # of each scenario

    def add(self, snapshot: Snapshot) -> None:
        """Add one second."""
        self.planned += snapshot.planned
        self.late += snapshot.late
        self.dropped += snapshot.dropped
        self.started += snapshot.started
        self.done += snapshot.done
        for series in snapshot.series:
            self.failures.add(series)
            if series.metric == "iterations":
                self.iterations[str(series.tags.get("scenario"))] += int(series.value or 0)
            if series.metric == FAILED:
                count = int(series.total or 0)
                self.requests += count
                self.answered += 0 if is_unanswered(series) else count

    @property
    def nothing_answered(self) -> bool:
        """Whether requests were made and none of them had an answer, so that no time was measured."""
        return self.requests > 0 and not self.answered

    def warnings(self, *, is_own_fault: bool = False) -> list[str]:
        """Sentences with their next step; none for a run without trouble. `is_own_fault`: arrivals were late for what
        the generator says of itself, and not for the target."""
        found = []
        if self.nothing_answered:
            found.append(f"no request was answered ({self.requests:,} were made): no response time was measured.")
        if self.failures.causes:
            count = sum(self.failures.causes.values())
            found.append(f"{count:,} requests failed: {self.failures.words()}. {self.failures.next_step()}")
        if self.late or self.dropped:
            kinds = ((self.late, "sent late (measured from their plan)"), (self.dropped, "never sent"))
            words = " and ".join(f"{count:,} were {how}" for count, how in kinds if count)
            why = (
                "because the generator had no free VU. That says nothing of the target; the reason is below."
                if is_own_fault
                else "because no VU was free. See whether the target became slow; if it should take this load, raise "
                "maxVUs."
            )
            found.append(f"of {self.planned:,} planned arrivals {words}, {why}")
        cut = self.started - self.done
        if cut > 0:
            step = (
                "" if self.interrupted else " If the target hangs, look there; else raise gracefulStop in the options."
            )
            found.append(f"{cut:,} of {self.started:,} iterations were cut off before their end.{step}")
        return found
