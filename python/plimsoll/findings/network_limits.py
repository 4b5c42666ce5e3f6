"""The network as the limit: answers are ready and wait to be sent, or for the other side to acknowledge them."""

from __future__ import annotations

import math

from plimsoll.findings.limit import Limit
from plimsoll.findings.resources import Means

LEAST_SENDING = 2.0
MOST_SEND = 0.5
OF_UNFINISHED = 0.4  # of the iterations under way at the end of the step; on average there are fewer
RISE = 2.0


def network_limits(here: Means, low: Means, unfinished: float, words: str, before: str) -> list[Limit]:
    """Processes of whose connections, or of the iterations under way, most had an unsent rest of an answer."""
    found = []
    for source, values in here.items():
        sending, count = values.get("connections_sending"), values.get("connections_in", 0.0)
        if not source.startswith("sockets:") or sending is None or sending < LEAST_SENDING:
            continue
        then = low.get(source, {}).get("connections_sending", 0.0)
        most = min(MOST_SEND * count, OF_UNFINISHED * unfinished if unfinished else math.inf)
        if sending < most or sending < RISE * then:
            continue
        label = source.partition(":")[2]
        text = (
            f"{sending:.0f} of {count:.0f} connections of {label} held a part of an answer that had not arrived {words}"
            f", {then:.0f} {before}{_traffic(here)}: the network to its users is full, or they read slowly."
        )
        remedy = "widen the network, or make the answers smaller (compression, fewer fields, pages)"
        found.append(Limit("network", f"network of {label}", 1.0, None, text, remedy))
    return found


def _traffic(here: Means) -> str:
    """What the host sent and received, without loopback."""
    values = here.get("network", {})
    most = max(values.get("network_sent_bytes_per_s", 0.0), values.get("network_received_bytes_per_s", 0.0))
    return f" ({8 * most / 1e6:,.3g} Mbit/s on the host's interfaces)" if most >= 1e5 else ""
