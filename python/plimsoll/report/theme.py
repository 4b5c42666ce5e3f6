"""The look of the charts: two Vega configurations, light and dark, with the same named styles.

A chart specification names styles ("good", "bad", "expected" …) and no colours, so one specification serves both. The
colours are Okabe and Ito's, which stay apart for the colour-blind; shape or dash repeats what colour says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.report.legends import COLUMN_PADDING_PX, MOST_LABEL_PX, TITLE_PADDING_PX

FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
SERIES_LIGHT = ["#0072b2", "#b0408a", "#8a6d00", "#4aa3df", "#5b5b5b", "#009e73", "#d55e00", "#7a4fb5"]
SERIES_DARK = ["#56b4e9", "#e88cc4", "#e6c84f", "#a9d6f5", "#b8b8b8", "#2ec4a0", "#f0883e", "#b79be8"]
LIGHT = {
    "text": "#1d2733",
    "faint": "#5d6b7a",
    "grid": "#e3e8ee",
    "good": "#00795a",
    "bad": "#c14400",
    "expected": "#5b3fa8",
    "band": "#e9b872",
}
HEAT_LIGHT = ["#dcebf5", "#7db8dd", "#2f86bd", "#0b5a8f", "#06304f"]  # few to many, away from the page's colour
HEAT_DARK = ["#1f3a50", "#2b6a96", "#56a5d8", "#a5d6f5", "#eef8ff"]
DARK = {
    "text": "#e6ebf1",
    "faint": "#9fb0c0",
    "grid": "#2c3742",
    "good": "#2ec4a0",
    "bad": "#ff8a4c",
    "expected": "#c3adff",
    "band": "#8a6420",
}


def dashes(names: Sequence[str]) -> list[list[int]]:
    """A dash for each line of a chart, so that lines differ without colour; a plan is broken, a fact is solid."""
    shift = 1 if names and names[0] == "planned" else 0
    return [list(DASHES[(place + shift) % (2 if shift else len(DASHES))]) for place in range(len(names))]


def vega_config(dark: bool) -> dict[str, Any]:
    """The Vega-Lite configuration of the light or the dark page; the background is the page's own."""
    colour = DARK if dark else LIGHT
    text = {"labelColor": colour["faint"], "titleColor": colour["text"], "labelFontSize": 12, "titleFontSize": 12}
    style: dict[str, dict[str, Any]] = {}
    for name in ("good", "bad", "expected", "faint"):
        style[name] = {"color": colour[name]}
        style[f"{name}-line"] = {"color": colour[name], "strokeWidth": 1.5}
    style["expected-line"]["strokeDash"] = [6, 4]
    style["faint-line"]["strokeDash"] = [2, 3]
    style["signs"] = {"color": colour["text"]}
    style["band"] = {"color": colour["band"], "opacity": 0.35}
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": "transparent"},
        "axis": {
            **text,
            "titleFontWeight": "normal",
            "gridColor": colour["grid"],
            "domainColor": colour["faint"],
            "tickColor": colour["faint"],
        },
        "axisX": {"titleLimit": {"expr": "width"}},  # a longer one would leave the chart
        "legend": {
            **text,
            "symbolBaseFillColor": colour["faint"],
            "symbolBaseStrokeColor": colour["faint"],
            "symbolSize": 80,
            "symbolStrokeWidth": 2,
            "labelLimit": MOST_LABEL_PX,
            "titleFontWeight": "normal",
            "columnPadding": COLUMN_PADDING_PX,
            "layout": {"bottom": {"anchor": "start", "direction": "vertical", "margin": 6}},
            "titlePadding": TITLE_PADDING_PX,
        },
        "title": {"color": colour["text"], "subtitleColor": colour["faint"], "fontSize": 14, "subtitleFontSize": 12},
        "range": {
            "category": SERIES_DARK if dark else SERIES_LIGHT,
            "heatmap": HEAT_DARK if dark else HEAT_LIGHT,
        },
        "style": style,
    }
