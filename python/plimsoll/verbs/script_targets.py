"""The target of a script that has its address inside: the engine sees where it connects to.

Where that is a port of this host, whoever listens there is probed from then on, which is within the first probe of a
search. Where it is another host, the user is told once how to have it watched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from plimsoll.probes.processes.local_targets import is_local, local_listeners
from plimsoll.study import ProcessSelector

HINT = (
    "The script calls {where}, which is another host: nothing of it is watched. "
    "To learn what stops it, write a study with target.url and probes for it (docs/study.md)."
)
Address = tuple[str, int]
OnFound = Callable[[Sequence[ProcessSelector]], None]


class Connected(Protocol):
    """The part of a load source that knows where it connects to."""

    def connections(self) -> Sequence[Address]:
        """The addresses (IP, port) connected to so far."""


class ScriptTargets:
    """Looks once a second for addresses that are new, hands over who listens on those of this host, and tells the user.
    `same_host`: whether all addresses are of this host; None before the first connection."""

    def __init__(self, on_found: OnFound, tell: Callable[[str], None]) -> None:
        self._on_found, self._tell = on_found, tell
        self._load: Connected | None = None
        self._known: set[Address] = set()
        self._hinted = False
        self.same_host: bool | None = None

    def follow(self, load: Connected) -> None:
        """Look at the connections of this load."""
        self._load = load

    def look(self) -> None:
        """See whether there are new addresses; costs a call of the engine where there are none."""
        addresses = self._load.connections() if self._load is not None else ()
        fresh = [address for address in addresses if address not in self._known]
        if not fresh:
            return
        self._known.update(fresh)
        here = [address for address in fresh if is_local(_url(address))]
        self.same_host = self.same_host is not False and len(here) == len(fresh)
        self._probe(here)
        others = [address for address in fresh if address not in here]
        if others and not self._hinted:
            self._hinted = True
            self._tell(HINT.format(where=" and ".join(_url(address).removeprefix("http://") for address in others[:2])))

    def _probe(self, addresses: Sequence[Address]) -> None:
        if not addresses:
            return
        found = local_listeners(dict.fromkeys(_url(address) for address in addresses))
        if len(self._known) > len(addresses):  # not the first: the name "target" is taken
            found = [ProcessSelector(label=f"port {one.port}", port=one.port) for one in found]
        ports = " and ".join(str(one.port) for one in found)
        self._tell(f"The script calls port {ports} of this host: who listens there is watched from now on.")
        self._on_found(found)


def _url(address: Address) -> str:
    ip, port = address
    return f"http://[{ip}]:{port}" if ":" in ip else f"http://{ip}:{port}"
