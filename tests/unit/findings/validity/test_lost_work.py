"""Work that was lost for good stands in the first sentence, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from capacity_steps import search, step

GOOD, BAD = step(100, "good"), step(120, "bad")


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        ([step(480, "bad", drained=False, stuck=440)], "440 iterations never got an answer, at 480 users"),
        (
            [step(480, "bad", drained=False, stuck=440), step(240, "bad", drained=False, stuck=10)],
            "450 iterations never got an answer, most of them at 480 users",
        ),
        ([step(480, "bad", drained=False, stuck=1)], "1 iteration never got an answer, at 480 users"),
    ],
)
def test_what_was_never_answered_is_said_once_and_in_the_first_sentence(lost: list[dict[str, Any]], words: str) -> None:
    found = search(*lost, GOOD, BAD)
    first = found["answer"].partition(". ")[0]
    assert first == f"Carries 100 users (100 operations/s, 100 requests/s); at 120 users it is saturated; {words}"
    assert not any("did not drain" in note or "never got" in note for note in found["notes"])


def test_a_backlog_that_was_answered_later_is_a_note_and_no_loss() -> None:
    found = search(step(480, "bad", drained=False), GOOD, BAD)
    assert "never got" not in found["answer"]
    assert (
        "The backlog did not drain after 480 users: it was longer than the drain waited, and was answered later."
        in (found["notes"])
    )


def test_a_target_that_stopped_answering_says_what_was_lost() -> None:
    found = search(step(120, "bad", drained=False, stuck=440), status="failed")
    assert found["answer"] == "No capacity was measured; 440 iterations never got an answer, at 120 users. Why."
