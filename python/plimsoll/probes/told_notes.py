"""Notes for a reader of the run, each told once."""

from __future__ import annotations


class ToldNotes:
    """What a probe has to say; a base of probes, which the sampler asks for it after each second."""

    def __init__(self) -> None:
        self._notes: list[str] = []
        self._told: set[str] = set()

    def take_notes(self) -> list[str]:
        """What was noted since the last call; then forgotten."""
        notes, self._notes = self._notes, []
        return notes

    def _tell_once(self, what: str, words: str) -> None:
        """Note `words`, unless something was noted of `what` before."""
        if what not in self._told:
            self._told.add(what)
            self._notes.append(words)
