"""The asynchronous consumer behind the target: what waits for it, what it was given and has done, what its index
holds.

Each number is read in a thread of its own (beside.py): one that takes seconds holds up neither the load's second, nor
other probes, nor the other numbers. Its row is of the time at which the number was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plimsoll.probes.beside import Beside
from plimsoll.probes.consumer.reading import Noting, NotThereYet, Reading
from plimsoll.probes.probe import Observation, ProbeUnavailable

SOURCE = "consumer"


class ConsumerProbe:
    """Values, each where it is known how to read it: waiting (items), put_in and taken_out (counters of items),
    index_bytes. One that cannot be read now is absent and noted once; what a reading has to tell itself (Noting) is
    noted with its name."""

    source = SOURCE

    def __init__(self, readings: Mapping[str, Reading]) -> None:
        self._readings = dict(readings)
        self._beside = {name: Beside(_Named(name, read)) for name, read in readings.items()}
        self._notes: list[str] = []
        self._failed: set[str] = set()

    def first_look(self) -> tuple[dict[str, float], dict[str, str]]:
        """Read each number here and now, before any load: the values, and why each of the others cannot be read. A
        log that does not exist yet is in neither."""
        values, reasons = {}, {}
        for name, read in self._readings.items():
            try:
                values[name] = read()
            except NotThereYet:
                continue
            except ProbeUnavailable as error:
                reasons[name] = str(error)
            except Exception as error:  # whatever a driver or a page raises, the number cannot be read
                reasons[name] = f"{type(error).__name__}: {error}"
        return values, reasons

    def observe(self) -> Sequence[Observation]:
        """What was answered since the last call; ProbeUnavailable if none can be read."""
        told: list[Observation] = []
        reasons = []
        for name, beside in self._beside.items():
            try:
                told += beside.observe()
                self._failed.discard(name)
            except ProbeUnavailable as error:
                reasons.append(f"{name}: {error}")
                if name not in self._failed:
                    self._failed.add(name)
                    self._notes.append(f"{name} cannot be read: {error}")
            self._notes += beside.take_notes()
        if reasons and len(reasons) == len(self._beside):
            raise ProbeUnavailable("; ".join(reasons))
        return told

    def take_notes(self) -> list[str]:
        """Readings that failed since the last call, and what they noted."""
        notes, self._notes = self._notes, []
        return notes

    @property
    def cpu_s(self) -> float:
        """CPU time of the threads that read."""
        return sum(beside.cpu_s for beside in self._beside.values())

    def close(self) -> None:
        """Give up what is on its way."""
        for beside in self._beside.values():
            beside.close()


class _Named:
    """One number of the consumer, as Beside asks for it."""

    def __init__(self, name: str, read: Reading) -> None:
        self.source, self._read = name, read

    def observe(self) -> Sequence[Observation]:
        return [Observation(SOURCE, {self.source: self._read()})]

    def take_notes(self) -> list[str]:
        if not isinstance(self._read, Noting):
            return []
        return [f"{self.source}: {note}" for note in self._read.take_notes()]
