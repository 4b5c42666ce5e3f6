"""How response times spread over time: requests counted by the time at which they ended and by how long they took.

The histograms of the bins are those of the percentiles. Their buckets are folded by dropping more bits of the number
(runs/histogram.py), so that each row of the map is a whole number of buckets and every request is in one cell.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.report.over_time.axis import TimeAxis, numbers_axis, short
from plimsoll.report.over_time.timeline import Bin
from plimsoll.report.vega_lite import Part, layer, quantitative
from plimsoll.runs.histogram import bucket_edges, merge_counts

HEIGHT_PX = 170
FINEST_SHIFT = 8  # a quarter of a doubling each: 1, 1.25, 1.5, 1.75, 2, 2.5 ms …
MOST_ROWS = 36
LEAST_ROWS = 12  # so that times which hardly differ look as if they hardly differed
MOST_CELLS = 4000  # about 200 KiB of the page, of which most is the drawing for print

Column = dict[int, int]


@dataclass(frozen=True)
class HeatMap:
    """Requests by column of time and row of response time: `cells` has (column, row, requests), none of them empty.
    Column i is from `starts_s[i]` to the next one, the last one to the run's end; row i from `edges_ms[i]` to
    `edges_ms[i + 1]`. The lowest row has what took no time at all as well."""

    starts_s: tuple[float, ...]
    edges_ms: tuple[float, ...]
    cells: tuple[tuple[int, int, int], ...]
    seconds: float


def heat_map_of(bins: Iterable[Bin], width_s: float) -> HeatMap | None:
    """That of these bins, each `width_s` wide; None where nothing was answered in a time above 0."""
    starts, seen = [], []
    for item in bins:
        times = item.times.answered_times
        starts.append(float(item.start_s))
        seen.append((times.bucket_index, times.bucket_count))
    above = [index[index > 0] for index, _ in seen]
    lowest = min((int(index[0]) for index in above if index.size), default=None)
    if lowest is None:
        return None
    highest = max(int(index[-1]) for index in above if index.size)
    shift = FINEST_SHIFT
    while (highest >> shift) - (lowest >> shift) >= MOST_ROWS:
        shift += 1
    rows = _rows(lowest >> shift, highest >> shift)
    folded = [_folded(np.maximum(0, (index >> shift) - rows.start), count) for index, count in seen]
    while sum(map(len, folded)) > MOST_CELLS:
        starts, folded = starts[::2], [_sum(folded[at : at + 2]) for at in range(0, len(folded), 2)]
        width_s *= 2
    edges, _ = bucket_edges(np.arange(rows.start, rows.stop + 1) << shift)
    cells = tuple((at, row, count) for at, column in enumerate(folded) for row, count in sorted(column.items()))
    return HeatMap(tuple(starts), tuple(edges.tolist()), cells, width_s)


def _rows(lowest: int, highest: int) -> range:
    lacking = max(0, LEAST_ROWS - (highest + 1 - lowest))
    return range(max(1, lowest - lacking // 2), highest + 1 + lacking - lacking // 2)


def _folded(rows: NDArray[np.int64], counts: NDArray[np.int64]) -> Column:
    found, total = merge_counts(rows, counts)
    return dict(zip(found.tolist(), total.tolist(), strict=True))


def _sum(columns: Iterable[Column]) -> Column:
    total: Column = {}
    for column in columns:
        for row, count in column.items():
            total[row] = total.get(row, 0) + count
    return total


def heat_map_chart(found: HeatMap, axis: TimeAxis, description: str, counted: str = "requests") -> dict[str, Any]:
    """Its cells as text, which is a fifth of what they are as objects; edges and times are looked up by place.
    `counted`: what was counted, in the plural."""
    starts = [axis.of(second) for second in found.starts_s]
    lines = "\n".join(("c,r,n", *(",".join(map(str, cell)) for cell in found.cells)))
    data = {"values": lines, "format": {"type": "csv", "parse": {"c": "number", "r": "number", "n": "number"}}}
    edges = [short(edge) for edge in found.edges_ms]
    places = {
        "t": "starts[datum.c]",
        "end": "starts[datum.c + 1]",
        "low": "edges[datum.r]",
        "least": "datum.r ? edges[datum.r] : 0",
        "high": "edges[datum.r + 1]",
    }
    most = max(count for *_, count in found.cells)
    scale = {"type": "log", "domain": [1, max(2, most)], "nice": False, "range": "heatmap"}
    legend = {"orient": "bottom", "direction": "horizontal", "gradientLength": 90, "tickCount": 3, "format": "~s"}
    title = f"{counted} in {short(found.seconds):g} s"
    shown = {
        "x": axis.x(),
        "x2": {"field": "end"},
        "y": quantitative("low", scale={"type": "log", "nice": False, "domain": [edges[0], edges[-1]]})
        | {"axis": numbers_axis(grid=False)},
        "y2": {"field": "high"},
        "color": quantitative("n", title=title, scale=scale, legend={**legend, "titleOrient": "left"}),
        "tooltip": [
            quantitative("t", title=f"from, {axis.unit}", format=",.4~g"),
            quantitative("least", title="took at least, ms", format=",.3~g"),
            quantitative("high", title="and less than, ms", format=",.3~g"),
            quantitative("n", title=counted, format=","),
        ],
    }
    cells = {**layer("rect", shown, clip=True, aria=False), "data": data}
    cells["transform"] = [{"calculate": words, "as": name} for name, words in places.items()]
    params: list[Part] = [{"name": "starts", "value": [*starts, axis.end]}, {"name": "edges", "value": edges}]
    params.append({"name": "counted", "value": counted})
    return axis.chart([cells], HEIGHT_PX, description, params)
