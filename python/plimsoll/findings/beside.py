"""What is told beside an experiment's own answers: the script's own metrics, how a request's time splits, which process
does the work, whether its mix stays, and what was watched beside the load, databases and profiles of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

KINDS = ("database_step", "database_run", "profile_step")


def findings_beside(run: Any, findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """They; none where there is nothing of the kind. `run`: a RunReader; `findings`: those made already, which tell
    experiment, status, the steps and the knee."""
    from plimsoll.findings.mix import mix_findings
    from plimsoll.findings.process_work import process_work_findings
    from plimsoll.findings.request_split import request_split_findings
    from plimsoll.findings.script_metrics import script_metrics_findings
    from plimsoll.findings.shape.units_of import with_units

    parts = (script_metrics_findings, request_split_findings, process_work_findings, mix_findings)
    found = [one for part in parts for one in part(run, findings)]
    if any(event.get("kind") in KINDS for event in run.events()):
        from plimsoll.findings.database import database_findings
        from plimsoll.findings.profile import profile_findings

        found += [*database_findings(run, findings), *profile_findings(run, findings)]
    return [with_units(one) for one in found]
