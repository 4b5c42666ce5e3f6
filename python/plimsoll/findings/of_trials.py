"""The finding of a run made of trials, whichever experiment it was; also of one that was killed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plimsoll.findings import compare, decompose, sweep
from plimsoll.runs.reader import RunReader

FINDINGS = {
    "compare": compare.compare_finding,
    "decompose": decompose.decompose_finding,
    "sweep": sweep.sweep_finding,
}


def finding_of_trials(reader: RunReader, *, status: str, notes: Iterable[str] = ()) -> dict[str, Any]:
    """From plan, complete trials and seconds of the run. Raises KeyError for a run without a plan of trials."""
    plan = reader.plan()
    return FINDINGS[plan["experiment"]](
        plan,
        reader.trials(),
        reader.snapshots(),
        reader.resources(),
        status=status,
        run_path=str(reader.path),
        notes=notes,
    )


def exit_code(finding: dict[str, Any]) -> int:
    """The command line's exit code for a finding of trials."""
    return compare.exit_code(finding) if finding["experiment"] == "compare" else decompose.exit_code(finding)
