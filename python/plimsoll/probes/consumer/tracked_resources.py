"""Change events and members of a tracked resource set (OSLC TRS 2.0 and 3.0), counted as a consumer meets them.

The change log's first page holds the newest events; each has an order that only ever grows, and `trs:previous` leads to
older pages (OSLC Tracked Resource Set 3.0, sections 4.1 and 4.2). So the events since the last look are those above the
highest order seen; pages are followed until one holds an order that was seen before.

Orders only grow, so that a highest order below the one before means another log at that address: begun anew, or gone
back to an earlier state. Counting goes on from there. A server may also cut off old events (section "Updating Change
Log segments, Truncating Change Logs, and Replacing the Base"): where all that are left are newer than what was seen,
some may have come and gone uncounted. Both are noted.

Nothing but the set's pages is fetched: JSON-LD with a context elsewhere is refused.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from plimsoll.probes.http.page import basic_authorization, shown_url
from plimsoll.probes.http.plain_get import NoAnswer, plain_get, without_user
from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.study.urls import mistake_of_url

if TYPE_CHECKING:
    from rdflib import Graph

LIMIT_S = 5.0
MOST_PAGES = 50
MOST_NOTES = 5
NAMESPACE = "http://open-services.net/ns/core/trs#"
LDP = "http://www.w3.org/ns/ldp#"
RDFS_MEMBER = "http://www.w3.org/2000/01/rdf-schema#member"
FORMATS = {
    "text/turtle": "turtle",
    "application/x-turtle": "turtle",
    "application/rdf+xml": "xml",
    "application/xml": "xml",
    "text/xml": "xml",
    "application/ld+json": "json-ld",
    "application/n-triples": "nt",
}
HEADERS = {
    "Accept": "text/turtle, application/rdf+xml;q=0.9, application/ld+json;q=0.8",
    "OSLC-Core-Version": "2.0",
}


class ChangeEvents:
    """Change events of the set at `url` since the first call, which gives 0. `take_notes` tells of a log that was
    begun anew or cut off, at most MOST_NOTES times."""

    def __init__(self, url: str) -> None:
        self._set = _Pages(url)
        self._highest: int | None = None
        self._count = 0
        self._notes: list[str] = []
        self._noted = 0

    def __call__(self) -> float:
        """The count so far. ProbeUnavailable if the set cannot be read; once, if more came than can be followed."""
        orders: set[int] = set()
        whole, previous, page = False, None, self._set.url
        for _ in range(MOST_PAGES):
            graph = self._set.graph(page)
            here = _orders(graph, page)
            orders |= here
            previous = _previous(graph, page)
            if self._highest is None or previous is None or not here or min(here) <= self._highest:
                whole = True
                break
            page = previous
        self._count_on(orders, ends_here=previous is None)
        if not whole:
            raise ProbeUnavailable(
                f"{_shown(self._set.url)} has more than {MOST_PAGES} pages of events since the last look, the older "
                "ones are not counted: look more often"
            )
        return float(self._count)

    def take_notes(self) -> list[str]:
        """What happened to the log since the last call."""
        notes, self._notes = self._notes, []
        return notes

    def _count_on(self, orders: set[int], ends_here: bool) -> None:
        """Count what is new of these orders; `ends_here`: they are all that are left of the log."""
        before, newest = self._highest, max(orders, default=None)
        self._highest = newest if newest is not None else -1 if before is None else before
        if before is None or newest is None:
            return
        if newest < before:
            self._note(
                f"began anew or went back: its highest trs:order fell from {before} to {newest}. Counting goes on from "
                "there; what came between the last two looks is not counted"
            )
            return
        if ends_here and 0 <= before < min(orders):
            self._note(
                f"was cut off: its oldest event, of trs:order {min(orders)}, is newer than the last one seen, {before}"
                ". What came and was cut off in between is not counted"
            )
        self._count += sum(1 for order in orders if order > before)

    def _note(self, what: str) -> None:
        if self._noted < MOST_NOTES:
            self._noted += 1
            self._notes.append(f"the change log of {_shown(self._set.url)} {what}.")


class BaseMembers:
    """Members of the base of the set at `url`, over all its pages."""

    def __init__(self, url: str) -> None:
        self._set = _Pages(url)

    def __call__(self) -> float:
        """How many there are now. ProbeUnavailable if the set or its base cannot be read."""
        base = _object(self._set.graph(self._set.url), "base")
        if base is None:
            raise ProbeUnavailable(f"{_shown(self._set.url)} names no trs:base: it is no tracked resource set")
        count = 0
        page: str | None = base
        seen: set[str | None] = set()
        while page is not None and page not in seen and len(seen) < 20 * MOST_PAGES:
            seen.add(page)
            graph = self._set.graph(page)
            count += _members(graph)
            page = _next_page(graph)
        return float(count)


def is_url(text: str) -> bool:
    """Whether that is an address that can be asked."""
    return bool(re.fullmatch(r"https?://\S+", text)) and mistake_of_url(text) is None


class _Pages:
    """Pages of the set at `url`, which is kept without user and password: they are sent to its host with each page."""

    def __init__(self, url: str) -> None:
        self._authorization = basic_authorization(urlsplit(url))
        self.url = without_user(url)
        self._host = urlsplit(self.url).netloc

    def graph(self, url: str) -> Graph:
        """What the page says. Raises ProbeUnavailable."""
        try:
            from rdflib import Graph
        except ImportError:
            words = "rdflib, which reads RDF, is not installed: pip install 'plimsoll-line[trs]'"
            raise ProbeUnavailable(words) from None
        kind, text = self._fetch(url)
        if kind not in FORMATS:
            raise ProbeUnavailable(f"{_shown(url)} is {kind}, not RDF ({', '.join(FORMATS)})")
        graph = Graph()
        try:
            if FORMATS[kind] == "json-ld" and _has_context_elsewhere(json.loads(text)):
                raise ValueError("its @context is at another address, which is not fetched; let it answer in Turtle")
            graph.parse(data=text, format=FORMATS[kind], publicID=url)
        except Exception as error:  # each parser has errors of its own
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise ProbeUnavailable(f"{_shown(url)} is no {kind} that can be read ({first[:200]})") from None
        return graph

    def _fetch(self, url: str) -> tuple[str, bytes]:
        if not is_url(url):
            raise ProbeUnavailable(f"{_shown(url)} cannot be read (it is no URL)")
        plain = without_user(url)
        is_own = urlsplit(plain).netloc == self._host
        try:
            return plain_get(plain, LIMIT_S, HEADERS, self._authorization if is_own else None)
        except NoAnswer as error:
            raise ProbeUnavailable(f"{_shown(url)} cannot be read ({error})") from None


def _shown(url: str) -> str:
    """An address for a reader, without what may be secret in it."""
    return shown_url(urlsplit(url)) if is_url(url) else "a page that it names"


def _has_context_elsewhere(document: Any) -> bool:
    """Whether a document of JSON-LD names a context, which readers fetch, instead of holding it."""
    waiting = [(False, document)]
    while waiting:
        is_context, one = waiting.pop()
        if is_context and isinstance(one, str):
            return True
        if isinstance(one, dict):
            waiting += [(key in ("@context", "@import"), value) for key, value in one.items()]
        elif isinstance(one, list):
            waiting += [(is_context, value) for value in one]
    return False


def _uri(name: str) -> Any:
    from rdflib import URIRef

    return URIRef(name if "://" in name else NAMESPACE + name)


def _orders(graph: Graph, page: str) -> set[int]:
    found = set()
    for value in graph.objects(None, _uri("order")):
        try:
            found.add(int(str(value)))
        except ValueError:
            raise ProbeUnavailable(f"{_shown(page)}: the trs:order {str(value)!r} is no whole number") from None
    if not found and (None, _uri("changeLog"), None) not in graph and (None, _uri("change"), None) not in graph:
        is_log = any(graph.subjects(None, _uri("ChangeLog")))
        if not is_log:
            raise ProbeUnavailable(f"{_shown(page)} has no change log: it is no tracked resource set")
    return found


def _previous(graph: Graph, page: str) -> str | None:
    found = _object(graph, "previous")
    return found if found is not None and found != page and not found.endswith("#nil") else None


def _object(graph: Graph, name: str) -> str | None:
    return next((str(value) for value in graph.objects(None, _uri(name))), None)


def _members(graph: Graph) -> int:
    return len(set(graph.objects(None, _uri(f"{LDP}contains")))) or len(
        {*graph.objects(None, _uri(f"{LDP}member")), *graph.objects(None, _uri(RDFS_MEMBER))}
    )


def _next_page(graph: Graph) -> str | None:
    found = next((str(value) for value in graph.objects(None, _uri(f"{LDP}nextPage"))), None)
    return found if found is not None and not found.endswith("#nil") else None
