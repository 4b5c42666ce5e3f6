"""Notes for a reader of the run, each told once."""

from __future__ import annotations

from collections import Counter

MOST_LOSSES = 10  # of one thing that are noted


class ToldNotes:
    """What a probe has to say; a base of probes, which the sampler asks for it after each second."""

    def __init__(self) -> None:
        self._notes: list[str] = []
        self._told: set[str] = set()
        self._away: set[str] = set()
        self._losses: Counter[str] = Counter()

    def take_notes(self) -> list[str]:
        """What was noted since the last call; then forgotten."""
        notes, self._notes = self._notes, []
        return notes

    def _tell_once(self, what: str, words: str) -> None:
        """Note `words`, unless something was noted of `what` before."""
        if what not in self._told:
            self._told.add(what)
            self._notes.append(words)

    def _tell_lost(self, what: str, words: str) -> None:
        """Note `words` when `what` is lost, once until it is back, and ten times in all."""
        if what in self._away:
            return
        self._away.add(what)
        self._losses[what] += 1
        if self._losses[what] <= MOST_LOSSES:
            last = " It comes and goes; this is noted no more." if self._losses[what] == MOST_LOSSES else ""
            self._notes.append(f"{words}{last}")

    def _tell_back(self, what: str, words: str) -> None:
        """Note `words` if `what` was lost."""
        if what in self._away:
            self._away.discard(what)
            if self._losses[what] < MOST_LOSSES:
                self._notes.append(words)
