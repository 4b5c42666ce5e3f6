"""What is told beside an experiment's own answers: the script's own metrics, how a request's time splits, which process
does the work, whether its mix stays, and what was watched beside the load, databases and profiles of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.findings.validity.validity import RestsOn
    from plimsoll.runs.reader import RunReader

SCHEMA = 1
KINDS = ("database_step", "database_run", "profile_step")


def _validity(main: Mapping[str, Any], rests_on: RestsOn) -> dict[str, Any]:
    """That of what rests on this, where the main finding tells it apart; else it is as valid as that."""
    from plimsoll.findings.validity.validity import conclusions

    of_run = {"validity": (main.get("generator") or {}).get("validity") or main.get("validity") or ()}
    known = any(one["rests_on"] == rests_on for one in of_run["validity"])
    return conclusions(of_run, [rests_on]) if known else {}


def findings_beside(run: RunReader, findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """They; none where there is nothing of the kind. `run`: a RunReader; `findings`: those made already, the main one
    first, which tells experiment, status, whether it counts, the steps and the knee."""
    from plimsoll.findings.beside.mix import mix_findings
    from plimsoll.findings.beside.process_work import process_work_findings
    from plimsoll.findings.beside.request_split import request_split_findings
    from plimsoll.findings.beside.script_metrics import script_metrics_findings
    from plimsoll.findings.shape.units_of import level_unit, with_units

    main = findings[0] if findings else {}
    valid = main.get("valid", True) is not False
    common = {
        "schema": SCHEMA,
        "experiment": main.get("experiment", run.manifest.get("experiment")),
        "status": main.get("status", "interrupted"),
        "valid": valid,
        "invalid_because": [] if valid else list(main.get("invalid_because") or ()),
        "level_unit": level_unit(main),
        "objectives": [],
        "next": [],
        "run": main.get("run", str(run.path)),
    }
    parts: tuple[tuple[RestsOn, Any], ...] = (
        ("response_time", script_metrics_findings),
        ("mean_time", request_split_findings),
        ("cpu_per_operation", process_work_findings),
        ("cpu_per_operation", mix_findings),
    )
    found = [common | _validity(main, rests_on) | own for rests_on, part in parts for own in part(run, main)]
    if any(event.get("kind") in KINDS for event in run.events()):
        from plimsoll.findings.beside.profile import profile_findings
        from plimsoll.findings.database.finding import database_findings

        # What the target's server counted and the samples of its processes stand, however the generator fared.
        of_target = common | {"valid": True, "invalid_because": []}
        found += [of_target | own for part in (database_findings, profile_findings) for own in part(run, main)]
    return [with_units(one) for one in found]
