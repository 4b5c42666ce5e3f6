"""Charts of experiments made of trials: effects with intervals, shares, curves over a parameter, a heat table.

Each function returns a Vega-Lite specification as a dict, or None where there is nothing to draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.report.legends import AXIS_PX, line_legend, mark_legend, row_label_limit, text_px
from plimsoll.report.level_charts import CROSS, decades
from plimsoll.report.theme import dashes
from plimsoll.report.wording import is_number

ROW_PX, HEIGHT_PX = 24, 240
MOST_ROWS = 40
CELL_SPACE_PX = 12
VERDICTS = {"slower": CROSS, "faster": "circle", "same": "square", "undecided": "diamond"}
STYLES = {"slower": "bad", "faster": "good", "same": "expected", "undecided": "faint"}
LOG_FROM_RATIO = 10


def effect_chart(comparisons: Sequence[Mapping[str, Any]], margin: float) -> dict[str, Any] | None:
    """How much slower B is, with its interval, a row for each comparison; the band is the margin."""
    import altair

    rows = [_effect_row(one) for one in comparisons if is_number(one.get("ratio")) and one.get("interval")][:MOST_ROWS]
    if not rows:
        return None
    ends = [abs(row[key]) for row in rows for key in ("low", "high") if abs(row[key]) <= 300] or [100.0]
    reach = 1.08 * max(100 * margin * 1.5, *ends)
    x = altair.X("change:Q", title="B against A, %", scale=altair.Scale(domain=[-min(reach, 100), reach], clamp=True))
    axis = altair.Axis(labelLimit=row_label_limit(), grid=True)
    y = altair.Y("row:N", title=None, sort=[row["row"] for row in rows], axis=axis)
    base = altair.Chart(altair.Data(values=rows))
    band = altair.Chart(altair.Data(values=[{"low": -100 * margin, "high": 100 * margin}]))
    layers: list[Any] = [band.mark_rect(style="band").encode(x=altair.X("low:Q"), x2="high:Q")]
    zero = altair.Chart(altair.Data(values=[{"change": 0}]))
    layers.append(zero.mark_rule(style="faint-line").encode(x="change:Q"))
    tips = [
        altair.Tooltip("row:N", title="what"),
        altair.Tooltip("words:N", title="B against A"),
        altair.Tooltip("verdict:N", title="verdict"),
        altair.Tooltip("kind:N", title="kind"),
    ]
    for verdict, shape in VERDICTS.items():
        mine = base.transform_filter(f"datum.verdict == '{verdict}'")
        layers.append(mine.mark_rule(style=f"{STYLES[verdict]}-line").encode(x="low:Q", x2="high:Q", y=y))
        points = mine.mark_point(style=STYLES[verdict], filled=True, size=70, shape=shape, opacity=1)
        layers.append(points.encode(x=x, y=y, tooltip=tips))
    chart = altair.layer(*layers).properties(width="container", height=ROW_PX * len(rows) + 10)
    return chart.to_dict(validate=False)


def _effect_row(one: Mapping[str, Any]) -> dict[str, Any]:
    name = one.get("operation") or one.get("request") or "all requests"
    low, high = one["interval"]
    change, low_p, high_p = (100 * (value - 1) for value in (one["ratio"], low, high))
    return {
        "row": f"{name}, {one['statistic']}, {one['load']}{' •' if one['primary'] else ''}",
        "change": change,
        "low": low_p,
        "high": min(high_p, 1e6),
        "verdict": one["verdict"],
        "kind": "decides" if one["primary"] else "exploratory",
        "words": f"{change:+.2f} % ({low_p:+.2f} to {high_p:+.2f} %)",
    }


def pair_chart(pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Every pair's own change, in the order of the session."""
    import altair

    rows = [
        {"pair": one["repetition"], "change": 100 * (one["ratio"] - 1), "series": f"{one['statistic']}, {one['load']}"}
        for one in pairs
    ]
    if not rows:
        return None
    names = list(dict.fromkeys(row["series"] for row in rows))
    x = altair.X("pair:Q", title="Pair", axis=altair.Axis(tickMinStep=1, format="d"))
    y = altair.Y("change:Q", title="B against A, %")
    colour = altair.Color("series:N", title=None, scale=altair.Scale(domain=names), legend=line_legend(names))
    patterns = altair.Scale(domain=names, range=dashes(names))
    base = altair.Chart(altair.Data(values=rows))
    dash = altair.StrokeDash("series:N", title=None, scale=patterns, legend=line_legend(names))
    line = base.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=colour, strokeDash=dash)
    tips = [
        altair.Tooltip("series:N", title="what"),
        altair.Tooltip("pair:Q", title="pair"),
        altair.Tooltip("change:Q", title="B against A, %", format="+.2f"),
    ]
    dots = base.mark_point(filled=True, size=45, opacity=0.9).encode(x=x, y=y, color=colour, tooltip=tips)
    zero = altair.Chart(altair.Data(values=[{"change": 0}])).mark_rule(style="faint-line").encode(y="change:Q")
    return altair.layer(zero, line, dots).properties(width="container", height=HEIGHT_PX).to_dict(validate=False)


def share_chart(levels: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Shares of the layers, stacked to 100 %, a bar for each level."""
    import altair

    rows, start = [], 0.0
    names: list[str] = []
    for level in levels:
        start = 0.0
        for layer in level.get("layers") or ():
            end = start + 100 * layer["share"]
            low, high = layer["interval"]
            rows.append(
                {
                    "load": level["load"],
                    "layer": layer["layer"],
                    "from": start,
                    "to": end,
                    "middle": (start + end) / 2,
                    "label": f"{100 * layer['share']:.0f} %" if abs(end - start) >= 6 else "",
                    "words": f"{100 * layer['share']:.1f} % ({100 * low:.1f} to {100 * high:.1f} %)",
                }
            )
            names.append(layer["layer"])
            start = end
    if not rows:
        return None
    names = list(dict.fromkeys(names))
    x = altair.X("from:Q", title="Share of the whole, %")
    loads = [str(level["load"]) for level in levels]
    y = altair.Y("load:N", title=None, sort=loads)
    legend = mark_legend(names, rows=loads)
    colour = altair.Color("layer:N", title=None, scale=altair.Scale(domain=names), legend=legend)
    base = altair.Chart(altair.Data(values=rows))
    tips = [altair.Tooltip("layer:N", title="layer"), altair.Tooltip("words:N", title="share")]
    bars = base.mark_bar(height={"band": 0.7}).encode(x=x, x2="to:Q", y=y, color=colour, tooltip=tips)
    words = base.mark_text(fontSize=12, fontWeight="bold", color="white").encode(x="middle:Q", y=y, text="label:N")
    height = max(70, 56 * len(levels))
    return altair.layer(bars, words).properties(width="container", height=height).to_dict(validate=False)


def curve_chart(
    cells: Sequence[Mapping[str, Any]], name: str, key: str, title: str, scale: float = 1.0
) -> dict[str, Any] | None:
    """A metric over one parameter, a line for each setting of the others; logarithmic where either spans a decade."""
    import altair

    rows = []
    for cell in cells:
        value = cell.get(key)
        if not is_number(value):
            continue
        others = ", ".join(f"{k}={v}" for k, v in cell["parameters"].items() if k != name) or title
        rows.append({"x": cell["parameters"][name], "value": value * scale, "series": others, "state": cell["state"]})
    if len({row["x"] for row in rows}) < 2:
        return None
    numeric = all(_is_number_text(row["x"]) for row in rows)
    for row in rows:
        row["x"] = float(row["x"]) if numeric else row["x"]
    names = list(dict.fromkeys(row["series"] for row in rows))
    values = [row["value"] for row in rows]
    logarithmic = min(values) > 0 and max(values) > LOG_FROM_RATIO * min(values)
    if numeric:
        places = [row["x"] for row in rows]
        wide = min(places) > 0 and max(places) >= LOG_FROM_RATIO * min(places)
        axis = altair.Axis(values=sorted(set(places)), format=",~g")
        x = altair.X(
            "x:Q", title=name, scale=altair.Scale(type="log" if wide else "linear", nice=False, padding=10), axis=axis
        )
    else:
        x = altair.X("x:N", title=name, sort=list(dict.fromkeys(row["x"] for row in rows)))
    if logarithmic:
        low, high, ticks = decades(rows)
        y_scale = altair.Scale(type="log", domain=[low, high], nice=False)
        y = altair.Y("value:Q", title=f"{title} (logarithmic)", scale=y_scale, axis=altair.Axis(values=ticks))
    else:
        y = altair.Y("value:Q", title=title, scale=altair.Scale(domain=[0, 1.08 * max(values) or 1], nice=False))
    legend = line_legend(names) if len(names) > 1 else None
    colour = altair.Color("series:N", title=None, scale=altair.Scale(domain=names), legend=legend)
    dash = altair.StrokeDash(
        "series:N", title=None, scale=altair.Scale(domain=names, range=dashes(names)), legend=legend
    )
    base = altair.Chart(altair.Data(values=rows))
    tips = [
        altair.Tooltip("x:N", title=name),
        altair.Tooltip("series:N", title="at"),
        altair.Tooltip("value:Q", title=title, format=",.4~g"),
        altair.Tooltip("state:N", title="it"),
    ]
    line = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash)
    dots = base.mark_point(filled=True, size=60, opacity=0.9).encode(x=x, y=y, color=colour, tooltip=tips)
    return altair.layer(line, dots).properties(width="container", height=HEIGHT_PX).to_dict(validate=False)


def heat_chart(cells: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, Any] | None:
    """An iteration's duration for every combination of two parameters, darker where longer; words where none."""
    import altair

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
    x = altair.X(
        "x:N", title=names[0], sort=list(dict.fromkeys(row["x"] for row in rows)), axis=altair.Axis(labelAngle=0)
    )
    y = altair.Y("y:N", title=names[1], sort=list(dict.fromkeys(row["y"] for row in rows)))
    scale = altair.Scale(type="log" if log else "linear", scheme="blues")
    colour = altair.Color("value:Q", scale=scale, legend=None)
    base = altair.Chart(altair.Data(values=rows))
    middle = (min(known) * max(known)) ** 0.5 if log else (min(known) + max(known)) / 2
    tips = [altair.Tooltip("label:N", title="iteration"), altair.Tooltip("state:N", title="it")]
    rects = base.mark_rect().encode(x=x, y=y, color=colour, tooltip=tips)
    ink = altair.condition(f"datum.value > {middle}", altair.value("white"), altair.value("#1d2733"))
    known_words = base.transform_filter("datum.value != null").mark_text(fontSize=12)
    no_words = base.transform_filter("datum.value == null").mark_text(fontSize=12, style="bad")
    layers = [rects, known_words.encode(x=x, y=y, text="label:N", color=ink), no_words.encode(x=x, y=y, text="label:N")]
    height = 40 * len({row["y"] for row in rows})
    return altair.layer(*layers).properties(width="container", height=max(height, 90)).to_dict(validate=False)


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
    fails = f", {100 * cell['failed_share']:.0f} % fail" if cell["state"] == "fails" else ""
    return f"{cell['work_ms']:,.3g} ms{fails}"


def _is_number_text(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
