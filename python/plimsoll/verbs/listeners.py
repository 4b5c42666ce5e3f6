"""Who is told while a verb runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from plimsoll.experiments.steps.record import Progress
from plimsoll.experiments.trials.making import TrialProgress

Seen = TypeVar("Seen", Progress, TrialProgress)


@dataclass(frozen=True)
class Listeners(Generic[Seen]):
    """`progress`: once a second of load, a Progress, or a TrialProgress from compare, decompose and sweep; `note`:
    sentences to know or act on, which findings repeat; `message`: sentences that only matter while it runs;
    `load_ended`: the load has ended, and is judged; `end`: no more load comes."""

    progress: Callable[[Seen], None] | None = None
    note: Callable[[str], None] = lambda text: None
    message: Callable[[str], None] | None = None
    end: Callable[[], None] = lambda: None
    load_ended: Callable[[], None] = lambda: None
