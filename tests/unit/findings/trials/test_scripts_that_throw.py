"""Trials of scripts whose iterations end with an exception, or whose requests never reach a target."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from findings_as_json import checked

from plimsoll.findings.trials.compare import compare_finding
from plimsoll.findings.trials.same_work import request_changes
from plimsoll.findings.trials.sweep import sweep_finding
from plimsoll.runs.readings.failures import BROKE, Failures, judged_noun, noun_of_step, says_failing

BOTH = ["1", "2"]
CAUSES = {"broke": BROKE, "refused": "connection refused", "url": "the URL is not valid"}


def plan(experiment: str, names: list[str], **analysis: Any) -> dict[str, Any]:
    return {
        "experiment": experiment,
        "variants": [{"name": n, "label": n, "facts": {"variables": {"SIZE": n}}} for n in names],
        "levels": [{"level": 1.0, "words": "10 users"}],
        "repetitions": 10,
        "open": False,
        "analysis": analysis,
    }


SWEEP = plan("sweep", BOTH, over={"SIZE": BOTH}, level_parameter=None)
COMPARE = plan("compare", ["a", "b"], margin=0.05, primary=["p50"], paired=True)


def trial(number: int, variant: str, requests: int = 100, **causes: int) -> dict[str, Any]:
    """A hundred iterations, of which some threw, or whose requests failed, by `causes`."""
    causes = {CAUSES[name]: count for name, count in causes.items()}
    judged, failed = requests + causes.get(BROKE, 0), sum(causes.values())
    every = {"operation": None, "request": None, "count": requests, "failed": failed, "requests": judged, "max_ms": 9.0}
    every |= dict.fromkeys(("mean_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms"), 5.0 + 0.001 * (7 * number % 5))
    return {
        "trial": number, "repetition": number // 2, "variant": variant, "level": 1.0, "load": "10 users",
        "start_s": 10 * number, "measured_from_s": 10 * number, "end_s": 10 * number + 5, "seconds": 5,
        "planned": 100, "done": 100, "done_per_s": 20.0, "unfinished_end": 0, "answered": judged - failed,
        "failed": failed, "requests": judged, "causes": causes, "next_step": Failures(Counter(causes)).next_step(),
        "work": {"count": 100, "mean_ms": 5.0, "p50_ms": 5.0}, "endpoints": [every], "resources": {},
    }  # fmt: skip


def test_what_threw_is_called_iterations_and_no_requests() -> None:
    """Seen: "No request was answered in any cell", "50% of the requests fail", and the target's log as next step."""
    none = checked(sweep_finding(SWEEP, [trial(at, str(1 + at % 2), 0, broke=100) for at in range(4)]))
    assert none["answer"] == (
        f"The script made no request: 400 iterations ended with {BROKE}. "
        f"From SIZE=1 on 100% of the iterations fail ({BROKE})."
    )
    half = checked(sweep_finding(SWEEP, [trial(at, str(1 + at % 2), 50, broke=50) for at in range(4)]))
    assert f"50% of the iterations and requests fail ({BROKE})" in half["answer"]
    for finding in (none, half):
        assert finding["next"][0].startswith("See the script's exception"), finding["next"]
    compared = checked(compare_finding(COMPARE, [trial(at, "ab"[at % 2], 0, broke=100) for at in range(4)]))
    assert f"because the script made no request: 100 iterations ended with {BROKE}." in compared["invalid_because"][0]


@pytest.mark.parametrize(
    ("cause", "step"), [("refused", "Start the target, or correct its URL"), ("url", "The target never saw them")]
)
def test_a_sweep_that_nothing_answers_says_why_and_not_to_try_values_between(cause: str, step: str) -> None:
    """Seen: "Look at the target's log and memory at the first combination that fails, and try values between"."""
    finding = checked(sweep_finding(SWEEP, [trial(at, str(1 + at % 2), **{cause: 100}) for at in range(4)]))
    assert not finding["valid"] and finding["next"][0].startswith(step), finding["next"]
    dies = [trial(at, str(1 + at % 2), **({cause: 100} if at % 2 else {})) for at in range(4)]
    told = sweep_finding(SWEEP, dies)["next"][0]
    assert told.startswith("Look at the target's log" if cause == "refused" else step), "it answered smaller ones"


def test_no_same_where_half_of_the_work_failed_in_both() -> None:
    well = checked(compare_finding(COMPARE, [trial(at, "ab"[at % 2]) for at in range(20)]))
    assert well["verdict"] == "same"
    half = checked(compare_finding(COMPARE, [trial(at, "ab"[at % 2], 50, broke=50) for at in range(20)]))
    assert half["verdict"] == "undecided"
    assert "A failed 50% of what it was to do and B 50%" in half["sentences"][0]


def test_an_iteration_that_threw_makes_no_request_to_be_compared() -> None:
    [found] = request_changes([trial(0, "a"), trial(1, "b", 50, broke=50)])
    assert (found.a, found.b) == (1.0, 0.5)


def test_failures_are_of_what_was_judged() -> None:
    assert judged_noun(0, 10) == "requests" and judged_noun(10, 10) == "iterations"
    step = {"error_share": 0.5, "error_causes": {BROKE: 4, "status 500": 1}}
    assert noun_of_step(step) == "iterations and requests"
    assert noun_of_step({"error_share": 0.5, "error_causes": {"status 500": 1}}) == "requests"
    for noun in ("requests", "iterations", "iterations and requests"):
        assert says_failing([f"12% of the {noun} failed, 0% at low load."])
    assert not says_failing(["It fell behind."])
