"""A healthy run says nothing of its generator: ten short ones, open and closed, on a machine to itself."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = """import http from 'k6/http';
import { check, sleep } from 'k6';
export const options = %s;
export default function () {
  check(http.get(__ENV.BASE_URL), { ok: (response) => response.status === 200 });
  sleep(0.1);
}
"""
LOADS = (
    {"vus": 10, "duration": "3s"},
    {"vus": 200, "duration": "3s"},
    {"scenarios": {"a": {"executor": "constant-arrival-rate", "rate": 200, "duration": "4s", "preAllocatedVUs": 50}}},
    {"vus": 20, "duration": "3s", "noConnectionReuse": True},
    {"stages": [{"duration": "3s", "target": 100}, {"duration": "2s", "target": 0}]},
)


@pytest.mark.timing
@pytest.mark.parametrize("load", LOADS * 2)
def test_a_healthy_run_says_nothing_of_its_generator(
    tmp_path: Path, known_server: Callable[..., str], load: dict[str, object]
) -> None:
    (tmp_path / "script.js").write_text(SCRIPT % json.dumps(load))
    url = known_server("--servers", 0, "--service-ms", 5)
    command = [sys.executable, "-m", "plimsoll", "run", "-q", "-e", f"BASE_URL={url}", "script.js"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "warning" not in done.stderr, done.stderr
