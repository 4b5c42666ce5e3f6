"""`plimsoll study` with an entry each of capacity, hold, grow and drain: every one leaves what its own command leaves.

The entries of trials are in tests/integration/studies.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.runs.reader import RunReader

SCRIPT = """import http from 'k6/http';
export function view() { http.get(__ENV.BASE_URL); }
export function put() { http.post(`${__ENV.BASE_URL}/put`, 'x'); }
"""
STUDY = """name: four
target:
  url: '{server}'
  reset: 'echo reset >> reset.log'
  variants: {{queue: {{url: '{queue}'}}}}
workload:
  script: work.js
  operations: [{{name: view, per_user_hour: 3600}}, {{name: put, per_user_hour: 3600}}]
expected_users: 30
objectives: [{{operation: view, objective: 'error_rate<=5%'}}]
experiments:
  - capacity: {{of: [view], width: 0.5, step_s: 1, min_users: 100, max_rate: 100, verify: 'echo remedy >> reset.log'}}
  - hold: {{of: [view], users: 40, duration_s: 5, warm_up_s: 0, baseline_s: 0}}
  - grow: {{items: 150, exec: put, max_users: 3}}
  - drain: {{of: [put], users: 60, variant: queue, backlog: '/status#waiting', consumed: '/status#done', duration_s: 8,
            warm_up_s: 0, drain_s: 1}}
"""
NAMES = ["capacity", "hold", "grow", "drain"]


def test_each_entry_leaves_a_run_with_findings_and_a_report_that_the_page_links(
    tmp_path: Path, known_server: Callable[..., str], consumer: Callable[[float], str]
) -> None:
    server = known_server("--servers", 0, "--service-ms", 4, "--constant")
    (tmp_path / "work.js").write_text(SCRIPT)
    (tmp_path / "study.yaml").write_text(STUDY.format(server=server, queue=consumer(15)))
    command = [sys.executable, "-m", "plimsoll", "study", "study.yaml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode in (0, 3, 99), done.stderr  # 3: a machine busy with other things; 99: drain falls behind
    [folder] = (tmp_path / "runs").glob("*-study-*")
    parts = json.loads((folder / "study.json").read_text())["parts"]
    assert [(part["experiment"], part["status"]) for part in parts] == [(name, "finished") for name in NAMES], parts
    for part in parts:
        run = RunReader(folder / part["run"])
        findings = json.loads((folder / part["run"] / "findings.json").read_text())
        assert run.state == "finished" and run.manifest["experiment"] == part["experiment"]
        assert findings[0]["experiment"] == part["experiment"] and findings[0]["answer"] == part["answer"]
        assert "<html" in (folder / part["report"]).read_text()[:500]
    page = (folder / "index.html").read_text()
    links = set(re.findall(r'href="([^"#][^"]*)"', page))
    before = parts[0]["report_before"]
    assert links == {part["report"] for part in parts} | {before} and (folder / before).is_file()

    capacity, hold, grow, drain = (RunReader(folder / part["run"]) for part in parts)
    assert max(snapshot.level for snapshot in capacity.snapshots()) == 100, "100/s of one a second and user"
    assert any(one["question"] == "What did the remedy change?" for one in capacity.findings())
    assert (tmp_path / "reset.log").read_text().split() == ["reset", "reset", "remedy", "reset", "reset", "reset"]
    assert 150 <= hold.per_second("planned")["planned"][:5].sum() <= 250, "40 users, one request a second each"
    assert grow.findings()[0]["load"]["loaded"] >= 150
    consumer_seen = drain.findings()[0]["consumer"]
    assert consumer_seen["taken_per_s"] == pytest.approx(15, rel=0.2), "the rate of the variant's consumer"
    assert consumer_seen["growth_per_s"] > 20, "of 60/s that are put in"
