"""One source of links: its tracked resource set, read as JSON-LD, and the resources that it names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from plimsoll_lab.configurations.addresses import Addresses

ANSWER_LIMIT_S = 30
MOST_BYTES = 32 * 2**20
FEED = {"Accept": "application/ld+json"}


class SourceProblem(Exception):
    """A source cannot be read now; the message says what happened."""


@dataclass(frozen=True)
class Change:
    """One change of a resource: its number, whether it is a deletion, and the address of what changed."""

    number: int
    deleted: bool
    resource: str


@dataclass(frozen=True)
class Coalesced:
    """What is to be done for a resource: the newest of its changes counts. `changes`: how many there were."""

    resource: str
    deleted: bool
    changes: int


class Source:
    """The source `name` at `url`. `token()` gives what resources are asked for with. Used by several threads."""

    def __init__(self, name: str, url: str, addresses: Addresses, token: Callable[[], str], threads: int) -> None:
        self.name = name
        self._root = f"{url}/{name}"
        self._addresses = addresses
        self._token = token
        limits = httpx.Limits(max_connections=threads + 1, max_keepalive_connections=threads + 1, keepalive_expiry=120)
        self._client = httpx.Client(timeout=ANSWER_LIMIT_S, limits=limits, trust_env=False)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def newest_change(self) -> int:
        """The number of the newest change; 0 before the first. Raises SourceProblem."""
        log = self._json(f"{self._root}/trs")["trs:changeLog"]
        return max((int(one["trs:order"]) for one in log["trs:change"]), default=0)

    def changes_after(self, last: int) -> list[Change]:
        """All changes with numbers above `last`, the newest first. Raises SourceProblem."""
        found: list[Change] = []
        page = self._json(f"{self._root}/trs")["trs:changeLog"]
        while True:
            newest = [_change(one) for one in page["trs:change"]]
            found += [self._kept(change) for change in newest if change.number > last]
            before = page["trs:previous"]["@id"]
            if not newest and before.endswith("#nil"):
                return found
            if before.endswith("#nil") or (newest and newest[-1].number <= last + 1):
                return found
            page = self._json(before)

    def base_pages(self) -> Iterator[tuple[int, list[str]]]:
        """(cutoff, addresses of members) page by page. Raises SourceProblem."""
        following = f"{self._root}/trs/base"
        while not following.endswith("#nil"):
            page = self._json(following)
            members = [self._addresses.inward(one["@id"]) for one in page["ldp:member"]]
            yield _number(page["trs:cutoffEvent"]["@id"]), members
            following = page["ldp:nextPage"]["@id"]

    def resource(self, address: str) -> dict[str, Any] | None:
        """What is there now, the targets of its links without what depends on a port; None if nothing is.
        Raises SourceProblem."""
        url = self._addresses.absolute(address)
        try:
            answer = self._client.get(url, headers={"Authorization": f"Bearer {self._token()}"})
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SourceProblem(f"{url} did not answer ({type(error).__name__})") from None
        if answer.status_code in (404, 410):
            return None
        if answer.status_code != 200:
            raise SourceProblem(f"{url} answered {answer.status_code}")
        content: dict[str, Any] = answer.json()
        if "links" in content:
            content["links"] = [
                {**one, "target": self._addresses.inward(one["target"])} for one in content["links"]
            ]  # fmt: skip
        return content

    def _kept(self, change: Change) -> Change:
        return Change(change.number, change.deleted, self._addresses.inward(change.resource))

    def _json(self, url: str) -> dict[str, Any]:
        try:
            answer = self._client.get(url, headers=FEED)
            if answer.status_code != 200 or len(answer.content) > MOST_BYTES:
                raise SourceProblem(f"{url} answered {answer.status_code} with {len(answer.content)} bytes")
            found: dict[str, Any] = json.loads(answer.content)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise SourceProblem(f"{url} cannot be read ({type(error).__name__})") from None
        return found


def coalesced(changes: list[Change]) -> list[Coalesced]:
    """What is to be done, oldest first: each resource once, for the newest of its changes. `changes`: newest first."""
    counted: dict[str, int] = {}
    newest: dict[str, Change] = {}
    for change in changes:
        newest.setdefault(change.resource, change)
        counted[change.resource] = counted.get(change.resource, 0) + 1
    return [
        Coalesced(resource, change.deleted, counted[resource]) for resource, change in reversed(newest.items())
    ]  # fmt: skip


def _change(entry: dict[str, Any]) -> Change:
    return Change(int(entry["trs:order"]), entry["@type"] == "trs:Deletion", entry["trs:changed"]["@id"])


def _number(event: str) -> int:
    """The number in urn:plimsoll:qm:change:7; 0 for rdf:nil, which means that nothing has changed yet."""
    return 0 if event.endswith("#nil") else int(event.rsplit(":", 1)[1])
