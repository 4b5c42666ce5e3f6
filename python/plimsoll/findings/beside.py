"""What was watched beside the load and has findings of its own: databases, and profiles of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

KINDS = ("database_step", "database_run", "profile_step")


def findings_beside(run: Any, findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """They; none where nothing of the kind was watched. `run`: a RunReader; `findings`: those made already, which tell
    experiment, status and the knee."""
    if not any(event.get("kind") in KINDS for event in run.events()):
        return []
    from plimsoll.findings.database import database_findings
    from plimsoll.findings.profile import profile_findings
    from plimsoll.findings.shape.units_of import with_units

    return [with_units(one) for one in (*database_findings(run, findings), *profile_findings(run, findings))]
