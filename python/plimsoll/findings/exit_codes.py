"""What the command line ends with for a finding, whichever experiment made it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

EXIT_FAILED, EXIT_INVALID, EXIT_INTERRUPTED = 99, 3, 130


def exit_code(finding: Mapping[str, Any]) -> int:
    """0 answered; 99 an objective failed, had no data or could not be kept, the expected load is not carried, or B is
    slower by more than the margin or fails more; 3 invalid; 130 interrupted."""
    if finding.get("status") == "interrupted":
        return EXIT_INTERRUPTED
    if not finding["valid"]:
        return EXIT_INVALID
    failed = any(one["verdict"] == "failed" or without_data(one) for one in finding.get("objectives", ()))
    slower = any(
        one["primary"] and one["verdict"] == "slower" and not one["within_margin"]
        for one in finding.get("comparisons", ())
    )
    keep = finding.get("keep") or {}
    not_kept = keep.get("unreachable") or keep.get("lost_at_s") is not None
    fails_more = finding["experiment"] == "compare" and any(one["b"] > one["a"] for one in finding["failures"])
    return EXIT_FAILED if failed or slower or not_kept or fails_more or not_carried(finding) else 0


def without_data(objective: Mapping[str, Any]) -> bool:
    """Whether loads were held and no request of the objective was seen in them, as of a name that matches nothing."""
    levels = objective.get("verdicts") or ()
    if objective.get("unmatched"):
        return True
    return objective.get("verdict") == "undecided" and bool(levels) and not any(one.get("samples") for one in levels)


def not_carried(finding: Mapping[str, Any]) -> bool:
    """Whether the expected load is known not to be carried, or not with its objectives."""
    return (finding.get("headroom") or {}).get("carries") is False


def exit_code_of(runs: Iterable[Sequence[Mapping[str, Any]]]) -> int:
    """The gravest of several runs or files that were judged again, each the main finding first; how they ended is told
    by the answer and is no failure of judging them again: 3 one is invalid, 99 something failed in one, 0."""
    found = list(runs)
    if any(not findings[0].get("valid", True) for findings in found):
        return EXIT_INVALID
    everything = [one for findings in found for one in findings]
    objectives = [item for one in everything for item in one.get("objectives") or ()]
    failed = any(item["verdict"] == "failed" or without_data(item) for item in objectives)
    return EXIT_FAILED if failed or any(map(not_carried, everything)) else 0
