"""Values of k6's summary, written as k6 does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.runs.readings.thresholds import NO_ANSWER, NO_DATA

MARKS = {"passed": "✓", "failed": "✗", "undecided": "?"}
MOST_DIGITS = 1e21  # from which on JavaScript, and so k6, writes an exponent
UNITS_MS = {"s": 1000.0, "ms": 1.0, "us": 0.001}


def undecided_lines(metrics: Mapping[str, Any]) -> Iterator[str]:
    """Which thresholds neither passed nor failed, behind an empty line."""
    names = [name for name, one in metrics.items() if any(map(_is_undecided, one.get("thresholds", {}).values()))]
    if names:
        yield from ("", f"     ? undecided, because no sample was seen: {', '.join(names)}")


def _is_undecided(row: Mapping[str, Any]) -> bool:
    return bool(row["verdict"] == "undecided")


def lacking(metric: Mapping[str, Any]) -> str:
    """Why a trend has no values, as it or its thresholds say: "no data"; empty where it has."""
    rows = [metric, *metric.get("thresholds", {}).values()]
    return next((row["why"] for row in rows if row.get("why") in (NO_DATA, NO_ANSWER)), "")


def shown(value: float, statistic: str, is_time: bool, time_unit: str) -> str:
    """A statistic of a trend; of a time with its unit."""
    return duration_text(value, time_unit) if is_time and statistic != "count" else number(value)


def duration_text(value_ms: float, unit: str = "") -> str:
    """Milliseconds with two decimals in a unit of UNITS_MS; or, without one, in the unit that reads best, cut off after
    two decimals: "500ns", "555.5µs", "12.99ms", "1m30s", "2h1m5s"."""
    if unit:
        return f"{_fixed(value_ms / UNITS_MS[unit], 2)}{'µs' if unit == 'us' else unit}"
    if value_ms == 0:
        return "0s"
    if abs(value_ms) >= MOST_DIGITS:
        return f"{value_ms / 60_000:.6g}m"
    if abs(value_ms) < 0.001:
        return f"{value_ms * 1e6:.0f}ns"
    if abs(value_ms) < 1:
        return f"{_cut(value_ms * 1000)}µs"
    if abs(value_ms) < 1000:
        return f"{_cut(value_ms)}ms"
    if abs(value_ms) < 60_000:
        return f"{_cut(value_ms / 1000)}s"
    minutes, rest_ms = divmod(value_ms, 60_000)
    hours, minutes = divmod(int(minutes), 60)
    return f"{f'{hours}h' if hours else ''}{minutes}m{int(rest_ms / 1000)}s"


def share_text(share: float) -> str:
    """A share in %, cut off after two decimals, so that one of which something failed is never "100.00%"."""
    return f"{math.trunc(round(10_000 * share, 6)) / 100:.2f}%"


def _cut(value: float) -> str:
    """Two decimals, what is beyond them cut off; no zeros at the end."""
    return number(math.trunc(round(100 * value, 6)) / 100)


def number(value: float) -> str:
    """Six decimals, no zeros at the end; from MOST_DIGITS on with an exponent."""
    return _fixed(value, 6).rstrip("0").rstrip(".") if abs(value) < MOST_DIGITS else f"{value:.6g}"


def _fixed(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}" if abs(value) < MOST_DIGITS else f"{value:.6g}"


def bytes_text(count: float) -> str:
    """ "519 kB", "2.0 kB", "12 MB": powers of 1,000, below ten with one decimal, as k6 has them."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if round(abs(value), 1) < 1000 or unit == "TB":
            break
        value /= 1000
    return f"{value:.1f} {unit}" if unit != "B" and round(abs(value), 1) < 10 else f"{value:.0f} {unit}"
