"""From a run to the answer: whole searches of simulated targets, then hand-made rows of probes."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path

import pytest
from capacity_runs import Rows
from findings_as_json import checked

from plimsoll.experiments.capacity.experiment import run_capacity
from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.findings.capacity.estimates import knee_facts
from plimsoll.findings.capacity.finding import capacity_findings, result_of_run
from plimsoll.findings.capacity.words import _carries
from plimsoll.findings.exit_codes import exit_code
from plimsoll.report.finding_view import view
from plimsoll.runs.reader import RunReader
from plimsoll.runs.writer import RunFacts, RunWriter

sys.path.insert(0, str(Path(__file__).parents[3] / "accuracy"))
from simulators import ClosedQueue, OpenQueue

CAPACITY_PER_S = 300.0


class Target:
    """Makes rows of probes from the load of the second before: one thread's CPU rises with the load to one core."""

    def __init__(self, source: OpenQueue, host_share: float = 0.5, busiest: str = "busiest_thread_cores_used") -> None:
        self.source, self.host_share, self.busiest = source, host_share, busiest

    def __call__(self, second: int, t_unix: float) -> list[dict]:
        used = min(1.0, self.source.level * self.source.rate_per_level_s / CAPACITY_PER_S)
        tracker = {"cpu_cores_used": used, self.busiest: used, "processes": 1.0, "threads": 4.0}
        rows = [("host", {"cpu_share": self.host_share * used, "cores": 2.0}), ("process:tracker", tracker)]
        return [{"t_unix": t_unix, "second": second, "source": source, "values": values} for source, values in rows]


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory):
    """(result, reader) of one whole search, through a real run directory."""
    source = OpenQueue(1, 1 / CAPACITY_PER_S, 4, rate_per_level_s=0.05)
    settings = CapacitySettings(arrivals_per_level_s=0.05, expected_level=4000)
    with RunWriter.create(tmp_path_factory.mktemp("runs"), RunFacts("capacity")) as writer:
        result = run_capacity(source, settings, writer, Target(source))
    return result, RunReader(writer.path)


def test_the_answer_names_capacity_limit_and_headroom(searched):
    result, run = searched
    [finding] = checked(capacity_findings(result, run, expected_users=4000, run_path="runs/x"))
    assert finding["valid"] and exit_code(finding) == 0
    assert finding["capacity"]["good"] <= 6000 <= finding["capacity"]["bad"]
    assert finding["limited_by"]["kind"] == "cpu" and "tracker" in finding["limited_by"]["where"]
    assert finding["headroom"]["ratio"] == pytest.approx(finding["capacity"]["users"] / 4000 - 1)
    assert "Carries" in finding["answer"] and "more than the expected 4,000 users" in finding["answer"]
    assert json.loads(json.dumps(finding))["generator"]["healthy"] is True


def test_the_run_directory_alone_gives_the_same_finding(searched):
    result, run = searched
    assert capacity_findings(result_of_run(run), run) == json.loads(json.dumps(capacity_findings(result, run)))


def test_interval_and_knee_are_given_with_what_they_mean(searched):
    result, run = searched
    capacity = capacity_findings(result, run)[0]["capacity"]
    low, high = capacity["interval"]
    assert capacity["good"] <= low < high <= capacity["bad"] and low <= 6000 <= high
    assert capacity["confidence"] == 0.95 and "overloaded steps" in capacity["interval_means"]
    assert capacity["knee"] is None or capacity["knee_interval"][0] <= 3000 <= capacity["knee_interval"][1]
    assert capacity["knee_means"]


def test_an_open_bracket_or_a_closed_workload_has_no_interval_and_says_why(searched):
    facts = searched[0].to_json()
    for change, words in (
        ({"bad": None}, "open on one side"),
        ({"estimate": None}, "overloaded"),
        ({"open": False}, "wait"),
    ):
        capacity = capacity_findings(facts | change, None)[0]["capacity"]
        assert (capacity["interval"], capacity["confidence"]) == (None, None) and words in capacity["interval_means"]


def test_an_interval_that_says_no_more_than_the_bracket_is_none(searched):
    facts = searched[0].to_json()
    wide = capacity_findings(facts | {"estimate_sd": facts["estimate"]}, None)[0]["capacity"]
    assert wide["interval"] is None and "does not narrow" in wide["interval_means"]
    for step in facts["steps"]:
        if step["verdict"] == "bad":
            step["reasons"] = ["4.0% of the requests failed."]
    failing = capacity_findings(facts, None)[0]["capacity"]
    assert failing["interval"] is None and "Requests failed" in failing["interval_means"]


def test_a_rate_that_was_measured_widens_the_interval(searched):
    facts = searched[0].to_json() | {"good": 1.0, "bad": 1e9}
    widths = []
    for arrivals in (None, 500):
        low, high = capacity_findings(facts | {"rate_arrivals": arrivals}, None)[0]["capacity"]["interval"]
        widths.append(high / low)
    assert widths[1] > 1.05 * widths[0]


def test_a_closed_search_finds_its_knee():
    result = run_capacity(ClosedQueue(1, 0.01, 0.99, 3), CapacitySettings(start_level=4))
    capacity = capacity_findings(result, None)[0]["capacity"]
    assert capacity["knee_interval"][0] <= 100 <= capacity["knee_interval"][1] and "N*" in capacity["knee_means"]


class Growing(Target):
    """A target whose data grow with what it does, and whose CPU per operation grows with its data."""

    def __init__(self, source: OpenQueue, per_doubling: float) -> None:
        super().__init__(source)
        self.per_doubling, self.items = per_doubling, 1000.0

    def __call__(self, second: int, t_unix: float) -> list[dict]:
        per_s = min(CAPACITY_PER_S, self.source.level * self.source.rate_per_level_s)
        self.items += 0.05 * per_s
        used = 0.5 * per_s / CAPACITY_PER_S * (1 + self.per_doubling * (self.items / 1000 - 1))
        return [{"t_unix": t_unix, "second": second, "source": "process:tracker", "values": {"cpu_cores_used": used}}]


@pytest.mark.parametrize(("per_doubling", "significant"), [(0.5, True), (0.0, False)])
def test_data_that_grew_are_told_with_what_they_did_to_the_demand(tmp_path, per_doubling: float, significant: bool):
    source = OpenQueue(1, 1 / CAPACITY_PER_S, 4, rate_per_level_s=0.05)
    target = Growing(source, per_doubling)
    settings = CapacitySettings(arrivals_per_level_s=0.05)
    with RunWriter.create(tmp_path, RunFacts("capacity")) as writer:
        result = run_capacity(source, settings, writer, target, data_volume=lambda: target.items)
    [finding] = checked(capacity_findings(result, RunReader(writer.path)))
    volume = finding["data_volume"]
    assert volume["start"] == 1000 and volume["end"] == target.items > 1500
    assert volume["words"] in finding["notes"] and "went from 1,000 to" in volume["words"]
    assert volume["demand"]["significant"] is significant
    assert ("changed with it beyond chance, by +" in volume["words"]) is significant
    pairs = [(step["volume_start"], step["volume_end"]) for step in finding["steps"]]
    assert all(before < after for before, after in pairs)
    assert [after for _, after in pairs[:-1]] == [before for before, _ in pairs[1:]]


def test_without_a_reading_nothing_is_said_of_the_data_volume(searched):
    assert capacity_findings(*searched)[0]["data_volume"] is None


def test_objectives_are_judged_apart_from_saturation(searched):
    result, run = searched
    objectives = [
        {"operation": "work", "objective": "p90<=1ms"},
        {"request": "GET /work", "objective": "p90<=1000ms"},
        {"operation": "work", "objective": "p99.99<=1s"},
        {"operation": "work", "objective": "error_rate<=1%"},
        {"operation": "absent", "objective": "p90<=1s"},
    ]
    [finding] = checked(capacity_findings(result, run, expected_users=4000, objectives=objectives))
    strict, loose, rare, errors, absent = finding["objectives"]
    assert (strict["verdict"], strict["met_up_to_users"]) == ("failed", None)
    assert loose["verdict"] == "met" and loose["met_up_to_users"] >= 4000
    assert rare["verdict"] == "undecided" and "Hold 4,000 users for about" in rare["needs"]
    assert errors["verdict"] == "met" and absent["verdict"] == "undecided" and "Check its name" in absent["needs"]
    assert finding["capacity"]["good"] <= 6000 <= finding["capacity"]["bad"]
    assert exit_code(finding) == 99


def test_few_samples_at_a_level_are_undecided_there_never_met(searched):
    result, run = searched
    [finding] = checked(capacity_findings(result, run, objectives=[{"operation": "work", "objective": "p90<=1000ms"}]))
    for item in finding["objectives"][0]["verdicts"]:
        assert item["samples"] >= item["needed"] == 44 or item["verdict"] == "undecided"
        assert item["effective"] < item["needed"] or item["verdict"] == "met"


def test_without_probes_the_limit_cannot_be_told(searched):
    [finding] = checked(capacity_findings(searched[0], None))
    assert finding["limited_by"]["kind"] == "unknown" and "cannot tell" in finding["answer"]
    assert any("probe" in step for step in finding["next"])


def test_idle_resources_while_throughput_is_flat_mean_cannot_tell(searched):
    result, run = searched
    rows = [{**row, "values": {name: 0.3 * v for name, v in row["values"].items()}} for row in run.resources()]
    [finding] = checked(capacity_findings(result, Rows(rows)))
    assert finding["limited_by"]["kind"] == "unknown" and "host 1" in finding["limited_by"]["evidence"]


def test_a_host_that_generator_and_target_fight_over_makes_the_run_invalid(searched):
    result, run = searched
    rows = [
        {**row, "values": {"cpu_share": 0.97, "cores": 0.5}} if row["source"] == "host" else row
        for row in run.resources()
    ]
    again = copy.copy(run)
    again.resources = lambda *_: iter(rows)
    asked = [{"operation": "work", "objective": text} for text in ("p90<=1s", "p50<=2ms", "p50<=0.1ms")]
    [finding] = checked(capacity_findings(result, again, objectives=asked, objectives_level=4000))
    assert not finding["valid"] and exit_code(finding) == 3
    assert "competed" in finding["invalid_because"][0] and any("--isolate" in step for step in finding["next"])
    assert "not a capacity" in finding["answer"]
    assert "What stopped it in these numbers: " in finding["answer"] and "What stops it" not in finding["answer"]
    seen = view(finding)
    assert seen.limited_by.startswith("in these numbers, CPU")
    words = {one.objective: one.met_up_to for one in seen.objectives}
    assert words["p90 ≤ 1 s"].endswith("; undisturbed, times are no longer than that"), words
    assert words["p50 ≤ 2 ms"].endswith("; undisturbed, it may be met")
    assert "undisturbed" not in words["p50 ≤ 0.1 ms"], "99% took longer"


@pytest.mark.parametrize(
    ("change", "words"),
    [({"lag_p99_ms": 40.0}, None), ({"generator_share": 0.95}, "95% busy")],
)
def test_a_full_generator_voids_a_bracket_and_a_late_one_does_not(searched, change: dict, words: str | None):
    facts = searched[0].to_json()
    for step in facts["steps"]:
        step.update(change)
    [finding] = checked(capacity_findings(facts, searched[1]))
    assert finding["valid"] is (words is None) and exit_code(finding) == (0 if words is None else 3)
    if words is not None:
        assert any(words in reason for reason in finding["invalid_because"])
    else:
        times = [one for one in finding["validity"] if one["rests_on"] == "response_time"]
        assert any(one["verdict"] != "valid" and one.get("error", 40.0) == 40.0 for one in times)


def test_lag_below_a_millisecond_or_a_tenth_of_the_median_is_healthy(searched):
    facts = searched[0].to_json()
    for step in facts["steps"]:
        step.update({"lag_p99_ms": 0.9, "p50_ms": 2.0})
    assert capacity_findings(facts, searched[1])[0]["valid"]
    for step in facts["steps"]:
        step.update({"lag_p99_ms": 3.0, "p50_ms": 40.0})
    assert capacity_findings(facts, searched[1])[0]["valid"]


def test_a_failed_search_says_why_and_is_invalid():
    source = OpenQueue(1, 1 / CAPACITY_PER_S, 4, dies_at_s=0)
    result = run_capacity(source, CapacitySettings(arrivals_per_level_s=1.0))
    [finding] = checked(capacity_findings(result, None))
    assert not finding["valid"] and exit_code(finding) == 3
    assert finding["answer"].startswith("No capacity was measured. 100% of the requests failed")


def test_an_interrupted_search_reports_what_it_has(tmp_path: Path):
    source = OpenQueue(1, 1 / CAPACITY_PER_S, 4, interrupt_at_s=100)
    with RunWriter.create(tmp_path, RunFacts("capacity")) as writer:
        result = run_capacity(source, CapacitySettings(arrivals_per_level_s=1.0, step_s=60), writer)
    [finding] = checked(capacity_findings(result, RunReader(writer.path)))
    assert exit_code(finding) == 130 and finding["answer"].startswith("Interrupted")


def test_a_killed_run_is_answered_from_its_finished_steps(searched):
    class Killed:
        """The run without its last event."""

        def events(self, kind: str | None = None) -> list[dict]:
            return [] if kind == "capacity_result" else searched[1].events(kind)

    facts = result_of_run(Killed())
    assert (facts["good"], facts["bad"]) == (searched[0].bracket.good, searched[0].bracket.bad)
    assert facts["status"] == "interrupted"


def test_a_probe_of_the_ramp_bounds_nothing_in_a_killed_run_unless_the_load_was_given_up():
    step = {"measured_from_s": 0, "end_s": 2.0, "level": 400.0, "step_kind": "probe", "verdict": "bad"}

    class Killed:
        def __init__(self, **changed) -> None:
            self.step = step | changed

        def events(self, kind: str | None = None) -> list[dict]:
            return [self.step] if kind == "step_ended" else []

    assert result_of_run(Killed())["bad"] is None
    assert result_of_run(Killed(given_up=True))["bad"] == 400.0
    assert result_of_run(Killed(step_kind="hold"))["bad"] == 400.0
    assert result_of_run(Killed(step_kind="hold", unsteady=True))["bad"] is None


def test_multiples_become_users_when_it_is_said_how_many_one_is(searched):
    facts = searched[0].to_json() | {"unit": "multiple"}
    [finding] = checked(capacity_findings(facts, None, users_per_level=10, expected_users=30_000))
    assert finding["capacity"]["users"] == pytest.approx(10 * facts["good"])
    assert "times the declared load" in finding["answer"] and finding["headroom"]["ratio"] > 0


def test_a_target_that_finishes_less_under_overload_than_it_carries_is_said_to_thrash():
    words = {}
    for factor in (1.0, 1.5):
        source = OpenQueue(4, 4 / 300, 5001, thrash_wait_s=0.2, thrash_factor=factor)
        [finding] = checked(capacity_findings(run_capacity(source, CapacitySettings(arrivals_per_level_s=1.0)), None))
        words[factor] = [note for note in finding["notes"] if note.startswith("Overloaded, it finishes less")]
    assert words[1.0] == []
    assert len(words[1.5]) == 1 and "Keep a reserve" in words[1.5][0]


def test_the_quick_ramp_is_not_said_to_have_met_no_overload_where_it_did():
    """Seen in an interrupted run: at 160 users 111 of 153 were done a second, and the answer called it no overload."""
    steps = [
        {"level": 40.0, "verdict": "probe", "samples": 90, "planned_per_s": 40.0, "done_per_s": 40.0},
        {"level": 160.0, "verdict": "probe", "samples": 300, "planned_per_s": 153.0, "done_per_s": 111.0},
    ]
    result = {"good": None, "bad": None, "unit": "users", "estimate": None, "steps": steps}
    assert "met no overload up to 40 users" in _carries(result, {})


def test_no_knee_of_a_run_that_was_overloaded_is_not_said_to_lack_an_overload(searched):
    facts = searched[0].to_json() | {"estimate": None}
    assert "No step was overloaded" not in knee_facts(facts, facts["steps"])["knee_means"]
    assert "No step was overloaded" in knee_facts(facts | {"bad": None}, facts["steps"])["knee_means"]


@pytest.mark.parametrize(("expected", "carries"), [(4000, None), (8000, False)])
def test_an_objective_of_a_misspelt_request_names_the_nearest_and_takes_no_caveat_away(searched, expected, carries):
    result, run = searched
    objectives = [{"request": "GET /wrok", "objective": "p95<=200ms"}]
    [finding] = checked(capacity_findings(result, run, expected_users=expected, objectives=objectives))
    [judged] = finding["objectives"]
    hint = "no request of 'GET /wrok' was seen. Did you mean 'GET /work'?"
    assert judged["unmatched"] and judged["verdict"] == "undecided" and hint in judged["words"]
    assert any(hint in step for step in finding["next"])
    assert finding["headroom"]["carries"] is carries and finding["headroom"]["ratio"] is None
    assert "more than the expected" not in finding["answer"]
    assert ("Whether it meets the objectives at the expected" in finding["answer"]) == (carries is None)
    assert exit_code(finding) == 99
