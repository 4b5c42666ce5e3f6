"""`plimsoll capacity` of a stack: what the target asks on this host is part of the answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from stacked_servers import served

import plimsoll

CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
pytestmark = pytest.mark.skipif(len(CORES) < 2, reason="one processor cannot keep two programs apart")
SCRIPT = """import http from 'k6/http';
export const options = { scenarios: { views: {
  executor: 'constant-arrival-rate', rate: 20, timeUnit: '1s', duration: '5s', preAllocatedVUs: 50 } } };
export default function () { http.get('http://127.0.0.1:PORT/'); }
"""


def asked(folder: Path, port: int | str, *flags: str) -> dict[str, dict[str, Any]]:
    """The findings by question; the generator is pinned to the second core by its user."""
    (folder / "script.js").write_text(SCRIPT.replace("PORT", str(port)))
    command = [sys.executable, "-m", "plimsoll", "capacity", "script.js", "--json", "--step", "2", *flags]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=400, check=False,
        preexec_fn=lambda: os.sched_setaffinity(0, {CORES[1]}),
    )  # fmt: skip
    assert done.returncode in (0, 3), done.stderr  # 3: a machine busy with other things, which says so
    return {one["question"]: one for one in json.loads(done.stdout)}


def test_a_pinned_front_and_its_back_are_one_target_apart_from_the_generator(tmp_path: Path) -> None:
    first, second = CORES[:2]
    with served(cpus=[first], work_s=0.004) as (back, pid), served(cpus=[first], asks=back) as (front, _):
        found = asked(tmp_path, front, "--min-users", "0.5", "--max-users", "1")
    main = next(iter(found.values()))
    assert main["generator"]["kept_apart"] == f"affinity: target on CPU {first}, generator on CPU {second}"
    assert "were not kept apart" not in json.dumps(main)
    [note] = [text for text in main["notes"] if "answers the target on this host" in text]
    assert f"(process {pid}, port {back})" in note and "peers: false" in note
    processes = found["What hardware does it need?"]["sizing"]["processes"]
    demands = {one["label"]: one["cpu_ms_per_operation"] for one in processes}
    assert len(demands) == 2 and demands.pop("target") < max(demands.values())


def test_isolate_says_which_peer_stayed_on_the_generator_s_cores(tmp_path: Path) -> None:
    script = SCRIPT.replace("'http://127.0.0.1:PORT/'", "__ENV.URL")
    (tmp_path / "script.js").write_text(script)
    told: list[str] = []
    with served() as (back, pid), served(asks=back) as (front, _):
        env = {"URL": f"http://127.0.0.1:{front}/"}
        choices, heard = plimsoll.Choices(tmp_path / "runs", env, isolate=True), plimsoll.Listeners(note=told.append)
        answer = plimsoll.capacity(tmp_path / "script.js", choices, heard, step_s=1, min_users=0.5, max_users=0.5)
        main, *_ = answer.findings
        assert len(os.sched_getaffinity(pid)) == len(CORES)  # what was not named is not moved
    assert main["generator"]["kept_apart"] is None and "were not kept apart" in main["generator"]["words"]
    [note] = [text for text in main["notes"] if "may use the generator's cores" in text]
    assert note in told and "target.processes" in note
