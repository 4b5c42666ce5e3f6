"""The load over time, with the steps that were judged marked on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.report.over_time.axis import TimeAxis, numbers_axis
from plimsoll.report.steps import Step
from plimsoll.report.vega_lite import Part, Rows, layer, nominal, quantitative
from plimsoll.report.wording import VERDICT_SIGNS, number, verdict

HEIGHT_PX = 90
STYLES = {"good": "good", "rises": "good", "bad": "bad", "failing": "bad", "undecided": "band", "mixed": "band"}
OTHERWISE = "faint"
LEAST_PX = 12  # a step that is narrower has no room for a sign
SIGN_Y_PX = 9
ROOM_FOR_SIGNS = 1.3  # of the highest level
SIGNS = {**VERDICT_SIGNS, "undecided": "?", "mixed": "?", "behind": "▼"}
OTHER_SIGN = "·"


def load_chart(levels: Rows, steps: Sequence[Step], axis: TimeAxis, description: str, unit: str) -> dict[str, Any]:
    """The level as a line, rows of t and value, before a field for each step in the colour of its verdict; its sign
    says the same where there is room."""
    top = ROOM_FOR_SIGNS * max((row["value"] for row in levels if row["value"]), default=1)
    shown = {
        "x": axis.x(),
        "y": quantitative("value", scale={"domain": [0, top], "nice": False}, axis=numbers_axis()),
    }
    line = layer("line", shown, levels, strokeWidth=1.6, interpolate="step-after", clip=True)
    return axis.chart([*_fields(steps, axis, unit), line], HEIGHT_PX, description)


def legend_words(steps: Sequence[Step]) -> str:
    """What the signs of these steps mean."""
    found = dict.fromkeys(step.verdict for step in steps if step.duration_s)
    named = [
        f"{_sign(key)} {verdict(key).split(' ', 1)[-1] if key in VERDICT_SIGNS else verdict(key)}" for key in found
    ]
    return "; ".join(name.strip() for name in named)


def _sign(key: str) -> str:
    return SIGNS.get(key, OTHER_SIGN)


def _fields(steps: Sequence[Step], axis: TimeAxis, unit: str) -> list[Part]:
    layers = []
    timed = [step for step in steps if step.duration_s]
    for style in dict.fromkeys(STYLES.get(step.verdict, OTHERWISE) for step in timed):
        rows = [
            {
                "t": axis.of(step.start_s),
                "middle": axis.of((step.start_s + step.end_s) / 2),
                "end": axis.of(step.end_s),
                "level": f"{number(step.level)} {unit}",
                "verdict": verdict(step.verdict),
                "sign": _sign(step.verdict),
            }
            for step in timed
            if STYLES.get(step.verdict, OTHERWISE) == style
        ]
        tooltip = [nominal("level", title="step at"), nominal("verdict", title="judged as")]
        field = {"x": axis.x(), "x2": {"field": "end"}, "tooltip": tooltip}
        layers.append(layer("rect", field, rows, style=style, opacity=0.2, clip=True))
        narrow = {"test": f"abs(scale('x', datum.end) - scale('x', datum.t)) < {LEAST_PX}", "value": 0}
        sign = {
            "x": axis.x("middle"),
            "y": {"value": SIGN_Y_PX},
            "text": nominal("sign"),
            "opacity": {"condition": narrow, "value": 1},
        }
        layers.append(layer("text", sign, rows, style="signs" if style == "band" else style, fontSize=12, clip=True))
    return layers
