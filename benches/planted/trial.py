"""One trial: a plant stands, Plimsoll is asked as a user would ask it, and its first two answers are kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml
from confined import Skipped, cpu_quota
from plants import Plant, Standing, standing

from plimsoll.runs.format.lines import read_lines

ROOT = Path(__file__).parents[2]
AT_MOST_S = 240
STEP_S, WIDTH = 4, 0.5
STOLEN, STOOD_STILL_S = 0.10, 2.0
SCRIPT = """import http from 'k6/http';
const computeMs = Number(__ENV.COMPUTE_MS || 0);
export function buy() {
  const until = Date.now() + computeMs;
  while (Date.now() < until) { for (let i = 0; i < 2000; i++) { Math.sqrt(i); } }
  http.get(`${__ENV.BASE_URL}/buy`);
}
"""
# A share of a core cannot be timed by the wall: the work of a millisecond is counted out instead.
COUNTED = """import http from 'k6/http';
const rounds = Number(__ENV.ROUNDS);
export function buy() {
  let sum = 0;
  for (let i = 0; i < rounds; i++) { sum += Math.sqrt(i); }
  http.get(`${__ENV.BASE_URL}/buy`);
  return sum;
}
"""


def try_out(plant: Plant, folder: Path) -> dict[str, Any]:
    """The record of a trial in that folder: verdict {first, second}, right_first, right_second, and status "judged",
    "skipped" (this machine cannot), "not planted" (it did not come up), "disturbed" (the hypervisor took more than
    STOLEN of a core, or all stood still) or "no answer", with `why`."""
    began, standstill = time.monotonic(), Standstill()
    record: dict[str, Any] = {
        "experiment": plant.experiment,
        "parameters": plant.parameters,
        "truth": list(plant.truth.kinds),
        "carries_per_s": round(plant.carries_per_s, 1),
    }
    try:
        with standing(plant, folder) as stands, standstill:
            record |= _asked(plant, stands, folder)
    except Skipped as reason:
        record |= {"status": "skipped", "why": str(reason)}
    except (OSError, RuntimeError) as error:
        record |= {"status": "not planted", "why": str(error)[:300]}
    if standstill.longest_s > STOOD_STILL_S and record["status"] in ("judged", "no answer"):
        record |= {"status": "disturbed", "why": f"this machine stood still for {standstill.longest_s:.0f} s"}
    return record | {"took_s": round(time.monotonic() - began, 1)}


class Standstill:
    """A context that notices for how long this process was not run at all, as when the machine was suspended."""

    def __init__(self) -> None:
        self.longest_s = 0.0
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        before = time.monotonic()
        while not self._ends.wait(0.25):
            now = time.monotonic()
            self.longest_s, before = max(self.longest_s, now - before - 0.25), now

    def __enter__(self) -> Standstill:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()


def study_of(plant: Plant, stands: Standing, script: Path) -> dict[str, Any]:
    """The study that a user would write for this target."""
    most = plant.load if plant.truth.kinds == ("none",) else None
    least = round(max(1.0, 0.5 * plant.carries_per_s), 1)
    capacity = {"width": WIDTH, "step_s": STEP_S, "min_users": least if most is None else round(most / 4, 1)}
    capacity |= {"max_users": most} if most is not None else {}
    hold = {"users": plant.load, "duration_s": plant.hold_s, "warm_up_s": 2, "baseline_s": 3}
    probes: dict[str, Any] = {"core_speed": False}
    if stands.dsn:
        probes["postgresql"] = [{"dsn": stands.dsn, "label": "shopdb"}]
    return {
        "name": "planted",
        "target": {"url": stands.url, "ready": "/ready", "processes": stands.processes},
        "workload": {
            "script": str(script),
            "env": {"ROUNDS": str(int(plant.script_ms * ROUNDS_PER_MS))} if plant.script_ms else {},
            "operations": [{"name": "buy", "per_user_hour": 3600}],
        },
        "probes": probes,
        "experiments": [{plant.experiment: capacity if plant.experiment == "capacity" else hold}],
    }


ROUNDS_PER_MS = 12_000


def _asked(plant: Plant, stands: Standing, folder: Path) -> dict[str, Any]:
    script, study = folder / "buy.js", folder / "study.yaml"
    script.write_text(COUNTED if plant.script_ms else SCRIPT)
    study.write_text(yaml.safe_dump(study_of(plant, stands, script)))
    with ExitStack() as around:
        before = around.enter_context(cpu_quota(plant.generator_cores)) if plant.generator_cores else []
        command = [sys.executable, "-m", "plimsoll", plant.experiment, str(study), "--json", "-q", "--seed", "1"]
        process = subprocess.Popen(
            [*before, *command, "--runs", str(folder / "runs")],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        )  # fmt: skip
        try:
            said, complaints = process.communicate(timeout=AT_MOST_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return {"status": "no answer", "why": f"it took more than {AT_MOST_S} s"}
    try:
        findings = json.loads(said)
    except json.JSONDecodeError:
        return {"status": "no answer", "why": complaints.strip()[-400:]}
    return judged(plant, findings, folder)


def judged(plant: Plant, findings: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """What the first finding names, whether that is the truth, and whether the machine disturbed it."""
    main = findings[0]
    first = main.get("limited_by") or {"kind": "unknown", "where": None, "evidence": main.get("answer")}
    second = first.get("runner_up")
    noted = plant.truth.is_noted_by(main)
    right = noted and plant.truth.is_named_by(first)
    capacity = main.get("capacity") or {}
    record = {
        "verdict": {"first": _short(first), "second": _short(second)},
        "right_first": right,
        "right_second": right or (noted and plant.truth.is_named_by(second)),
        "valid": main.get("valid"),
        "bracket": [capacity.get("good"), capacity.get("bad")],
        "answer": str(main.get("answer"))[:300],
        "machine": machine_of(folder, main),
    }
    status = "disturbed" if record["machine"]["stolen"] > STOLEN else "judged"
    return record | {"status": status, "why": " ".join(main.get("invalid_because") or ())[:200]}


def _short(limit: dict[str, Any] | None) -> dict[str, Any] | None:
    if limit is None:
        return None
    return {"kind": limit.get("kind"), "where": limit.get("where"), "evidence": str(limit.get("evidence"))[:300]}


def machine_of(folder: Path, main: dict[str, Any]) -> dict[str, float]:
    """What others took during the run: `stolen`, share of a core by the hypervisor; `foreign_cores`, CPU that neither
    the target nor the generator used. Means of its seconds."""
    lines = [line for path in folder.glob("runs/*/resources.jsonl*") for line in read_lines(path)]
    by_second: dict[Any, dict[str, dict[str, float]]] = {}
    for line in lines:
        by_second.setdefault(line.get("second"), {})[line["source"]] = line["values"]
    generator = max((float(step.get("generator_cores") or 0.0) for step in main.get("steps") or ()), default=0.0)
    stolen, foreign = [], []
    for sources in by_second.values():
        host = sources.get("host", {})
        if "cpu_cores_used" not in host:
            continue
        mine = sum(v.get("cpu_cores_used", 0.0) for name, v in sources.items() if name.startswith("process:"))
        stolen.append(host.get("cpu_steal_worst_core_share", 0.0))
        foreign.append(max(0.0, host["cpu_cores_used"] - mine - generator))
    return {
        "stolen": round(fmean(stolen), 3) if stolen else 0.0,
        "foreign_cores": round(fmean(foreign), 3) if foreign else 0.0,
    }
