"""Which processes are the target's while one of its variants runs, where variants differ by the URL that they answer.

A study names the target's processes once. An entry that means who answers the URL of one variant follows to the URL of
the variant that runs, under the same label. Where that is on another host, there is no process to read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.probes.processes.finding_processes import find_roots, pids_listening_on
from plimsoll.probes.processes.local_targets import DEFAULT_PORTS, is_local
from plimsoll.probes.processes.resting import process_tree
from plimsoll.study.models import ProcessSelector

TARGET = "target"
BASE_URL = "BASE_URL"


@dataclass(frozen=True)
class Watched:
    """The processes to read while a variant runs; `unseen`: labels of those that cannot be, and why; `followed`: the
    ports to which entries of the study followed the variant, by label."""

    selectors: tuple[ProcessSelector, ...] = ()
    unseen: Mapping[str, str] = field(default_factory=dict)
    followed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """Where a URL is answered; `port` is None on another host."""

    port: int | None
    words: str

    @property
    def key(self) -> int | str:
        """Equal for names of one place of this host."""
        return self.port or self.words


class Listeners(Protocol):
    """What is known of who listens where on this host."""

    def means(self, entry: ProcessSelector, port: int) -> bool:
        """Whether a process that the entry means listens on that port."""

    def are_apart(self, entry: ProcessSelector, port: int, others: Sequence[int]) -> bool:
        """Whether each process of the entry listens on that port or on one of the others, some on the others alone."""


class HostListeners:
    """Listeners as the kernel tells them now."""

    def means(self, entry: ProcessSelector, port: int) -> bool:
        """See Listeners."""
        return entry.port == port if entry.port is not None else bool(self._roots(entry, [port])[1])

    def are_apart(self, entry: ProcessSelector, port: int, others: Sequence[int]) -> bool:
        """See Listeners."""
        if entry.name is None:
            return False
        (every, own), (_, of_others) = self._roots(entry, [port]), self._roots(entry, others)
        return bool(of_others - own) and every == own | of_others

    def _roots(self, entry: ProcessSelector, ports: Sequence[int]) -> tuple[set[int], set[int]]:
        """Its processes, and those of them that listen, or of which a child does."""
        listening = set().union(*map(pids_listening_on, ports))
        try:
            roots = {root.pid for root in find_roots(entry)}
        except ProbeUnavailable:
            return set(), set()
        return roots, {pid for pid in roots if listening & {pid, *process_tree(Path("/"), [pid])}}


def watched_of_variants(
    entries: Sequence[ProcessSelector],
    addresses: Mapping[str, Mapping[str, str]],
    others: Iterable[str | None] = (),
    listeners: Listeners | None = None,
) -> dict[str, Watched]:
    """What to read while each variant runs. `addresses`: the values of its variables, of which those that are URLs
    count; `others`: URLs of the target beside these; `listeners`: HostListeners unless given.

    Without entries it is who listens on the ports of this host that the variant's URLs name.
    """
    known: dict[str, Place | None] = {}

    def place(url: str) -> Place | None:
        if url not in known:
            known[url] = place_of(url)
        return known[url]

    places = {
        variant: {name: at for name, url in of_variant.items() if (at := place(url)) is not None}
        for variant, of_variant in addresses.items()
    }
    if not entries:
        return _by_url(places)
    beside = [at for url in others if url is not None and (at := place(url)) is not None]
    who = listeners or HostListeners()
    return {variant: _of_entries(entries, variant, places, beside, who) for variant in addresses}


def place_of(url: str) -> Place | None:
    """Where an http or https URL is answered; None for what is none."""
    try:
        parts = urlsplit(url)
        port = parts.port or DEFAULT_PORTS.get(parts.scheme)
    except ValueError:  # a variable that only looks like a URL
        return None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname or not port:
        return None
    return Place(port if is_local(url) else None, f"{parts.hostname}:{port}")


def _by_url(places: Mapping[str, Mapping[str, Place]]) -> dict[str, Watched]:
    """One place in each variant is the target; of several, one that differs is called by its variable."""
    here_somewhere = {name for here in places.values() for name, at in here.items() if at.port is not None}
    keys = [{at.key for name, at in here.items() if name in here_somewhere} for here in places.values()]
    is_single = all(len(one) <= 1 for one in keys)
    found = {}
    for variant, here in places.items():
        selectors: dict[int, ProcessSelector] = {}
        unseen: dict[str, str] = {}
        for name, at in here.items():
            differs = len({other[name].key for other in places.values() if name in other}) > 1
            is_target = is_single or (differs and name == BASE_URL)
            label = TARGET if is_target else name if differs else f"port {at.port}"
            if at.port is not None:
                selectors.setdefault(at.port, ProcessSelector(label=label, port=at.port))
            elif name in here_somewhere:
                unseen[label] = _not_here(label, at)
        found[variant] = Watched(tuple(selectors.values()), unseen)
    return found


def _of_entries(
    entries: Sequence[ProcessSelector],
    variant: str,
    places: Mapping[str, Mapping[str, Place]],
    beside: Sequence[Place],
    listeners: Listeners,
) -> Watched:
    """The entries, of which those that mean another variant's process follow to this one's."""
    selectors = list(entries)
    unseen: dict[str, str] = {}
    followed: dict[str, int] = {}
    for name, own in places[variant].items():
        of_variants = [here[name] for here in places.values() if name in here]
        of_variants += beside if name == BASE_URL else ()
        ports = sorted({at.port for at in of_variants if at.port is not None} - {own.port})
        if not ports:
            continue
        if own.port is None:
            gone = [one for one in selectors if any(listeners.means(one, port) for port in ports)]
            selectors = [one for one in selectors if one not in gone]
            unseen |= {one.label: _not_here(one.label, own) for one in gone}
            continue
        mine = [one for one in selectors if listeners.means(one, own.port)]
        theirs = [one for one in selectors if any(listeners.means(one, port) for port in ports)]
        changed = [one for one in mine if listeners.are_apart(one, own.port, ports)] if mine else theirs[:1]
        for entry in changed:
            selectors[selectors.index(entry)] = ProcessSelector(label=entry.label, port=own.port)
            followed[entry.label] = own.port
    return Watched(tuple(selectors), unseen, followed)


def _not_here(label: str, at: Place) -> str:
    return f"{label}: {at.words} is not on this host, so its process is not read."
