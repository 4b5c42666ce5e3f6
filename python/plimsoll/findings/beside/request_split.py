"""How does the time of a request split? The parts that every run measures, in each cell of a sweep.

Getting a connection (with looking up its name, connecting and TLS where it is new), sending, waiting for the answer's
first byte, and receiving follow one another and are all there is of a request. Means over all requests of a cell, with
intervals of 95% from batches of time (stats/estimates/batch_ratio.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plimsoll.findings.beside.held_windows import held_loads
from plimsoll.findings.beside.script_metrics_seen import LoadSeen, metrics_seen
from plimsoll.findings.evidence import SERIES, Evidence, as_data
from plimsoll.runs.snapshot import ScriptMetric
from plimsoll.words import ms_words, share_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

QUESTION = "How does the time of a request split?"
# metric: (what it is, the part that it lies within).
PARTS: dict[str, tuple[str, str | None]] = {
    "http_req_blocked": ("getting a connection", None),
    "http_req_connecting": ("connecting", "http_req_blocked"),
    "http_req_tls_handshaking": ("TLS handshake", "http_req_blocked"),
    "http_req_sending": ("sending", None),
    "http_req_waiting": ("waiting", None),
    "http_req_receiving": ("receiving", None),
}
ASSUMED = (
    "Getting a connection holds connecting and the TLS handshake; the others do not overlap. Waiting is up to the "
    "answer's first byte: the target's own time and the way there and back. Over another network the parts are others."
)
LEAST_SAID = 0.005


def request_split_findings(run: RunReader, main: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the finding of a sweep has of its own, alone in a list; none of other experiments or without requests.
    `run`: a RunReader; `main`: its main finding."""
    if main.get("experiment") != "sweep":
        return []
    metrics = [ScriptMetric(name, "trend", True) for name in PARTS]
    seen = metrics_seen(run, held_loads(run, main), metrics)
    cells = [cell for one in seen if one.metrics["http_req_waiting"].is_there and (cell := _cell(one))["mean_ms"]]
    if not cells:
        return []
    slowest = max(cells, key=lambda one: float(one["mean_ms"]))
    requests = sum(one["requests"] for one in cells)
    return [
        {
            "question": QUESTION,
            "answer": _answer(slowest),
            "request_split": cells,
            "tables": [_table(cells)],
            "evidence": as_data(
                [Evidence(requests, "requests", SERIES, f"Of {len(cells)} cells with trials that count")]
            ),
            "notes": [ASSUMED, *_without_interval(seen)],
        }
    ]


def _cell(seen: LoadSeen) -> dict[str, Any]:
    means = {name: seen.mean(name) for name in PARTS}
    whole = sum(found.value for name, found in means.items() if found and PARTS[name][1] is None)
    return {
        "load": seen.load.words,
        "level": seen.load.level,
        "variant": seen.load.variant,
        "requests": sum(seen.metrics["http_req_waiting"].bottom),
        "mean_ms": whole,
        "parts": [
            {
                "part": PARTS[name][0],
                "metric": name,
                "within": PARTS[name][1],
                "mean_ms": found.value,
                "interval_ms": found.interval,
                "share": found.value / whole if whole else 0.0,
            }
            for name, found in means.items()
            if found
        ],
    }


def _without_interval(seen: Sequence[LoadSeen]) -> list[str]:
    why: dict[str, list[str]] = {}
    for one in seen:
        waiting = one.mean("http_req_waiting")
        if waiting is not None and waiting.reason:
            why.setdefault(waiting.reason, []).append(one.load.words)
    return [f"No interval of waiting at {'; '.join(loads)}: {reason}." for reason, loads in why.items()]


def _answer(cell: Mapping[str, Any]) -> str:
    parts = sorted((one for one in cell["parts"] if one["within"] is None), key=lambda one: -float(one["mean_ms"]))
    told = [
        f"{one['part']} {ms_words(one['mean_ms'])} ({share_words(one['share'])})"
        for one in parts
        if one["share"] >= LEAST_SAID
    ]
    return f"One request takes longest at {cell['load']}, {ms_words(cell['mean_ms'])} in the mean: {', '.join(told)}."


def _table(cells: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = [what for what, _ in PARTS.values()]
    rows = []
    for cell in cells:
        found = {one["part"]: _ms(one) for one in cell["parts"]}
        rows.append([cell["load"], *(found.get(name, "–") for name in names), ms_words(cell["mean_ms"])])
    return {
        "title": "Parts of a request, mean",
        "note": "Intervals of 95%. Getting a connection holds the two behind it.",
        "columns": ["At", *(name[:1].upper() + name[1:] for name in names), "Together"],
        "words": ["At"],
        "rows": rows,
    }


def _ms(part: Mapping[str, Any]) -> str:
    interval = part["interval_ms"]
    bounds = f" ({ms_words(interval[0])} to {ms_words(interval[1])})" if interval else ""
    return ms_words(part["mean_ms"]) + bounds
