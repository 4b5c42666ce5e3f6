"""Finds how much load a running system carries, what stops it, and how much room is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.trial_requests import CompareRequest, DecomposeRequest, SweepRequest, TrialChoices
    from plimsoll.trial_verbs import compare, decompose, sweep
    from plimsoll.verbs import Answer, Choices, capacity

__all__ = [
    "Answer",
    "Choices",
    "CompareRequest",
    "DecomposeRequest",
    "SweepRequest",
    "TrialChoices",
    "capacity",
    "compare",
    "decompose",
    "sweep",
]
_OF_TRIALS = ("CompareRequest", "DecomposeRequest", "SweepRequest", "TrialChoices", "compare", "decompose", "sweep")


def __getattr__(name: str) -> Any:
    """The verbs are imported at first use, so that `import plimsoll` and `plimsoll --help` are quick."""
    if name in _OF_TRIALS:
        from plimsoll import trial_verbs

        return getattr(trial_verbs, name)
    if name in __all__:
        from plimsoll import verbs

        return getattr(verbs, name)
    raise AttributeError(f"module 'plimsoll' has no attribute {name!r}")
