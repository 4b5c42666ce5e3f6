"""In which cells of trials the CPU of an operation is not known, as the process that did the work was not read.

That is told by who made the trials (`unseen`: the variant answers on another host, or nobody is seen to listen there),
or by the numbers: a process that did most of the work in one cell and nothing in another, in which no process came in
its place, is not cheaper there. It did not serve it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.listed_names import listed
from plimsoll.words import ms_words

IDLE_CORES = 0.002  # two ticks of the kernel's clock (10 ms each) in a trial of ten seconds: what idle processes show
TIMES_LESS = 20.0
# Ten ticks: where so much is due, none counted is no chance; where less is, a process that worked may show nothing.
LEAST_CPU_MS = 100.0
MOST_OF_IT, PART_OF_IT = 0.5, 0.05  # of a cell's CPU
NAMED = "target.processes of the study"
Trial = Mapping[str, Any]
Work = Mapping[str, float]
Place = tuple[str, float]  # variant and level


@dataclass
class Unread:
    """`places`: cells that are not known, and why; `notes`: what else to know of who was read."""

    places: dict[Place, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def whole(trials: Sequence[Trial], work_of: Callable[[Trial], Work]) -> tuple[list[Trial], Unread]:
    """The trials in which all processes were read that were read in any, and the cells of which none is left."""
    read = {label for trial in trials for label in work_of(trial)}
    found, kept = Unread(), []
    for trial in trials:
        missing = [why for label, why in (trial.get("unseen") or {}).items() if label in read]
        if missing:
            found.places[trial["variant"], trial["level"]] = " ".join(missing)
        elif work_of(trial):
            kept.append(trial)
    there = {(trial["variant"], trial["level"]) for trial in kept}
    found.places = {place: why for place, why in found.places.items() if place not in there}
    never = [why for trial in trials for label, why in (trial.get("unseen") or {}).items() if label not in read]
    found.notes += dict.fromkeys(never)
    return kept, found


def idle_cells(
    trials: Sequence[Trial], work_of: Callable[[Trial], Work], name_of: Callable[[str], str], unread: Unread
) -> None:
    """Adds to `unread` the cells in which who does most of the work elsewhere did nothing, and notes of lesser ones."""
    cells = {
        place: _Cell([trial for trial in trials if (trial["variant"], trial["level"]) == place], work_of)
        for place in dict.fromkeys((trial["variant"], trial["level"]) for trial in trials)
    }
    for place, cell in cells.items():
        for other_place, other in cells.items():
            if place[1] != other_place[1] or place == other_place:
                continue
            idle = list(cell.idle_beside(other))
            share = sum(other.ms[label] for label in idle) / other.whole if idle else 0.0
            if share < PART_OF_IT or any(other.idle_beside(cell)):
                continue
            here, there = name_of(place[0]), name_of(other_place[0])
            who = listed(idle, 3)
            times = (
                f"{ms_words(sum(map(cell.value, idle)))} of CPU an operation, {ms_words(sum(map(other.value, idle)))}"
            )
            did = f"{who} did nothing at {here} ({times} at {there})"
            if share >= MOST_OF_IT:
                unread.places.setdefault(place, f"{did}. Another process did its work there: name it in {NAMED}.")
            else:
                unread.notes.append(f"{did}: if another process works in its place there, name it in {NAMED}.")
            break


def followed_words(trials: Sequence[Trial], name_of: Callable[[str], str]) -> list[str]:
    """Whom entries of the study meant at a variant that answers elsewhere than the entry says."""
    ports: dict[str, dict[str, int]] = {}
    for trial in trials:
        for label, port in (trial.get("followed") or {}).items():
            ports.setdefault(label, {})[name_of(trial["variant"])] = port
    where = {label: listed([f"port {port} at {name}" for name, port in at.items()], 4) for label, at in ports.items()}
    return [f"{label} follows the URL: it is who listens on {at}." for label, at in where.items()]


class _Cell:
    """Means over the trials of one cell: cores and CPU for an operation of each process."""

    def __init__(self, trials: Sequence[Trial], work_of: Callable[[Trial], Work]) -> None:
        works = [work_of(trial) for trial in trials]
        labels = dict.fromkeys(label for work in works for label in work)
        self.ms = {label: sum(work.get(label, 0.0) for work in works) / len(works) for label in labels}
        self.whole = sum(self.ms.values())
        per_s = sum(float(trial["done_per_s"]) for trial in trials) / len(trials)
        self._operations = sum(
            float(trial["done_per_s"]) * (float(trial["end_s"]) - float(trial["measured_from_s"])) for trial in trials
        )
        self._cores = {label: ms * per_s / 1000 for label, ms in self.ms.items()}

    def value(self, label: str) -> float:
        return self.ms.get(label, 0.0)

    def idle_beside(self, other: _Cell) -> Iterator[str]:
        """Processes that were read in both cells, did nothing here and worked there."""
        for label in self.ms.keys() & other.ms.keys():
            works = other.ms[label] >= TIMES_LESS * self.ms[label] and other._cores[label] > IDLE_CORES
            is_due = other.ms[label] * self._operations >= LEAST_CPU_MS and other.ms[label] >= PART_OF_IT * other.whole
            if self._cores[label] < IDLE_CORES and works and is_due:
                yield label
