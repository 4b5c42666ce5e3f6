"""A step of a capacity run as its events hold it, and what findings make of some, for tests."""

from __future__ import annotations

from typing import Any

from findings_as_json import checked

from plimsoll.findings.capacity.finding import capacity_findings


def step(level: float, verdict: str, **more: Any) -> dict[str, Any]:
    """Ten seconds at that level, calm in all but the verdict."""
    return {
        "level": level, "step_kind": "hold", "start_s": 0.0, "measured_from_s": 2.0, "end_s": 12.0, "verdict": verdict,
        "reasons": [], "planned_per_s": level, "done_per_s": level, "requests_per_s": level, "p50_ms": 5.0,
        "p90_ms": 6.0, "p99_ms": 8.0, "mean_ms": 5.2, "samples": 500, "errors": 0, "error_share": 0.0,
        "error_causes": {}, "late": 0, "dropped": 0, "backlog_end": 0, "generator_share": 0.05,
        "generator_cores": 0.05, "lag_p99_ms": 0.2, "drained": True, "stuck": 0,
    } | more  # fmt: skip


def search(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The finding of a search that carried 100 users and not 120."""
    facts = {
        "unit": "users", "open": True, "status": "finished", "reason": "Why.", "good": 100.0, "bad": 120.0,
        "width": 1 / 6, "width_goal": 0.1, "step_s": 10.0, "max_level": None, "min_level": None, "estimate": None,
        "estimate_sd": None, "rate_per_level_s": 1.0, "rate_arrivals": None, "load_s": 20.0, "steps": list(steps),
    } | more  # fmt: skip
    [finding] = checked(capacity_findings(facts, None))
    return finding
