"""Plimsoll: how much load a running system carries, what stops it, and how much room is left."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.analysis import Analysed, AnalysisChoices, analyze
    from plimsoll.long_runs import drain, grow, hold
    from plimsoll.trial_requests import CompareRequest, DecomposeRequest, SweepRequest, TrialChoices
    from plimsoll.trial_verbs import compare, decompose, sweep
    from plimsoll.verbs import Answer, Choices, capacity

__all__ = [
    "Analysed",
    "AnalysisChoices",
    "Answer",
    "Choices",
    "CompareRequest",
    "DecomposeRequest",
    "SweepRequest",
    "TrialChoices",
    "analyze",
    "capacity",
    "compare",
    "decompose",
    "drain",
    "grow",
    "hold",
    "sweep",
]
_HOMES = {
    "analysis": ("Analysed", "AnalysisChoices", "analyze"),
    "long_runs": ("drain", "grow", "hold"),
    "trial_requests": ("CompareRequest", "DecomposeRequest", "SweepRequest", "TrialChoices"),
    "trial_verbs": ("compare", "decompose", "sweep"),
    "verbs": ("Answer", "Choices", "capacity"),
}


def __getattr__(name: str) -> Any:
    """The verbs are imported at first use, so that `import plimsoll` and `plimsoll --help` are quick."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"plimsoll.{home}"), name)
    raise AttributeError(f"module 'plimsoll' has no attribute '{name}'")
