"""A consumer's probe asked as a run asks it: each number in a thread of its own, told at a later call."""

from __future__ import annotations

import time

from plimsoll.probes.consumer.probe import ConsumerProbe


def asked(probe: ConsumerProbe) -> dict[str, float]:
    """The values of one question to all of its numbers; ProbeUnavailable if none can be read."""
    probe.observe()
    until_answered(probe)
    told = probe.observe()
    until_answered(probe)  # the question after it, which the next call drops
    return {name: value for one in told for name, value in one.values.items()}


def until_answered(probe: ConsumerProbe) -> None:
    """Wait until no question is on its way."""
    deadline = time.monotonic() + 30
    while any(one._asking is not None and not one._asking.done.is_set() for one in probe._beside.values()):
        assert time.monotonic() < deadline
        time.sleep(0.001)
