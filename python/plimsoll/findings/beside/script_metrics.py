"""What did the script's own metrics say? k6's Counter, Rate, Trend and Gauge at each load that was held.

A counter is told per second, per hour and per iteration, a rate as a share, a trend by mean and p95, a gauge by its
last value; with intervals of 95% from batches of time (stats/estimates/batch_ratio.py). Where users wait and
throughput stopped rising, a counter has a ceiling: iterations at the plateau × what one counts there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plimsoll.findings.beside.held_windows import held_loads
from plimsoll.findings.beside.script_metrics_seen import CONFIDENCE, LoadSeen, metrics_seen, pooled
from plimsoll.findings.capacity.estimates import closed_counts
from plimsoll.findings.evidence import SERIES, Evidence, as_data
from plimsoll.runs.snapshot import ScriptMetric
from plimsoll.stats.estimates.batch_ratio import RatioInterval
from plimsoll.stats.throughput.asymptotes import Estimate, bounds_by_plateau
from plimsoll.words import UNIT_WORDS, level_words, number, share_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

QUESTION = "What did the script's own metrics say?"
HOUR_S = 3600.0
MOST_SAID = 4
MOST_LOADS_SAID = 3
NO_UNIT = "no unit"
ASSUMED = (
    "Intervals of 95% are from batches of time, at most 40 of equal length at each load. Neighbours may go together, "
    "others may not, and the target stays the same."
)
CEILING_MEANS = (
    "A ceiling is that of iterations, where more users bring no more throughput, × what an iteration counts there. It "
    "holds as long as users do the same mix of work."
)
Row = dict[str, Any]


def script_metrics_findings(run: RunReader, main: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the finding has of its own, alone in a list; none where the script has no metrics of its own or no load was
    held. `run`: a RunReader; `main`: its main finding."""
    loads = held_loads(run, main)
    metrics = run.script_metrics() if loads else ()
    seen = metrics_seen(run, loads, metrics) if metrics else []
    if not seen:
        return []
    told = [one for one in metrics if any(load.metrics[one.name].is_there for load in seen)]
    names = {one.name for one in told}
    silent = [one.name for one in metrics if one.name not in names]
    entries = [_entry(one, seen, main) for one in told]
    values = sum(sum(load.metrics[one.name].bottom) for one in told for load in seen if one.kind in ("rate", "trend"))
    seconds = float(sum(load.seconds for load in seen))
    about = f"At {len(seen)} load{'s' if len(seen) > 1 else ''}, measured"
    return [
        {
            "question": QUESTION,
            "answer": _answer(entries),
            "script_metrics": entries,
            "tables": [_table(one) for one in entries],
            "evidence": as_data(
                [
                    Evidence(seconds, "seconds", SERIES, about),
                    Evidence(values, "values", SERIES, "Of rates and trends in them") if values else None,
                ]
            ),
            "notes": _notes(entries, silent),
        }
    ]


def _entry(metric: ScriptMetric, seen: Sequence[LoadSeen], main: Mapping[str, Any]) -> Row:
    rows = [_ROWS[metric.kind](load, metric.name) for load in seen if _counts(load, metric)]
    return {
        "metric": metric.name,
        "kind": metric.kind,
        "unit": "ms" if metric.is_time else NO_UNIT,
        "loads": rows,
        "ceiling": _ceiling(metric.name, seen, main) if metric.kind == "counter" else None,
    }


def _counts(load: LoadSeen, metric: ScriptMetric) -> bool:
    """A counter that was not touched counted nothing; of the others there is nothing to say."""
    return metric.kind == "counter" or load.metrics[metric.name].is_there


def _of(load: LoadSeen) -> Row:
    return {
        "load": load.load.words,
        "level": load.load.level,
        "variant": load.load.variant,
        "seconds": float(load.seconds),
    }


def _counter(load: LoadSeen, name: str) -> Row:
    per_s, each = load.per_s(name), load.per_iteration(name)
    value = per_s.value if per_s else 0.0
    interval = per_s.interval if per_s else None
    return {
        **_of(load),
        "counted": sum(load.metrics[name].top),
        "iterations": sum(load.done),
        "per_s": value,
        "per_s_interval": interval,
        "per_hour": HOUR_S * value,
        "per_hour_interval": None if interval is None else [HOUR_S * one for one in interval],
        "per_iteration": each.value if each else None,
        "per_iteration_interval": each.interval if each else None,
        **_sureness(per_s),
    }


def _rate(load: LoadSeen, name: str) -> Row:
    share, seen = load.share(name), load.metrics[name]
    return {
        **_of(load),
        "passes": sum(seen.top),
        "values": sum(seen.bottom),
        "share": share.value if share else None,
        "share_interval": share.interval if share else None,
        **_sureness(share),
    }


def _trend(load: LoadSeen, name: str) -> Row:
    mean, tail = load.mean(name), load.tail(name)
    p95, most = tail if tail else (None, None)
    known = p95 is not None and p95.low is not None
    return {
        **_of(load),
        "values": sum(load.metrics[name].bottom),
        "mean": mean.value if mean else None,
        "mean_interval": mean.interval if mean else None,
        "p95": p95.value if p95 else None,
        "p95_interval": [p95.low, p95.high] if p95 is not None and known else None,
        "most": most,
        **_sureness(mean),
    }


def _gauge(load: LoadSeen, name: str) -> Row:
    seen = load.metrics[name]
    return {**_of(load), "last": seen.last, "least": seen.least, "most": seen.most}


_ROWS: dict[str, Callable[[LoadSeen, str], Row]] = {
    "counter": _counter,
    "rate": _rate,
    "trend": _trend,
    "gauge": _gauge,
}


def _sureness(found: RatioInterval | None) -> Row:
    """What the interval rests on, or why there is none."""
    return {
        "confidence": CONFIDENCE if found and found.interval else None,
        "batches": found.batches if found else 0,
        "why_no_interval": found.reason or None if found else "nothing was recorded",
    }


def _ceiling(name: str, seen: Sequence[LoadSeen], main: Mapping[str, Any]) -> Row | None:
    """Of a closed capacity run that reached its plateau; None where that or what an iteration counts is not known."""
    capacity = main.get("capacity")
    if not capacity or capacity["model"] != "closed" or capacity["bad"] is None or capacity["knee"] is None:
        return None
    bounds = bounds_by_plateau(*closed_counts(main["steps"]))
    plateau = [one for one in seen if one.load.healthy and one.load.level >= capacity["knee"]]
    each = pooled(plateau, name).per_iteration(name) if plateau else None
    if bounds is None or each is None or each.low is None or each.high is None or each.low <= 0:
        return None
    from_level = min(one.load.level for one in plateau)
    most = bounds.most_per_s.times(Estimate(each.value, each.low, each.high))
    return {
        "per_s": most.value,
        "per_s_interval": [most.low, most.high],
        "per_hour": HOUR_S * most.value,
        "per_hour_interval": [HOUR_S * most.low, HOUR_S * most.high],
        "per_iteration": each.value,
        "from_level": from_level,
        "from_words": level_words(from_level, capacity["unit"]),
        "means": f"however many {UNIT_WORDS.get(capacity['unit'], capacity['unit'])} there are",
    }


def _answer(entries: Sequence[Row]) -> str:
    if not entries:
        return "Nothing: none of them was recorded while the load was measured."
    said = [_sentence(one) for one in entries[:MOST_SAID]]
    more = len(entries) - MOST_SAID
    if more > 0:
        said.append(f"{more} more {'has a table' if more == 1 else 'have tables'} in the report.")
    return " ".join(said)


def _sentence(entry: Row) -> str:
    loads = entry["loads"]
    shown = loads if len(loads) <= MOST_LOADS_SAID else [loads[0], loads[-1]]
    told = "; ".join(_SAID[entry["kind"]](one, _unit(entry)) for one in shown)
    ceiling = entry["ceiling"]
    if ceiling is not None:
        told += (
            f"; at most {number(ceiling['per_hour'])} an hour at the plateau"
            f"{_interval(ceiling['per_hour_interval'], number)}, {ceiling['means']}"
        )
    return f"{entry['metric']}: {told}."


def _unit(entry: Row) -> str:
    return " ms" if entry["unit"] == "ms" else ""


def _interval(interval: Sequence[float] | None, words: Callable[[float], str]) -> str:
    return f" (95%: {words(interval[0])} to {words(interval[1])})" if interval else ""


def _counter_said(row: Row, unit: str) -> str:
    return f"{number(row['per_hour'])} an hour{_interval(row['per_hour_interval'], number)} at {row['load']}"


def _rate_said(row: Row, unit: str) -> str:
    return f"{share_words(row['share'])} of {number(row['values'])}{_shares(row['share_interval'])} at {row['load']}"


def _trend_said(row: Row, unit: str) -> str:
    mean = f"{number(row['mean'])}{unit}"
    return f"mean {mean}{_interval(row['mean_interval'], number)}, p95 {number(row['p95'])}{unit} at {row['load']}"


def _gauge_said(row: Row, unit: str) -> str:
    return f"last {number(row['last'])}{unit} at {row['load']}"


def _shares(interval: Sequence[float] | None) -> str:
    return _interval(interval, share_words)


_SAID: dict[str, Callable[[Row, str], str]] = {
    "counter": _counter_said,
    "rate": _rate_said,
    "trend": _trend_said,
    "gauge": _gauge_said,
}
_COLUMNS: dict[str, list[str]] = {
    "counter": ["At", "An hour", "A second", "An iteration", "Counted", "Measured"],
    "rate": ["At", "Share", "Passed", "Values", "Measured"],
    "trend": ["At", "Mean", "p95", "Most", "Values", "Measured"],
    "gauge": ["At", "Last", "Least", "Most", "Measured"],
}


def _table(entry: Row) -> dict[str, Any]:
    kind, unit = entry["kind"], _unit(entry)
    notes = ["Intervals of 95%." if kind != "gauge" else ""]
    if (ceiling := entry["ceiling"]) is not None:
        notes.append(
            f"At most {number(ceiling['per_hour'])} an hour{_interval(ceiling['per_hour_interval'], number)} at the "
            f"plateau, from {ceiling['from_words']} on."
        )
    return {
        "title": f"{entry['metric']}, {kind}" + (", in ms" if unit else ""),
        "note": " ".join(note for note in notes if note),
        "columns": _COLUMNS[kind],
        "words": ["At"],
        "rows": [[row["load"], *_cells(kind, row), f"{number(row['seconds'])} s"] for row in entry["loads"]],
    }


def _cells(kind: str, row: Row) -> list[str]:
    if kind == "counter":
        rates = [_with(row, name) for name in ("per_hour", "per_s", "per_iteration")]
        return [*rates, number(row["counted"])]
    if kind == "rate":
        return [_with(row, "share", share_words), number(row["passes"]), number(row["values"])]
    if kind == "trend":
        return [_with(row, "mean"), _with(row, "p95"), number(row["most"]), number(row["values"])]
    return [number(row[name]) for name in ("last", "least", "most")]


def _with(row: Row, name: str, words: Callable[[float], str] = number) -> str:
    """A value with its interval, as a cell."""
    if row[name] is None:
        return "–"
    interval = row[f"{name}_interval"]
    return words(row[name]) + (f" ({words(interval[0])} to {words(interval[1])})" if interval else "")


def _notes(entries: Sequence[Row], silent: Sequence[str]) -> list[str]:
    notes = [ASSUMED] if any(one["kind"] != "gauge" for one in entries) else []
    if any(one["ceiling"] for one in entries):
        notes.append(CEILING_MEANS)
    for one in entries:
        why: dict[str, list[str]] = {}
        for row in one["loads"]:
            if row.get("why_no_interval"):
                why.setdefault(row["why_no_interval"], []).append(row["load"])
        notes += [f"{one['metric']}: no interval at {'; '.join(loads)}: {reason}." for reason, loads in why.items()]
    if silent:
        verb = "was" if len(silent) == 1 else "were"
        notes.append(f"{', '.join(silent)} {verb} not recorded while the load was measured.")
    return notes
