"""Bytes, packets and faults of the host's network. Linux does not count them per process, so they are the host's."""

from __future__ import annotations

import time

import psutil

from plimsoll.probes.probe import Clock, ProbeUnavailable, Rates

_LOOPBACK = ("lo", "lo0", "Loopback Pseudo-Interface 1")


class NetworkProbe:
    """Values per second: network_sent_bytes_per_s, network_received_bytes_per_s, network_dropped_packets_per_s,
    network_errors_per_s (all interfaces but loopback), loopback_bytes_per_s (sent).
    """

    source = "network"

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._rates = Rates(clock)

    def take_notes(self) -> list[str]:
        """None."""
        return []

    def sample(self) -> dict[str, float]:
        """Values now; see the class. Empty in the first call, as all are rates."""
        try:
            interfaces = psutil.net_io_counters(pernic=True)
        except (OSError, psutil.Error) as error:
            raise ProbeUnavailable(
                f"cannot read the network's counters: {error}. Check that /proc is mounted."
            ) from error
        loopback = [one for name, one in interfaces.items() if name in _LOOPBACK]
        outside = [one for name, one in interfaces.items() if name not in _LOOPBACK]
        counters = {
            "network_sent_bytes_per_s": float(sum(one.bytes_sent for one in outside)),
            "network_received_bytes_per_s": float(sum(one.bytes_recv for one in outside)),
            "network_dropped_packets_per_s": float(sum(one.dropin + one.dropout for one in outside)),
            "network_errors_per_s": float(sum(one.errin + one.errout for one in outside)),
            "loopback_bytes_per_s": float(sum(one.bytes_sent for one in loopback)),
        }
        return self._rates.update(counters)[0]
