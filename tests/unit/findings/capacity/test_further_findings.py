"""Scaling, budgets and the next limit of capacity runs, from hand-made steps and rows of probes."""

from __future__ import annotations

import numpy as np
import pytest
from capacity_runs import FACTS, LOADS, Rows, by_question, run_of, step
from findings_as_json import checked

from plimsoll.findings.capacity.finding import capacity_findings
from plimsoll.findings.capacity.further import further_findings
from plimsoll.findings.consistency.check import consistent
from plimsoll.report.finding_view import view
from plimsoll.report.load_line import load_line


def test_a_run_that_was_never_saturated_names_where_its_resources_end_in_order():
    found = by_question(further_findings(*run_of(LOADS), same_host=True))
    assert set(found) == {"How far would it go?", "What would stop it next?", "What hardware does it need?"}
    [end] = found["How far would it go?"]["extrapolations"]
    assert end["resource"] == "app" and end["told"] and end["interval"][0] < 250 < end["interval"][1]
    assert end["level"] == pytest.approx(10 * end["per_s"]) and end["constant_demand_per_s"][-1] == pytest.approx(250)
    order = found["What would stop it next?"]["order"]
    assert [one["name"] for one in order] == ["app", "cpu"]
    assert order[1]["interval"][0] < (4 - 0.02) / 0.006 < order[1]["interval"][1]
    words = found["What would stop it next?"]["answer"]
    assert "app" in words and "would be full first" in words and "the host's 4 cores would stop it" in words


def test_one_level_alone_tells_no_demand_as_what_the_host_does_anyway_would_pass_for_it():
    asked = ("How far would it go?", "What would stop it next?")
    assert not set(asked) & set(by_question(further_findings(*run_of(LOADS[:1]), same_host=True)))
    assert set(asked) <= set(by_question(further_findings(*run_of(LOADS[:2]), same_host=True)))


@pytest.mark.parametrize(
    ("cores", "words"),
    [
        (0.02, "On 50% of one core of gc: at least 3,000/s, if its use rises no faster than throughput. It was not "
         "seen to rise: gc used at most 0.02 cores at 60 to 120/s."),
        (0.7, "Cannot tell for gc: no use of it was seen to rise"),  # more than the budget, whatever it does
    ],
)  # fmt: skip
def test_a_budget_of_a_process_that_does_little_has_a_bound_from_below(cores, words):
    _, run = run_of(LOADS)
    used = {"cpu_cores_used": cores, "busiest_thread_cores_used": cores, "processes": 1.0}
    seconds = range(10 * len(LOADS))
    run.rows += [{"second": second, "source": "process:gc", "values": dict(used)} for second in seconds]
    steps = [step(at, level, rate) for at, (level, rate) in enumerate(LOADS)]
    [main] = checked(capacity_findings({**FACTS, "open": True, "good": 1200.0, "bad": None, "steps": steps}, run))
    found = by_question(further_findings(main, run, budgets={"gc": 0.5}, same_host=True))
    assert words in found["How far would it go?"]["answer"]


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ((), "named: not locks, pools, other hosts or the network."),
        (("db1",), "named, the host db1 included: not locks, pools, hosts beside it or the network."),
        (("db1", "queue"), "named, the hosts db1 and queue included: not locks, pools, hosts beside them or"),
    ],
)
def test_what_cannot_be_named_leaves_out_the_hosts_whose_metrics_were_read(others, words):
    main, run = run_of(LOADS)
    run.rows += [
        {"second": second, "source": f"host:{name}", "values": {"cores": 4.0, "cpu_cores_used": 0.01 * (second + 1)}}
        for name in others
        for second in range(10 * len(LOADS))
    ]
    found = by_question(further_findings(main, run, same_host=True))["What would stop it next?"]
    assert words in found["notes"][0]
    assert {one["name"] for one in found["order"]} == {"app", "cpu", *(f"cpu@{name}" for name in others)}


def test_a_budget_of_the_host_adds_up_what_shares_its_cores():
    main, run = run_of(LOADS)
    found = by_question(further_findings(main, run, budgets={"cpu": 0.5}, same_host=False))
    assert "cannot tell for cpu" in found["How far would it go?"]["answer"].lower()
    found = by_question(further_findings(main, run, budgets={"cpu": 0.5}, same_host=True))["How far would it go?"]
    [end] = found["extrapolations"]
    assert end["interval"][0] < (2 - 0.02) / 0.006 < end["interval"][1] and end["line_per_s"] == pytest.approx(330)
    shared = next(note for note in found["notes"] if "add up" in note)
    assert "app 4.00 ms" in shared or "app 4 ms" in shared
    assert "database 2" in shared and "line through the 12 levels" in found["sentences"][0]


def test_a_budget_that_cannot_be_told_says_why_and_what_names_there_are():
    main, run = run_of(LOADS)
    words = by_question(further_findings(main, run, budgets={"gc": 0.5}, same_host=True))["How far would it go?"]
    assert "nothing that was probed is called gc; there are cpu, disk, app, database" in words["answer"]
    words = by_question(further_findings(main, run, budgets={"disk": 0.5}, same_host=True))["How far would it go?"]
    assert "no use of it was seen to rise with throughput; that of app, cpu was" in words["answer"]
    apart = further_findings(main, run, budgets={"cpu": 0.5}, cores=8, same_host=True, kept_apart="in words")
    assert by_question(apart)["How far would it go?"]["answer"].count("Run it without --isolate") == 2


def test_more_cores_do_not_widen_a_thread_and_the_finding_says_so():
    found = by_question(further_findings(*run_of(LOADS), cores=8, same_host=True))["How far would it go?"]
    assert "So 8 cores alone would bring it no further than" in found["answer"]
    many = by_question(further_findings(*run_of(LOADS, thread=False), cores=8, same_host=True))["How far would it go?"]
    [end] = many["extrapolations"]
    assert "no further" not in many["answer"] and end["interval"][0] < (8 - 0.02) / 0.006
    assert any("far extrapolation" in note for note in many["notes"])


def test_a_saturated_run_says_what_is_full_and_what_comes_after_it():
    loads = [(100.0 * at, min(10.0 * at, 250.0)) for at in range(2, 28, 3)]
    main, run = run_of(loads, bad=2600.0)
    found = by_question(further_findings(main, run, same_host=True))
    assert set(found) == {"What would stop it next?", "What hardware does it need?"}
    assert main["limited_by"]["kind"] == "cpu"
    assert "is full first" in found["What would stop it next?"]["answer"]
    alone = by_question(further_findings(main, run, same_host=True, kept_apart="on cores of their own"))
    assert "Cannot tell what would come after" in alone["What would stop it next?"]["answer"]


def test_a_resource_that_was_full_in_an_overloaded_step_is_not_said_to_be_full_above_it():
    loads = [(100.0 * at, 10.0 * at) for at in range(1, 17)]
    main, run = run_of(loads, bad=1600.0, own=1.0, app=0.003, database=0.003)
    main["capacity"] |= {"good": 1300.0, "bad": 1450.0}  # as on a host that was slower just then
    [found] = [one for one in further_findings(main, run, same_host=True) if one["question"].startswith("What would")]
    assert "is full first: between 1,300 users and 1,450 users, at 6" in found["answer"]


def test_a_limit_that_was_not_probed_is_not_blamed_on_the_cpu():
    found = by_question(further_findings(*run_of(LOADS, bad=1200.0, app=0.001), same_host=True))
    words = found["What would stop it next?"]["answer"]
    assert "What stopped it at 110/s is not known" in words and "After that" in words


def test_the_cores_that_processes_of_the_target_share_are_full_before_each_of_them_is():
    loads = [(100.0 * at, 10.0 * at) for at in range(1, 17)]
    main, run = run_of(loads, bad=1600.0, own=1.0, app=0.003, database=0.003)
    assert main["limited_by"]["where"] == "the target's one core"
    found = by_question(further_findings(main, run, same_host=True, kept_apart="on cores of their own"))
    next_one = found["What would stop it next?"]
    assert [one["name"] for one in next_one["order"]] == ["target_cores", "app"]
    assert next_one["answer"].startswith("The target's one core is full first: near 16")
    assert "Then the one busy thread of app (one core) would stop it" in next_one["answer"]


def test_what_is_full_is_told_also_where_no_step_of_the_level_that_is_carried_has_a_rate():
    """A closed search may know that level from a look alone."""
    loads = [(100.0 * at, 10.0 * at) for at in range(1, 17)]
    main, run = run_of(loads, bad=1600.0, own=1.0, app=0.003, database=0.003)
    main["capacity"] |= {"rate_per_s": None, "requests_per_s": None}
    [found] = [one for one in further_findings(main, run, same_host=True) if one["question"].startswith("What would")]
    assert found["answer"].startswith("The target's one core is full first: near 16")


def test_a_named_limit_that_has_no_demand_is_named_before_what_comes_after_it():
    main, run = run_of(LOADS, bad=1200.0, app=0.001)
    main["limited_by"] = {"kind": "lock", "where": "locks of app", "utilisation": 1.0, "evidence": ""}
    words = by_question(further_findings(main, run, same_host=True))["What would stop it next?"]["answer"]
    assert words.startswith("What stopped it at 110/s was locks of app, of which no demand per operation was seen.")


def test_the_limit_that_was_seen_is_full_first_whatever_the_demands_below_it_say():
    """A healthy shop on a full host: by the demands of lower levels its thread would be full first."""
    main, run = run_of(LOADS, bad=1200.0, app=0.004)
    main["limited_by"] = {"kind": "cpu", "where": "host, all cores", "resource": "cpu", "evidence": ""}
    found = by_question(further_findings(main, run, same_host=True))["What would stop it next?"]
    assert found["answer"].startswith("The host's 4 cores are full first: between 1,100 users and 1,200 users")
    assert "Then the one busy thread of app (one core) would stop it: near 249/s" in found["answer"]
    assert (found["stopped_by"], [one["name"] for one in found["order"]]) == ("host, all cores", ["cpu", "app"])


def test_what_its_demand_would_fill_below_what_was_carried_is_left_out():
    main, run = run_of(LOADS, bad=1200.0, app=0.004)
    main["limited_by"] = {"kind": "cpu", "where": "host, all cores", "resource": "cpu", "evidence": ""}
    main["capacity"]["rate_per_s"] = 300.0
    found = by_question(further_findings(main, run, same_host=True))["What would stop it next?"]
    assert [one["name"] for one in found["order"]] == ["cpu"]
    assert "The one busy thread of app (one core) is left out: by its demand it would end at 24" in found["notes"][1]


def test_without_probes_nothing_is_said_and_an_unknown_budget_cannot_be_told():
    main, _ = run_of(LOADS)
    assert further_findings(main, Rows([])) == []
    [far] = further_findings(main, Rows([]), budgets={"gc": 0.8})
    assert far["answer"].startswith("Cannot tell for gc") and far["extrapolations"] == []


def test_two_levels_have_extrapolations_but_no_interval():
    found = by_question(further_findings(*run_of(LOADS[:2]), budgets={"app": 0.8}, same_host=True))
    far = found["How far would it go?"]
    assert "no interval" in far["answer"] and far["extrapolations"][0]["interval"] is None


def law(levels):
    return 10 * levels / (1 + 0.03 * (levels - 1) + 4e-4 * levels * (levels - 1))


def test_users_who_wait_are_fitted_by_the_law_with_its_peak():
    levels = np.array([1.0, 2, 4, 8, 16, 32, 64, 128])
    points = list(zip(levels.tolist(), law(levels).tolist(), strict=True))
    found = by_question(further_findings(*run_of(points, open_=False, app=0.001), same_host=True))
    scaling = found["How does throughput scale with users?"]
    assert "Throughput peaks at" in scaling["answer"] and scaling["scalability"]["peak_measured"]
    assert scaling["scalability"]["contention"] == pytest.approx(0.03, rel=0.01)
    early = by_question(further_findings(*run_of(points[:6], open_=False, app=0.001), same_host=True))
    answer = early["How does throughput scale with users?"]
    assert not answer["scalability"]["peak_measured"] and "Measure levels up to 64 users" in answer["next"][0]


def test_open_workloads_and_few_levels_have_no_law():
    questions = {finding["question"] for finding in further_findings(*run_of(LOADS), same_host=True)}
    assert "How does throughput scale with users?" not in questions
    few = further_findings(*run_of(LOADS[:4], open_=False), same_host=True)
    assert "How does throughput scale with users?" not in {finding["question"] for finding in few}


def test_a_probe_in_which_it_fell_behind_ends_all_forecasts_of_what_its_resources_could_do() -> None:
    main, run = run_of(LOADS)
    assert "How far would it go?" in by_question(further_findings(main, run, same_host=True))
    behind = step(12, 2_400.0, 240.0, "bad") | {"step_kind": "probe", "done_per_s": 150.0, "end_s": 125}
    facts = {**FACTS, "open": True, "good": 1200.0, "bad": None, "steps": [*main["steps"], behind]}
    [main] = checked(capacity_findings(facts, run))
    found = by_question(further_findings(main, run, same_host=True))
    assert "How far would it go?" not in found
    nearest = found["What would stop it next?"]
    assert nearest["answer"].startswith("Something stops it before what was probed is full: in a short step of 5 s at ")
    assert "it finished 150 of 240/s" in nearest["answer"] and nearest["order"] == []
    assert main["limited_by"]["kind"] == "none" and main["limited_by"]["in_short_step"]["kind"] == "unknown"


@pytest.mark.parametrize(("busy", "told"), [(0.99, "not proven; in a short step: CPU, "), (0.4, "cannot tell")])
def test_what_a_short_step_shows_is_told_as_that_whether_a_resource_was_full_or_not(busy: float, told: str) -> None:
    """Seen: "cannot tell" of one run and "nothing: no limit was reached" of the next, in both of which the target fell
    behind only in a short step."""
    main, run = run_of(LOADS)
    behind = step(12, 2_400.0, 240.0, "bad") | {"step_kind": "probe", "done_per_s": 150.0, "end_s": 125}
    facts = {**FACTS, "open": True, "good": 1200.0, "bad": None, "steps": [*main["steps"], behind]}
    used = {"cpu_cores_used": busy, "busiest_thread_cores_used": busy, "processes": 1.0}
    run.rows += [{"second": second, "source": "process:app", "values": used} for second in range(120, 125)]
    findings = consistent(capacity_findings(facts, run))
    seen = view(findings[0])
    assert seen.limited_by.startswith(told), seen.limited_by
    assert "No level was proven to be too much; in a short step of 5 s" in seen.limit_words
    assert "▼ fell behind at 2,400 in a short step" in " ".join(load_line(findings[0]))
    assert not any("╳" in line for line in load_line(findings[0]))


def test_a_disk_that_others_use_now_and_then_is_no_next_limit():
    """As seen beside a server that uses no disk: 12% at most, in two steps of eight, and it "would stop it near
    641/s (95%: 376 or more)"."""
    points = [(1, 1.0), (2, 2.0), (4, 4.0), (5, 5.0), (16, 16.0), (32, 31.8), (64, 49.3), (128, 49.2)]
    shares = (0.0047, 0.0080, 0.0106, 0.0128, 0.0040, 0.0060, 0.0592, 0.1150)
    main, run = run_of(points, open_=False)
    for row in run.rows:
        if row["source"] == "host":
            row["values"]["disk_busy_share"] = shares[row["second"] // 10]
    found = by_question(further_findings(main, run, same_host=True))["What would stop it next?"]
    assert "disk" not in found["answer"]
    assert any(
        "busiest disk is left out: its use, 12% at most, did not rise significantly" in note for note in found["notes"]
    )
