"""What long and short steps of one level say: luck of a target that collapses, and why a confirmation cannot tell."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from capacity_steps import search, step

from plimsoll.experiments.capacity.result import Collapse

FELL = asdict(Collapse(160.0, 50.0, 100.0, 100.0))
CONFIRMED = {"level": 100.0, "verdict": "confirmed", "seconds": 60, "why": ""}
STEPS = (
    step(100, "good"),
    step(160, "bad", done_per_s=50),
    step(120, "bad"),
    step(100, "good", step_kind="confirm"),
)


def test_what_only_a_shorter_step_carried_is_called_luck() -> None:
    notes = search(*STEPS, step(110, "good"), confirmation=CONFIRMED, collapse=FELL)["notes"]
    luck = "Shorter steps carried up to 110 users. So near to the level at which it collapses, it does so now and then."
    assert luck in notes


def test_without_such_a_step_the_confirmation_stands_alone() -> None:
    notes = search(*STEPS, confirmation=CONFIRMED, collapse=FELL)["notes"]
    assert any(note.startswith("Confirmed") for note in notes) and not any("Shorter steps" in note for note in notes)


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("Not enough data: unfinished work changed by +3 in 900 arrivals.", False),
        ("Kept up with 900 arrivals in 9 s. But 120 iterations waited at its end, which is 1.2 s of work.", True),
    ],
)
def test_a_confirmation_that_cannot_tell_says_why_where_it_knows(reason: str, told: bool) -> None:
    last = step(100, "undecided", step_kind="confirm", reasons=[reason])
    about = {"level": 100.0, "verdict": "undecided", "seconds": 20, "why": reason}
    found = search(step(100, "good"), last, step(120, "bad"), confirmation=about)
    notes = " ".join(found["notes"])
    assert "; not confirmed by a longer step)" in found["answer"]
    assert "Not confirmed: held once more at the end, for 20 s, 100 users was too close to tell." in notes
    assert (reason in notes) is told
