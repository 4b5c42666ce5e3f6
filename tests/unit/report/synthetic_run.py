"""A seeded, invented capacity run in the shape of run directory version 1, for the tests of the report.

The target is a single server with a service time of 10 ms, so it carries 100 iterations/s: 7,200 users at 50
operations per user and hour. Response times follow the closed form of M/M/1 below that and grow with the backlog
above it. Nothing is measured; the same seed gives the same bytes.
"""

from __future__ import annotations

import json
import math
import random
import struct
from collections import Counter
from pathlib import Path

T0_UNIX = 1_790_000_000.0
PER_USER_HOUR = {"create_issue": 1, "update_issue": 9, "view_issue": 30, "search_issues": 10}
REQUESTS = {
    "create_issue": ("POST /api/drafts", "POST /api/issues"),
    "update_issue": ("POST /api/commands",),
    "view_issue": ("GET /api/issues/:id",),
    "search_issues": ("GET /api/sortedIssues",),
}
SERVICE_S = 0.010
STEPS = (
    (1000, 5, "probe"),
    (2000, 5, "probe"),
    (4000, 5, "probe"),
    (8000, 5, "probe"),
    (4000, 10, "good"),
    (6000, 10, "good"),
    (7000, 10, "undecided"),
    (8000, 10, "bad"),
    (7000, 10, "good"),
    (7400, 10, "bad"),
)
DRAIN_S = 2


def bucket_index(value: float) -> int:
    """Top 22 bits of the double, as the contract of series.jsonl.zst has it; defined for value >= 0."""
    return 0 if value == 0 else struct.unpack("<q", struct.pack("<d", value))[0] >> 42


def trend(metric: str, tags: dict[str, str], values: list[float]) -> dict:
    """One trend series of one second; values in ms, at least one of them."""
    buckets = sorted(Counter(bucket_index(value) for value in values).items())
    return {
        "metric": metric,
        "kind": "trend",
        "tags": tags,
        "count": len(values),
        "sum": sum(values),
        "min": min(values),
        "max": max(values),
        "buckets": [list(bucket) for bucket in buckets],
    }


class Target:
    """A queue in fluid approximation: backlog grows by what arrives beyond 1/SERVICE_S a second."""

    def __init__(self, seed: int, requests: dict[str, tuple[str, ...]]) -> None:
        self.random = random.Random(seed)
        self.requests = requests
        self.backlog = 0.0

    def second(self, second: int, level: float) -> dict:
        """The snapshot of one second at `level` users; 0 users drains the backlog."""
        planned = {name: self._poisson(level * PER_USER_HOUR[name] / 3600) for name in PER_USER_HOUR}
        total = sum(planned.values())
        done = min(int(1 / SERVICE_S), total + int(self.backlog))
        self.backlog = max(0.0, self.backlog + total - done)
        utilisation = min(0.97, total * SERVICE_S)
        mean_ms = 1000 * SERVICE_S / (1 - utilisation) + 1000 * self.backlog * SERVICE_S
        series: list[dict] = []
        for operation, count in planned.items():
            if count:
                series += self._operation(operation, count, mean_ms)
        lag_ms = 0.2 + 0.3 * self.random.random()
        return {
            "second": second,
            "t_unix": T0_UNIX + second,
            "level": float(level),
            "vus": min(200, 10 + int(self.backlog)),
            "vus_max": 200,
            "planned": total,
            "started": done,
            "done": done,
            "late": max(0, total - done),
            "dropped": 0,
            "backlog": int(self.backlog),
            "in_flight": min(200, int(self.backlog) + 1),
            "oldest_wait_s": round(self.backlog * SERVICE_S, 3),
            "series": series,
            "generator": {
                "cpu_s": 0.02 + 0.0009 * total,
                "lag_p50_ms": 0.1,
                "lag_p99_ms": lag_ms,
                "lag_max_ms": 2 * lag_ms,
                "threads": 1,
                "rss_bytes": 9e7 + 1e4 * second,
                "open_files": 60,
            },
        }

    def _operation(self, operation: str, count: int, mean_ms: float) -> list[dict]:
        series = []
        iteration = [0.0] * count
        for name in self.requests[operation]:
            share = mean_ms / len(self.requests[operation])
            times = [self.random.expovariate(1 / share) + 0.5 for _ in range(count)]
            iteration = [a + b for a, b in zip(iteration, times, strict=True)]
            failed = sum(1 for time in times if time > 4000)
            method = name.split()[0]
            tags = {"scenario": operation, "name": name, "method": method, "status": "200", "group": ""}
            series.append(trend("http_req_duration", tags, [0.9 * time for time in times]))
            series.append(trend("http_req_response_time", tags, times))
            series.append({"metric": "http_reqs", "kind": "counter", "tags": tags, "value": count})
            series.append({"metric": "http_req_failed", "kind": "rate", "tags": tags, "passes": failed, "total": count})
        tags = {"scenario": operation, "group": ""}
        series.append(trend("iteration_response_time", tags, iteration))
        series.append(trend("iteration_duration", tags, iteration))
        series.append({"metric": "iterations", "kind": "counter", "tags": tags, "value": count})
        return series

    def _poisson(self, mean: float) -> int:
        limit, product, count = math.exp(-mean), self.random.random(), 0
        while product > limit:
            product *= self.random.random()
            count += 1
        return count


def write_run(
    directory: Path,
    *,
    seed: int = 1,
    status: str = "finished",
    findings: bool = True,
    rename: dict[str, str] | None = None,
    torn: bool = False,
) -> Path:
    """Write the run into `directory`; `rename` maps operation and request names (for names that attack the page).

    `status="running"` with `findings=False` and `torn=True` is what a `kill -9` leaves.
    """
    rename = rename or {}
    directory.mkdir(parents=True, exist_ok=True)
    target = Target(seed, REQUESTS)
    snapshots, resources, events, steps = [], [], [], []
    for level, duration_s, verdict in STEPS:
        start_s = len(snapshots)
        events.append(event(start_s, "step_started", level=level))
        for _ in range(duration_s):
            snapshots.append(target.second(len(snapshots), level))
            resources += resource_lines(snapshots[-1])
        end_s = len(snapshots)
        steps.append(step(level, verdict, snapshots[start_s:end_s]))
        events.append(event(end_s, "step_ended", **steps[-1]))
        for _ in range(DRAIN_S):
            snapshots.append(target.second(len(snapshots), 0))
            resources += resource_lines(snapshots[-1])
    study = {
        "workload": {
            "script": "tracker.js",
            "model": "open",
            "operations": [{"name": name, "exec": name, "per_user_hour": rate} for name, rate in PER_USER_HOUR.items()],
        },
        "expected_users": 3000,
        "objectives": [{"operation": "create_issue", "objective": "p90<=100ms"}],
        "target": {"url": "http://127.0.0.1:8080", "environment": {"API_TOKEN": "***"}},
    }
    manifest = {
        "schema": 1,
        "experiment": "capacity",
        "status": status,
        "started_unix": T0_UNIX,
        "ended_unix": T0_UNIX + len(snapshots) if status != "running" else None,
        "plimsoll": "0.1.0",
        "python": "3.11.2",
        "machine": {
            "cores": 2,
            "cpu_model": "Invented CPU @ 2.80 GHz",
            "memory_bytes": 8_000_000_000,
            "kernel": "Linux 6.1",
        },
        "script": {"path": "tracker.js", "sha256": "ab" * 32},
        "options": {"step_s": 10, "width": 0.1, "arrival_process": "poisson"},
        "study": study,
        "seed": seed,
        "level_unit": "users",
        "clock": {"t0_unix": T0_UNIX},
    }
    write(directory / "manifest.json", json.dumps(manifest), rename)
    lines = "\n".join(json.dumps(snapshot) for snapshot in snapshots) + "\n"
    write(directory / "series.jsonl", lines[: -400 if torn else None], rename)
    write(directory / "resources.jsonl", "".join(json.dumps(line) + "\n" for line in resources), rename)
    write(directory / "events.jsonl", "".join(json.dumps(line) + "\n" for line in events), rename)
    if findings:
        write(directory / "findings.json", json.dumps([finding(steps, directory.name)]), rename)
    return directory


def write(path: Path, text: str, rename: dict[str, str]) -> None:
    """Write text with every JSON string that equals a key of `rename` replaced by its value."""
    for old, new in rename.items():
        text = text.replace(json.dumps(old), json.dumps(new))
    path.write_text(text, encoding="utf-8")


def event(second: int, kind: str, **more: object) -> dict:
    return {"t_unix": T0_UNIX + second, "second": second, "kind": kind, **more}


def resource_lines(snapshot: dict) -> list[dict]:
    """Host, target process and generator at one second; shares are of the whole host or of one core."""
    share = min(0.99, snapshot["done"] * SERVICE_S)
    moment = {"t_unix": snapshot["t_unix"], "second": snapshot["second"]}
    generator = snapshot["generator"]["cpu_s"]
    rss = 1.5e8 + 2e5 * snapshot["second"]
    process = {"cpu_cores_used": share, "cpu_share": share, "rss_bytes": rss, "threads": 4, "open_files": 40}
    host = {
        "cpu_cores_used": share + generator,
        "cpu_share": (share + generator) / 2,
        "memory_used_bytes": 2e9,
        "disk_write_bytes_per_s": 1e6 * share,
    }
    return [
        {**moment, "source": "host", "values": host},
        {**moment, "source": "process:tracker", "values": process},
        {**moment, "source": "generator", "values": {"cpu_cores_used": generator, "rss_bytes": 9e7}},
    ]


def step(level: float, verdict: str, snapshots: list[dict]) -> dict:
    """A step as a capacity finding carries it; its percentiles are of M/M/1, not of the histograms."""
    seconds = len(snapshots)
    planned = sum(snapshot["planned"] for snapshot in snapshots) / seconds
    done = sum(snapshot["done"] for snapshot in snapshots) / seconds
    backlog = snapshots[-1]["backlog"]
    mean_ms = 1000 * SERVICE_S / (1 - min(0.97, planned * SERVICE_S)) + 5 * backlog
    share = min(0.99, done * SERVICE_S)
    return {
        "level": level,
        "start_s": snapshots[0]["second"],
        "end_s": snapshots[-1]["second"] + 1,
        "planned_per_s": planned,
        "done_per_s": done,
        "p50_ms": mean_ms * math.log(2),
        "p90_ms": mean_ms * math.log(10),
        "p99_ms": mean_ms * math.log(100),
        "errors": 0,
        "backlog_end": backlog,
        "verdict": verdict,
        "reasons": ["backlog grew by 9 arrivals/s"] if verdict == "bad" else [],
        "cpu": {"host": (share + 0.1) / 2, "process:tracker": share},
    }


def finding(steps: list[dict], run: str) -> dict:
    """The capacity finding, with the keys of DESIGN.md."""
    verdicts = [
        {"level": item["level"], "verdict": "undecided", "value_ms": item["p90_ms"], "samples": 20}
        for item in steps
        if item["verdict"] != "probe"
    ]
    verdicts[0]["verdict"] = "met"
    verdicts[-1]["verdict"] = "failed"
    return {
        "schema": 1,
        "question": "How much load does it carry?",
        "answer": "Carries 7,000 users (97.2 operations/s); at 7,400 users the backlog grows without end.",
        "experiment": "capacity",
        "valid": True,
        "capacity": {
            "users": 7000,
            "rate_per_s": 97.2,
            "requests_per_s": 99.2,
            "good": 7000,
            "bad": 7400,
            "interval": [7050, 7350],
            "confidence": 0.95,
            "knee": 3600,
            "knee_interval": [3300, 4000],
            "knee_means": "the load of greatest throughput ÷ mean response time",
        },
        "objectives": [
            {
                "operation": "create_issue",
                "objective": "p90<=100ms",
                "met_up_to_users": 4000,
                "verdicts": verdicts,
            }
        ],
        "limited_by": {
            "kind": "cpu",
            "where": "target process 4711 (tracker)",
            "utilisation": 0.98,
            "evidence": "process:tracker used 0.98 of one core at 7,400 users; throughput stayed at 100/s.",
        },
        "headroom": {"expected_users": 3000, "ratio": 1.33},
        "generator": {"healthy": True, "cpu": 0.11, "lag_p99_ms": 0.5},
        "next": ["Give the tracker a second process and run again."],
        "steps": steps,
        "run": run,
    }
