"""Affinities and cpusets that keep the target off the generator's cores are read, of every thread, child and peer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from stacked_servers import served

from plimsoll.experiments.target.isolation import apart_words, mixed_with
from plimsoll.probes.processes.target_cores import TargetCoresProbe
from plimsoll.study.models import ProcessSelector

CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
pytestmark = pytest.mark.skipif(len(CORES) < 2, reason="one processor cannot keep two programs apart")
CPUSETS = Path("/sys/fs/cgroup/cpuset")


def looked_at(*pids: int) -> dict[str, set[int]]:
    """The cores of these processes, as the probe has seen them after one look; labelled by their order."""
    probe = TargetCoresProbe([ProcessSelector(label=str(place), pid=pid) for place, pid in enumerate(pids)])
    probe.sample()
    return probe.seen


def test_a_target_that_its_user_pinned_is_apart_from_a_generator_on_other_cores() -> None:
    first, second = CORES[0], CORES[1]
    with served(cpus=[first]) as (_, front), served(cpus=[first]) as (_, back):
        seen = looked_at(front, back)
    assert apart_words(seen, {second}) == f"affinity: target on CPU {first}, generator on CPU {second}"
    assert apart_words(seen, set(CORES)) is None and apart_words({}, {second}) is None


def test_one_process_that_may_use_the_generator_s_cores_is_enough_to_be_not_apart() -> None:
    with served(cpus=[CORES[0]]) as (_, front), served() as (_, back):
        seen = looked_at(front, back)
    assert apart_words(seen, {CORES[1]}) is None and mixed_with(seen, {CORES[1]}) == ["1"]


def test_a_worker_counts_that_has_cores_of_its_own() -> None:
    with served(cpus=[CORES[0]], workers=2) as (_, front):
        [worker] = Path(f"/proc/{front}/task/{front}/children").read_text().split()
        os.sched_setaffinity(int(worker), {CORES[1]})
        seen = looked_at(front)
    assert seen == {"0": {CORES[0], CORES[1]}}


@pytest.fixture
def cpuset() -> Iterator[Path]:
    """A control group (version 1) whose tasks may use the first core alone."""
    folder = CPUSETS / "plimsoll-test"
    try:
        folder.mkdir()
        (folder / "cpuset.mems").write_text((CPUSETS / "cpuset.mems").read_text())
        (folder / "cpuset.cpus").write_text(str(CORES[0]))
    except OSError:
        pytest.skip("no control group may be made here")
    yield folder
    folder.rmdir()


def test_a_cpuset_of_a_control_group_is_in_what_the_kernel_tells_of_a_thread(cpuset: Path) -> None:
    with served() as (_, front):
        (cpuset / "cgroup.procs").write_text(str(front))
        assert looked_at(front) == {"0": {CORES[0]}}
        (CPUSETS / "cgroup.procs").write_text(str(front))
