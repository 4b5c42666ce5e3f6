"""The page's section on trials: charts, a table of what was compared, and the trials themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.findings.trials.trials import SILENT
from plimsoll.report import wording
from plimsoll.report.run_evidence import RunEvidence
from plimsoll.report.time_charts import Chart
from plimsoll.report.trials import trial_charts
from plimsoll.words import confidence_words, exponent_words, interval_words, ratio_words, share_words

MIB = 2**20
HEAT = "sweep-heat"
OF_NUMBERS = "A straight line on two logarithmic axes is a power law; its slope is the exponent."
OF_WORDS = "A point for each value, in the order given; the values are words, so that no line joins them."
BADGES = {"slower": "bad", "faster": "good", "same": "met", "there": "good", "below zero": "bad", "answers": "good"}
BADGES |= {"fails": "bad", "silent": "bad"}


@dataclass(frozen=True)
class Table:
    """Header and rows of text; a row's last cell is a verdict with the key of its badge."""

    heading: str
    note: str
    header: list[str]
    rows: list[tuple[list[str], str, str]]


@dataclass(frozen=True)
class TrialsSection:
    """What the page shows of an experiment made of trials."""

    heading: str
    note: str
    charts: list[Chart] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    trials: list[list[str]] = field(default_factory=list)


def trials_section(run: RunEvidence) -> TrialsSection | None:
    """The section of a run; None for runs without trials."""
    if not run.plan:
        return None
    finding = next((one for one in run.findings if one.get("experiment") == run.plan.get("experiment")), {})
    build = {"compare": _compare, "decompose": _decompose, "sweep": _sweep}[run.plan["experiment"]]
    heading, note, charts, tables = build(finding, run.plan)
    drawn = [
        Chart(key, title, reading, spec, _least_px(key, finding, run.plan))
        for key, title, reading, spec in charts
        if spec is not None
    ]
    return TrialsSection(heading, note, drawn, [table for table in tables if table.rows], _trial_rows(run, finding))


def _least_px(key: str, finding: Mapping[str, Any], plan: Mapping[str, Any]) -> int:
    """Below that width a chart's words would run into one another, and it scrolls."""
    return trial_charts.heat_least_px(finding["cells"], list(plan["analysis"]["over"])) if key == HEAT else 0


Drawn = Sequence[tuple[str, str, str, dict[str, Any] | None]]
Built = tuple[str, str, Drawn, list[Table]]


def _compare(finding: Mapping[str, Any], plan: Mapping[str, Any]) -> Built:
    comparisons = finding.get("comparisons") or []
    margin = plan["analysis"]["margin"]
    a, b = (next((v["label"] for v in plan["variants"] if v["name"] == name), name) for name in "ab")
    deciding = [one for one in comparisons if one["primary"]]
    reading = (
        "Each line is the interval in which the true change lies; right of 0 B is slower. "
        f"The band is the margin of {wording.percent(margin)} that does not matter."
    )
    charts = [
        ("compare-decides", "B against A", reading, trial_charts.effect_chart(deciding, margin)),
        (
            "compare-effects",
            "B against A, all comparisons",
            f"{reading} For throughput, right of 0 B does more. Rows with • decide.",
            trial_charts.effect_chart(comparisons, margin) if len(deciding) < len(comparisons) else None,
        ),
        (
            "compare-pairs",
            "Every pair",
            "Each point is one pair of trials next to each other; their scatter is what the intervals rest on.",
            trial_charts.pair_chart(finding.get("pairs") or []),
        ),
    ]
    header = ["What", "Statistic", "Load", "A", "B", "B against A", "Interval", "Pairs", "Verdict"]
    rows = [_comparison_row(one) for one in comparisons]
    note = "Rows that decide come first; the others are exploratory. Values are geometric means over trials."
    return "Comparison", f"A is {a}, B is {b}.", charts, [Table("All comparisons", note, header, rows)]


def _comparison_row(one: Mapping[str, Any]) -> tuple[list[str], str, str]:
    unit = f" {one['unit']}"
    interval = one.get("interval")
    change, span = wording.NOTHING, wording.NOTHING
    if wording.is_number(one.get("ratio")) and interval:
        change = ratio_words(one["ratio"])
        span = interval_words(*interval)
        span += f" ({confidence_words(one['confidence'])})"
    name = one.get("operation") or one.get("request") or "all requests"
    cells = [str(name), one["statistic"], one["load"], wording.number(one["a"]) + unit, wording.number(one["b"]) + unit]
    cells += [change, span, str(one["pairs"])]
    return cells, BADGES.get(one["verdict"], "open"), f"{one['verdict']}{'' if one['primary'] else ' (exploratory)'}"


def _decompose(finding: Mapping[str, Any], plan: Mapping[str, Any]) -> Built:
    levels = finding.get("levels") or []
    charts = [
        (
            "decompose-shares",
            "Shares of the whole",
            "Each colour is one layer of the work; together they are 100%.",
            trial_charts.share_chart(levels),
        )
    ]
    rows = []
    for level in levels:
        for layer in level.get("layers") or ():
            span = " to ".join(share_words(value, 3) for value in layer["interval"])
            cells = [level["load"], layer["layer"], share_words(layer["share"], 3), span, wording.number(layer["ms"])]
            rows.append((cells, BADGES.get(layer["verdict"], "open"), layer["verdict"]))
    header = ["Load", "Layer", "Share", "Interval (95%, together)", "ms per iteration", "Verdict"]
    variants = ", ".join(variant["label"] for variant in plan["variants"])
    kind = "separate parts of the first" if plan["analysis"]["parts"] else "each holds the next one"
    return "Layers", f"Variants: {variants}; {kind}.", charts, [Table("Layers", "", header, rows)]


def _sweep(finding: Mapping[str, Any], plan: Mapping[str, Any]) -> Built:
    cells = finding.get("cells") or []
    names = list(plan["analysis"]["over"])
    charts: list[tuple[str, str, str, dict[str, Any] | None]] = [
        (
            HEAT,
            "Duration of an iteration, every combination",
            "Darker is longer; words instead of a time where it did not answer.",
            trial_charts.heat_chart(cells, names),
        )
    ]
    for name in names:
        for key, title, scale in (
            ("work_ms", "Duration of an iteration, ms", 1.0),
            ("p95_ms", "p95 of the response time, ms", 1.0),
            ("memory_bytes", "Memory of the target, MiB", 1 / MIB),
        ):
            reading = OF_NUMBERS if trial_charts.are_numbers(cell["parameters"][name] for cell in cells) else OF_WORDS
            spec = trial_charts.curve_chart(cells, name, key, title, scale)
            charts.append((f"sweep-{name}-{key}", f"{title.split(',')[0]} over {name}", reading, spec))
    header = [*names, "Iteration, ms", "p95, ms", "Done /s", "Memory, MiB", "Failed", "Trials", "It"]
    rows = [_cell_row(cell, names) for cell in cells]
    laws = [
        (
            [
                one["metric"],
                one["parameter"],
                ", ".join(f"{k}={v}" for k, v in one["at"].items()) or "all",
                _exponent(one),
            ],
            "good" if one["form"] in ("power", "flat") else "open",
            {"power": "fits", "flat": "does not depend", "none": "no simple form", "unknown": "cannot tell"}.get(
                one["form"], "not checked"
            ),
        )
        for one in finding.get("dependencies") or ()
    ]
    tables = [
        Table("Combinations", "Times are geometric means over the trials of each.", header, rows),
        Table("Exponents", "y = a xᵇ with the 95% interval of b.", ["What", "Over", "At", "b", "Form"], laws),
    ]
    return "Sweep", f"Parameters: {', '.join(names)}.", charts, tables


def _exponent(one: Mapping[str, Any]) -> str:
    if not wording.is_number(one.get("exponent")):
        return wording.NOTHING
    low, high = one["interval"]
    return f"{exponent_words(one['exponent'])} ({exponent_words(low)} to {exponent_words(high)})"


def _cell_row(cell: Mapping[str, Any], names: Sequence[str]) -> tuple[list[str], str, str]:
    memory = cell["memory_bytes"]
    cells = [cell["parameters"][name] for name in names]
    cells += [wording.number(cell[key]) for key in ("work_ms", "p95_ms", "done_per_s")]
    cells += [wording.number(memory / MIB) if memory else wording.NOTHING]
    cells += [wording.percent(cell["failed_share"]), str(cell["trials"])]
    return cells, BADGES.get(cell["state"], "open"), {"silent": "no answer"}.get(cell["state"], cell["state"])


def _trial_rows(run: RunEvidence, finding: Mapping[str, Any]) -> list[list[str]]:
    """A row for every complete trial, in the order of the session."""
    labels = {variant["name"]: variant["label"] for variant in run.plan["variants"]}
    remarks = {one.get("trial"): _left_out_of(one) for one in finding.get("excluded") or ()}
    rows = []
    for trial in run.trials:
        every = trial["endpoints"][0]
        times = [wording.number(every[key]) for key in ("p50_ms", "p95_ms", "mean_ms")]
        counts = [
            wording.number(trial["done_per_s"]),
            wording.number(trial["requests"]),
            wording.number(trial["failed"]),
        ]
        about = [
            str(trial["trial"]),
            str(trial["repetition"]),
            labels.get(trial["variant"], trial["variant"]),
            trial["load"],
        ]
        rows.append([*about, *times, *counts, remarks.get(trial["trial"], "")])
    return rows


def _left_out_of(excluded: Mapping[str, Any]) -> str:
    """What of a trial does not count, in its row."""
    keeps = excluded.get("keeps") or ()
    what = "high percentiles left out" if "middle" in keeps else "times left out" if keeps else "left out"
    return f"{what}: {'no answer' if excluded.get('name') == SILENT else 'generator'}"
