"""What is planted in the lab's tracker is found by real runs, and is gone where it is off. Needs a quiet machine."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from lab_process import lab_process

from plimsoll.findings.grow import AGEING

pytestmark = [pytest.mark.timing, pytest.mark.timeout(400)]
Tracker = Callable[..., AbstractContextManager[Path]]


@pytest.fixture
def tracker(tmp_path: Path) -> Tracker:
    """`with tracker(*switches)`: the study of a tracker of 500 issues that serves."""

    @contextmanager
    def serve(*switches: str) -> Iterator[Path]:
        with lab_process("tracker", "--issues", 500, *switches, cwd=tmp_path) as served:
            yield tmp_path / served.ready["study"]

    return serve


def findings(folder: Path, *words: object) -> dict[str, dict[str, Any]]:
    """By question."""
    command = [sys.executable, "-m", "plimsoll", *map(str, words), "--isolate", "--json", "-q"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout, done.stderr
    return {one["question"]: one for one in json.loads(done.stdout)}


@pytest.mark.parametrize("on", [True, False])
def test_hold_finds_the_period_and_the_cost_of_the_background_job(tracker: Tracker, tmp_path: Path, on: bool) -> None:
    with tracker(*(("--job-every", "15", "--job-work", "1500") if on else ())) as study:
        told = findings(tmp_path, "hold", study, "--users", 1000, "--duration", 100, "--baseline", 0, "--warm-up", 5)
    found = told["Does something slow it down periodically?"]["periodic"]
    assert (found is not None) == on
    if found is not None:
        assert found["period_s"] == pytest.approx(15, rel=0.02)
        assert 1 <= found["width_s"] <= 4 and found["inside_ms"] > 1.5 * found["outside_ms"]


@pytest.mark.parametrize("on", [True, False])
def test_grow_finds_that_creates_age_in_proportion_to_the_issues(tracker: Tracker, tmp_path: Path, on: bool) -> None:
    items = 15_000 if on else 40_000  # without the defect fewer are loaded before there is anything to tell
    with tracker(*(("--age-recount",) if on else ())) as study:
        told = findings(tmp_path, "grow", study, "--items", items, "--exec", "uploadIssue")
    found = told[AGEING]["ageing"]
    if on:
        assert found["family"] in ("linear", "power", "n log n") and found["change"] > 1
    else:
        assert found["family"] in ("constant", None) and abs(found["change"]) < 0.3
