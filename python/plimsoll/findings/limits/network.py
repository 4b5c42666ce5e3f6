"""The network as the limit: answers are ready and wait to be sent, or for the other side to acknowledge them.

Loopback is no network: the kernel copies from one process to the other, and has no rate that could be full. There an
answer that is not taken waits for its reader, which is busy or waits for a core (tcp(7): the receive buffer is full).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from plimsoll.findings.limits.dependency import Calls
from plimsoll.findings.limits.limit import OF_UNFINISHED, Limit
from plimsoll.findings.resources import Means
from plimsoll.words import count_words, number

LEAST_SENDING = 2.0
MOST_SEND = 0.5
RISE = 2.0
CALLED_HERE = 0.5  # of a service's connections, from which on its callers are those of this host


def network_limits(
    here: Means, low: Means, calls: Iterable[Calls], unfinished: float, words: str, before: str
) -> list[Limit]:
    """Processes of whose connections, or of the iterations under way, most had an unsent rest of an answer: limits of
    kind "network" to other hosts, of kind "slow_reader" on loopback. `calls`: of the target's processes."""
    found, known = [], list(calls)
    for source, values in here.items():
        sending, count = values.get("connections_sending"), values.get("connections_in", 0.0)
        if not source.startswith("sockets:") or sending is None or sending < LEAST_SENDING:
            continue
        then = low.get(source, {}).get("connections_sending", 0.0)
        most = min(MOST_SEND * count, OF_UNFINISHED * unfinished if unfinished else math.inf)
        if sending < most or sending < RISE * then:
            continue
        label = source.partition(":")[2]
        readers = sorted({call.label for call in known if call.service == label})
        if _is_loopback(label, values, sending, known):
            found.append(_slow_reader(label, readers, (sending, count, then), words, before))
            continue
        text = (
            f"{count_words(sending)} of {count_words(count)} connections of {label} held a part of an answer that had "
            f"not arrived {words}, {count_words(then)} {before}{_traffic(here)}: the network to its users is full, or "
            "they read slowly."
        )
        remedy = "widen the network, or make the answers smaller (compression, fewer fields, pages)"
        found.append(Limit("network", f"network of {label}", 1.0, None, text, remedy, owner=label))
    return found


def _is_loopback(label: str, values: Mapping[str, float], sending: float, calls: Iterable[Calls]) -> bool:
    """Whether most of those connections end on this host. Runs of before did not count these: there who calls tells."""
    local = values.get("connections_sending_local")
    if local is not None:
        return local > sending / 2
    called = sum(call.connections for call in calls if call.service == label)
    return called >= CALLED_HERE * values.get("connections_in", math.inf)


def _slow_reader(label: str, readers: list[str], counts: tuple[float, float, float], words: str, before: str) -> Limit:
    sending, count, then = counts
    who = " and ".join(readers) or "its caller on this host"
    text = (
        f"{count_words(sending)} of {count_words(count)} connections of {label} on loopback held a part of an answer "
        f"that {who} had not read {words}, {count_words(then)} {before}. Loopback is no network that could be full: "
        f"{who} was busy, or waited for a core."
    )
    remedy = f"see what {who} does while answers wait (probes.profile), and whether it waits for a core"
    where = f"{who}, which reads the answers of {label} late"
    return Limit("slow_reader", where, 1.0, None, text, remedy, owner=readers[0] if readers else "")


def _traffic(here: Means) -> str:
    """What the host sent and received, without loopback."""
    values = here.get("network", {})
    most = max(values.get("network_sent_bytes_per_s", 0.0), values.get("network_received_bytes_per_s", 0.0))
    return f" ({number(8 * most / 1e6)} Mbit/s on the host's interfaces)" if most >= 1e5 else ""
