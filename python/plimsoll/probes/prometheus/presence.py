"""Which of the sources that a page or an instance tells of are there: a container, a pool, a series of a query."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.listed_names import listed

MISSED = 3  # times in a row: one scrape without it is none lost (a restart gives no rates once)
MOST_KEPT = 1_000
MOST_NOTES = 20
_SHOWN = 5


class Presence:
    """Notes of what is no longer told of, and of its return, as sentences about `teller`. What was missing three times
    and for `least_s` is lost."""

    def __init__(self, teller: str, least_s: float = 0.0) -> None:
        self._teller, self._least_s = teller, least_s
        self._seen_at: dict[str, float] = {}
        self._missed: dict[str, int] = {}  # of those that are not there
        self._lost: set[str] = set()
        self._notes = 0

    def changes(self, there: Iterable[str], at: float) -> list[str]:
        """What to note after a scrape at `at`, in s, with these sources."""
        present = set(there)
        back = sorted(self._lost & present)
        self._lost -= present
        lost = []
        for name, seen_at in self._seen_at.items():
            if name in present or name in self._lost:
                continue
            self._missed[name] = self._missed.get(name, 0) + 1
            if self._missed[name] >= MISSED and at - seen_at >= self._least_s:
                lost.append(name)
        self._lost |= set(lost)
        for name in present:
            self._missed.pop(name, None)
            if name in self._seen_at or len(self._seen_at) < MOST_KEPT:
                self._seen_at[name] = at
        return self._noted("no longer tells of", sorted(lost)) + self._noted("tells again of", back)

    def _noted(self, what: str, names: list[str]) -> list[str]:
        if not names or self._notes > MOST_NOTES:
            return []
        self._notes += 1
        if self._notes > MOST_NOTES:
            return [f"{self._teller}: what it tells of changes often; further changes are not noted."]
        return [f"{self._teller} {what} {listed(names, _SHOWN)}."]
