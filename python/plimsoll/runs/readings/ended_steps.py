"""The steps of a run as its events hold them: each as it ended, with what has been added to it since."""

from __future__ import annotations

from typing import Any, Protocol


class _Events(Protocol):
    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Every event, in order; of one kind if given."""


def ended_steps(run: _Events) -> list[dict[str, Any]]:
    """The events `step_ended` of measured steps, in order. A later `step_amended` of the same step replaces its
    numbers: arrivals of the step ended after it."""
    ended = [event for event in run.events("step_ended") if "measured_from_s" in event]
    amended = {_step(event): event for event in run.events("step_amended")}
    own = ("kind", "second", "t_unix")
    return [{**event, **{k: v for k, v in amended.get(_step(event), {}).items() if k not in own}} for event in ended]


def _step(event: dict[str, Any]) -> tuple[Any, Any]:
    return event.get("start_s"), event.get("level")
