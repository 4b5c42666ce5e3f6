"""The command line in a folder of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Verb = Callable[..., tuple[int, dict[str, Any], str]]


@pytest.fixture
def verb(tmp_path: Path) -> Verb:
    """Runs `plimsoll … --json` in `tmp_path`: (exit code, its finding or {}, stderr)."""

    def run(*words: object) -> tuple[int, dict[str, Any], str]:
        command = [sys.executable, "-m", "plimsoll", *map(str, words), "--json"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=110, check=False)
        return done.returncode, json.loads(done.stdout)[0] if done.stdout else {}, done.stderr

    return run
