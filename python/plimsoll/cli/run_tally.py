"""What `plimsoll run` must tell beside k6's summary: why requests failed, and how many iterations were cut off."""

from __future__ import annotations

from dataclasses import dataclass, field

from plimsoll.runs.failures import Failures
from plimsoll.runs.snapshot import Snapshot


@dataclass
class Tally:
    """Counts over a run; grows with the number of causes only."""

    failures: Failures = field(default_factory=Failures)
    started: int = 0
    done: int = 0
    interrupted: bool = False

    def add(self, snapshot: Snapshot) -> None:
        """Add one second."""
        self.started += snapshot.started
        self.done += snapshot.done
        for series in snapshot.series:
            self.failures.add(series)

    def warnings(self) -> list[str]:
        """Sentences with their next step; none for a run without trouble."""
        found = []
        if self.failures.causes:
            count = sum(self.failures.causes.values())
            found.append(f"{count:,} requests failed: {self.failures.words()}. {self.failures.next_step()}")
        cut = self.started - self.done
        if cut > 0:
            step = (
                "" if self.interrupted else " If the target hangs, look there; else raise gracefulStop in the options."
            )
            found.append(f"{cut:,} of {self.started:,} iterations were cut off before their end.{step}")
        return found
