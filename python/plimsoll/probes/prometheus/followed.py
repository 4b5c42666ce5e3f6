"""One page, or one instance that a server scrapes, from scrape to scrape: what it tells, and what happened to it."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.probes.prometheus.beginnings import Beginnings
from plimsoll.probes.prometheus.databases import is_down
from plimsoll.probes.prometheus.mapping import COUNTERS, Found, Named, resources, told
from plimsoll.probes.prometheus.presence import Presence
from plimsoll.probes.prometheus.seen import Scrapes, Seen
from plimsoll.probes.restarts import restart_note
from plimsoll.probes.told_notes import ToldNotes
from plimsoll.runs.importers.resources.exposition import Sample
from plimsoll.study.probes.metric_selector import Selector


class Followed(ToldNotes):
    """What `named` tells by our names. Noted: restarts, sources that go and come back, a database that its exporter
    cannot reach. `teller`: what tells of them, in words;
    `lags_s`: for how long a scrape may have nothing new of one that is there."""

    def __init__(
        self, named: Named, teller: str, selectors: Mapping[str, Selector] | None = None, lags_s: float = 0.0
    ) -> None:
        super().__init__()
        self._named, self._selectors = named, selectors
        self._scrapes, self._beginnings, self._presence = Scrapes(COUNTERS), Beginnings(), Presence(teller, lags_s)
        self._stamps: dict[str, float] = {}

    def add(self, samples: dict[str, list[Sample]], types: Mapping[str, str], at: float) -> tuple[Seen, list[Found]]:
        """A scrape at `at`, and what is new in it."""
        label = self._named.label
        for restart in self._beginnings.restarted(Seen(samples)):
            self._notes.append(restart_note(f"{label}: the {restart.what}", "; its counters began anew."))
            self._scrapes.forget(restart.holds)  # a counter that already passed its old value would give a false rate
        seen = self._scrapes.add(samples, types, at)
        self._note_database(is_down(seen))
        found = resources(seen, self._named, self._selectors)
        # A metric of the study that is missing is the page's to note.
        there = (one.source for one in found if not one.source.startswith("metrics:"))
        self._notes += self._presence.changes(there, at)
        return seen, [one for one in told(found) if self._is_new(one)]

    def _note_database(self, down: str | None) -> None:
        label = self._named.label
        if down is not None:
            self._tell_lost("database", f"{label}: the exporter says that {down} does not answer.")
        else:
            self._tell_back("database", f"{label}: the exporter says that the database answers again.")

    def _is_new(self, one: Found) -> bool:
        """Whether it was not told with the same time of its own: cAdvisor looks less often than it is asked."""
        if one.stamp is None:
            return True
        before = self._stamps.get(one.source)
        if before is not None and one.stamp <= before:
            return False
        self._stamps[one.source] = one.stamp
        return True
