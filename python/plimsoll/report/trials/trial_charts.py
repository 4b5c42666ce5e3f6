"""Charts of experiments made of trials: effects with intervals, shares, curves over a parameter, a heat table.

Each function returns a Vega-Lite specification as a dict, or None where there is nothing to draw.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plimsoll.findings.trials.sweep_cells import number_of
from plimsoll.report.legends import AXIS_PX, mark_legend, row_label_limit, text_px
from plimsoll.report.level_charts import CROSS, decades
from plimsoll.report.vega_lite import Part, chart_of, layer, layered, lines_by_series, nominal, quantitative
from plimsoll.report.wording import is_number

ROW_PX, HEIGHT_PX = 24, 240
MOST_ROWS = 40
CELL_SPACE_PX = 12
VERDICTS = {"slower": CROSS, "faster": "circle", "same": "square", "undecided": "diamond"}
STYLES = {"slower": "bad", "faster": "good", "same": "expected", "undecided": "faint"}
LOG_FROM_RATIO = 10


def effect_chart(comparisons: Sequence[Mapping[str, Any]], margin: float) -> dict[str, Any] | None:
    """How much slower B is, with its interval, a row for each comparison; the band is the margin. Those that decide
    have a mark where others are beside them."""
    known = [one for one in comparisons if is_number(one.get("ratio")) and one.get("interval")]
    mark = "" if all(one["primary"] for one in known) else " •"
    rows = [_effect_row(one, mark) for one in known][:MOST_ROWS]
    if not rows:
        return None
    ends = [abs(row[key]) for row in rows for key in ("low", "high") if abs(row[key]) <= 300] or [100.0]
    reach = 1.08 * max(100 * margin * 1.5, *ends)
    x = quantitative("change", title="B against A, %", scale={"domain": [-min(reach, 100), reach], "clamp": True})
    axis = {"labelLimit": row_label_limit(), "grid": True}
    y = nominal("row", title=None, sort=[row["row"] for row in rows], axis=axis)
    span = {"x": quantitative("low"), "x2": {"field": "high"}}
    layers = [
        layer("rect", span, [{"low": -100 * margin, "high": 100 * margin}], style="band"),
        layer("rule", {"x": quantitative("change")}, [{"change": 0}], style="faint-line"),
    ]
    tips = [
        nominal("row", title="what"),
        nominal("words", title="B against A"),
        nominal("verdict", title="verdict"),
        nominal("kind", title="kind"),
    ]
    for verdict, shape in VERDICTS.items():
        style = STYLES[verdict]
        rule = layer("rule", {**span, "y": y}, style=f"{style}-line")
        shown = {"x": x, "y": y, "tooltip": tips}
        point = layer("point", shown, style=style, filled=True, size=70, shape=shape, opacity=1)
        layers += [_only(f"datum.verdict == '{verdict}'", part) for part in (rule, point)]
    return chart_of(layered(layers, rows), ROW_PX * len(rows) + 10)


def _only(test: str, part: Part) -> Part:
    """The layer with those rows alone for which `test` holds."""
    return {"transform": [{"filter": test}], **part}


def _effect_row(one: Mapping[str, Any], mark: str) -> dict[str, Any]:
    name = one.get("operation") or one.get("request") or "all requests"
    low, high = one["interval"]
    change, low_p, high_p = (100 * (value - 1) for value in (one["ratio"], low, high))
    return {
        "row": f"{name}, {one['statistic']}, {one['load']}{mark if one['primary'] else ''}",
        "change": change,
        "low": low_p,
        "high": min(high_p, 1e6),
        "verdict": one["verdict"],
        "kind": "decides" if one["primary"] else "exploratory",
        "words": f"{change:+.2f}% ({low_p:+.2f} to {high_p:+.2f}%)",
    }


def pair_chart(pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Every pair's own change, in the order of the session."""
    rows = [
        {"pair": one["repetition"], "change": 100 * (one["ratio"] - 1), "series": f"{one['statistic']}, {one['load']}"}
        for one in pairs
    ]
    if not rows:
        return None
    names = list(dict.fromkeys(row["series"] for row in rows))
    axes = {
        "x": quantitative("pair", title="Pair", axis={"tickMinStep": 1, "format": "d"}),
        "y": quantitative("change", title="B against A, %"),
    }
    tips = [
        nominal("series", title="what"),
        quantitative("pair", title="pair"),
        quantitative("change", title="B against A, %", format="+.2f"),
    ]
    series = lines_by_series(names)
    zero = layer("rule", {"y": quantitative("change")}, [{"change": 0}], style="faint-line")
    return chart_of(layered([zero, *_lines_and_dots(axes, series, tips, 1.5, 45)], rows), HEIGHT_PX)


def _lines_and_dots(axes: Part, series: Part, tips: Sequence[Part], width_px: float, size: int) -> list[Part]:
    shown = {**axes, "color": series["color"], "tooltip": tips}
    return [
        layer("line", {**axes, **series}, strokeWidth=width_px),
        layer("point", shown, filled=True, size=size, opacity=0.9),
    ]


def share_chart(levels: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Shares of the layers, stacked to 100%, a bar for each level."""
    rows, start = [], 0.0
    names: list[str] = []
    for level in levels:
        start = 0.0
        for part in level.get("layers") or ():
            end = start + 100 * part["share"]
            low, high = part["interval"]
            rows.append(
                {
                    "load": level["load"],
                    "layer": part["layer"],
                    "from": start,
                    "to": end,
                    "middle": (start + end) / 2,
                    "label": f"{100 * part['share']:.0f}%" if abs(end - start) >= 6 else "",
                    "words": f"{100 * part['share']:.1f}% ({100 * low:.1f} to {100 * high:.1f}%)",
                }
            )
            names.append(part["layer"])
            start = end
    if not rows:
        return None
    names = list(dict.fromkeys(names))
    loads = [str(level["load"]) for level in levels]
    y = nominal("load", title=None, sort=loads)
    shown = {
        "x": quantitative("from", title="Share of the whole, %"),
        "x2": {"field": "to"},
        "y": y,
        "color": nominal("layer", title=None, scale={"domain": names}, legend=mark_legend(names, rows=loads)),
        "tooltip": [nominal("layer", title="layer"), nominal("words", title="share")],
    }
    bars = layer("bar", shown, height={"band": 0.7})
    text = {"x": quantitative("middle"), "y": y, "text": nominal("label")}
    words = layer("text", text, fontSize=12, fontWeight="bold", color="white")
    return chart_of(layered([bars, words], rows), max(70, 56 * len(levels)))


def curve_chart(
    cells: Sequence[Mapping[str, Any]], name: str, key: str, title: str, scale: float = 1.0
) -> dict[str, Any] | None:
    """A metric over one parameter, a line for each setting of the others; logarithmic where either spans a decade.
    Words have no order, so that no line joins them."""
    rows = []
    for cell in cells:
        value = cell.get(key)
        if not is_number(value):
            continue
        others = ", ".join(f"{k}={v}" for k, v in cell["parameters"].items() if k != name) or title
        rows.append({"x": cell["parameters"][name], "value": value * scale, "series": others, "state": cell["state"]})
    if len({row["x"] for row in rows}) < 2:
        return None
    numeric = are_numbers(row["x"] for row in rows)
    for row in rows:
        row["x"] = float(row["x"]) if numeric else row["x"]
    names = list(dict.fromkeys(row["series"] for row in rows))
    values = [row["value"] for row in rows]
    logarithmic = min(values) > 0 and max(values) > LOG_FROM_RATIO * min(values)
    if numeric:
        places = [row["x"] for row in rows]
        wide = min(places) > 0 and max(places) >= LOG_FROM_RATIO * min(places)
        x_scale = {"type": "log" if wide else "linear", "nice": False, "padding": 10}
        x = quantitative("x", title=name, scale=x_scale, axis={"values": sorted(set(places)), "format": ",~g"})
    else:
        words = list(dict.fromkeys(row["x"] for row in rows))
        room = {"expr": f"width / {len(words)} - {CELL_SPACE_PX}"}
        x = nominal("x", title=name, sort=words, axis={"labelAngle": 0, "labelLimit": room})
    if logarithmic:
        low, high, ticks = decades(rows)
        y_scale = {"type": "log", "domain": [low, high], "nice": False}
        y = quantitative("value", title=f"{title} (logarithmic)", scale=y_scale, axis={"values": ticks})
    else:
        y = quantitative("value", title=title, scale={"domain": [0, 1.08 * max(values) or 1], "nice": False})
    tips = [
        nominal("x", title=name),
        nominal("series", title="at"),
        quantitative("value", title=title, format=",.4~g"),
        nominal("state", title="it"),
    ]
    series = lines_by_series(names, legend=len(names) > 1)
    lines, dots = _lines_and_dots({"x": x, "y": y}, series, tips, 2, 60)
    if numeric:
        return chart_of(layered([lines, dots], rows), HEIGHT_PX)
    dots["encoding"]["color"] |= {"legend": mark_legend(names) if len(names) > 1 else None}
    return chart_of(layered([dots], rows), HEIGHT_PX)


def heat_chart(cells: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, Any] | None:
    """An iteration's duration for every combination of two parameters, darker where longer; words where none."""
    if len(names) != 2:
        return None
    rows = [
        {
            "x": cell["parameters"][names[0]],
            "y": cell["parameters"][names[1]],
            "value": cell["work_ms"] if is_number(cell.get("work_ms")) else None,
            "label": _cell_words(cell),
            "state": cell["state"],
        }
        for cell in cells
    ]
    known = [row["value"] for row in rows if row["value"] is not None]
    if not known:
        return None
    log = min(known) > 0 and max(known) > LOG_FROM_RATIO * min(known)
    columns, lines = (list(dict.fromkeys(row[axis] for row in rows)) for axis in "xy")
    axes = {
        "x": nominal("x", title=names[0], sort=columns, axis={"labelAngle": 0}),
        "y": nominal("y", title=names[1], sort=lines),
    }
    scale = {"type": "log" if log else "linear", "scheme": "blues"}
    colour = quantitative("value", scale=scale, legend=None)
    middle = (min(known) * max(known)) ** 0.5 if log else (min(known) + max(known)) / 2
    tips = [nominal("label", title="iteration"), nominal("state", title="it")]
    ink = {"condition": {"test": f"datum.value > {middle}", "value": "white"}, "value": "#1d2733"}
    words = {**axes, "text": nominal("label")}
    layers = [
        layer("rect", {**axes, "color": colour, "tooltip": tips}),
        _only("datum.value != null", layer("text", {**words, "color": ink}, fontSize=12)),
        _only("datum.value == null", layer("text", words, fontSize=12, style="bad")),
    ]
    return chart_of(layered(layers, rows), max(40 * len(lines), 90))


def heat_least_px(cells: Sequence[Mapping[str, Any]], names: Sequence[str]) -> int:
    """How wide `heat_chart` has to be at least for the words of its cells to stand apart."""
    columns = {cell["parameters"][names[0]] for cell in cells}
    widest = max((text_px(_cell_words(cell)) for cell in cells), default=0.0)
    return round(AXIS_PX + len(columns) * (widest + CELL_SPACE_PX))


def _cell_words(cell: Mapping[str, Any]) -> str:
    if cell["state"] == "silent":
        return "no answer"
    if not is_number(cell.get("work_ms")):
        return "–"
    fails = f", {100 * cell['failed_share']:.0f}% fail" if cell["state"] == "fails" else ""
    return f"{cell['work_ms']:,.3g} ms{fails}"


def are_numbers(texts: Iterable[str]) -> bool:
    """Whether all values of a parameter are numbers, which have an order."""
    return all(number_of(text) is not None for text in texts)
