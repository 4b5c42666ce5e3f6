"""Another service as the limit: most of the requests that a process works on wait for an answer of it.

Of each connection the kernel knows whether it sent or received last (probes/processes/tcp_info.py). Where connections
are used at once again both happen in one tick of its clock, so that the two counts are compared with each other and not
with the number of connections.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from plimsoll.findings.limits.limit import Limit
from plimsoll.findings.resources import Means
from plimsoll.words import count_words, counted_words

CONNECTIONS_TO, NEW_TO, AWAITING, ANSWERED = "connections_to_", "new_to_", "awaiting_", "answered_by_"
MOST_WAIT = 0.6  # share of the connections whose last data were a question
OF_INSIDE = 0.5  # share of the requests inside that wait for it
LEAST_KNOWN = 0.25  # connections whose order is known, on average
LEAST_WAITING = 1.5
EACH_CALLS = 0.8  # connections for each request inside, from which on nearly every request has a call of its own
MOSTLY_HIDDEN = 0.25  # share of the connections whose order is known, below which they tell nothing of the others


@dataclass(frozen=True)
class Calls:
    """The connections of a process to one address: how many, the share of them that wait for an answer (None: not
    known), and how many requests the process works on (None: not known). `service`: the label of the process there,
    empty if it is not probed; `known`: connections of which it is known who sent last, on average."""

    label: str
    address: str
    connections: float
    waiting_share: float | None
    inside: float | None
    service: str = ""
    known: float = 0.0

    @property
    def is_waited_for(self) -> bool:
        """Whether most of what the process works on waits for it."""
        if self.waiting_share is None or self.waiting_share < MOST_WAIT:
            return False
        waiting = self.waiting_share * self.connections
        return waiting >= LEAST_WAITING and (self.inside is None or waiting >= OF_INSIDE * self.inside)

    @property
    def address_words(self) -> str:
        """The address with the name of the process there."""
        return f"{self.service} at {self.address}" if self.service else self.address


def calls_of(label: str, sockets: Mapping[str, float], here: Means) -> Iterator[Calls]:
    """The calls of a process, of the mean values of its sockets probe."""
    listening = {
        name.removeprefix("listens_on_"): source.partition(":")[2]
        for source, values in here.items()
        if source.startswith("sockets:")
        for name in values
        if name.startswith("listens_on_")
    }
    for name, count in sockets.items():
        if name.startswith(CONNECTIONS_TO):
            address = name.removeprefix(CONNECTIONS_TO)
            waiting, answered = sockets.get(AWAITING + address), sockets.get(ANSWERED + address)
            known = (waiting or 0.0) + (answered or 0.0)
            service = listening.get(address.rpartition(":")[2], "") if is_local(address) else ""
            yield Calls(label, address, count, _share(waiting, answered), _inside(sockets), service, known)


def is_silent(sockets: Mapping[str, float]) -> bool:
    """Whether the sockets of a process have calls, and of none of them is known who sent last."""
    calls = [name.removeprefix(CONNECTIONS_TO) for name in sockets if name.startswith(CONNECTIONS_TO)]
    return bool(calls) and all(
        _share(sockets.get(AWAITING + one, 0.0), sockets.get(ANSWERED + one, 0.0)) is None for one in calls
    )


def is_local(address: str) -> bool:
    """Whether the address is this host's by its form."""
    return address.startswith(("127.", "[::1]"))


def _share(waiting: float | None, answered: float | None) -> float | None:
    if waiting is None or answered is None or waiting + answered < LEAST_KNOWN:
        return None
    return waiting / (waiting + answered)


def _inside(sockets: Mapping[str, float]) -> float | None:
    """Requests that are worked on: accepted connections, less those that idle after an answer."""
    count = sockets.get("connections_in")
    if not count:
        return None
    share = _share(sockets.get("requests_inside"), sockets.get("requests_answered"))
    return count if share is None else share * count


def dependency_limits(calls: Iterable[Calls], words: str) -> list[Limit]:
    """The services that most requests waited for."""
    found = []
    for call in calls:
        if not call.is_waited_for or call.waiting_share is None:
            continue
        waiting = call.waiting_share * call.connections
        of = (
            f" of the {counted_words(call.inside, 'request')} that it worked on"
            if call.inside is not None
            else " requests"
        )
        text = f"About {count_words(min(waiting, call.inside or waiting))}{of} waited for {call.address_words} {words}."
        remedy = f"make {call.address_words} answer sooner or do more at a time, or call it less often"
        found.append(Limit("dependency", f"{call.address_words}, called by {call.label}", 1.0, None, text, remedy))
    return found


def possible_dependencies(calls: Iterable[Calls], label: str, words: str) -> list[Limit]:
    """The services that the requests inside process `label` may wait for: nearly each has a connection there, and of
    most the kernel does not tell which side sent last. A second guess, for where its own workers are all taken."""
    found = []
    for call in calls:
        if call.label != label or call.inside is None or call.known >= MOSTLY_HIDDEN * call.connections:
            continue
        if call.connections < max(LEAST_WAITING, EACH_CALLS * call.inside):
            continue
        text = (
            f"{count_words(call.connections)} connections to {call.address_words} for the {count_words(call.inside)} "
            f"requests that it worked on {words}: they may wait for it; questions and answers fell into one tick of "
            "the kernel's clock."
        )
        remedy = f"see how long {call.address_words} takes to answer under this load"
        found.append(Limit("dependency", f"{call.address_words}, called by {call.label}", 1.0, None, text, remedy))
    return found
