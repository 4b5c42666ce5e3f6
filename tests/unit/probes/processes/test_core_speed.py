"""The probe of the target's cores: real threads on real cores; nothing asserts how fast they are."""

from __future__ import annotations

import os
import threading
import time

import psutil
import pytest

from plimsoll.probes import CoreSpeedProbe, ProbeUnavailable
from plimsoll.probes.processes.core_speed import FEWEST_PIECES, Work
from plimsoll.study import ProcessSelector

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be bound here")
OWN = ProcessSelector(label="own", pid=os.getpid())


def first_values(probe: CoreSpeedProbe, deadline_s: float = 30.0) -> dict[str, float]:
    """The first sample with values in it."""
    ends = time.monotonic() + deadline_s
    while time.monotonic() < ends:
        values = probe.sample()
        if values:
            return values
        time.sleep(0.2)
    raise AssertionError("the probe measured nothing")


def test_it_measures_on_the_cores_that_the_target_may_use_and_on_no_other():
    probe = CoreSpeedProbe([OWN])
    assert probe.sample() == {}
    values = first_values(probe)
    assert values["work_per_cpu_s"] > 0 and 0 <= values["work_error_share"] < 1
    cores = os.sched_getaffinity(0)
    names = {thread.name for thread in threading.enumerate() if thread.name.startswith("plimsoll-core-")}
    assert {int(name.rpartition("-")[2]) for name in names} <= cores and names


def test_a_target_that_is_gone_is_unavailable_and_not_an_error():
    def gone(selector: ProcessSelector) -> list[psutil.Process]:
        raise ProbeUnavailable(f"nothing called {selector.label}")

    with pytest.raises(ProbeUnavailable, match="nothing called own"):
        CoreSpeedProbe([OWN], find=gone).sample()


def test_each_piece_of_work_takes_another_document_and_gives_a_result():
    work = Work()
    assert len({work._documents[place] for place in range(100)}) == 100
    before = work._place
    assert work.do() > 0 and work._place != before
    assert FEWEST_PIECES >= 2, "one piece has no scatter"
