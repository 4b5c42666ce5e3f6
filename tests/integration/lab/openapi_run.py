"""Runs schemathesis over a target's OpenAPI document: what it says is what the target does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

# How deep: so many generated requests for each operation, beside those of the limits. A number of requests and no time,
# in which a busy host tries two operations of 35.
EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "3"))
SEED = os.environ.get("SCHEMATHESIS_SEED", "1")
# What a schema's limits forbid, and walks from an answer to the next request, take two minutes and more for a target:
# SCHEMATHESIS_PHASES=examples,coverage,fuzzing,stateful with pytest's --timeout=900.
PHASES = os.environ.get("SCHEMATHESIS_PHASES", "examples,fuzzing")


def assert_schemathesis_finds_nothing(
    url: str,
    folder: Path,
    headers: Mapping[str, str],
    *,
    languages: tuple[str, ...] = (),
    settings: str = "",
    hooks: str | None = None,
) -> None:
    """All of its checks, over the document of the server at `url`, of which it must have tried each operation.

    `languages`: operations whose input is more than a schema can say, so that they may refuse what the document
    allows; `settings`: more of schemathesis.toml; `hooks`: a module of tests with checks of its own.
    """
    exempt = "".join(
        f'[[operations]]\ninclude-operation-id = "{name}"\nchecks.positive_data_acceptance.enabled = false\n'
        for name in languages
    )
    (folder / "schemathesis.toml").write_text(settings + exempt)
    options = ["--max-examples", str(EXAMPLES), "--seed", SEED, "--phases", PHASES, "--no-color"]
    report = folder / "schemathesis.json"
    options += ["--report", "json", "--report-json-path", str(report)]
    options += [part for name, value in headers.items() for part in ("--header", f"{name}: {value}")]
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{url}/openapi.json", *options]
    own = {"SCHEMATHESIS_HOOKS": hooks, "PYTHONPATH": os.pathsep.join(sys.path)} if hooks else {}
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | own,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    told = json.loads(report.read_text())
    assert told["complete"] and told["operations"]["tested"] == told["operations"]["selected"], told["operations"]
