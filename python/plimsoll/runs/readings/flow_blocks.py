"""The seconds of a run as flow_seconds.py has them, of a block at once: a run of hours has hundreds of thousands of
series, of which only counts, sums and maxima are needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from plimsoll.runs.format.minute_blocks import Block, Rows
from plimsoll.runs.readings.flow_seconds import DURATION, METRICS, RESPONSE, Ended, FlowSecond, flow_second


def flow_seconds(block: Block) -> Iterator[FlowSecond]:
    """The seconds of a block that has METRICS."""
    empty = [Ended() for _ in block.load]
    inside, inside_all = _ended(block, DURATION) or (empty, empty)
    waited, waited_all = _ended(block, RESPONSE) or (empty, empty)
    rhythms = _scenarios(block)
    for place, load in enumerate(block.load):
        yield replace(
            flow_second(load),
            inside=inside[place],
            waited=waited[place],
            inside_all=inside_all[place],
            waited_all=waited_all[place],
            rhythms=rhythms[place],
        )


def _of(block: Block, metric: str) -> list[Rows]:
    return [rows for rows in block.rows if rows.metric == metric and rows.metric in METRICS and rows.kind == "trend"]


def _ended(block: Block, metric: str) -> tuple[list[Ended], list[Ended]] | None:
    """What ended in each second, of its own epoch and of any."""
    own, every = None, None
    for rows in _of(block, metric):
        mine = np.ones(rows.second.size, bool) if rows.epoch is None else rows.epoch == 0
        own, every = _sums(rows, mine, len(block.load)), _sums(rows, np.ones_like(mine), len(block.load))
    return None if own is None or every is None else (own, every)


def _sums(rows: Rows, chosen: NDArray[np.bool_], seconds: int) -> list[Ended]:
    second = rows.second[chosen]
    count = np.bincount(second, rows.values["count"][chosen], seconds)
    total_ms = np.bincount(second, rows.values["sum"][chosen], seconds)
    longest_ms = np.zeros(seconds)
    np.fmax.at(longest_ms, second, np.nan_to_num(rows.values["max"][chosen]))
    columns = (count.tolist(), (total_ms / 1000).tolist(), (longest_ms / 1000).tolist())
    return [Ended(int(each), total_s, longest_s) for each, total_s, longest_s in zip(*columns, strict=True)]


def _scenarios(block: Block) -> list[int]:
    """In how many scenarios iterations of planned arrivals ended, each second."""
    names = [tags.get("scenario") for tags in block.tags]
    known = {name: place for place, name in enumerate(dict.fromkeys(names))}
    of_tags = np.array([known[name] for name in names], np.int64)
    found = np.zeros(len(block.load), np.int64)
    for rows in _of(block, RESPONSE):
        there = rows.values["count"] > 0
        pairs = np.unique(np.column_stack((rows.second[there], of_tags[rows.tags[there]])), axis=0)
        found += np.bincount(pairs[:, 0].astype(np.int64), minlength=len(block.load))
    return found.tolist()
