"""Scripts of the folder `scripts` that judge themselves with checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plimsoll.engine import EngineConfig, EngineRun

SCRIPTS = Path(__file__).parent / "scripts"


def run_to_the_end(script: Path, **config: Any) -> dict[str, Any]:
    """What is known when the run of the script has ended."""
    run = EngineRun(EngineConfig(script=script, **config)).begin()
    list(run.snapshots())
    return run.result()


def checks_of(ended: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Path of each check to its passes and fails."""

    def walk(group: dict[str, Any]) -> dict[str, tuple[int, int]]:
        found = {check["path"]: (check["passes"], check["fails"]) for check in group["checks"]}
        for child in group["groups"]:
            found |= walk(child)
        return found

    return walk(ended["summary"]["root_group"])


def failures_of(script: str, url: str = "", **config: Any) -> list[str]:
    """The names of the checks that failed; every script here makes at least one check."""
    checks = checks_of(run_to_the_end(SCRIPTS / script, env={"URL": url}, **config))
    assert checks
    return [path.rpartition("::")[2] for path, (passes, fails) in checks.items() if fails or not passes]
