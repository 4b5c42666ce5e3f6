"""Capacity runs of hand-made steps and rows of probes, what is found of them, and a closed load's exact throughput."""

from __future__ import annotations

import json
from pathlib import Path

from findings_as_json import checked

from plimsoll.findings.capacity.finding import capacity_findings
from plimsoll.findings.capacity.further import further_findings
from plimsoll.findings.sizing.finding import QUESTION

FACTS = {
    "unit": "users", "status": "finished", "reason": "done", "width": 0.1, "width_goal": 0.1, "step_s": 10.0,
    "max_level": None, "min_level": None, "estimate": None, "estimate_sd": None, "rate_per_level_s": 0.1,
    "rate_arrivals": None, "load_s": 100.0,
}  # fmt: skip


class Rows:
    """A run of rows of probes, without seconds."""

    path = Path("runs/of-rows")

    def __init__(self, rows, manifest=None):
        self.rows, self.manifest = list(rows), manifest or {}

    def resources(self):
        return iter(self.rows)

    def snapshots(self, *, metrics=None):
        return iter(())

    def blocks(self, metrics, **_):
        return iter(())

    def events(self, kind=None):
        return []


def step(place: int, level: float, per_s: float, verdict: str = "good") -> dict:
    return {
        "level": level, "step_kind": "hold", "start_s": 10 * place, "end_s": 10 * place + 10,
        "measured_from_s": 10 * place, "verdict": verdict, "reasons": [], "given_up": False, "disturbed": False,
        "stolen_share": 0.0, "planned_per_s": per_s, "done_per_s": per_s, "requests_per_s": per_s, "p50_ms": 5.0,
        "p90_ms": 9.0, "p99_ms": 20.0, "mean_ms": 6.0, "samples": round(10 * per_s), "errors": 0, "error_share": 0.0,
        "error_causes": {}, "late": 0, "dropped": 0, "backlog_end": 0, "in_flight_end": 0, "drain_s": 0.0,
        "volume_start": None, "volume_end": None, "drained": True, "generator_share": 0.1, "generator_cores": 0.1,
        "lag_p99_ms": 0.1,
    }  # fmt: skip


def run_of(points, *, open_=True, bad=None, app=0.004, thread=True, database=0.002, host=True, own=None):
    """(main finding, run) of steps at (level, throughput); CPU seconds per operation of two processes; `own`: the cores
    that these may use."""
    steps = [
        step(at, level, rate, "bad" if bad and level >= bad else "good") for at, (level, rate) in enumerate(points)
    ]
    rows = []
    for at, (_, rate) in enumerate(points):
        used = {"app": min(app * rate, 1.0), "database": database * rate}
        for second in range(10 * at, 10 * at + 10):
            for label, cores in used.items():
                busiest = cores if thread and label == "app" else cores / 4
                values = {"cpu_cores_used": cores, "busiest_thread_cores_used": busiest, "processes": 1.0}
                rows.append({"second": second, "source": f"process:{label}", "values": values})
            if host:
                whole = 0.02 + sum(used.values())
                values = {"cores": 4.0, "cpu_cores_used": whole, "cpu_share": whole / 4}
                rows.append({"second": second, "source": "host", "values": values})
                if own:
                    shared = {"usable_cores": own, "cpu_share": min(1.0, whole / own)}
                    rows.append({"second": second, "source": "target_cores", "values": shared})
    good = max((level for level, _ in points if bad is None or level < bad), default=None)
    run = Rows(rows)
    [main] = checked(capacity_findings({**FACTS, "open": open_, "good": good, "bad": bad, "steps": steps}, run))
    return main, run


LOADS = [(100.0 * at, 10.0 * at) for at in range(1, 13)]


def by_question(found: list[dict]) -> dict[str, dict]:
    return {finding["question"]: finding for finding in checked(found)}


def sizing_of(main, run, **choice) -> dict:
    [found] = [one for one in further_findings(main, run, **choice) if one["question"] == QUESTION]
    json.dumps(found)
    return found


DEMAND_S, THINK_S = 0.010, 0.500


def closed_throughput(users: int) -> float:
    """Exact mean value analysis of one queueing station and a delay (Lazowska et al. 1984, ch. 6)."""
    queue = throughput = 0.0
    for count in range(1, users + 1):
        response_s = DEMAND_S * (1 + queue)
        throughput = count / (response_s + THINK_S)
        queue = throughput * response_s
    return throughput
