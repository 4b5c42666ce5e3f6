"""The pace of the tracker's indexer, on a clock that the test moves, and its switch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from plimsoll_lab.__main__ import main, parser
from plimsoll_lab.tracker import text_queue
from plimsoll_lab.tracker.background import Background
from plimsoll_lab.tracker.text_indexer import MOST_A_TURN, TextIndexer

BEGIN_S = 100.0


class Moment:
    """A clock, a sleep that moves it and oversleeps by `late_s`, and a queue in which each issue takes `issue_s`."""

    def __init__(self, waiting: int, until_s: float, late_s: float = 0.0, issue_s: float = 0.0) -> None:
        self.now_s, self.end_s = BEGIN_S, BEGIN_S + until_s
        self.waiting, self.late_s, self.issue_s = waiting, late_s, issue_s
        self.turns: list[tuple[float, int]] = []
        self.comes: dict[float, int] = {}
        self.refuses: set[int] = set()
        self.said: list[str] = []

    def clock(self) -> float:
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        self.now_s += seconds + self.late_s
        if self.now_s > self.end_s:
            raise asyncio.CancelledError
        for at in [at for at in self.comes if at <= self.now_s - BEGIN_S]:
            self.waiting += self.comes.pop(at)

    async def run(self, work: Callable[..., Any], most: int) -> int:
        assert work is text_queue.index_next
        self.turns.append((self.now_s - BEGIN_S, most))
        if len(self.turns) in self.refuses:
            raise OperationalError("…", {}, Exception("it is gone"))
        took = min(most, self.waiting)
        self.waiting -= took
        self.now_s += took * self.issue_s
        return took


def worked(moment: Moment, per_s: float) -> TextIndexer:
    """The indexer after it was cancelled."""
    indexer = TextIndexer(moment, per_s, moment.clock, moment.sleep, moment.said.append)  # type: ignore[arg-type]
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(indexer.keep_indexing())
    return indexer


@pytest.mark.parametrize(
    ("per_s", "late_s"), [(0.3, 0.0), (0.3, 0.3), (7.0, 0.004), (40.0, 0.0), (40.0, 0.3), (300.0, 0.3), (900.0, 0.004)]
)
def test_it_does_its_rate_while_issues_wait_however_late_it_wakes(per_s: float, late_s: float) -> None:
    moment = Moment(10**6, 100, late_s)
    assert worked(moment, per_s).done == pytest.approx(100 * per_s, abs=1.5 + (0.02 + late_s) * per_s)
    assert max(most for _, most in moment.turns) <= MOST_A_TURN, "requests are served in between"


def test_a_processor_that_is_too_slow_lowers_the_rate_and_requests_are_served_all_the_same() -> None:
    moment = Moment(10**6, 50, issue_s=0.01)
    assert worked(moment, 400).done == pytest.approx(5000, abs=MOST_A_TURN)
    assert {most for _, most in moment.turns[10:]} == {MOST_A_TURN}


def test_an_empty_queue_leaves_no_credit() -> None:
    moment = Moment(0, 90)
    moment.comes = {60: 1000}
    assert worked(moment, 20).done == pytest.approx(30 * 20, abs=2), "not the 60 s before as well"


def test_what_the_database_refuses_is_tried_again_and_told_once() -> None:
    moment = Moment(10**6, 10)
    moment.refuses = {3, 4, 5, 50}
    indexer = worked(moment, 20)
    assert indexer.done == pytest.approx(20 * 10 - 4, abs=2)
    assert len(moment.said) == 2 and "it is gone" in moment.said[0] and "tried again" in moment.said[0]


def test_there_is_no_indexer_unless_asked_for() -> None:
    assert parser().parse_args(["tracker"]).index_per_s is None
    assert parser().parse_args(["tracker", "--index-per-s", "0.5"]).index_per_s == 0.5
    assert Background().keep_going() is None


def test_one_that_is_on_alone_is_kept_going_until_cancelled() -> None:
    moment = Moment(10, 10)
    indexer = TextIndexer(moment, 5, moment.clock, moment.sleep)  # type: ignore[arg-type]
    going = Background(indexer=indexer).keep_going()
    assert going is not None
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(going())
    assert indexer.done == 10


@pytest.mark.parametrize("rate", ["0", "-3", "inf", "nan"])
def test_a_rate_that_indexes_nothing_is_refused(rate: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["tracker", f"--index-per-s={rate}"])
    assert ended.value.code == 2 and f"{rate} is not above 0" in capsys.readouterr().err
