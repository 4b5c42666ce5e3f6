"""A page of metrics (/metrics), read each second: an exporter's, or the target's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from plimsoll.listed_names import listed
from plimsoll.probes.http.page import Fetched, HttpPage
from plimsoll.probes.http.source import HttpSource
from plimsoll.probes.probe import Observation, ProbeUnavailable
from plimsoll.probes.prometheus.followed import Followed
from plimsoll.probes.prometheus.mapping import KNOWN, Named
from plimsoll.probes.prometheus.seen import Seen
from plimsoll.probes.prometheus.selectors import is_there, metrics_of
from plimsoll.runs.importers.resources.exposition import Page, parse_page
from plimsoll.study.probes.metric_selector import Selector

ACCEPT = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=1.0,*/*;q=0.1"


_WHOLE_EACH = 60  # reads: lines that nobody wants are looked at then only, as that takes several times as long
_MOST_NAMED = 3


class PageProbe(HttpSource):
    """Observations of mapping.py's sources; see docs/probes/prometheus.md. `page` fetches; made for Beside.

    A page that cannot be read, or is none of metrics, is ProbeUnavailable. A metric of `selectors` that is not there,
    lines that are none, and a page without anything known are noted once.
    """

    def __init__(
        self,
        page: HttpPage,
        named: Named,
        selectors: Mapping[str, Selector] | None = None,
        fetch: Callable[[], Fetched] | None = None,
    ) -> None:
        super().__init__(f"prometheus:{named.label}", page, named.where or named.label)
        self._named, self._selectors = named, dict(selectors or {})
        self._fetch = fetch or (lambda: page.fetch(accept=ACCEPT))
        self._wanted = KNOWN | {name for one in self._selectors.values() for name in metrics_of(one)}
        self._followed = Followed(named, f"{named.label}: the page", self._selectors)
        self._missing: set[str] = set()
        self._reads = 0

    def _ask(self) -> list[Observation]:
        """Read the page once."""
        fetched = self._fetch()
        page = parse_page(fetched.text(), self._wanted.__contains__, all_lines=self._reads % _WHOLE_EACH == 0)
        self._reads += 1
        if page.lines == 0:
            raise ProbeUnavailable(f"{self._page.shown} is no page of metrics. Give the URL of one, as …/metrics.")
        if page.unreadable:
            many = "1 line of the page is" if page.unreadable == 1 else f"{page.unreadable:,} lines of the page are"
            self._tell_once("lines", f"{many} none of metrics, and left out.")
        if page.repeated:
            names = listed(list(page.repeated), _MOST_NAMED)
            self._tell_once("repeated", f"the page has series several times; the first line of each is taken: {names}.")
        middle = (fetched.sent_unix + fetched.received_unix) / 2
        self._set_clock(fetched, page)
        offset = self.clock_offset.applied
        seen, found = self._followed.add(page.samples, page.types, middle)
        self._notes += self._followed.take_notes()
        self._note_missing(seen, page)
        observations = [
            Observation(one.source, one.values, middle if one.stamp is None else one.stamp - offset) for one in found
        ]
        return observations + self._clock_observation(middle)

    def _set_clock(self, fetched: Fetched, page: Page) -> None:
        clock, sent, received = self.clock_offset, fetched.sent_unix, fetched.received_unix
        clock.date_header(fetched.headers.get("date"), sent, received)
        for sample in page.samples.get("node_time_seconds", ()):
            clock.between(sample.value, sent, received)
        stamps = [sample.at_unix for many in page.samples.values() for sample in many if sample.at_unix is not None]
        if stamps:
            clock.not_before(max(stamps), received)

    def _note_missing(self, seen: Seen, page: Page) -> None:
        missing = {name for name, selector in self._selectors.items() if not is_there(selector, seen)}
        for name in sorted(missing - self._missing):
            self._notes.append(
                f"{self._named.label}: the page has no metric {self._selectors[name].metric} (for {name}). "
                "Correct its name in the study, if it was renamed."
            )
        for name in sorted(self._missing - missing):
            self._notes.append(f"{self._named.label}: the metric {self._selectors[name].metric} is there again.")
        self._missing = missing
        if not page.samples:
            self._tell_once(
                "nothing", "the page has no metric of a known exporter. Name what you want of it under `values`."
            )
