"""What share of a target some operations take at the expected load, from steps whose demand is known."""

from __future__ import annotations

import pytest
from capacity_runs import Rows
from findings_as_json import checked

from plimsoll.findings.capacity.finding import capacity_findings
from plimsoll.findings.capacity.further import further_findings
from plimsoll.findings.capacity.negligible import QUESTION, Share, verdict_of

RATE_PER_USER_S = 0.1
STEP_S = 10


class Run(Rows):
    """Steps at (users, verdict), an app of one thread that takes `demand_s` of CPU an operation and `idle` cores
    without any, and the study's operations."""

    def __init__(self, levels, *, demand_s=0.004, idle=0.05, probed=True):
        manifest = {"study": {"workload": {"operations": [{"name": "folders"}, {"name": "widgets"}]}}}
        self.steps = [step(place, *level) for place, level in enumerate(levels)]
        super().__init__([], manifest)
        for at in self.steps if probed else ():
            cores = min(1.0, idle + demand_s * at["planned_per_s"])
            values = {"cpu_cores_used": cores, "busiest_thread_cores_used": cores, "processes": 1.0}
            for second in range(at["measured_from_s"], at["end_s"]):
                self.rows.append({"second": second, "source": "process:app", "values": values})


def step(place: int, level: float, verdict: str) -> dict:
    per_s = RATE_PER_USER_S * level
    return {
        "level": level, "step_kind": "hold", "start_s": STEP_S * place, "measured_from_s": STEP_S * place,
        "end_s": STEP_S * (place + 1), "verdict": verdict, "reasons": [], "given_up": False, "disturbed": False,
        "stolen_share": 0.0, "planned_per_s": per_s, "done_per_s": per_s, "requests_per_s": per_s, "p50_ms": 5.0,
        "p90_ms": 9.0, "p99_ms": 20.0, "mean_ms": 6.0, "samples": round(STEP_S * per_s), "errors": 0,
        "error_share": 0.0, "error_causes": {}, "late": 0, "dropped": 0, "backlog_end": 0, "in_flight_end": 0,
        "drain_s": 0.0, "volume_start": None, "volume_end": None, "drained": True, "generator_share": 0.1,
        "generator_cores": 0.1, "lag_p99_ms": 0.1,
    }  # fmt: skip


def finding(levels, *, expected=100.0, below=0.05, is_open=True, unit="users", **of_run):
    run = Run(levels, **of_run)
    good = max((level for level, verdict in levels if verdict == "good"), default=None)
    bad = min((level for level, verdict in levels if verdict == "bad"), default=None)
    result = {
        "unit": unit, "open": is_open, "status": "finished", "reason": "done", "good": good, "bad": bad, "width": 0.1,
        "width_goal": 0.1, "step_s": 10.0, "max_level": None, "min_level": None, "estimate": None,
        "estimate_sd": None, "rate_per_level_s": RATE_PER_USER_S, "rate_arrivals": None, "load_s": 100.0,
        "steps": run.steps,
    }  # fmt: skip
    [main] = capacity_findings(result, run)
    found = further_findings(main, run, same_host=True, expected_level=expected, negligible_below=below)
    return next((checked(one) for one in found if one["question"] == QUESTION), None)


CARRIED = [(500.0, "good"), (1000.0, "good"), (1500.0, "good"), (2000.0, "good")]
BRACKET = [*CARRIED, (2500.0, "bad")]


@pytest.mark.parametrize(
    ("below", "verdict", "lead"),
    [
        (0.10, "negligible", "Yes, below 10%. At the expected load (100 users, 10 operations/s) they take 4% to 5%"),
        (0.03, "include", "No, 3% or more: include them."),
        (0.045, "undecided", "It cannot be told whether below 4.5%."),
    ],
)
def test_the_share_is_the_expected_load_over_each_end_of_the_bracket(below: float, verdict: str, lead: str) -> None:
    found = finding(BRACKET, below=below, probed=False)
    assert found["verdict"] == verdict and found["answer"].startswith(lead)
    told = found["negligible"]
    assert told["share"] == pytest.approx([100 / 2500, 100 / 2000]) and told["expected_per_s"] == pytest.approx(10)
    assert (told["carried_per_s"], told["not_carried_per_s"]) == (pytest.approx(200), pytest.approx(250))
    assert "(200/s are carried, 250/s are not)" in found["answer"]
    assert told["operations"] == ["folders", "widgets"] and "folders, widgets" in found["notes"][0]


def test_a_demand_that_was_measured_says_the_share_of_its_resource_without_what_that_does_at_rest() -> None:
    found = finding(BRACKET, below=0.10, demand_s=0.004, idle=0.05)
    [thread] = found["negligible"]["resources"]
    assert thread["name"] == "app" and thread["demand_ms"] == pytest.approx(4, rel=1e-6)
    low, high = thread["share"]
    assert low <= 0.04 * (1 + 1e-9) and high >= 0.04 * (1 - 1e-9), "10 operations/s of 4 ms"
    assert "An operation takes 4 ms of the one busy thread of app" in found["sentences"][0]


def test_a_resource_of_which_they_take_too_much_says_so_where_the_capacity_was_not_reached() -> None:
    """Up to 15/s of 40 ms: at 10/s they take 40% of a thread."""
    levels = [(50.0, "good"), (100.0, "good"), (150.0, "good")]
    assert finding(levels, probed=False)["verdict"] == "undecided"
    found = finding(levels, demand_s=0.04)
    assert found["verdict"] == "include" and found["negligible"]["share"] == [None, pytest.approx(2 / 3)]


def test_a_share_that_no_measured_resource_explains_is_said_to_be_of_what_stopped_them() -> None:
    found = finding(BRACKET, demand_s=0.001)
    assert "They take less of all whose use was measured" in found["notes"][-1]
    assert not any("whose use was measured" in note for note in finding(BRACKET, demand_s=0.004)["notes"])


def test_without_an_upper_bound_the_share_is_at_most_that_of_what_was_carried() -> None:
    found = finding(CARRIED, below=0.10, probed=False)
    assert found["verdict"] == "negligible" and found["negligible"]["share"] == [None, pytest.approx(0.05)]
    assert "they take at most 5% of what the target carries of them alone (200/s are carried)" in found["answer"]
    open_end = finding(CARRIED, below=0.02, probed=False)
    assert open_end["verdict"] == "undecided" and "up to 5,000 users (max_users)" in open_end["next"][0]


def test_a_load_that_no_lower_level_was_proven_for_can_only_be_one_to_include() -> None:
    found = finding([(1000.0, "bad")], probed=False)
    assert found["verdict"] == "include" and found["negligible"]["share"] == [pytest.approx(0.1), None]
    assert "more than 10%" in found["answer"] and "(100/s are not carried)" in found["answer"]


def test_multiples_of_a_script_count_from_the_load_that_it_declares() -> None:
    found = finding([(10.0, "good"), (40.0, "good")], expected=None, unit="multiple", probed=False)
    assert found["negligible"]["expected_level"] == 1 and found["verdict"] == "negligible"
    assert "At the expected load (the declared load, 0.1 operations/s) they take at most 2.5%" in found["answer"]


def test_without_a_question_an_expected_load_or_rates_there_is_no_answer() -> None:
    assert finding(BRACKET, below=None) is None
    assert finding(BRACKET, expected=None) is None
    assert finding(BRACKET, is_open=False) is None


def test_the_verdict_needs_the_whole_share_on_one_side_of_the_limit() -> None:
    assert verdict_of(Share(0.01, 0.049), [], 0.05) == "negligible"
    assert verdict_of(Share(0.01, 0.05), [], 0.05) == "undecided"
    assert verdict_of(Share(0.05, 0.06), [], 0.05) == "include"
    assert verdict_of(Share(None, 0.02), [Share(0.01, 0.3)], 0.05) == "negligible", "a wide resource adds nothing"
