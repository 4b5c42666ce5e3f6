"""A step of a capacity run as its events hold it, for tests of what findings make of it."""

from __future__ import annotations

from typing import Any


def step(level: float, verdict: str, **more: Any) -> dict[str, Any]:
    """Ten seconds at that level, calm in all but the verdict."""
    return {
        "level": level, "step_kind": "hold", "start_s": 0.0, "measured_from_s": 2.0, "end_s": 12.0, "verdict": verdict,
        "reasons": [], "planned_per_s": level, "done_per_s": level, "requests_per_s": level, "p50_ms": 5.0,
        "p90_ms": 6.0, "p99_ms": 8.0, "mean_ms": 5.2, "samples": 500, "errors": 0, "error_share": 0.0,
        "error_causes": {}, "late": 0, "dropped": 0, "backlog_end": 0, "generator_share": 0.05,
        "generator_cores": 0.05, "lag_p99_ms": 0.2, "drained": True, "stuck": 0,
    } | more  # fmt: skip
