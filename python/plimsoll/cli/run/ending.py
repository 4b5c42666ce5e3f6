"""The end of a plain run: thresholds with the verdicts that its exit code counts, and the note of it in its events."""

from __future__ import annotations

from typing import Any

from plimsoll.cli.run.tally import Tally
from plimsoll.findings.outcome import checks_of_groups
from plimsoll.runs.readings.thresholds import settled


def settled_end(ended: dict[str, Any], tally: Tally, strict: bool) -> dict[str, Any]:
    """What the engine ended with, its thresholds settled."""
    summary, aborted = ended["summary"], ended["aborted"]
    metrics = settled(
        summary.get("metrics", {}),
        nothing_answered=tally.nothing_answered,
        strict=strict,
        stopped_by=aborted["message"] if aborted and not aborted["by_script"] else "",
    )
    return {**ended, "summary": {**summary, "metrics": metrics}}


def _lasted_s(ended: dict[str, Any]) -> float:
    return float(ended["summary"].get("state", {}).get("testRunDurationMs", 0.0)) / 1000


def note_of(ended: dict[str, Any], tally: Tally) -> dict[str, Any]:
    """What the run's note holds, see `outcome_of_note`."""
    summary, aborted = ended["summary"], ended["aborted"]
    note = {
        "summary": summary.get("metrics", {}),
        "threw": tally.threw,
        "lasted_s": _lasted_s(ended) or None,
        "checks": checks_of_groups(summary.get("root_group", {})),
        "causes": dict(tally.failures.causes),
        **({"sockets": dict(tally.known_sockets)} if tally.known_sockets else {}),
    }
    if aborted and aborted["by_script"]:
        note["ended_by_script"] = f"aborted by the script: {aborted['message']}"
    elif ended["marked_failed"]:
        note["ended_by_script"] = "marked as failed by exec.test.fail()"
    return note
