"""Values of k6's summary, written as k6 does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

MARKS = {"passed": "✓", "failed": "✗", "undecided": "?"}
MOST_DIGITS = 1e21  # from which on JavaScript, and so k6, writes an exponent
UNITS_MS = {"s": 1000.0, "ms": 1.0, "us": 0.001}


def undecided_lines(metrics: Mapping[str, Any]) -> Iterator[str]:
    """Why thresholds are neither passed nor failed, an empty line before each sentence."""
    rows = [(name, row) for name in metrics for row in metrics[name].get("thresholds", {}).values()]
    undecided = [(name, row.get("observed") is not None) for name, row in rows if row["verdict"] == "undecided"]
    for has_value, why in ((False, "no sample was seen"), (True, "no request was answered")):
        names = [name for name, one in undecided if one is has_value]
        if names:
            yield from ("", f"     ? undecided, because {why}: {', '.join(names)}")


def shown(value: float, statistic: str, is_time: bool, time_unit: str) -> str:
    """A statistic of a trend; of a time with its unit."""
    return duration_text(value, time_unit) if is_time and statistic != "count" else number(value)


def duration_text(value_ms: float, unit: str = "") -> str:
    """Milliseconds in a unit of UNITS_MS or, without one, in the unit that reads best: µs, ms, s or m."""
    if unit:
        return f"{value_ms / UNITS_MS[unit]:.6g}{'µs' if unit == 'us' else unit}"
    if value_ms == 0:
        return "0s"
    if abs(value_ms) < 1:
        return f"{_two_decimals(value_ms * 1000)}µs"
    if abs(value_ms) < 1000:
        return f"{_two_decimals(value_ms)}ms"
    if abs(value_ms) < 60_000:
        return f"{_two_decimals(value_ms / 1000)}s"
    if abs(value_ms) >= MOST_DIGITS:
        return f"{value_ms / 60_000:.6g}m"
    minutes, rest_ms = divmod(value_ms, 60_000)
    return f"{minutes:.0f}m{rest_ms / 1000:.0f}s"


def _two_decimals(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def number(value: float) -> str:
    """Six digits, whole numbers whole."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < MOST_DIGITS else f"{value:.6g}"


def bytes_text(count: float) -> str:
    """ "519 kB", "4.9 kB", "12 MB": powers of 1,000, as k6 has them."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(value) < 1000 or unit == "TB":
            break
        value /= 1000
    return f"{value:.2g} {unit}" if unit != "B" and abs(value) < 10 else f"{value:.0f} {unit}"
