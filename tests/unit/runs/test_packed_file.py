"""Compressed files of lines: readable at every moment, whole after every accident, and small."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from plimsoll.errors import RunDirectoryError
from plimsoll.runs import RunReader
from plimsoll.runs.directory import LineFile
from plimsoll.runs.format import packed_file
from plimsoll.runs.format.lines import placed_lines, read_lines, unpacked
from plimsoll.runs.format.packed_file import PackedFile, line_file
from plimsoll.runs.format.zstandard import MAGIC, CompressionParameter
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.secrets.redactor import Redactor

DRAW = random.Random(1)
LINES = [{"second": place, "text": "".join(DRAW.choices("abcdefgh", k=300))} for place in range(40)]


def left_by_kill(file: LineFile) -> Path:
    """What is there of a file whose writer is gone."""
    os.close(file._handle)
    file._handle = -1
    return file.path


def written(folder: Path, portions: tuple[int, ...] = (40,)) -> PackedFile:
    file = PackedFile(folder / "lines.jsonl.zst")
    at = 0
    for portion in portions:
        if at:
            file.end_portion()
        for line in LINES[at : at + portion]:
            file.append(line)
        at += portion
    return file


@pytest.mark.parametrize("portions", [(40,), (1, 39), (10, 10, 20)])
def test_every_line_can_be_read_as_soon_as_it_was_written_and_after_a_kill(
    tmp_path: Path, portions: tuple[int, ...]
) -> None:
    file = PackedFile(tmp_path / "lines.jsonl.zst")
    for place, line in enumerate(LINES, 1):
        if place in portions:
            file.end_portion()
        file.append(line)
        assert list(read_lines(file.path)) == LINES[:place]
    assert list(read_lines(left_by_kill(file))) == LINES


def test_a_file_cut_at_any_byte_gives_the_lines_that_were_whole_before_it(tmp_path: Path) -> None:
    file = PackedFile(tmp_path / "lines.jsonl.zst")
    ends = []
    for place, line in enumerate(LINES):
        if place == 17:
            file.end_portion()
        file.append(line)
        ends.append(file._end)
    whole = left_by_kill(file).read_bytes()
    for cut in range(len(whole)):
        (tmp_path / "cut").write_bytes(whole[:cut])
        assert list(read_lines(tmp_path / "cut")) == LINES[: sum(end <= cut for end in ends)], cut


def test_a_file_that_is_closed_is_whole_for_other_tools(tmp_path: Path) -> None:
    file = written(tmp_path, (10, 30))
    file.close()
    assert file.path.read_bytes().startswith(MAGIC)
    if shutil.which("zstd") is None:
        pytest.skip("zstd is not installed")
    done = subprocess.run(["zstd", "-dc", file.path], capture_output=True, check=True)
    assert done.stdout == unpacked(file.path) and done.stdout.count(b"\n") == 40


@pytest.mark.parametrize("torn", [0, 1, 7, 150, 400])
def test_lines_go_on_behind_the_last_whole_one_of_a_killed_writer(tmp_path: Path, torn: int) -> None:
    path = left_by_kill(written(tmp_path, (10, 20)))
    os.truncate(path, path.stat().st_size - torn)
    left = list(read_lines(path))
    again = PackedFile(path)
    again.take_back_torn_line()
    assert list(read_lines(path)) == left
    again.append({"second": 99})
    assert list(read_lines(left_by_kill(again))) == [*left, {"second": 99}] and len(left) >= 27


def test_a_file_that_has_its_end_is_gone_on_with_as_it_is(tmp_path: Path) -> None:
    file = written(tmp_path)
    file.close()
    before = file.path.read_bytes()
    again = PackedFile(file.path)
    again.take_back_torn_line()
    again.append({"second": 99})
    assert again.path.read_bytes().startswith(before) and list(read_lines(again.path)) == [*LINES, {"second": 99}]


@pytest.mark.parametrize("refused", [0, 1, 25])
def test_a_line_that_the_disk_refused_costs_that_line_alone(
    tmp_path: Path, refused: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = PackedFile(tmp_path / "lines.jsonl.zst")
    write = os.write

    def half(handle: int, data: bytes) -> int:
        if len(data) > 1:
            return write(handle, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    for place, line in enumerate(LINES):
        if place == refused:
            with monkeypatch.context() as patched, pytest.raises(RunDirectoryError, match="Free some disk space"):
                patched.setattr(os, "write", half)
                file.append(line)
        else:
            file.append(line)
    file.close()
    assert list(read_lines(file.path)) == [line for place, line in enumerate(LINES) if place != refused]


def test_a_damaged_frame_costs_its_own_lines_and_none_of_the_next(tmp_path: Path) -> None:
    file = written(tmp_path, (10, 10, 20))
    file.close()
    data = bytearray(file.path.read_bytes())
    second = data.index(MAGIC, 4)
    data[second + 4] ^= 0xFF  # the header of the second
    file.path.write_bytes(data)
    found = list(read_lines(file.path))
    assert found[:10] == LINES[:10] and found[-20:] == LINES[20:]


def test_a_changed_byte_changes_no_number_unnoticed(tmp_path: Path) -> None:
    file = written(tmp_path, (10, 10, 20))
    file.close()
    data = file.path.read_bytes()
    lost = 0
    for place in range(4, len(data), 7):
        file.path.write_bytes(data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :])
        found = list(read_lines(file.path))
        assert all(line in LINES for line in found), place
        assert found[-20:] == LINES[20:] or found[:20] == LINES[:20], "no frame costs another"
        lost += len(found) < len(LINES)
    assert lost > 10


def test_a_changed_byte_of_a_frame_that_is_too_large_to_be_held_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, (40,))
    file.close()
    monkeypatch.setattr(packed_file, "MOST_HELD", 100)
    data, wrong = file.path.read_bytes(), 0
    for place in range(4, len(data), 7):
        file.path.write_bytes(data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :])
        try:
            wrong += not all(line in LINES for line in read_lines(file.path))
        except RunDirectoryError as error:
            assert "other numbers than were written" in str(error)
    assert not wrong


def test_frames_without_a_checksum_as_earlier_versions_wrote_them_are_read_and_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setitem(packed_file._PARAMETERS, CompressionParameter.checksum_flag, 0)
        path = left_by_kill(written(tmp_path, (10, 10)))
    again = PackedFile(path)
    again.take_back_torn_line()
    for line in LINES[20:]:
        again.append(line)
    again.close()
    assert list(read_lines(path)) == LINES


@pytest.mark.parametrize("tail", [bytes(5000), b"\xff" * 40, b"torn"])
def test_what_the_power_left_behind_the_last_line_costs_none_before_it(tmp_path: Path, tail: bytes) -> None:
    path = left_by_kill(written(tmp_path, (10, 30)))
    path.write_bytes(path.read_bytes() + tail)
    assert list(read_lines(path)) == LINES
    again = PackedFile(path)
    again.take_back_torn_line()
    again.append({"second": 99})
    assert list(read_lines(path)) == [*LINES, {"second": 99}]


def test_lines_of_a_portion_can_be_read_alone(tmp_path: Path) -> None:
    file = PackedFile(tmp_path / "lines.jsonl.zst")
    edges = [0]
    for place, line in enumerate(LINES):
        file.append(line)
        if place % 10 == 9:
            edges.append(file.end_portion())
    for number, (begin, end) in enumerate(itertools.pairwise(edges)):
        found = list(placed_lines(file.path, begin, end))
        assert [json.loads(raw) for _, raw in found] == LINES[10 * number : 10 * number + 10]
        assert {at for at, _ in found} == {begin}


def test_what_is_no_frame_is_read_as_lines(tmp_path: Path) -> None:
    (tmp_path / "series.jsonl.zst").write_text('{"a":1}\n{"b":2}\ntorn')
    assert list(read_lines(tmp_path / "series.jsonl.zst")) == [{"a": 1}, {"b": 2}]


def test_a_file_that_is_there_uncompressed_goes_on_uncompressed(tmp_path: Path) -> None:
    (tmp_path / "series.jsonl").write_text('{"second":0,"series":[]}\n')
    file = line_file(tmp_path, "series.jsonl.zst")
    file.append({"second": 1})
    assert file.path.name == "series.jsonl" and len(file.path.read_text().splitlines()) == 2


def test_a_run_of_an_earlier_version_is_read_and_gone_on_with(tmp_path: Path) -> None:
    run = tmp_path / "20260101-000000-compare-0001"
    run.mkdir()
    manifest = {"schema": 1, "status": "running", "experiment": "compare", "clock": {"t0_unix": 0.0}}
    (run / "manifest.json").write_text(json.dumps(manifest))
    series = {"metric": "http_reqs", "kind": "counter", "tags": {}, "value": 3.0}
    old = [{"second": second, "series": [series], "generator": {}} for second in range(3)]
    (run / "series.jsonl").write_text("".join(json.dumps(line) + "\n" for line in old) + '{"second": 3, "ser')
    assert [one.second for one in RunReader(run).snapshots()] == [0, 1, 2]
    with RunWriter.reopen(run, redactor=Redactor()) as writer:
        for second in range(5, 8):
            writer.append_snapshot({"second": second, "series": [series]})
    assert [one.second for one in RunReader(run).snapshots()] == [0, 1, 2, 5, 6, 7]
    assert RunReader(run).counter() == 18.0 and not (run / "series.jsonl.zst").exists()


def test_a_second_takes_a_tenth_of_its_text(tmp_path: Path) -> None:
    draw = random.Random(3)
    names = [f"GET /things/{number}" for number in range(10)]
    text = 0
    with RunWriter.create(tmp_path, RunFacts("run"), tables=False, redactor=Redactor()) as writer:
        for second in range(50):
            series = []
            for name in names:
                tags = {"name": name, "method": "GET", "status": "200", "scenario": "all", "proto": "HTTP/1.1"}
                for metric in ("http_req_duration", "http_req_waiting", "http_req_sending"):
                    values = sorted({int(draw.lognormvariate(0, 0.5) * 500) for _ in range(20)})
                    times = {"count": len(values), "sum": sum(values) / 7, "min": values[0] / 7, "max": values[-1] / 7}
                    buckets = [[1_040_000 + value, 1] for value in values]
                    series.append({"metric": metric, "kind": "trend", "tags": tags, **times, "buckets": buckets})
                series.append({"metric": "http_reqs", "kind": "counter", "tags": tags, "value": 20.0})
            line = {"second": second, "t_unix": 1e9 + second, "series": series, "generator": {"cpu_s": draw.random()}}
            text += len(json.dumps(line, separators=(",", ":")))
            writer.append_snapshot(line)
    assert (writer.path / "series.jsonl.zst").stat().st_size < text / 10
