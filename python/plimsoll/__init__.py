"""Plimsoll: how much load a running system carries, what stops it, and how much room is left."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.drafts.draft import Draft
    from plimsoll.plans.load import Choices
    from plimsoll.plans.requests import CompareRequest, DecomposeRequest, SweepRequest, TrialChoices
    from plimsoll.verbs.analysis import Analysed, AnalysisChoices, analyze
    from plimsoll.verbs.capacity import capacity, verify
    from plimsoll.verbs.drafting import new
    from plimsoll.verbs.listeners import Listeners
    from plimsoll.verbs.long_runs import drain, grow, hold
    from plimsoll.verbs.notebooks import charts, frames
    from plimsoll.verbs.session import Answer
    from plimsoll.verbs.sizing import SizeChoices, Sized, size
    from plimsoll.verbs.stored import (
        delete_runs,
        export_run,
        find_run,
        import_run,
        keep_run,
        note_run,
        prune_runs,
        search_runs,
        stored_runs,
        tag_run,
        write_report,
    )
    from plimsoll.verbs.studies import StudiesAnswer, StudyAnswer, StudyChoices, run_studies, run_study
    from plimsoll.verbs.trend import trend
    from plimsoll.verbs.trials import compare, decompose, sweep

__all__ = [
    "Analysed",
    "AnalysisChoices",
    "Answer",
    "Choices",
    "CompareRequest",
    "DecomposeRequest",
    "Draft",
    "Listeners",
    "SizeChoices",
    "Sized",
    "StudiesAnswer",
    "StudyAnswer",
    "StudyChoices",
    "SweepRequest",
    "TrialChoices",
    "analyze",
    "capacity",
    "charts",
    "compare",
    "decompose",
    "delete_runs",
    "drain",
    "export_run",
    "find_run",
    "frames",
    "grow",
    "hold",
    "import_run",
    "keep_run",
    "new",
    "note_run",
    "prune_runs",
    "run_studies",
    "run_study",
    "search_runs",
    "size",
    "stored_runs",
    "sweep",
    "tag_run",
    "trend",
    "verify",
    "write_report",
]
_HOMES = {
    "drafts.draft": ("Draft",),
    "plans.load": ("Choices",),
    "plans.requests": ("CompareRequest", "DecomposeRequest", "SweepRequest", "TrialChoices"),
    "verbs.analysis": ("Analysed", "AnalysisChoices", "analyze"),
    "verbs.capacity": ("capacity", "verify"),
    "verbs.drafting": ("new",),
    "verbs.listeners": ("Listeners",),
    "verbs.long_runs": ("drain", "grow", "hold"),
    "verbs.notebooks": ("charts", "frames"),
    "verbs.session": ("Answer",),
    "verbs.sizing": ("SizeChoices", "Sized", "size"),
    "verbs.stored": (
        "delete_runs",
        "export_run",
        "find_run",
        "import_run",
        "keep_run",
        "note_run",
        "prune_runs",
        "search_runs",
        "stored_runs",
        "tag_run",
        "write_report",
    ),
    "verbs.studies": ("StudiesAnswer", "StudyAnswer", "StudyChoices", "run_studies", "run_study"),
    "verbs.trend": ("trend",),
    "verbs.trials": ("compare", "decompose", "sweep"),
}


def __getattr__(name: str) -> Any:
    """The verbs are imported at first use, so that `import plimsoll` and `plimsoll --help` are quick."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"plimsoll.{home}"), name)
    raise AttributeError(f"module 'plimsoll' has no attribute '{name}'")
