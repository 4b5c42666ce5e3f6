"""What the live page needs of a script beside its seconds: how long its load is, and its thresholds as objectives. Only
with `--ui`, as the script is loaded once more for it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from plimsoll.errors import InputError

if TYPE_CHECKING:
    from plimsoll.engine import EngineConfig, EngineRun
    from plimsoll.runs.writer import RunWriter

EVENT = "declared"


def tell_declared(config: EngineConfig, engine: EngineRun, writer: RunWriter) -> None:
    """Write the event `declared`. A number of iterations has no length that is known."""
    from plimsoll.engine import inspect
    from plimsoll.plans.thresholds import objectives_of

    with suppress(InputError):  # as of files that the run itself moved
        about: dict[str, Any] = inspect(config)
        ends = [one["end_s"] for one in about["scenarios"] if one.get("end_s") is not None]
        planned_s = max(ends, default=None) if not engine.fixed_iterations else None
        is_open = any(one.get("open") for one in about["scenarios"])
        objectives, _ = objectives_of(about["options"].get("thresholds") or {}, is_open)
        writer.append_event(EVENT, second=0.0, planned_s=planned_s, objectives=list(objectives))
