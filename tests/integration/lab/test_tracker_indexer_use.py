"""What the tracker's indexer costs, from a run of drain, and the hardware for more items."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_process import LabProcess, lab_process

from plimsoll.runs.reader import RunReader

PER_S = 12


@pytest.fixture
def served(tmp_path: Path) -> Iterator[LabProcess]:
    with lab_process("tracker", "--issues", 200, "--index-per-s", PER_S, cwd=tmp_path) as tracker:
        yield tracker


def says(folder: Path, *words: object) -> list[dict[str, Any]]:
    """The findings that a command prints; 3: a machine busy with other things, 99: it falls behind."""
    command = [sys.executable, "-m", "plimsoll", *map(str, words), "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode in (0, 3, 99), done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_a_run_of_drain_tells_the_cpu_of_an_issue_and_what_more_of_them_need(
    served: LabProcess, tmp_path: Path
) -> None:
    (tmp_path / "creates.yaml").write_text(
        f"target: {{url: '{served.url}', processes: [{{label: tracker, port: {served.url.rpartition(':')[2]}}}]}}\n"
        "workload: {script: .lab/tracker/tracker.js, env: {ISSUES: 200}, "
        "operations: [{name: create_issue, exec: createIssue, per_user_hour: 3600}]}\n"
        "experiments: [drain: {backlog: '/indexing#issuesToIndex', consumed: '/indexing#issuesIndexed', "
        f"users: {2 * PER_S}, duration_s: 20, warm_up_s: 2, drain_s: 40}}]\n"
    )
    findings = says(tmp_path, "drain", "creates.yaml", "-q")
    use = next(one for one in findings if one["question"] == "What does the consumer use?")
    [tracker] = use["use"]["processes"]
    assert tracker["label"] == "tracker" and tracker["memory_highest_bytes"] > 2**20
    assert tracker["load_cores"] > tracker["drain_cores"] > 0, "it also answers the requests"
    low, high = tracker["cpu_interval_ms"]
    assert 0 <= low <= tracker["cpu_ms_per_item"] <= high
    run = findings[0]["run"]
    [sized] = says(tmp_path, "size", run, "--rate", "86400/h", "--process", "tracker")
    sizing = sized["sizing"]
    assert sizing["noun"] == "item" and sizing["per_s"] == 24 and "For 24 items/s" in sized["answer"]
    assert sizing["processes"][0]["cpu_ms_per_operation"] == pytest.approx(tracker["cpu_ms_per_item"])
    needs = [one["hosts"][0]["cpu"]["used"] for one in sizing["sizes"]]
    assert needs == sorted(needs) and needs[0] > 0
    assert any("Disk: cannot tell" in note and "--index" in note for note in sized["notes"])
    kept = [one["question"] for one in RunReader(tmp_path / run).findings()]
    assert kept[-1] == "What hardware does it need?" and "Does the consumer keep up?" in kept
