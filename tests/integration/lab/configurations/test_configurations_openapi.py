"""What the OpenAPI documents say is what the services do: schemathesis sends what they allow and what they forbid."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from configurations_client import Answering, configurations

EXAMPLES = 3


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> object:
    with configurations(tmp_path_factory.mktemp("configurations"), artifacts=22) as whole:
        yield whole


@pytest.mark.parametrize("service", ["gc", "rm", "cm", "jts"])  # qm is rm with another name
def test_schemathesis_finds_nothing(ready: Answering, service: str, tmp_path: Path) -> None:
    header = f"Authorization: {ready.client.headers['Authorization']}"
    options = ["--max-examples", str(EXAMPLES), "--seed", "1", "--header", header, "--no-color"]
    # A schema cannot say that exactly one of context and configuration is wanted, or what contributes.
    options += ["--checks", "all", "--exclude-checks", "positive_data_acceptance"]
    url = f"{ready.urls[service]}/openapi.json"
    command = [sys.executable, "-m", "schemathesis.cli", "run", url, *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=110)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "Traceback" not in ready.errors.read_text()
    assert ready.telemetry()[f"{service}.restarts"] == 0
