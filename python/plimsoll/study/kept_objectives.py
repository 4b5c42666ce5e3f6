"""What `--keep` and the study's `hold: {keep: …}` say: "p95<=300ms", or "detail: p95<=300ms" of a request or an
operation. As any objective (objectives.py), but of those that allow exceptions, as a load can be steered to a share of
them alone."""

from __future__ import annotations

from plimsoll.errors import InputError
from plimsoll.study.objectives import Limit, parse_objective


def parse_kept(text: str) -> tuple[str | None, Limit]:
    """The request or operation (None: all requests) and the limit. Raises InputError."""
    subject, colon, rest = str(text).rpartition(":")
    limit = parse_objective(rest.strip() if colon else str(text))
    if limit.statistic == "max" or limit.limit <= 0:
        raise InputError(
            f"the objective {str(text)!r} allows no exception, so no load can be steered to it",
            "Use a high percentile, as in p99.9<=1s, or an error rate above 0, as in error_rate<=1%.",
        )
    if colon and not subject.strip():
        raise InputError(f"the objective {str(text)!r} names nothing before its colon", "Leave the colon out.")
    return (subject.strip() if colon else None), limit
