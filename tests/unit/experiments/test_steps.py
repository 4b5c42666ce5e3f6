"""What a second says besides the load itself."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from plimsoll.experiments.steps.holding import StepHolder, core_speed, stolen_share
from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.runs.snapshot import Snapshot


@pytest.mark.parametrize(
    ("host", "thread", "stolen"),
    [
        ({"cpu_share": 0.5, "cpu_steal_share": 0.1, "cpu_steal_worst_core_share": 0.2}, 0.75, 0.2),
        ({"cpu_share": 0.5, "cpu_steal_share": 0.1, "cpu_steal_worst_core_share": 0.2}, 0.30, 0.0),
        ({"cpu_share": 0.8, "cpu_steal_share": 0.1, "cpu_steal_worst_core_share": 0.2}, 0.30, 0.2),
        ({"cpu_share": 0.9}, 0.99, 0.0),
    ],
)
def test_stolen_time_counts_only_where_cpu_time_was_short(host: dict, thread: float, stolen: float):
    rows = [
        {"source": "host", "values": host},
        {"source": "process:a", "values": {"busiest_thread_cores_used": thread}},
    ]
    assert stolen_share(rows) == stolen


def test_the_speed_of_the_targets_cores_is_read_from_its_probe_and_unknown_without():
    rows = [{"source": "core_speed", "values": {"work_per_cpu_s": 3000.0, "work_error_share": 0.02}}]
    assert core_speed(rows) == (3000.0, 0.02)
    assert all(math.isnan(value) for value in core_speed([{"source": "host", "values": {"cpu_share": 0.5}}]))


class Piling:
    """A source in which 100 arrivals a second come and 40 are finished."""

    unit, open = "users", True

    def __init__(self) -> None:
        self.second = self.level = self.waiting = 0

    def start(self) -> None:
        """Nothing to start."""

    def set_level(self, level: float) -> None:
        self.level = level

    def now(self) -> float:
        return float(self.second)

    def snapshots(self, until_s: float) -> Iterator[Snapshot]:
        while self.second < until_s:
            planned = 100 if self.level else 0
            done = min(40, self.waiting + planned)
            self.waiting += planned - done
            self.second += 1
            yield Snapshot(
                second=self.second - 1,
                t_unix=1e9 + self.second,
                level=self.level,
                vus=0,
                vus_max=1,
                planned=planned,
                started=planned,
                done=done,
                in_flight=self.waiting,
                series=(),
                generator={},
            )

    def drain(self, limit_s: float) -> float:
        self.level = 0
        began = self.second
        list(self.snapshots(self.second + math.ceil(self.waiting / 40)))
        return float(self.second - began)

    def stop(self, graceful: bool = True) -> None:
        """Nothing to stop."""


def test_the_data_volume_is_not_asked_for_while_the_answer_would_wait_behind_the_load():
    asked: list[int] = []
    source = Piling()
    holder = StepHolder(source, None, data_volume=lambda: float(asked.append(source.waiting) or 7))

    def hold() -> float | None:
        return holder.hold(100, "hold", 3, lambda _: None, lambda _: Judgement("undecided")).volume_start

    assert hold() == 7
    assert hold() is None and asked == [0]


def test_whoever_reads_before_and_after_a_step_is_told_outside_of_its_load():
    told: list[tuple[str, float, float]] = []
    source = Piling()
    holder = StepHolder(source, None, on_step=lambda what, second: told.append((what, second, source.level)))
    for level in (100, 200):
        holder.hold(level, "hold", 3, lambda _: None, lambda _: Judgement("undecided"))
        holder.drain(30.0)
    assert [what for what, _, _ in told] == ["started", "ended", "started", "ended"]
    assert [level for _, _, level in told] == [0, 100, 0, 200]
    assert told[1][1] == 4.0


def test_a_sentence_goes_to_who_listens_and_is_no_progress():
    heard: list[str] = []
    seen: list[object] = []
    StepHolder(Piling(), None, on_progress=seen.append, on_message=heard.append).say("stopping")
    StepHolder(Piling(), None).say("nobody listens")
    assert heard == ["stopping"] and seen == []
