"""Of a target that collapses, what only shorter steps carried is no capacity, and said to be luck."""

from __future__ import annotations

from dataclasses import asdict

from capacity_steps import search, step

from plimsoll.experiments.result import Collapse

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
