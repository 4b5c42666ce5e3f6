"""What an import says of counts, times and next steps agrees with itself and with its objectives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from findings_as_json import checked

from plimsoll.verbs.analysis import AnalysisChoices, analyze

HEADER = "timeStamp,elapsed,label,responseCode,threadName,success,bytes,allThreads\n"
T0 = 1_790_000_000_000


def findings(folder: Path, loads: list[tuple[int, int, int]], *objectives: str, ms: int = 50) -> list[dict[str, Any]]:
    """Of (users, seconds, requests per second) in turn; each request takes `ms`."""
    rows, at = [], T0
    for users, seconds, per_s in loads:
        for second in range(seconds):
            rows += [
                f"{at + 1000 * second + place * 1000 // per_s},{ms + place % 5},home,200,T 1-1,true,9,{users}"
                for place in range(per_s)
            ]
        at += 1000 * seconds
    file = folder / "r.jtl"
    file.write_text(HEADER + "\n".join(rows) + "\n")
    wanted = tuple({"objective": text} for text in objectives)
    return checked(analyze([file], AnalysisChoices(runs=folder / "runs", objectives=wanted))[0].findings)


def answer_of(found: list[dict[str, Any]], question: str) -> str:
    return next(str(one["answer"]) for one in found if question in one["question"])


def test_how_much_was_measured_is_said_and_counts_belong_to_it(tmp_path: Path) -> None:
    """Seen of 60.1 s: "less than a minute was measured", and "none of 4,001 requests failed" beside 6,000."""
    found = findings(tmp_path, [(10, 60, 100)])
    assert "only 40 s were measured, and a minute is needed" in answer_of(found, "periodically")
    assert answer_of(found, "bursts") == "No: none of 4,000 requests in 40 s failed."
    assert "6,000 requests in 60" in answer_of(found, "What does this result show")


@pytest.mark.parametrize(("count", "marked"), [(3, "p50 ~51, p90 ~52, p95 ~52, p99 ~52, max 52."), (100, "p90 ~54")])
def test_a_percentile_of_few_requests_is_marked(tmp_path: Path, count: int, marked: str) -> None:
    """Seen: the p99 of 3 requests beside that of 46,800."""
    words = answer_of(findings(tmp_path, [(1, 1, count)]), "What does this result show")
    assert marked in words and "~: fewer requests than that percentile needs" in words
    assert ("p50 ~" in words) == (count == 3)


def test_a_percentile_of_enough_requests_is_not(tmp_path: Path) -> None:
    assert "~" not in answer_of(findings(tmp_path, [(1, 25, 100)]), "What does this result show")


RISING = [(2, 30, 40), (4, 30, 80), (8, 30, 160)]


def test_levels_above_are_no_next_step_where_an_objective_is_missed_at_the_lowest(tmp_path: Path) -> None:
    """Seen: "Measure levels above 32 users" though the objective failed at 2."""
    steps = findings(tmp_path, RISING, "p95<40ms")[0]["next"]
    assert steps[0] == "Measure levels below 2 users: p95<40ms of all requests is missed already at the lowest."
    assert not any("above" in step for step in steps)


def test_they_are_where_all_objectives_are_met(tmp_path: Path) -> None:
    steps = findings(tmp_path, RISING, "p95<400ms")[0]["next"]
    assert any(step.startswith("Measure levels above 8 users") for step in steps)


def test_what_lies_between_met_and_missed_is_to_be_measured(tmp_path: Path) -> None:
    rows, at = [], T0
    for users, ms in ((2, 30), (4, 30), (8, 90)):
        rows += [f"{at + 25 * place},{ms},home,200,T 1-1,true,9,{users}" for place in range(40 * 30)]
        at += 30_000
    file = tmp_path / "r.jtl"
    file.write_text(HEADER + "\n".join(rows) + "\n")
    choices = AnalysisChoices(runs=tmp_path / "runs", objectives=({"objective": "p95<40ms"},))
    steps = checked(analyze([file], choices)[0].findings)[0]["next"]
    assert "Measure between 4 users and 8 users, to see up to where p95<40ms of all requests is met." in steps
