"""What the script of a draft does not make."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LeftOut:
    """Requests that the script does not make: `kind` groups them, `reason` is for people."""

    kind: str
    request: str
    requests: int
    reason: str
    per_user_hour: float | None = None
