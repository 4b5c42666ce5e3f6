"""The time axis that all charts of a run share: the same ends, the same zoom, the same moment under the pointer.

Each chart is a view of its own, as wide as its column; equal axes at the left keep their plots above one another. What
the page's script changes in all of them at once are three parameters: `zoom`, the times that are shown; `brush`, those
that a pointer has drawn over so far; `moment`, where the pointer is. The script is templates/time_axis.js.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.report.vega_lite import Part, chart_of, layer, layered, quantitative

MINUTES_FROM_S = 900
FEW_TICKS = 6  # Vega moves the first label to the right: with more, it touches the second
LEFT_PX = 64  # what the names and numbers left of each plot take
OUTSIDE = -9  # px: where a rule is that is not shown
LARGE_FROM = 10_000  # numbers that are shortened, so that they fit left of the plot
LARGE_AS_SI = f"abs(datum.value) >= {LARGE_FROM} ? format(datum.value, '~s') : datum.label"
DIGITS = 6  # of a time or value in the page: more than a reader sees, and fewer bytes


@dataclass(frozen=True)
class TimeAxis:
    """From the start of a run to `end_s`, in minutes where it is long; a faint rule where each step begins."""

    end_s: float
    steps_s: tuple[float, ...] = ()

    @property
    def unit(self) -> str:
        """What its numbers are."""
        return "min" if self.end_s > MINUTES_FROM_S else "s"

    @property
    def end(self) -> float:
        """Where it ends, in its unit."""
        return self.of(self.end_s)

    def of(self, second: float) -> float:
        """A time in the unit of the axis."""
        return short(second / (60 if self.unit == "min" else 1))

    def x(self, field: str = "t") -> Part:
        """The channel of a time in the axis' unit."""
        scale = {"domain": [{"expr": "zoom[0]"}, {"expr": "zoom[1]"}], "nice": False, "zero": False}
        return quantitative(field, title=None, scale=scale, axis={"tickCount": FEW_TICKS, "grid": True})

    def chart(self, layers: Sequence[Part], height_px: int, description: str, params: Sequence[Part] = ()) -> Part:
        """The chart of these layers, each clipped to what is shown."""
        content = layered([*self._begins(), *layers, _BRUSH, _POINTER])
        shared = [{"name": "zoom", "value": [0, self.end]}, {"name": "brush", "value": None}]
        every = [*shared, {"name": "moment", "value": None}, *params]
        return {**chart_of({"params": every, "description": description, **content}, height_px)}

    def _begins(self) -> Iterable[Part]:
        rows = [{"t": self.of(second)} for second in self.steps_s if second > 0]
        if rows:
            yield layer("rule", {"x": self.x()}, rows, style="faint-line", opacity=0.4, clip=True, aria=False)


def values_axis(**more: Any) -> Part:
    """The axis left of a plot, as wide in every chart; its unit stands in the chart's heading."""
    return {"title": None, "minExtent": LEFT_PX, "maxExtent": LEFT_PX, "tickCount": 4, **more}


def numbers_axis(**more: Any) -> Part:
    """The same of numbers, of which large ones are shortened."""
    return values_axis(labelExpr=LARGE_AS_SI, **more)


def short(value: float) -> float:
    """A number with as many digits as a chart needs."""
    return float(f"{value:.{DIGITS}g}")


def _at(expression: str, otherwise: str) -> Part:
    return {"value": {"expr": f"{otherwise} ? {OUTSIDE} : scale('x', {expression})"}}


_BRUSH = layer(
    "rect",
    {"x": _at("brush[0]", "!brush"), "x2": _at("brush[1]", "!brush")},
    [{}],
    style="faint",
    opacity=0.25,
    clip=True,
    aria=False,
)
_POINTER = layer("rule", {"x": _at("moment", "moment === null")}, [{}], style="faint-line", clip=True, aria=False)
