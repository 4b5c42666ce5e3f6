"""What two capacity findings say of the remedy between them."""

from __future__ import annotations

from typing import Any

import pytest
from findings_as_json import checked

from plimsoll.findings.capacity.remedy import not_run, remedy_finding


def found(
    good: float | None, bad: float | None, where: str | None = "the database", valid: bool = True
) -> dict[str, Any]:
    return {
        "valid": valid,
        "status": "finished",
        "capacity": {"good": good, "bad": bad, "unit": "users", "rate_per_s": 1.0},
        "limited_by": {"kind": "cpu" if where else "none", "where": where},
        "next": ["look there"],
        "run": "runs/x",
    }


@pytest.mark.parametrize(
    ("before", "after", "verdict", "words"),
    [
        ((100, 110), (150, 160), "more", "It carries more: between +36% and +60% (100 to 110 users before, 150"),
        ((100, 110), (80, 90), "less", "It carries less: between −27% and −10%"),
        ((100, 110), (105, 115), "not shown", "No change of the capacity is shown"),
        ((100, 110), (150, None), "more", "It carries more: at least +36%"),
        ((100, None), (150, 160), "not shown", "it is at most +60%"),
    ],
)  # fmt: skip
def test_brackets_that_do_not_touch_show_a_change(
    before: tuple[float, float | None], after: tuple[float, float | None], verdict: str, words: str
) -> None:
    finding = checked(
        remedy_finding(found(*before), found(*after, where="the generator's host"), "CREATE INDEX", "runs/y")
    )
    assert finding["verdict"] == verdict and words in finding["answer"], finding["answer"]
    assert "Stopped by the database before, by the generator's host with it." in finding["answer"]
    assert finding["valid"] and "CREATE INDEX" in finding["notes"][0]


@pytest.mark.parametrize("spoiled", [found(None, 10), found(100, 110, valid=False)])
def test_a_run_without_a_valid_capacity_shows_nothing(spoiled: dict[str, Any]) -> None:
    for pair in ((found(100, 110), spoiled), (spoiled, found(100, 110))):
        finding = checked(remedy_finding(*pair, "x", None))
        assert not finding["valid"] and finding["answer"].startswith("Cannot tell") and finding["invalid_because"]


def test_what_two_runs_say_of_which_one_is_not_valid_is_shown_as_no_proof() -> None:
    finding = checked(remedy_finding(found(100, 110), found(150, 160, valid=False), "x", None))
    assert finding["verdict"] == "cannot tell" and finding["invalid_because"] == ["The run with it is not valid."]
    assert finding["answer"] == (
        "Cannot tell: one of the two runs has no valid capacity. Their brackets differ by between +36% and +60% "
        "(100 to 110 users before, 150 to 160 users with it), which proves nothing."
    )
    nothing = remedy_finding(found(None, 10), found(150, 160), "x", None)
    assert nothing["answer"].endswith("no valid capacity.")
    assert nothing["invalid_because"] == ["The run before it proved no level that is carried."]


def test_a_remedy_that_followed_a_capacity_was_run() -> None:
    assert not_run("./index.sh", found(100, 110)) is None


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (found(None, 10), "the run before it proved no level that is carried, so that there is nothing to compare"),
        ({**found(100, 110), "status": "interrupted"}, "the run before it was interrupted. Run it again, to the end."),
        ({**found(None, None), "status": "failed"}, "the run before it failed. Mend that first"),
    ],
)
def test_a_remedy_that_was_not_run_is_told_with_the_reason(before: dict[str, Any], words: str) -> None:
    told = not_run("./index.sh", before)
    assert told is not None and told.startswith("The remedy was not run (./index.sh), as ") and words in told
