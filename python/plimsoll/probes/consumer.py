"""The asynchronous consumer behind the target: what waits for it, what it was given and has done, what its index
holds."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.probes.reading import Noting, Reading

SOURCE = "consumer"


class ConsumerProbe:
    """Values, each where it is known how to read it: waiting (items), put_in and taken_out (counters of items),
    index_bytes. One that cannot be read now is absent and noted once; what a reading has to tell itself (Noting) is
    noted with its name."""

    source = SOURCE

    def __init__(self, readings: Mapping[str, Reading]) -> None:
        self._readings = dict(readings)
        self._notes: list[str] = []
        self._failed: set[str] = set()

    def sample(self) -> dict[str, float]:
        """Values now; ProbeUnavailable if none can be read."""
        values: dict[str, float] = {}
        reasons = []
        for name, read in self._readings.items():
            try:
                values[name] = read()
                self._failed.discard(name)
            except ProbeUnavailable as error:
                reasons.append(f"{name}: {error}")
                if name not in self._failed:
                    self._failed.add(name)
                    self._notes.append(f"{name} cannot be read: {error}")
            if isinstance(read, Noting):
                self._notes += [f"{name}: {note}" for note in read.take_notes()]
        if self._readings and not values:
            raise ProbeUnavailable("; ".join(reasons))
        return values

    def take_notes(self) -> list[str]:
        """Readings that failed since the last call, and what they noted."""
        notes, self._notes = self._notes, []
        return notes
