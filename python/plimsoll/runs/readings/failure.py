"""What ended a run that failed, as it was recorded: for those who ask for an answer that it never had."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def failure_of(events: Iterable[Mapping[str, Any]]) -> str:
    """The message of the last error that is none of a probe; empty without one."""
    told = (one for one in events if one.get("kind") == "error" and not one.get("source"))
    return next((str(one.get("message") or "") for one in reversed(list(told))), "")
