"""What the command line ends with for a finding, whichever experiment made it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EXIT_FAILED, EXIT_INVALID, EXIT_INTERRUPTED = 99, 3, 130


def exit_code(finding: Mapping[str, Any]) -> int:
    """0 answered; 99 an objective failed or could not be kept, or B is slower by more than the margin or fails more;
    3 invalid; 130 interrupted."""
    if finding.get("status") == "interrupted":
        return EXIT_INTERRUPTED
    if not finding["valid"]:
        return EXIT_INVALID
    failed = any(one["verdict"] == "failed" for one in finding.get("objectives", ()))
    slower = any(
        one["primary"] and one["verdict"] == "slower" and not one["within_margin"]
        for one in finding.get("comparisons", ())
    )
    keep = finding.get("keep") or {}
    not_kept = keep.get("unreachable") or keep.get("lost_at_s") is not None
    fails_more = finding["experiment"] == "compare" and any(one["b"] > one["a"] for one in finding["failures"])
    return EXIT_FAILED if failed or slower or not_kept or fails_more else 0
