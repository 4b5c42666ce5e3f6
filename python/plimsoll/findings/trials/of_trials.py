"""The finding of a run made of trials, whichever experiment it was; also of one that was killed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plimsoll.findings.shape.units_of import with_units
from plimsoll.findings.trials import compare, decompose, sweep
from plimsoll.runs.metric_names import RESPONSE_METRICS
from plimsoll.runs.reader import RunReader

FINDINGS = {
    "compare": compare.compare_finding,
    "decompose": decompose.decompose_finding,
    "sweep": sweep.sweep_finding,
}


def finding_of_trials(reader: RunReader, *, status: str, notes: Iterable[str] = ()) -> dict[str, Any]:
    """From plan, complete trials and seconds of the run. Raises KeyError for a run without a plan of trials."""
    plan = reader.plan()
    found = FINDINGS[plan["experiment"]](
        plan,
        reader.trials(),
        reader.snapshots(metrics=RESPONSE_METRICS),
        reader.resources(),
        status=status,
        run_path=str(reader.path),
        notes=notes,
    )
    return with_units(found)
