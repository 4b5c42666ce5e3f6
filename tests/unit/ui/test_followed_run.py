"""A run directory that is read as it grows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from page_asked import second

from plimsoll.runs.format.followed_lines import FollowedLines
from plimsoll.runs.kept.labels import add_note
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.ui.course import MOST_POINTS, Course
from plimsoll.ui.followed_run import FollowedRun


def test_each_second_is_read_once_as_it_comes(writer: RunWriter) -> None:
    run = FollowedRun(writer.path)
    run.look_to_end()
    assert run.course.whole()["columns"]["second"] == [1, 2, 3, 4, 5]
    before = run.course.number
    run.look()
    assert run.course.number == before
    for number in range(5, 130):  # over two frames of a minute
        writer.append_snapshot(second(number))
        run.look()
        assert run.course.since(before)["columns"]["second"] == [number + 1]
        before = run.course.number
    now = run.now()
    assert (now["phase"], now["state"]) == ("running", "running")
    assert [tile["value"] for tile in now["tiles"]][:2] == ["20/s", "p95 10 ms"]


def test_lines_are_those_that_were_written_whatever_the_pieces(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    followed = FollowedLines(file)
    assert list(followed.new()) == []
    with file.open("ab", buffering=0) as writing:
        writing.write(b'{"a": 1}\n{"b"')
        assert list(followed.new()) == [b'{"a": 1}\n']
        writing.write(b": 2}")
        assert list(followed.new()) == []
        writing.write(b"\n")
        assert list(followed.new()) == [b'{"b": 2}\n']


def test_a_link_or_a_pipe_in_the_place_of_a_file_is_not_read(tmp_path: Path) -> None:

    (tmp_path / "secret").write_text('{"a": 1}\n')
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        assert list(FollowedLines(tmp_path / name).new()) == []


@pytest.mark.parametrize("damage", [b"\x00" * 50, b"no JSON"])
def test_damage_ends_a_file_and_raises_nothing(writer: RunWriter, damage: bytes) -> None:
    series = writer.path / "series.jsonl.zst"
    data = series.read_bytes()
    series.write_bytes(data[: len(data) // 2] + damage)
    run = FollowedRun(writer.path)
    run.look_to_end()
    assert run.course.number < 5


def test_a_course_of_days_stays_bounded_and_keeps_its_highest_times() -> None:
    course = Course()
    for number in range(10 * MOST_POINTS):
        course.add({"second": number + 1, "done": 10.0, "p95": 500.0 if number == 777 else 5.0})
    columns = course.whole()["columns"]
    assert len(columns["second"]) < MOST_POINTS and course.each_s == 16
    assert max(columns["p95"]) == 500.0 and set(columns["done"]) == {10.0}


def test_steps_tell_phase_reason_rows_and_bracket(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, RunFacts("capacity"), tables=False) as writer:
        writer.append_event("experiment_started", second=0.0, unit="users")
        for start, level, kind, verdict in (
            (0, 100, "probe", "probe"),
            (5, 200, "hold", "good"),
            (9, 400, "hold", "bad"),
        ):
            writer.append_event("step_started", second=start, level=level, step_kind=kind, why="to begin with")
            step = {"level": level, "step_kind": kind, "start_s": start, "verdict": verdict, "samples": 9}
            writer.append_event("step_ended", second=start + 3, **step, done_per_s=level / 10, p95_ms=7.0)
        writer.append_event("step_started", second=13, level=300, step_kind="hold", why="half way")
        run = FollowedRun(writer.path)
        run.look_to_end()
        now = run.now()
        assert (now["phase"], now["name"], now["why"]) == ("bracketing", "300 users", "Why this level: half way")
        assert (
            now["bracket"]["good"] == "carried up to 200 users"
            and now["bracket"]["bad"] == "not carried from 400 users"
        )
        assert now["bracket"]["held"] == "held now: 300 users"
        assert [(row["name"], row["sign"]) for row in run.steps.rows()] == [
            ("100 users", "other"),
            ("200 users", "good"),
            ("400 users", "bad"),
        ]


def test_a_note_of_a_run_that_goes_on_has_its_second(writer: RunWriter) -> None:
    note = add_note(writer.path, "the cache\nwas emptied", is_running=True, now_unix=1.8e9 + 7)
    assert (note["second"], note["text"]) == (7.0, "the cache was emptied")
    run = FollowedRun(writer.path)
    run.look_to_end()
    assert [(one["text"], one["second"], one["kind"]) for one in run.notes] == [("the cache was emptied", 7.0, "note")]


def test_the_report_has_the_notes(finished: Path) -> None:
    from plimsoll.report.html import render
    from plimsoll.report.run_evidence import read_run

    add_note(finished, "<b>the cache</b> was emptied", is_running=True, now_unix=1.7e9 + 75)
    page = render(read_run(finished), lambda chart: "", lambda: "")
    assert "at 75 s: &lt;b&gt;the cache&lt;/b&gt; was emptied" in page
