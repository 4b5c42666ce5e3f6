"""Properties over generated input, in Python as crates/fuzz has them in Rust: in tests each sees the same cases for a
few seconds at most; `FUZZ_SECONDS=600` (`make fuzz`) makes each go on for that time from a seed of its own, which is
printed, and `FUZZ_SEED` gives one again. A case that goes on for over 5 s or takes over 1 GB has failed."""

from __future__ import annotations

import itertools
import os
import random
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.strategies import SearchStrategy

CASES = 200
OF_A_TEST_S = 3.0
LONGEST_S = 5.0
MOST_BYTES = 1 << 30
Case = TypeVar("Case")

set_hypothesis_home_dir(os.path.join(tempfile.gettempdir(), f"plimsoll-hypothesis-{os.getuid()}"))


class Hung(BaseException):
    """A case that goes on for too long; none of ours catches it."""


def holds(name: str, inputs: SearchStrategy[Case], check: Callable[[Case], Any]) -> None:
    """Fails with the smallest input found for which `check` raises, hangs, or takes too much memory."""
    limit_s = float(os.environ.get("FUZZ_SECONDS") or 0)
    first = int(os.environ.get("FUZZ_SEED") or (random.SystemRandom().randrange(2**32) if limit_s else 1))
    began, cases = time.monotonic(), 0

    def bounded_check(case: Case) -> None:
        nonlocal cases
        if cases and not limit_s and time.monotonic() - began > OF_A_TEST_S:
            return
        cases += 1
        with bounded():
            check(case)

    for seed in itertools.count(first):
        run = hypothesis.given(inputs)(bounded_check)
        run = hypothesis.settings(
            max_examples=CASES,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
        )(hypothesis.seed(seed)(run))
        try:
            run()
        except BaseException as error:
            error.add_note(f"{name}, FUZZ_SEED={seed}")
            raise
        if time.monotonic() - began >= limit_s:
            break
    if limit_s:
        print(f"{name}: held in {cases} cases, {time.monotonic() - began:.0f} s, FUZZ_SEED={first}")
    assert cases > 0


@contextmanager
def bounded() -> Iterator[None]:
    """The time (of the processor, as others may use it too) and the memory of a case. One that waits for ever is ended
    by the test's own time limit."""

    def late(*_: object) -> None:
        raise Hung(f"over {LONGEST_S:g} s")

    before = _most_bytes()
    handler = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
    assert _most_bytes() - before < MOST_BYTES, "it took over 1 GB"


def _most_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
