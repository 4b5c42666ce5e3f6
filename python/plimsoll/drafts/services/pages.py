"""A draft from a service without a description: the page at the address, and what it links to on the same host.

A page that is only a redirect is followed on the same host, as a load of redirects measures nothing. It is not followed
to where somebody signs in, nor to another address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from plimsoll.drafts.draft import PER_USER_HOUR, Draft, DraftOperation
from plimsoll.drafts.kinds import is_static
from plimsoll.drafts.left_out import LeftOut
from plimsoll.drafts.names import operation_names
from plimsoll.drafts.queries import is_secret_parameter
from plimsoll.drafts.services.asking import HTML, Asker, Told, does_something
from plimsoll.errors import InputError
from plimsoll.plain_text import plain
from plimsoll.words import counted_words, number

_MOST_LINKS = 20
_MOST_REDIRECTS = 5
_SIGNS_IN = re.compile(r"log[-_]?in|sign[-_]?in|auth", re.IGNORECASE)


@dataclass(frozen=True)
class _Page:
    """The page that an address has: its path, the answer, the paths that lead there by redirects."""

    path: str
    told: Told
    passed: tuple[str, ...] = ()


def draft_of_page(asker: Asker, url: str) -> Draft:
    """The draft; InputError where the address has no page, with what would be one."""
    parts = urlsplit(url)
    origin, own = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    page = _page_at(asker, url, [own, f"{own}/"] if own else ["/"])
    below = f"{own}/" if page.path.startswith(f"{own}/") else f"{own.rpartition('/')[0]}/"
    paths = [page.path]
    paths += [path for path in _links(page, origin, below) if asker.ask_whole(path, HTML).status in range(200, 300)]
    return Draft(
        source=f"the page at {plain(url)}",
        url=origin,
        head=tuple(_head(url, page, len(paths) - 1)),
        operations=tuple(_operations(paths)),
        left_out=tuple(LeftOut("not_usable", f"GET {one}", 0, "it only redirects") for one in page.passed),
        notes=tuple(_notes(page, len(paths))),
        asked=asker.asked,
    )


def _operations(paths: Sequence[str]) -> Iterator[DraftOperation]:
    """One for each path; pages that differ in the query alone are one, which draws its query."""
    queries: dict[str, list[str]] = {}
    for path in paths:
        place, mark, query = path.partition("?")
        queries.setdefault(place, []).append(mark + query)
    names = operation_names(("GET", place) for place in queries)
    for (place, found), (name, function) in zip(queries.items(), names, strict=True):
        yield DraftOperation(
            name=name,
            exec=function,
            method="GET",
            template=place,
            per_user_hour=PER_USER_HOUR,
            rows=tuple({"query": query} for query in found) if len(found) > 1 else (),
            fixed_query=found[0].removeprefix("?") if len(found) == 1 else "",
        )


def _head(url: str, page: _Page, links: int) -> Iterator[str]:
    linked = f" and {counted_words(links, 'page')} that it links to" if links else ""
    yield (
        f"{plain(url)} has no OpenAPI description at the usual places (--openapi names another place); the script asks "
        f"for the page {plain(page.path)}{linked}."
    )
    yield f"Nobody knows how often a user asks: each has {number(PER_USER_HOUR)} per user and hour. Set them."


def _notes(page: _Page, count: int) -> Iterator[str]:
    what = "What a page's JavaScript asks for is not seen here. " if b"<script" in page.told.body.lower() else ""
    if what or count == 1:
        pages = "One page is" if count == 1 else "These pages are"
        yield (
            f"{what}{pages} not all that users do: give --har FILE, recorded in a browser, or --access-log FILE for "
            "that."
        )


def _page_at(asker: Asker, url: str, candidates: Sequence[str]) -> _Page:
    """The first that answers with a page, redirects followed; InputError where none does."""
    trouble: tuple[str, str] | None = None
    for path in candidates:
        found = _followed(asker, path)
        if isinstance(found, _Page):
            return found
        trouble = trouble or found
    if trouble is None:
        places = ", ".join(plain(place) for place, _ in asker.asked)
        what = f"the service has no OpenAPI description and no page at {plain(url)} (asked for {places})"
        trouble = (
            what,
            (
                "Give the URL of something that it answers to a GET, its description with --openapi FILE, a recording "
                "of a browser with --har FILE, or its log with --access-log FILE."
            ),
        )
    raise InputError(*trouble)


def _followed(asker: Asker, path: str) -> _Page | tuple[str, str] | None:
    """The page; or (what is wrong, what to do); None where nothing is known but that there is none."""
    passed: list[str] = []
    for _ in range(_MOST_REDIRECTS + 1):
        told = asker.ask_whole(path, HTML)
        if told.status in (401, 403):
            return (
                f"{plain(path)} {told.words}, as it needs somebody who signed in",
                "Give a token with --token env:NAME, or a recording of a browser with --har FILE.",
            )
        if not 300 <= told.status < 400 or not told.location:
            if told.is_success:
                return _Page(path, told, tuple(passed))
            return _leads_nowhere(passed[0], path, told) if passed else None
        passed.append(path)
        try:
            target = urlsplit(urljoin(asker.origin + path, told.location))
        except ValueError:
            return None
        if f"{target.scheme}://{target.netloc}" != asker.origin:
            there = plain(f"{target.scheme}://{target.netloc}")
            return (
                f"{plain(path)} redirects to {there}, which is another address",
                f"If that is it: plimsoll new {there}",
            )
        if _SIGNS_IN.search(target.path):
            return (
                f"{plain(path)} redirects to {plain(target.path)}, where users sign in",
                "Give a recording of a browser with --har FILE, or a token with --token env:NAME.",
            )
        path = _sendable(target.path or "/", target.query)
        if does_something(path) or path in passed or _has_secret(target.query):
            return None
    return None


def _leads_nowhere(first: str, path: str, told: Told) -> tuple[str, str]:
    return (
        f"{plain(first)} redirects to {plain(path)}, which {told.words}",
        "Give the URL of something that it answers to a GET, a recording of a browser with --har FILE, or its log with "
        "--access-log FILE.",
    )


def _links(page: _Page, origin: str, below: str) -> list[str]:
    """Paths on the same host that a page links to, without files, secrets, and what does something."""
    if not page.told.content_type.endswith("html"):
        return []
    text = page.told.body.decode("utf-8", "replace")
    found: dict[str, None] = {}
    for link in re.findall(r"""<a\s[^>]*?href=["']?([^"'\s>]+)""", text, re.IGNORECASE):
        try:
            parts = urlsplit(urljoin(origin + page.path, link.replace("&amp;", "&")))
        except ValueError:
            continue
        if f"{parts.scheme}://{parts.netloc}" != origin or not parts.path.startswith(below):
            continue
        path = _sendable(parts.path, parts.query)
        is_known = path in (page.path, *page.passed)
        if not (is_known or is_static(parts.path) or _has_secret(parts.query) or does_something(path)):
            found[path] = None
    return list(found)[:_MOST_LINKS]


def _has_secret(query: str) -> bool:
    return any(is_secret_parameter(part.partition("=")[0]) for part in query.split("&"))


def _sendable(path: str, query: str) -> str:
    quoted = quote(path, safe="/%:@!$&'()*+,;=~-._")
    return f"{quoted}?{quote(query, safe='%:@!$&()*+,;=~-._/?' + chr(39))}" if query else quoted
