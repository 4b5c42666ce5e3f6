"""A source that hangs holds up neither the sampler nor the other probes, and the run learns what became of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import pytest

from plimsoll.probes import ProbeUnavailable, Sampler
from plimsoll.probes.beside import Beside
from plimsoll.probes.probe import Observation


class Slow:
    """Answers when it is let; each answer is one number higher."""

    source = "slow"

    def __init__(self) -> None:
        self.let = threading.Event()
        self.number = 0.0
        self.error: Exception | None = None
        self.interrupted = threading.Event()

    def observe(self) -> Sequence[Observation]:
        self.let.wait(30)
        if self.error is not None:
            raise self.error
        self.number += 1
        return [Observation("slow:a", {"x": self.number})]

    def take_notes(self) -> list[str]:
        return [f"note {self.number:g}"]

    def interrupt(self) -> None:
        self.interrupted.set()
        self.let.set()


class Quick:
    source = "quick"

    def sample(self) -> dict[str, float]:
        return {"y": 1.0}

    def take_notes(self) -> list[str]:
        return []


def until(happens: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not happens() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert happens()


def is_idle(beside: Beside) -> bool:
    return beside._asking is None or beside._asking.done.is_set()


def test_an_answer_is_told_at_the_next_call_with_the_time_of_its_question() -> None:
    slow = Slow()
    beside = Beside(slow, wall_clock=iter([100.0, 107.0]).__next__)
    assert beside.observe() == ()
    assert beside.observe() == ()  # still waiting: not asked again
    slow.let.set()
    until(lambda: is_idle(beside))
    assert beside.observe() == [Observation("slow:a", {"x": 1.0}, 100.0)]
    assert beside.take_notes() == ["note 1"]
    until(lambda: is_idle(beside))
    assert slow.number == 2


def test_rows_of_others_come_while_one_hangs_and_its_silence_is_told_once() -> None:
    rows, events = [], []
    now = [0.0]
    slow = Slow()
    beside = Beside(slow, limit_s=3.0, clock=lambda: now[0])
    sampler = Sampler(
        [beside, Quick()], rows.append, lambda *event: events.append(event[3]), t0_unix=0.0, clock=lambda: now[0]
    )
    slow.interrupt = lambda: None  # type: ignore[method-assign]
    for _ in range(8):
        sampler.sample_once()
        now[0] += 1
    assert [row["source"] for row in rows] == ["quick"] * 8
    assert events == ["slow has not answered for more than 3 s. Check that host and the network."]
    slow.let.set()
    until(lambda: is_idle(beside))
    sampler.sample_once()
    assert "slow can be read again" in events
    assert rows[-2]["source"] == "slow:a"


def test_a_failure_is_not_taken_back_while_the_next_question_is_on_its_way() -> None:
    slow = Slow()
    slow.let.set()
    slow.error = ProbeUnavailable("gone")
    beside = Beside(slow)
    beside.observe()
    until(lambda: is_idle(beside))
    slow.let.clear()
    for _ in range(3):
        with pytest.raises(ProbeUnavailable, match="gone"):
            beside.observe()
    slow.let.set()


def test_one_that_takes_too_long_is_interrupted() -> None:
    now = [0.0]
    slow = Slow()
    beside = Beside(slow, limit_s=1.0, clock=lambda: now[0])
    beside.observe()
    now[0] = 2.0
    with pytest.raises(ProbeUnavailable, match="has not answered"):
        beside.observe()
    assert slow.interrupted.is_set()


def test_the_cpu_time_of_its_thread_is_counted() -> None:
    class Working(Slow):
        def observe(self) -> Sequence[Observation]:
            end = time.thread_time() + 0.02
            while time.thread_time() < end:
                pass
            return []

    beside = Beside(Working())
    sampler = Sampler([beside], print, print, t0_unix=0.0)
    sampler.sample_once()
    until(lambda: is_idle(beside))
    assert sampler.cost.so_far().by_source["slow"] >= 0.02
