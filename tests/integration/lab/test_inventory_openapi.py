"""What the OpenAPI document says is what the inventory does: schemathesis sends what it allows and what it forbids."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from inventory_client import serving

EXAMPLES = 3


def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    with serving(tmp_path, instances=20) as inventory:
        url = f"{inventory.ready['url']}/openapi.json"
        token = f"X-Okapi-Token: {inventory.client.headers['X-Okapi-Token']}"
        options = ["--max-examples", str(EXAMPLES), "--seed", "1", "--header", token, "--no-color"]
        # A schema cannot say what CQL is: a text that is none is refused, though the schema allows it.
        options += ["--checks", "all", "--exclude-checks", "positive_data_acceptance"]
        command = [sys.executable, "-m", "schemathesis.cli", "run", url, *options]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert "Traceback" not in inventory.errors()
        assert inventory.telemetry()["storage.restarts"] == 0
