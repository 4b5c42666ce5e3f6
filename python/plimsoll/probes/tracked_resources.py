"""Change events and members of a tracked resource set (OSLC TRS 2.0 and 3.0), counted as a consumer meets them.

The change log's first page holds the newest events; each has an order that only ever grows, and `trs:previous` leads to
older pages (OSLC Tracked Resource Set 3.0, sections 4.1 and 4.2). So the events since the last look are those above the
highest order seen; pages are followed until one holds an order that was seen before.
"""

from __future__ import annotations

import urllib.request
from typing import TYPE_CHECKING, Any

from plimsoll.probes.probe import ProbeUnavailable

if TYPE_CHECKING:
    from rdflib import Graph

LIMIT_S = 5.0
MOST_BYTES = 16 * 2**20
MOST_PAGES = 50
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
ACCEPT = "text/turtle, application/rdf+xml;q=0.9, application/ld+json;q=0.8"


class ChangeEvents:
    """Change events of the set at `url` since the first call, which gives 0."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._highest: int | None = None
        self._count = 0

    def __call__(self) -> float:
        """The count so far. ProbeUnavailable if the set cannot be read; once, if more came than can be followed."""
        orders: set[int] = set()
        whole = False
        page: str | None = self._url
        for _ in range(MOST_PAGES):
            graph = _graph(page)
            here = _orders(graph, page)
            orders |= here
            page = _previous(graph, page)
            if self._highest is None or page is None or not here or min(here) <= self._highest:
                whole = True
                break
        if self._highest is not None:
            self._count += sum(1 for order in orders if order > self._highest)
        self._highest = max(orders, default=self._highest if self._highest is not None else -1)
        if not whole:
            raise ProbeUnavailable(
                f"{self._url} has more than {MOST_PAGES} pages of events since the last look, the older ones are not "
                "counted: look more often"
            )
        return float(self._count)


class BaseMembers:
    """Members of the base of the set at `url`, over all its pages."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __call__(self) -> float:
        """How many there are now. ProbeUnavailable if the set or its base cannot be read."""
        base = _object(_graph(self._url), "base")
        if base is None:
            raise ProbeUnavailable(f"{self._url} names no trs:base: it is no tracked resource set")
        count = 0
        page: str | None = base
        seen: set[str | None] = set()
        while page is not None and page not in seen and len(seen) < 20 * MOST_PAGES:
            seen.add(page)
            graph = _graph(page)
            count += _members(graph)
            page = _next_page(graph)
        return float(count)


def _graph(url: str | None) -> Graph:
    try:
        from rdflib import Graph
    except ImportError:
        raise ProbeUnavailable("rdflib, which reads RDF, is not installed: pip install 'plimsoll-line[trs]'") from None
    request = urllib.request.Request(str(url), headers={"Accept": ACCEPT, "OSLC-Core-Version": "2.0"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=LIMIT_S) as response:
            kind, text = response.headers.get_content_type(), response.read(MOST_BYTES)
    except (OSError, ValueError) as error:
        raise ProbeUnavailable(f"{url} cannot be read ({getattr(error, 'reason', None) or error})") from None
    if kind not in FORMATS:
        raise ProbeUnavailable(f"{url} is {kind}, not RDF ({', '.join(FORMATS)})")
    graph = Graph()
    try:
        graph.parse(data=text, format=FORMATS[kind], publicID=url)
    except Exception as error:  # each parser has errors of its own
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise ProbeUnavailable(f"{url} is no {kind} that can be read ({first[:200]})") from None
    return graph


def _uri(name: str) -> Any:
    from rdflib import URIRef

    return URIRef(name if "://" in name else NAMESPACE + name)


def _orders(graph: Graph, page: str | None) -> set[int]:
    found = set()
    for value in graph.objects(None, _uri("order")):
        try:
            found.add(int(str(value)))
        except ValueError:
            raise ProbeUnavailable(f"{page}: the trs:order {str(value)!r} is no whole number") from None
    if not found and (None, _uri("changeLog"), None) not in graph and (None, _uri("change"), None) not in graph:
        is_log = any(graph.subjects(None, _uri("ChangeLog")))
        if not is_log:
            raise ProbeUnavailable(f"{page} has no change log: it is no tracked resource set")
    return found


def _previous(graph: Graph, page: str | None) -> str | None:
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
