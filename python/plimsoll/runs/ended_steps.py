"""The steps of a run as its events hold them: each as it ended, with what has been added to it since."""

from __future__ import annotations

from typing import Any, Protocol


class _Events(Protocol):
    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Every event, in order; of one kind if given."""


def ended_steps(run: _Events) -> list[dict[str, Any]]:
    """The events `step_ended` of measured steps, in order; where a `step_amended` of the same step followed, its numbers
    replace them: arrivals of the step ended after it."""
    steps: dict[tuple[Any, Any], dict[str, Any]] = {}
    for event in run.events():
        key = (event.get("start_s"), event.get("level"))
        if event.get("kind") == "step_ended" and "measured_from_s" in event:
            steps[key] = event
        elif event.get("kind") == "step_amended" and key in steps:
            ended = steps[key]
            steps[key] = {**event, **{name: ended[name] for name in ("kind", "second", "t_unix") if name in ended}}
    return list(steps.values())
