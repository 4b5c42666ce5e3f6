"""Legends and labels that stay inside their chart, however narrow it is.

Vega cuts off what is wider than the chart. How many names stand side by side is therefore an expression on the chart's
width, which Vega evaluates again when the window changes. No browser is here to measure names, so their widths are
estimates from above.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MOST_COLUMNS = 3
MOST_LABEL_PX = 320
SYMBOL_PX = 24  # a legend's symbol and the space behind it
COLUMN_PADDING_PX = 18  # between two columns; theme.py sets it
TITLE_PADDING_PX = 10
# Of DejaVu Sans at 12 px, the widest of the usual fonts: each width in px and the characters that are no wider.
WIDTHS_PX = {
    4.0: "'ijl ,.IJ",
    5.0: "-/:;\\f|!()[]rt",
    6.5: '"*_`–?sz',
    7.5: "FLckPTYaeovxy•",
    8.0: "0123456789$EKSbdghnpqu{}",
    9.0: "ABCRVXZHNU",
    10.5: "&DGOQw#+<=>M^~✓✗×÷",
}
WIDEST_PX = 12.0  # of others: "m", "W", Chinese
CHARACTERS_PX = {character: width for width, characters in WIDTHS_PX.items() for character in characters}
AXIS_PX = 90  # what a vertical axis of numbers takes at most; a legend begins right of it
# The room for a legend. Not simply `width`, which is that of the plot only after a first layout: columns that change
# after it would need more height than the chart has. Where no page holds the chart, the plot is `width` wide.
ROOM = f"(width >= 0 && isFinite(containerSize()[0]) ? containerSize()[0] - {AXIS_PX} : width)"


def text_px(text: str) -> float:
    """How wide the text is at most, at 12 px, in the usual fonts."""
    return sum(CHARACTERS_PX.get(character, WIDEST_PX) for character in text)


def mark_legend(
    names: Sequence[str], most_columns: int = MOST_COLUMNS, title: str = "", rows: Sequence[str] = ()
) -> dict[str, Any]:
    """The legend of these names below a chart. `title` is what stands left of them; `rows` are the names that the
    vertical axis has instead of numbers."""
    before = text_px(title) + TITLE_PADDING_PX if title else 0.0
    beyond_axis = max(0.0, max(map(text_px, rows), default=0.0) - AXIS_PX)
    return {
        "orient": "bottom",
        "columns": {"expr": _columns(names, most_columns, before + beyond_axis)},
        "labelLimit": {"expr": f"min({MOST_LABEL_PX}, width - {before + SYMBOL_PX:.0f})"},
    }


def line_legend(names: Sequence[str]) -> dict[str, Any]:
    """The legend of lines: a stroke before each name."""
    return {**mark_legend(names), "symbolType": "stroke", "symbolSize": 300}


def _columns(names: Sequence[str], most: int, before: float) -> str:
    """As many columns as the plot is wide enough for; a column is as wide as its widest name."""
    columns = "1"
    for count in range(2, most + 1):
        widest = [max(map(_entry_px, names[place::count]), default=0.0) for place in range(count)]
        needed = before + sum(widest) + COLUMN_PADDING_PX * (count - 1)
        columns = f"{ROOM} >= {needed:.0f} ? {count} : {columns}"
    return columns


def _entry_px(name: str) -> float:
    return SYMBOL_PX + min(MOST_LABEL_PX, text_px(name))


def row_label_limit() -> dict[str, str]:
    """Names left of a plot take most of a narrow chart at most, so that a plot remains."""
    return {"expr": f"min({MOST_LABEL_PX}, 0.6 * ({ROOM} + {AXIS_PX}))"}
