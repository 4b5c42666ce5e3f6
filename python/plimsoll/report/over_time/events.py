"""What happened during a run, as marks on its time axis: to the target, what failed, and what was remarked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

from plimsoll.probes.restarts import tells_of_restart
from plimsoll.report.over_time.axis import TimeAxis, values_axis
from plimsoll.report.vega_lite import layer, nominal, quantitative
from plimsoll.report.wording import is_number

ROW_PX = 24
MOST_LETTERS = 240
MOST_MARKS = 400
TARGET, FAILURES, REMARKS = ROWS = ("Target", "Failures", "Remarks")
LOOKS = {TARGET: ("expected", "square"), FAILURES: ("bad", "cross"), REMARKS: ("faint", "circle")}
KINDS = {
    "ready": TARGET,
    "reset": TARGET,
    "switch": TARGET,
    "remedy": TARGET,
    "error": FAILURES,
    "interrupted": FAILURES,
    "drain_gave_up": FAILURES,
    "trial_skipped": FAILURES,
    "keep_overload": FAILURES,
    "note": REMARKS,
    "control": REMARKS,
}


@dataclass(frozen=True)
class Happening:
    """Something that happened at a second of a run."""

    second: float
    row: str
    words: str


def happenings_of(
    events: Iterable[Mapping[str, Any]], notes: Iterable[tuple[float, str]], end_s: float
) -> list[Happening]:
    """Those of a run's events, and the notes that people made while it went on, in order of time. What came after the
    run's end has no place on its axis; it stands in the table of events."""
    found = [Happening(second, REMARKS, shorten(text, MOST_LETTERS, placeholder=" …")) for second, text in notes]
    for event in events:
        kind, second = str(event.get("kind")), event.get("second")
        words = _words(kind, event)
        if kind in KINDS and words and is_number(second):
            row = TARGET if tells_of_restart(words) else KINDS[kind]
            found.append(Happening(float(second), row, shorten(words, MOST_LETTERS, placeholder=" …")))
    inside = [one for one in found if 0 <= one.second <= end_s]
    return sorted(inside, key=lambda one: one.second)[:MOST_MARKS]


def _words(kind: str, event: Mapping[str, Any]) -> str:
    told = event.get("message") or event.get("reason")
    if isinstance(told, str):
        return told
    if kind == "note":  # the numbers of a plain run, which are no remark
        return ""
    verb = event.get("verb")
    return f"control: {verb}" if isinstance(verb, str) else kind.replace("_", " ")


def events_chart(found: Sequence[Happening], axis: TimeAxis, description: str) -> dict[str, Any]:
    """A row for each kind of which there are any."""
    rows = [row for row in ROWS if any(one.row == row for one in found)]
    layers = []
    for row in rows:
        style, shape = LOOKS[row]
        marks = [{"t": axis.of(one.second), "row": row, "value": one.words} for one in found if one.row == row]
        shown = {
            "x": axis.x(),
            "y": nominal("row", scale={"domain": rows}, axis=values_axis(grid=True, domain=False, tickOpacity=0)),
            "tooltip": [quantitative("t", title=f"at, {axis.unit}", format=",.4~g"), nominal("value", title="what")],
        }
        layers.append(layer("point", shown, marks, style=style, shape=shape, size=70, filled=True, clip=True))
    return axis.chart(layers, ROW_PX * len(rows), description)
