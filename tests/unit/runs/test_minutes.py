"""What is read from minutes.jsonl.zst is what series.jsonl.zst says, wherever the one ends and the other goes on."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from slow_reader import SlowReader, plain

from plimsoll.runs import Histogram, RunFacts, RunReader, RunWriter, Series, Snapshot
from plimsoll.runs.directory import LineFile
from plimsoll.runs.format import minute_blocks, minutes
from plimsoll.runs.format.lines import placed_lines, read_lines, unpacked
from plimsoll.runs.format.minutes import KEPT_TRENDS, MinuteWriter, column
from plimsoll.runs.format.packed_file import line_file
from plimsoll.runs.snapshot import Earlier
from plimsoll.study.secrets.redactor import Redactor

WRITER = Path(__file__).with_name("writing_process.py")
TAGS = (
    {"scenario": "one", "name": "/", "status": "200"},
    {"scenario": "one", "name": "/", "status": "500"},
    {"scenario": "zwei", "name": 'a "metrics":[{"metric":"http_reqs"'},
    {},
)
AWKWARD = (
    [0.0, 0.0, 3.0],
    [-2.5, -0.001, 0.0, 7.0],
    [1e-300, 1e300],
    [5.0] * 300,
    list(np.random.default_rng(1).lognormal(3, 1, 200)),
)
METRICS = ("http_req_response_time", "http_req_duration", "http_req_failed", "http_reqs", "level_seen")


def second_of(draw: random.Random, second: int) -> Snapshot:
    """A second with any of the series in any order."""
    series: list[Series] = []
    for tags in draw.sample(TAGS, draw.randint(0, len(TAGS))):
        for metric in ("http_req_response_time", "http_req_waiting", "http_req_duration"):
            series.append(Series.of_trend(metric, tags, Histogram.from_values(draw.choice(AWKWARD))))
        series.append(Series("http_req_failed", "rate", tags, passes=draw.randint(0, 3), total=200))
        series.append(Series("http_reqs", "counter", tags, value=draw.choice([200, 0.1, None])))
    series.append(Series("level_seen", "gauge", {}, value=2.0, min=draw.choice([None, 1.0]), max=3))
    if draw.random() < 0.2:
        series.append(Series.of_trend("http_req_response_time", {"name": "empty"}, Histogram()))
        series.append(Series("http_req_duration", "trend", {}, 2**40, 1.5, None, None, ((5, 2**40 - 1), (9, 1))))
    epoch = 1 + second // 40
    series += [replace(one, epoch=epoch - 1) for one in draw.sample(series, len(series) // 3) if epoch > 1]
    earlier = (Earlier(epoch - 1, done=3, unfinished=2, oldest_s=1.5, waiting_for={"GET /": 2}),) if epoch > 1 else ()
    draw.shuffle(series)
    generator = {"cpu_s": draw.random(), **({"threads": 2} if draw.random() < 0.5 else {})}
    load = Snapshot(second, 1e9 + second, 50.0, planned=draw.randint(0, 9), epoch=epoch, earlier=earlier)
    return replace(load, series=tuple(series), generator=generator)


def written(folder: Path, seconds: int, seed: int = 1, **facts: Any) -> RunWriter:
    draw = random.Random(seed)
    writer = RunWriter.create(folder, RunFacts("hold", t0_unix=1e9, **facts), tables=False, redactor=Redactor())
    second = -1
    for _ in range(seconds):
        second += draw.choice([1, 1, 1, 4])
        writer.append_snapshot(second_of(draw, second))
    return writer


def blocks(path: Path) -> list[dict[str, Any]]:
    return list(read_lines(path / "minutes.jsonl.zst"))


def sums(pieces: Iterator[Any], edges: list[float], tags: tuple[str, ...]) -> dict[Any, list[Any]]:
    """Of whatever pieces, per stretch, metric and tags: count, sum, min, max, buckets, passes, total, value."""
    found: dict[Any, Any] = {}
    for piece in pieces:
        stretch = sum(edge <= piece.from_s for edge in edges)
        for one in piece.series:
            if one.kind == "gauge":
                continue
            key = (stretch, one.metric, *((name, one.tags.get(name)) for name in tags))
            histogram, counts, numbers = found.setdefault(key, (Histogram(), [0, 0], [0.0, 0.0]))
            histogram.add_series(one)
            counts[0] += one.passes or 0
            counts[1] += one.total or 0
            numbers[0] += one.value or 0.0
            numbers[1] += one.sum if one.count else 0.0
    return {
        key: [histogram.buckets(), histogram.min, histogram.max, *counts, *(pytest.approx(one) for one in numbers)]
        for key, (histogram, counts, numbers) in found.items()
    }


def merged(reader: RunReader, edges: Sequence[float], tags: Sequence[str]) -> Iterator[minute_blocks.Merged]:
    """What all blocks of a run give for these edges and tags."""
    return (one for block in reader.blocks(METRICS) for one in block.merged(edges, tags))


def check(path: Path) -> None:
    """All ways of reading the run agree with the slow one."""
    fast, slow = RunReader(path), SlowReader(path)
    for metrics in ((), ("http_req_failed",), METRICS, ("http_req_waiting", "http_reqs"), ("none",)):
        assert list(map(plain, fast.snapshots(metrics=metrics))) == list(map(plain, slow.snapshots(metrics=metrics)))
    last = max((one.second for one in slow.snapshots()), default=0)
    for edges in ([], [0, 7.5, 20, last / 2], list(range(last + 2))):
        for tags in ((), ("scenario", "name", "status")):
            assert sums(merged(fast, edges, tags), edges, tags) == sums(merged(slow, edges, tags), edges, tags)
    every: list[float] = list(range(last + 2))
    alone = [one for block in fast.blocks(METRICS) for one in block.merged(every, (), METRICS[:1])]
    without = [
        minute_blocks.Merged(one.from_s, tuple(each for each in one.series if each.metric == METRICS[0]))
        for one in merged(slow, (), ())
    ]
    assert sums(iter(alone), every, ()) == sums(iter(without), every, ())
    whole = [minute_blocks.Merged(one.second, one.series) for one in fast.whole_seconds(METRICS)]
    assert sums(iter(whole), every, ()) == sums(merged(slow, (), ()), every, ())
    bare_seconds = (one for block in fast.blocks(METRICS) for one in block.whole_seconds(with_buckets=False))
    for bare, full in zip(bare_seconds, fast.whole_seconds(METRICS), strict=True):
        for one, other in zip(bare.series, full.series, strict=True):
            assert (one.metric, one.count, one.sum, one.passes) == (other.metric, other.count, other.sum, other.passes)
    assert [one.second for one in fast.whole_seconds(())] == [one.second for one in slow.snapshots()]
    for from_s, to_s in ((3, 40), (last / 2, None), (None, 5), (last + 1, None)):
        some = list(map(plain, fast.snapshots(from_s, to_s, metrics=METRICS)))
        assert some == list(map(plain, slow.snapshots(from_s, to_s, metrics=METRICS)))


def killed(file: LineFile) -> None:
    """Leaves the file as a killed writer does: nothing is ended."""
    os.close(file._handle)
    file._handle = -1


@pytest.fixture(autouse=True)
def short_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minutes, "SECONDS", 10)
    monkeypatch.setattr(minute_blocks, "SECONDS", 10)


@pytest.mark.parametrize("seed", range(3))
def test_a_run_says_the_same_from_its_minutes_and_from_its_lines(tmp_path: Path, seed: int) -> None:
    writer = written(tmp_path, 45, seed)
    check(writer.path)
    writer.finish()
    check(writer.path)
    assert [len(block["load"]) for block in blocks(writer.path)] == [10, 10, 10, 10, 5]
    assert blocks(writer.path)[-1]["to_byte"] == (writer.path / "series.jsonl.zst").stat().st_size


def test_a_run_shorter_than_a_minute_has_lines_alone_and_so_has_an_older_run(tmp_path: Path) -> None:
    writer = written(tmp_path, 9)
    writer.finish()
    assert not (writer.path / "minutes.jsonl.zst").exists()
    check(writer.path)
    older = written(tmp_path, 45)
    older.finish()
    (older.path / "minutes.jsonl.zst").unlink()
    check(older.path)


@pytest.mark.parametrize("cut", [1, 5, 400, 3_000, 9_000])
def test_a_writer_that_was_killed_in_the_middle_of_a_block_leaves_the_lines(tmp_path: Path, cut: int) -> None:
    writer = written(tmp_path, 45)
    writer.finish()
    file = writer.path / "minutes.jsonl.zst"
    file.write_bytes(file.read_bytes()[:-cut])
    check(writer.path)


@pytest.mark.parametrize("attempt", range(4))
def test_a_killed_process_leaves_minutes_that_agree_with_its_lines(tmp_path: Path, attempt: int) -> None:
    with subprocess.Popen([sys.executable, str(WRITER), str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        path = Path(process.stdout.readline().strip())
        minutes_file = path / "minutes.jsonl.zst"
        try:
            while len(list(read_lines(minutes_file))) < 2 + attempt:
                assert process.poll() is None
        finally:
            process.send_signal(signal.SIGKILL)
    assert RunReader(path).state == "killed"
    check(path)


def test_a_run_that_goes_on_after_it_was_killed_is_whole(tmp_path: Path) -> None:
    cut = written(tmp_path, 25)
    assert cut._minutes._file is not None
    for file in (cut._series, cut._resources, cut._events, cut._minutes._file):
        killed(file)
    for name in ("series.jsonl.zst", "minutes.jsonl.zst"):
        with (cut.path / name).open("ab") as torn:
            torn.write(b"\xff\x00\x00torn")
    draw = random.Random(5)
    with RunWriter.reopen(cut.path, redactor=Redactor()) as writer:
        for second in range(200, 225):
            writer.append_snapshot(second_of(draw, second))
    check(cut.path)
    covered = [(block["load"][0]["second"], len(block["load"])) for block in blocks(cut.path)]
    assert len(covered) == 5 and covered[2:] == [(200, 10), (210, 10), (220, 5)]


@pytest.mark.parametrize("left", [0.0, 0.3, 0.77])
def test_blocks_of_lines_that_were_lost_with_the_power_do_not_count(tmp_path: Path, left: float) -> None:
    writer = written(tmp_path, 45)
    writer.finish()
    lines = writer.path / "series.jsonl.zst"
    lines.write_bytes(lines.read_bytes()[: int(left * lines.stat().st_size)])
    check(writer.path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace('"version":1', '"version":2'),
        lambda text: text.replace('"kind":"trend"', '"kind":"cloud"'),
        lambda text: text.replace(":eA", ":eB"),
        lambda text: text.replace('"sizes":"u', '"sizes":"x'),
        lambda text: "[1]\n{}\nnonsense\n" + text,
        lambda text: text + text,
        lambda text: "".join(reversed(text.splitlines(keepends=True))),
    ],
    ids=["version", "kind", "bytes", "type", "foreign lines", "twice", "order"],
)
def test_blocks_that_are_none_are_passed_over(tmp_path: Path, damage: Any) -> None:
    writer = written(tmp_path, 45)
    writer.finish()
    file = writer.path / "minutes.jsonl.zst"
    text = unpacked(file).decode()
    assert damage(text) != text
    file.write_text(damage(text), encoding="utf-8")
    check(writer.path)


@pytest.mark.parametrize(
    "odd",
    [
        {"metric": "http_req_duration", "kind": "trend", "count": 1, "buckets": [[9, 1], [5, 1]]},
        {"metric": "http_req_duration", "kind": "trend", "count": 1, "sum": float("inf"), "buckets": [[5, 1]]},
        {"metric": "http_req_duration", "kind": "trend", "count": 0, "buckets": [[5, 1]]},
        {"metric": "http_req_duration", "kind": "trend", "count": 1, "buckets": [[5, 1.5]]},
        {"metric": "http_req_duration", "kind": "cloud"},
    ],
)
def test_a_second_that_does_not_fit_stays_in_the_lines_alone(tmp_path: Path, odd: dict[str, Any]) -> None:
    writer = written(tmp_path, 12)
    second = second_of(random.Random(2), 100).to_json()
    writer.append_snapshot(second | {"series": [*second["series"], odd]})
    draw = random.Random(3)
    for after in range(101, 125):
        writer.append_snapshot(second_of(draw, after))
    writer.finish()
    assert len(list(RunReader(writer.path).snapshots())) == 37
    covered = [one["second"] for block in blocks(writer.path) for one in block["load"]]
    assert 100 not in covered and 120 in covered


def test_a_second_that_comes_again_begins_a_block_of_its_own(tmp_path: Path) -> None:
    lines = line_file(tmp_path, "series.jsonl.zst")
    writer = MinuteWriter(tmp_path, lines)
    for second in [0, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]:
        writer.before(second)
        lines.append({"second": second})
        writer.add(Snapshot(second).to_json())
    writer.close()
    [block] = blocks(tmp_path)
    covered = placed_lines(lines.path, block["from_byte"], block["to_byte"])
    assert [json.loads(raw)["second"] for _, raw in covered] == list(range(1, 11))


def test_only_the_trends_that_answers_need_are_kept(tmp_path: Path) -> None:
    writer = written(tmp_path, 10)
    [block] = blocks(writer.path)
    trends = {one["metric"] for one in block["metrics"] if one["kind"] == "trend"}
    assert block["left_out"] == ["http_req_waiting"] and trends <= KEPT_TRENDS
    assert {one["metric"] for one in block["metrics"]} == set(METRICS)


@pytest.mark.parametrize("values", [[], [0], [255], [256], [2**16], [2**31, 2**32], [2**63], [0, 2**64 - 1, 7]])
def test_whole_numbers_take_the_smallest_type_and_come_back(values: list[int]) -> None:
    text = column(values)
    most = max(values, default=0)
    assert text.startswith(f"u{next(size for size in (1, 2, 4, 8) if most < 256**size)}:")
    assert minute_blocks._column(text).tolist() == values


def test_a_number_below_zero_or_with_a_fraction_is_no_whole_number() -> None:
    with pytest.raises(OverflowError):
        column([-1])
    with pytest.raises(TypeError):
        column([1.5])  # type: ignore[list-item]


@pytest.mark.parametrize("seed", range(3))
def test_numbers_of_six_digits_come_back_from_four_bytes_and_others_take_eight(seed: int) -> None:
    draw = np.random.default_rng(seed)
    near = [0.0, 0.1, 0.01, 0.001, 9.99999, 99999.9, 999999.0, 1e6, 12345700.0, 1e-29, 1.5e29, -3.25, -0.001]
    values = [*near, *(float(f"{value:.6g}") for value in 10 ** draw.uniform(-12, 12, 3000))]
    text = minutes._reals([*values, None])
    found = minute_blocks._column(text)
    assert text.startswith("d6:") and found[:-1].tolist() == values and np.isnan(found[-1])
    for odd in (0.1234567, 1e-300, 1e300):
        text = minutes._reals([*values, odd])
        assert text.startswith("f8:") and minute_blocks._column(text).tolist() == [*values, odd]


def test_a_trend_that_is_left_out_can_be_done_without_where_it_is_below_what_is_asked(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, RunFacts("hold"), tables=False, redactor=Redactor()) as writer:
        for second in range(30):
            times = Histogram.from_values([9.0 if second == 15 else 1.0])
            series = (Series.of_trend("http_req_blocked", {}, times), Series("http_reqs", "counter", {}, value=1.0))
            writer.append_snapshot(Snapshot(second, series=series))
    reader, metrics = RunReader(writer.path), ("http_req_blocked", "http_reqs")
    found = [one for block in reader.blocks(metrics, above={"http_req_blocked": 2.0}) for one in block.snapshots()]
    assert [one.second for one in found] == list(range(30))
    assert [one.second for one in found if len(one.series) == 2] == [15]
    assert [one.sum for second in found for one in second.series if one.metric == "http_req_blocked"] == [9.0]
    assert all(len(one.series) == 2 for block in reader.blocks(metrics) for one in block.snapshots())


@pytest.mark.parametrize("most", [0, 10, 10_800])
def test_the_load_of_a_run_is_decoded_once_as_far_as_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(minute_blocks, "MOST_KEPT_S", most)
    writer = written(tmp_path, 30)
    writer.finish()
    decoded: list[int] = []
    from_json = Snapshot.from_json
    monkeypatch.setattr(Snapshot, "from_json", lambda data: decoded.append(data["second"]) or from_json(data))
    reader = RunReader(writer.path)
    first, second = ([*reader.snapshots(metrics=())] for _ in range(2))
    assert first == second and len(first) > 10
    assert len(decoded) == len(first) + max(0, len(first) - most)


def test_a_line_of_another_version_is_none(tmp_path: Path) -> None:
    writer = written(tmp_path, 30)
    writer.finish()
    _, line = next(placed_lines(writer.path / "minutes.jsonl.zst"))
    other = line.replace(b'"version":1,', b'"version":2,', 1)
    assert other != line and minute_blocks.Block.from_line(line, frozenset()) is not None
    assert minute_blocks.Block.from_line(other, frozenset()) is None


def test_a_block_is_full_when_it_has_many_buckets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minutes, "MOST_BUCKETS", 500)
    monkeypatch.setattr(minute_blocks, "MOST_BUCKETS", 500)
    writer = written(tmp_path, 30)
    writer.finish()
    assert len(blocks(writer.path)) > 6
    check(writer.path)


@pytest.mark.parametrize("cells", [0, 40, 4_000])
def test_wide_spreads_of_values_are_merged_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: int
) -> None:
    monkeypatch.setattr(minute_blocks, "_MOST_CELLS", cells)
    writer = written(tmp_path, 30)
    writer.finish()
    check(writer.path)


def test_memory_of_reading_does_not_grow_with_the_length_of_the_run(tmp_path: Path) -> None:
    peaks = []
    for length in (60, 360):
        writer = written(tmp_path, length)
        writer.finish()
        reader = RunReader(writer.path)
        tracemalloc.start()
        for block in reader.blocks(METRICS):
            for edges, tags in ((range(0, 2_000, 30), ("scenario", "name")), ((), ())):
                list(block.merged(edges, tags))
        for _ in reader.whole_seconds(METRICS):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]
