"""Finds how much load a running system carries, what stops it, and how much room is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.long_runs import drain, grow, hold
    from plimsoll.verbs import Answer, Choices, capacity

__all__ = ["Answer", "Choices", "capacity", "drain", "grow", "hold"]
_LONG_RUNS = ("drain", "grow", "hold")


def __getattr__(name: str) -> Any:
    """The verbs are imported at first use, so that `import plimsoll` and `plimsoll --help` are quick."""
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(f"plimsoll.{'long_runs' if name in _LONG_RUNS else 'verbs'}"), name)
    raise AttributeError(f"module 'plimsoll' has no attribute {name!r}")
