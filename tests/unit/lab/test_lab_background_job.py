"""The tracker's background job, on a clock that the test moves: its cadence, its share of the time, its switch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll_lab.__main__ import main, parser
from plimsoll_lab.tracker import queries
from plimsoll_lab.tracker.background_job import BackgroundJob, Cadence


class Moment:
    """A clock, a sleep that moves it, and a database each of whose statements takes `chunk_s`."""

    def __init__(self, chunk_s: float, until_s: float) -> None:
        self.now_s, self.chunk_s, self.until_s = 100.0, chunk_s, 100.0 + until_s
        self.chunks: list[tuple[float, int]] = []

    def clock(self) -> float:
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        if self.now_s > self.until_s:
            raise asyncio.CancelledError

    async def run(self, work: Callable[..., Any], first: int, chunk: int) -> int:
        assert work is queries.sum_up
        self.chunks.append((self.now_s, first))
        self.now_s += self.chunk_s
        return 1 if first > chunk else first + chunk


def begun(moment: Moment, cadence: Cadence) -> tuple[BackgroundJob, list[float]]:
    """The job after it was cancelled, and when its work began."""
    job = BackgroundJob(moment, cadence, moment.clock, moment.sleep)  # type: ignore[arg-type]
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(job.keep_coming())
    times = [at for at, _ in moment.chunks]
    return job, [at for place, at in enumerate(times) if place == 0 or at - times[place - 1] > 2 * moment.chunk_s]


def test_it_comes_at_its_cadence_and_works_for_its_stated_time() -> None:
    moment = Moment(chunk_s=0.01, until_s=310)
    job, beginnings = begun(moment, Cadence(75, 1.5))
    assert beginnings == pytest.approx([175, 250, 325, 400])
    assert job.done == 4 and not job.working
    assert len(moment.chunks) == pytest.approx(4 * 150, abs=4)
    assert {first for _, first in moment.chunks} == {1, 2001}, "it reads on and begins again after the last"


def test_a_time_that_it_misses_is_left_out() -> None:
    _, beginnings = begun(Moment(chunk_s=12.0, until_s=100), Cadence(10, 9))
    assert beginnings[0] == pytest.approx(110)
    assert all((at - 100) % 10 == pytest.approx(0, abs=1e-6) for at in beginnings)


def test_there_is_no_job_unless_asked_for() -> None:
    assert Cadence.of(None, None) is None
    assert parser().parse_args(["tracker"]).job_every is None
    told = parser().parse_args(["tracker", "--job-every", "75"])
    assert Cadence.of(told.job_every, told.job_work) == Cadence(75, 1.5)


def test_a_job_that_cannot_be_is_told_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="--job-every"):
        Cadence.of(None, 100)
    with pytest.raises(InputError, match="never pause"):
        Cadence.of(1, 1500)
    for words in (["--job-every", "0"], ["--job-work", "-5"], ["--job-every", "inf"]):
        with pytest.raises(SystemExit) as ended:
            main(["tracker", *words])
        assert ended.value.code == 2
    assert "is not above 0" in capsys.readouterr().err
