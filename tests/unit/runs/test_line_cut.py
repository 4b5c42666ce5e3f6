"""A line that is cut says the same as one that is parsed whole."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from plimsoll.runs.directory import json_text
from plimsoll.runs.format.compact_line import Compactor
from plimsoll.runs.format.line_cut import LineCutter
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series, Snapshot

TIMES = Histogram.from_values(np.random.default_rng(1).lognormal(3, 1, 200))
AWKWARD = {"name": 'a "series":[ of ,{"metric":"x","kind":"trend"}', "metric": "not this", "scenario": "ä [[1,2]]"}
SERIES = (
    Series.of_trend("http_req_duration", {"name": "/", "scenario": "one"}, TIMES),
    Series("http_reqs", "counter", {"name": "/"}, value=200.0),
    Series("http_req_failed", "rate", AWKWARD, passes=3, total=200),
    Series.of_trend("http_req_duration", AWKWARD, TIMES),
    Series.of_trend("http_req_waiting", {}, Histogram()),
    Series("vus", "gauge", {}, value=2.0, min=1.0, max=3.0),
)
SECOND = Snapshot(7, t_unix=1e9, level=3.5, planned=4, series=SERIES, generator={"cpu_s": 0.1})


def whole(snapshot: Snapshot) -> Snapshot:
    """With buckets as pairs again, to compare."""
    pairs = [tuple(map(tuple, np.asarray(one.buckets).reshape(-1, 2).tolist())) for one in snapshot.series]
    return replace(
        snapshot,
        series=tuple(replace(one, buckets=buckets) for one, buckets in zip(snapshot.series, pairs, strict=True)),
    )


def line(snapshot: Snapshot) -> bytes:
    """As runs of earlier versions have it."""
    return json_text(snapshot.to_json()).encode() + b"\n"


def compact(snapshot: Snapshot, compactor: Compactor | None = None) -> bytes:
    return (compactor or Compactor()).line(snapshot.to_json()).encode() + b"\n"


@pytest.mark.parametrize("write", [line, compact])
@pytest.mark.parametrize("count", range(len(SERIES) + 1))
def test_all_series_of_a_line_are_as_they_were_written(count: int, write: Callable[[Snapshot], bytes]) -> None:
    written = replace(SECOND, series=SERIES[:count])
    cut = LineCutter(None).snapshot(write(written))
    assert cut is not None and whole(cut) == written
    assert LineCutter(None, buckets="pairs").snapshot(write(written)) == written


@pytest.mark.parametrize("compactor", [Compactor(), None])
@pytest.mark.parametrize("metrics", [(), ("http_req_duration",), ("http_req_failed", "vus"), ("none",), ("not this",)])
def test_only_the_wanted_series_are_read_whatever_their_tags_say(
    metrics: tuple[str, ...], compactor: Compactor | None
) -> None:
    cutter = LineCutter(frozenset(metrics))
    if compactor is not None:
        compactor.restart()
    for _ in range(2):
        cut = cutter.snapshot(line(SECOND) if compactor is None else compact(SECOND, compactor))
        assert cut is not None
        assert whole(cut) == replace(SECOND, series=tuple(one for one in SERIES if one.metric in metrics))


def test_a_histogram_of_cut_series_is_that_of_whole_ones() -> None:
    cut = LineCutter(frozenset(["http_req_duration"])).snapshot(line(SECOND))
    assert cut is not None
    merged = Histogram()
    for one in cut.series:
        merged.add_series(one)
    assert merged == Histogram.merge([TIMES, TIMES]) and math.isclose(merged.sum, 2 * TIMES.sum)


def test_a_line_of_another_writer_is_read_and_one_that_is_none_is_left_out() -> None:
    cutter = LineCutter(frozenset(["vus"]))
    spaced = json.dumps(SECOND.to_json(), indent=None).encode()
    cut = cutter.snapshot(spaced)
    assert cut is not None and cut.series == (SERIES[-1],)
    torn_compact = [
        compact(SECOND)[:-40],
        compact(SECOND)[:60],
        compact(SECOND).replace(b'"define":[[0,', b'"define":[[90,'),
    ]
    for torn in (
        *torn_compact,
        line(SECOND)[:-40],
        b"{}",
        b"[1]",
        b"7",
        b'{"second":"x","series":[]}',
        line(SECOND)[10:],
    ):
        assert cutter.snapshot(torn) is None
