"""A window counts what arrived in it, however late it ended."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.runs import RunFacts, RunReader, RunWriter, Series, Snapshot
from plimsoll.runs.readings.arrivals import by_arrival, windows_of
from plimsoll.runs.readings.ended_steps import ended_steps
from plimsoll.runs.snapshot import Earlier
from plimsoll.study.secrets.redactor import Redactor

STEPS = [{"measured_from_s": 1, "end_s": 4.0}, {"measured_from_s": 6, "end_s": 9.0}]


def failures(passes: int, total: int, epoch: int | None = None) -> Series:
    return Series("http_req_failed", "rate", {"name": "a"}, passes=passes, total=total, epoch=epoch)


def second(number: int, epoch: int, late: tuple[int, int] | None = None) -> Snapshot:
    """10 requests of its own, and `late`: an epoch and how many of its requests failed only now."""
    series, earlier = [failures(0, 10)], ()
    if late is not None:
        series.append(failures(late[1], late[1], late[0]))
        earlier = (Earlier(late[0], done=late[1]),)
    return Snapshot(number, 1e9 + number, 1.0, epoch=epoch, series=tuple(series), earlier=earlier)


# Epoch 2 is held up to second 3, epoch 3 drains, epoch 4 is held from second 5 on.
RUN = [
    *(second(number, 2) for number in range(4)),
    second(4, 3),
    second(5, 4),
    second(6, 4, late=(2, 7)),
    second(7, 4),
    second(8, 4),
    second(9, 5, late=(2, 5)),
]


def failed_by_second(snapshots: list[Snapshot]) -> dict[int, int]:
    return {one.second: sum(series.passes or 0 for series in one.series) for one in snapshots}


def test_what_ends_later_moves_to_the_last_second_of_the_window_in_which_it_arrived():
    moved = list(by_arrival(lambda: RUN, windows_of(STEPS)))
    assert failed_by_second(moved) == dict.fromkeys(range(10), 0) | {3: 12}
    assert [one.second for one in moved] == list(range(10))
    assert sum(series.total or 0 for one in moved for series in one.series) == 112, "nothing is lost or counted twice"


def test_what_arrived_in_no_window_stays_where_it_ended():
    assert failed_by_second(list(by_arrival(lambda: RUN, [(6.0, 9.0)])))[6] == 7


def test_a_load_behind_another_one_numbers_its_levels_anew():
    again = [replace(one, second=one.second + 10, epoch=one.epoch - 1) for one in RUN]
    again = [
        replace(one, series=tuple(replace(each, epoch=each.epoch and each.epoch - 1) for each in one.series),
                earlier=tuple(replace(each, epoch=each.epoch - 1) for each in one.earlier))
        for one in again
    ]  # fmt: skip
    later = [{"measured_from_s": 11, "end_s": 14.0}]
    assert failed_by_second(list(by_arrival(lambda: [*RUN, *again], windows_of([*STEPS, *later]))))[13] == 12


def test_seconds_that_mark_nothing_stay_as_they_are():
    older = [replace(one, epoch=0, earlier=(), series=one.series[:1]) for one in RUN]
    assert list(by_arrival(lambda: older, windows_of(STEPS))) == older


@pytest.mark.parametrize("minute", [True, False])
def test_blocks_of_a_run_directory_book_by_arrival_too(tmp_path: Path, minute: bool):
    with RunWriter.create(tmp_path, RunFacts("capacity", t0_unix=1e9), tables=False, redactor=Redactor()) as writer:
        for one in [*RUN, *(second(number, 5) for number in range(10, 70 if minute else 20))]:
            writer.append_snapshot(one)
    assert (writer.path / "minutes.jsonl.zst").exists() == minute
    reader = RunReader(writer.path)
    blocks = reader.blocks(("http_req_failed",), arrived_in=windows_of(STEPS))
    booked = [snapshot for block in blocks for snapshot in block.snapshots()]
    assert failed_by_second(booked)[3] == 12 and sum(failed_by_second(booked).values()) == 12
    as_ended = [snapshot for block in reader.blocks(("http_req_failed",)) for snapshot in block.snapshots()]
    assert failed_by_second(as_ended)[6] == 7
    assert [one.epoch for one in as_ended[6].series] == [None, 2]
    assert list(reader.snapshots())[6] == RUN[6]


def test_a_step_has_the_numbers_that_were_added_to_it_last():
    class Killed:
        def events(self, kind: str | None = None) -> list[dict]:
            step = {"start_s": 0.0, "level": 16.0, "measured_from_s": 1}
            events = [
                {"kind": "step_ended", "second": 4.0, "errors": 0, **step},
                {"kind": "step_amended", "second": 9.0, "errors": 7, **step},
                {"kind": "step_amended", "second": 12.0, "errors": 12, **step},
                {"kind": "step_ended", "second": 3.0, "errors": 0},
            ]
            return [one for one in events if kind in (None, one["kind"])]

    (step,) = ended_steps(Killed())
    assert (step["kind"], step["second"], step["errors"]) == ("step_ended", 4.0, 12)
