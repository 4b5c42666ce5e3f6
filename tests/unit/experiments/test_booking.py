"""What an overload leaves behind counts for the overload, and not for the step in which it ends."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

from plimsoll.experiments.capacity.experiment import run_capacity
from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.experiments.steps.holding import StepHolder
from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.record import StepRecord
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.failures import BROKE
from plimsoll.runs.snapshot import Earlier, Series, Snapshot

NAME = "GET /work"
TAGS = {"scenario": "work", "name": NAME, "method": "GET"}
QUICK_MS, TIMEOUT_S = 10.0, 20
UNDECIDED = Judgement("undecided")


class Swallowing:
    """10 arrivals a second and level, in virtual time. Those beyond `carries` a second get no answer and time out 20 s
    later; the others are answered at once. Levels are numbered as the engine does it, unless `numbers` is false."""

    unit, open = "multiple", True

    def __init__(self, carries: int, numbers: bool = True) -> None:
        self.carries, self.numbers = carries, numbers
        self.second, self.level, self.epoch = 0, 0.0, 1
        self.lost: list[tuple[int, int, int]] = []  # second of arrival, epoch, how many
        self.unread: list[Snapshot] = []
        self.stopped_gracefully: bool | None = None

    def start(self) -> None:
        """Nothing to start."""

    def set_level(self, level: float) -> None:
        self.level, self.epoch = level, self.epoch + 1

    def now(self) -> float:
        return float(self.second)

    def snapshots(self, until_s: float) -> Iterator[Snapshot]:
        while self.unread or self.second < until_s:
            yield self.unread.pop(0) if self.unread else self._advance()

    def drain(self, limit_s: float) -> float:
        self.set_level(0)
        return 0.0 if not self.lost else self._wait(limit_s)

    def _wait(self, limit_s: float) -> float:
        self.unread += [self._advance() for _ in range(math.ceil(limit_s))]
        return math.inf if self.lost else limit_s

    def stop(self, graceful: bool = True) -> None:
        self.stopped_gracefully = graceful

    def rest(self) -> Iterator[Snapshot]:
        """Stopped at once, what is left is cut off."""
        cut = [Earlier(epoch, interrupted=count) for _, epoch, count in self.lost if count]
        yield Snapshot(
            self.second, epoch=self.epoch + 1, interrupted=sum(one.interrupted for one in cut), earlier=tuple(cut)
        )

    def _advance(self) -> Snapshot:
        planned = round(10 * self.level)
        answered = min(planned, self.carries)
        due = [one for one in self.lost if one[0] <= self.second - TIMEOUT_S]
        self.lost = [one for one in self.lost if one not in due]
        if planned > answered:
            self.lost.append((self.second, self.epoch, planned - answered))
        series = self._series(answered, 0, QUICK_MS, None) if answered else []
        epochs = dict.fromkeys(epoch for _, epoch, _ in (*due, *self.lost))
        earlier = []
        for epoch in epochs:
            ended = sum(count for _, of, count in due if of == epoch)
            left = [(second, count) for second, of, count in self.lost if of == epoch]
            if ended:
                series += self._series(0, ended, 1000.0 * TIMEOUT_S, epoch)
            if epoch < self.epoch:
                oldest_s = max((self.second + 1.0 - second for second, _ in left), default=0.0)
                unfinished = sum(count for _, count in left)
                earlier.append(Earlier(epoch, ended, 0, 0, unfinished, oldest_s, {NAME: unfinished}))
        self.second += 1
        return Snapshot(
            second=self.second - 1,
            t_unix=1e9 + self.second,
            level=self.level,
            epoch=self.epoch if self.numbers else 0,
            planned=planned,
            started=planned,
            done=answered + sum(count for _, _, count in due),
            in_flight=sum(count for _, _, count in self.lost),
            series=tuple(series),
            earlier=tuple(earlier) if self.numbers else (),
        )

    def _series(self, answered: int, failed: int, ms: float, epoch: int | None) -> list[Series]:
        times = Histogram.from_values([ms] * (answered + failed))
        tags = TAGS | ({"status": "200"} if answered else {"status": "0", "error_code": "1050"})
        trends = [Series.of_trend(name, tags, times) for name in ("http_req_response_time", "iteration_duration")]
        rate = Series("http_req_failed", "rate", tags, passes=failed, total=answered + failed)
        number = epoch if self.numbers and epoch != self.epoch else None
        return [_of_epoch(one, number) for one in (*trends, rate)]


def _of_epoch(series: Series, epoch: int | None) -> Series:
    return Series.from_json({**series.to_json(), "epoch": epoch})


class Kept:
    """A writer that keeps what it is given."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.seconds: list[Snapshot] = []

    def set_t0(self, t0_unix: float) -> None:
        """Nothing is made of it."""

    def append_snapshot(self, snapshot: Snapshot) -> None:
        self.seconds.append(snapshot)

    def append_resource(self, row: Any) -> None:
        """There are no probes."""

    def append_event(self, kind: str, *, second: float, **details: Any) -> None:
        self.events.append({"kind": kind, "second": second, **details})

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["kind"] == kind]


def held(holder: StepHolder, level: float, seconds: int, verdict: Any = "good") -> StepRecord:
    judged = Judgement(verdict)
    return holder.hold(level, "hold", seconds, lambda _: None, lambda _: judged)


def test_requests_that_time_out_in_a_later_step_are_failures_of_the_step_in_which_they_were_asked():
    source, kept = Swallowing(50), Kept()
    holder = StepHolder(source, kept)
    low = held(holder, 4, 5)
    over = held(holder, 6, 5, "bad")
    after = held(holder, 2, 40)
    assert (low.measurement.failed, low.measurement.requests) == (0, 200)
    assert over.measurement.failed == 6 * 10, "its warm-up's are its own, too"
    assert (after.measurement.failed, after.measurement.requests) == (0, 800)
    assert after.measurement.times.max == pytest.approx(QUICK_MS, rel=0.01)
    assert over.measurement.times.max == pytest.approx(1000 * TIMEOUT_S, rel=0.01)
    assert over.measurement.failures.causes == {"no answer in time": 60}
    # Whatever ended in it is what its queue is judged by; its own are told beside.
    assert sum(after.measurement.done) == 800 + 60 and sum(after.measurement.done_own) == 800
    assert after.measurement.requests_per_s == 860 / 40


def test_a_step_that_was_added_to_is_written_again():
    kept = Kept()
    holder = StepHolder(Swallowing(50), kept)
    held(holder, 6, 5, "bad")
    held(holder, 2, 40)
    assert [event["errors"] for event in kept.of("step_ended")] == [0, 0]
    assert kept.of("step_amended") == []
    held(holder, 2, 3)
    (amended,) = kept.of("step_amended")
    assert (amended["level"], amended["errors"], amended["start_s"]) == (6, 60, 0.0)


def test_a_source_that_numbers_no_levels_keeps_what_ends_where_it_ends():
    holder = StepHolder(Swallowing(50, numbers=False), None)
    held(holder, 6, 5, "bad")
    assert held(holder, 2, 40).measurement.failed == 60


def test_draining_gives_up_when_nothing_moves_and_says_what_is_stuck():
    source, kept, heard = Swallowing(50), Kept(), []
    holder = StepHolder(source, kept, on_message=heard.append)
    held(holder, 4, 5)
    over = held(holder, 16, 3, "bad")
    began = source.now()
    assert holder.drain(30.0) == math.inf
    assert source.now() - began == 5, "ten response times of 10 ms are less than the least patience"
    (event,) = kept.of("drain_gave_up")
    assert (event["count"], event["levels"], event["waiting_for"]) == (4 * 110, [16], [NAME])
    assert heard == [
        "Draining gave up: 440 iterations of the step at 16 x the declared load have no answer (GET /work), the oldest "
        "for 9 s. They count as lost there, not in later steps."
    ]
    assert over.stuck == 440 and holder.only_stuck


@pytest.mark.parametrize("numbers", [True, False])
def test_what_was_given_up_is_no_backlog_of_later_steps(numbers: bool):
    source = Swallowing(50, numbers)
    holder = StepHolder(source, None)
    held(holder, 4, 5)
    held(holder, 16, 3, "bad")
    holder.drain(30.0)
    seen = held(holder, 4, 5).measurement
    assert (seen.unfinished_start, seen.unfinished_end, seen.in_flight) == (0, 0, 0)
    assert holder.records[1].stuck == 440
    began = source.now()
    assert math.isfinite(holder.drain(30.0)) and source.now() - began <= 1


def test_what_was_given_up_and_ends_later_is_no_work_done():
    holder = StepHolder(Swallowing(50), None)
    held(holder, 4, 5)
    over = held(holder, 16, 3, "bad")
    holder.drain(30.0)
    after = held(holder, 4, 30).measurement
    assert (after.done_per_s, sum(after.done), after.failed) == (40, 1200, 0)
    assert (over.measurement.failed, over.stuck) == (440, 440), "timed out is not answered"


def test_work_that_is_slow_and_goes_on_is_waited_for():
    class Slow(Swallowing):
        """One of the lost is answered every 4 s."""

        def _advance(self) -> Snapshot:
            if self.lost and self.second % 4 == 0:
                second, epoch, count = self.lost[0]
                self.lost[:1] = [(second, epoch, count - 1)] if count > 1 else []
            return super()._advance()

    source, kept = Slow(50), Kept()
    holder = StepHolder(source, kept)
    held(holder, 4, 5)
    held(holder, 5.2, 1, "bad")
    assert math.isfinite(holder.drain(30.0)) and kept.of("drain_gave_up") == []


def test_iterations_that_are_cut_off_at_the_end_failed_for_the_step_of_their_arrival():
    source, kept = Swallowing(50), Kept()
    holder = StepHolder(source, kept)
    held(holder, 4, 5)
    over = held(holder, 16, 3, "bad")
    holder.drain(30.0)
    source.stop()
    holder.finish()
    assert (over.measurement.interrupted, over.measurement.failed) == (440, 440)
    assert over.measurement.failures.causes == {"interrupted": 440}
    assert kept.of("step_amended")[-1]["errors"] == 440
    assert kept.seconds[-1].interrupted == 440


def test_own_arrivals_that_are_cut_off_within_a_step_failed():
    seen = Measurement(1.0)
    seen.add(Snapshot(0, planned=5, done=3, interrupted=2, epoch=3, earlier=(Earlier(2, done=1, interrupted=1),)))
    assert (seen.interrupted, seen.failed, seen.requests, seen.done_own, seen.epoch) == (1, 1, 1, [2], 3)


def test_a_search_says_how_many_were_never_answered_and_at_which_level():
    source = Swallowing(50)
    result = run_capacity(source, CapacitySettings(expected_level=1.0, budget_s=100.0))
    assert result.stuck is not None and result.stuck.level > 5
    assert result.stuck.count == sum(step.stuck for step in result.steps)
    assert result.to_json()["stuck"] == {"level": result.stuck.level, "count": result.stuck.count}
    low = [step.measurement for step in result.steps if step.level <= 5]
    assert low and not any(seen.failed for seen in low)
    assert result.bracket.good is not None and 3 <= result.bracket.good <= 5
    assert sum(step.kind == "expected" for step in result.steps) == 2, "before the overload, and once more at the end"


def test_the_expected_level_is_not_held_beside_what_was_given_up(monkeypatch: pytest.MonkeyPatch):
    """The target may still work for it."""
    monkeypatch.setattr("test_booking.TIMEOUT_S", 300)
    result = run_capacity(Swallowing(50), CapacitySettings(expected_level=1.0, budget_s=100.0))
    [expected] = [step for step in result.steps if step.kind == "expected"]
    assert expected.end_s < min(step.end_s for step in result.steps if step.stuck)


def test_without_loss_nothing_is_stuck():
    result = run_capacity(Swallowing(10**6), CapacitySettings(max_level=4.0, budget_s=60.0))
    assert result.stuck is None and result.to_json()["stuck"] is None


def test_iterations_that_the_script_broke_off_are_failed_requests_of_the_step_of_their_arrival() -> None:
    seen = Measurement(level=1.0, epoch=3)
    seen.add(Snapshot(0, planned=5, done=4, broke=3, epoch=3, earlier=(Earlier(2, done=1, broke=1),)))
    assert (seen.failed, seen.requests, seen.failed_each) == (2, 2, [2])
    seen.amend_arrivals(Earlier(3, done=1, broke=1))
    assert (seen.failed, seen.error_share, dict(seen.failures.causes)) == (3, 1.0, {BROKE: 3})
