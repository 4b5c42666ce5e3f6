"""Sentences of an answer that the run's own steps and resources contradict, by rules that need no truth trial.

python benches/gauntlet/contradictions.py FOLDER...     of runs that the bench kept: answer.json beside runs/
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from plimsoll.runs.format.lines import read_lines

SHORT_OF, CARRIED, SLOWER, CALM_SLOWER = 0.95, 0.98, 5.0, 2.0
OTHERS_CORES, FULL, SAME_RATE = 0.25, 0.95, 0.01


def contradictions(findings: list[dict[str, Any]], resources: list[dict[str, Any]]) -> list[str]:
    """One line each."""
    main = findings[0]
    return [*_steps(main), *_ends(main), *_others(main, resources), *_limits(findings), *_rates(findings)]


def _steps(main: dict[str, Any]) -> Iterator[str]:
    held = [one for one in main["steps"] if one["step_kind"] != "probe" and one["planned_per_s"]]
    calm_ms = min((one["p50_ms"] for one in main["steps"] if one["p50_ms"]), default=0.0)
    for step in held:
        share, slower = step["done_per_s"] / step["planned_per_s"], (step["p50_ms"] or 0.0) / (calm_ms or 1.0)
        seen = (
            f"{share:.0%} completed, {step['in_flight_end']} in flight at the end, p50 {slower:.1f} times the calmest"
        )
        if step["verdict"] == "good" and share < SHORT_OF:
            yield f"{step['level']:.4g}: called carried; {seen}"
        if step["verdict"] == "undecided" and share < SHORT_OF and slower > SLOWER:
            yield f"{step['level']:.4g}: called undecided; plainly not carried: {seen}"
        if step["verdict"] == "undecided" and share >= CARRIED and slower < CALM_SLOWER:
            yield f"{step['level']:.4g}: called undecided; plainly carried: {seen}"


def _ends(main: dict[str, Any]) -> Iterator[str]:
    capacity = main["capacity"]
    for step in main["steps"]:
        share = step["done_per_s"] / step["planned_per_s"] if step["planned_per_s"] else 1.0
        level = step["level"]
        if capacity["good"] and level < capacity["good"] and step["verdict"] == "bad":
            yield f"{level:.4g}: a step below the carried level is called bad ({share:.0%} completed)"
        if capacity["good"] and level <= capacity["good"] and step["step_kind"] != "probe" and share < SHORT_OF:
            yield f"{level:.4g}: at or below the carried level only {share:.0%} completed"
        drained = (step["in_flight_end"] or 0) <= 0.5 * step["planned_per_s"]
        above = capacity["bad"] is not None and level >= capacity["bad"] and step["step_kind"] == "hold"
        if above and share >= CARRIED and drained:
            yield f"{level:.4g}: not carried by the answer; {share:.0%} completed, {step['in_flight_end']} in flight"


def _others(main: dict[str, Any], resources: list[dict[str, Any]]) -> Iterator[str]:
    cores = _by_second(resources, "target_cores", "cpu_share")
    usable = _by_second(resources, "target_cores", "usable_cores")
    processes: dict[int, float] = {}
    for one in resources:
        if one["source"].startswith("process:"):
            used = one["values"].get("cpu_cores_used", 0.0)
            processes[one["second"]] = processes.get(one["second"], 0.0) + used
    shared = [cores[second] * usable.get(second, 1.0) - processes[second] for second in cores if second in processes]
    if shared and fmean(shared) > OTHERS_CORES and main["valid"]:
        yield (
            f"valid and sized without processes that used {fmean(shared):.2f} of the target's "
            f"{fmean(usable.values()):.0f} core(s)"
        )


def _limits(findings: list[dict[str, Any]]) -> Iterator[str]:
    limit = findings[0].get("limited_by") or {}
    for one in findings[1:]:
        if limit.get("kind") not in (None, "none", "unknown") and "not among what was probed" in (one["answer"] or ""):
            yield f"limited by {limit['where']}; “{one['question']}” says that it is not among what was probed"
    runner_up = limit.get("runner_up") or {}
    full = (runner_up.get("utilisation") or 0.0) >= FULL
    if limit.get("kind") in ("pool", "workers", "network") and full:
        yield f"limited by {limit['where']}, while {runner_up['where']} was {runner_up['utilisation']:.0%} busy"


def _rates(findings: list[dict[str, Any]]) -> Iterator[str]:
    """One load has one rate, whatever finding tells it."""
    capacity = findings[0]["capacity"]
    for one in findings[1:]:
        sizing = one.get("sizing") or {}
        same = sizing.get("level") is not None and sizing["level"] == capacity["good"]
        if same and capacity["rate_per_s"] and abs(sizing["per_s"] / capacity["rate_per_s"] - 1) > SAME_RATE:
            yield f"carried {capacity['rate_per_s']:.4g}/s, and sized for {sizing['per_s']:.4g}/s of the same level"


def _by_second(resources: list[dict[str, Any]], source: str, name: str) -> dict[int, float]:
    return {
        one["second"]: one["values"][name] for one in resources if one["source"] == source and name in one["values"]
    }


def of_folder(folder: Path) -> list[str]:
    """Those of a run that the bench kept."""
    findings = json.loads((folder / "answer.json").read_text())
    return contradictions(findings, list(kept_resources(folder)))


def kept_resources(folder: Path) -> Iterator[dict[str, Any]]:
    """The rows of its probes; of the last run where there are several."""
    files = sorted(folder.glob("runs/*/resources.jsonl*"))
    yield from read_lines(files[-1]) if files else ()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(name, *of_folder(Path(name)), sep="\n  - ")
