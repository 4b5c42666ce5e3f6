"""Finds how much load a running system carries, what stops it, and how much room is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.analysis import Analysed, AnalysisChoices, analyze
    from plimsoll.verbs import Answer, Choices, capacity

__all__ = ["Analysed", "AnalysisChoices", "Answer", "Choices", "analyze", "capacity"]


def __getattr__(name: str) -> Any:
    """The verbs are imported at first use, so that `import plimsoll` and `plimsoll --help` are quick."""
    if name in ("Analysed", "AnalysisChoices", "analyze"):
        from plimsoll import analysis

        return getattr(analysis, name)
    if name in __all__:
        from plimsoll import verbs

        return getattr(verbs, name)
    raise AttributeError(f"module 'plimsoll' has no attribute {name!r}")
