"""Vega-Lite specifications as plain data: the parts that charts have in common.

Nothing is checked here. Tests hold every chart that they make against Vega-Lite's own schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.report.legends import line_legend
from plimsoll.report.theme import dashes

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

Part = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]


def quantitative(field: str, **more: Any) -> Part:
    """A channel that shows a number of each row."""
    return {"field": field, "type": "quantitative", **more}


def nominal(field: str, **more: Any) -> Part:
    """A channel that shows a name of each row."""
    return {"field": field, "type": "nominal", **more}


def lines_by_series(names: Sequence[str], legend: bool = True) -> Part:
    """Channels that give the line of each name of `series` a colour and a dash of its own."""
    series = nominal("series", title=None, legend=line_legend(names) if legend else None)
    domain = list(names)
    return {
        "color": {**series, "scale": {"domain": domain}},
        "strokeDash": {**series, "scale": {"domain": domain, "range": dashes(names)}},
    }


def layer(kind: str, encoding: Part, rows: Rows | None = None, **look: Any) -> Part:
    """Marks of one kind, which show rows of their own, or those of the chart where they have none."""
    return {**_data(rows), "mark": {"type": kind, **look}, "encoding": encoding}


def layered(layers: Sequence[Part], rows: Rows | None = None) -> Part:
    """Layers on the same axes, the first one at the bottom."""
    return {**_data(rows), "layer": list(layers)}


def chart_of(content: Part, height_px: int) -> Part:
    """The specification of a chart that is as wide as its column."""
    return {"$schema": SCHEMA, "width": "container", "height": height_px, **content}


def _data(rows: Rows | None) -> Part:
    return {} if rows is None else {"data": {"values": rows}}
