"""Findings of imported runs: growth of open tools, resources beside the levels, what belongs to no level."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Literal

import pytest

from plimsoll.findings.exit_codes import exit_code_of
from plimsoll.findings.imported.open_growth import growth_finding
from plimsoll.runs.reader import RunReader
from plimsoll.verbs.analysis import AnalysisChoices, analyze

T0 = 1_790_000_000
HEADER = "timeStamp,elapsed,label,responseCode,threadName,success,bytes,allThreads\n"


def counts(arrive_per_s: float, finish_per_s: float, seconds: int, seed: int) -> tuple[list[int], list[int]]:
    """A queue whose server finishes at most a Poisson number a second."""
    choose = random.Random(seed)

    def poisson(mean: float) -> int:
        return sum(1 for _ in range(int(10 * mean)) if choose.random() < 0.1)

    waiting, started, done = 0, [], []
    for _ in range(seconds):
        started.append(poisson(arrive_per_s))
        finished = min(waiting + started[-1], poisson(finish_per_s))
        done.append(finished)
        waiting += started[-1] - finished
    return started, done


@pytest.mark.parametrize("seed", range(5))
def test_an_open_tools_overload_is_seen_and_a_calm_run_is_not_called_one(seed: int) -> None:
    overloaded = growth_finding(*counts(220, 200, 90, seed))
    assert overloaded["answer"].startswith("No: at 2") and overloaded["growth"]["growth_z"] > 2
    calm = growth_finding(*counts(140, 200, 90, seed))
    assert not calm["answer"].startswith("No:")


def test_a_rate_that_changes_and_a_run_too_short_cannot_tell() -> None:
    assert "the rate changed" in growth_finding([10] * 30 + [40] * 30, [10] * 30 + [40] * 30)["answer"]
    assert "whole seconds" in growth_finding([10] * 5, [10] * 5)["answer"]
    assert "Cannot tell" in growth_finding([], [])["answer"]


def jtl(path: Path) -> Path:
    """Three levels of 20 s: 10, 20 and 40 users at 50, 100 and 110 requests/s."""
    lines = []
    for place, (users, per_s) in enumerate(((10, 50), (20, 100), (40, 110))):
        for number in range(20 * per_s):
            at_ms = 1000 * (T0 + 20 * place) + number * 1000 // per_s
            lines.append(f"{at_ms},{5 + number % 20},GET /a,200,Shop 1-1,true,100,{users}\n")
    path.write_text(HEADER + "".join(lines))
    return path


def test_resources_beside_a_run_give_the_demand_at_each_level_and_say_how_they_were_aligned(tmp_path: Path) -> None:
    cpu = "time,db cpu (%)\n" + "".join(
        f"{T0 + 100 + second},{(10, 20, 22)[second // 20]}\n" for second in range(0, 60, 5)
    )
    (tmp_path / "cpu.csv").write_text(cpu)
    choices = AnalysisChoices(
        tmp_path / "runs", resources=(tmp_path / "cpu.csv",), offset_s=-100.0, budgets={"db": 0.8}, report=False
    )
    [answer] = analyze([jtl(tmp_path / "r.jtl")], choices)
    levels, demand, overview = answer.findings
    assert any("-100 s were added" in note and "12 points" in note for note in overview["notes"])
    assert (levels["capacity"]["good"], levels["capacity"]["bad"]) == (20, 40)
    assert [item["utilisation"] for item in demand["demand"]["measured"]] == pytest.approx([0.10, 0.20, 0.22])
    assert demand["demand"]["line_per_s"] == pytest.approx(400, rel=0.02)
    low, high = demand["demand"]["line_interval"]
    assert low < demand["demand"]["line_per_s"] < high
    run = RunReader(answer.run_directory)
    assert run.state == "finished" and run.histogram().count == 20 * (50 + 100 + 110)
    assert len(list(run.resources())) == 12  # no second between the points was made up


def test_a_ramp_without_a_level_that_was_held_finds_the_range_and_says_so(tmp_path: Path) -> None:
    """One user more each second up to 120; requests in proportion up to 60 users, then 300/s."""
    lines = []
    for second in range(120):
        users, per_s = second + 1, min(5 * (second + 1), 300)
        lines += [
            f"{1000 * (T0 + second) + number * 1000 // per_s},5,GET /a,200,Shop 1-1,true,100,{users}\n"
            for number in range(per_s)
        ]
    (tmp_path / "r.jtl").write_text(HEADER + "".join(lines))
    [answer] = analyze([tmp_path / "r.jtl"], AnalysisChoices(tmp_path / "runs", report=False))
    finding = answer.findings[0]
    assert len(finding["steps"]) == 12 and "the load rose all the time" in finding["notes"][0]
    assert finding["capacity"]["good"] <= 66 and 54 <= finding["capacity"]["bad"] <= 76
    assert finding["capacity"]["good"] >= 45


def test_resources_that_miss_the_run_say_by_how_much(tmp_path: Path) -> None:
    (tmp_path / "cpu.csv").write_text(f"time,db cpu (%)\n{T0 + 7200},10\n")
    choices = AnalysisChoices(tmp_path / "runs", resources=(tmp_path / "cpu.csv",), report=False)
    [answer] = analyze([jtl(tmp_path / "r.jtl")], choices)
    assert any("begin +7,200 s from its start" in note for note in answer.findings[-1]["notes"])
    assert len(answer.findings) == 2  # no demand without a utilisation


def test_resources_that_were_cut_are_used_up_to_there_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "cpu.csv").write_text(f"time,db cpu (%)\n{T0 + 1},10\n{T0 + 2},20\n17900")
    choices = AnalysisChoices(tmp_path / "runs", resources=(tmp_path / "cpu.csv",), report=False)
    [answer] = analyze([jtl(tmp_path / "r.jtl")], choices)
    assert any("cpu.csv: Line 4 is cut off" in note for note in answer.findings[-1]["notes"])


def test_summaries_together_are_levels_of_one_test(tmp_path: Path) -> None:
    text = "Running 3s test @ http://x/\n  1 threads and {0} connections\n    Latency 4.00ms 1.00ms 9.00ms 70%\n"
    text += "  {2} requests in 3.00s, 1MB read\nRequests/sec: {1}\n"
    files = []
    for connections, rate in ((1, 200), (2, 390), (4, 400)):
        files.append(tmp_path / f"w{connections}.txt")
        files[-1].write_text(text.format(connections, rate, 3 * rate))
    [answer] = analyze(files, AnalysisChoices(tmp_path / "runs", together=True, report=False))
    capacity = answer.findings[0]["capacity"]
    assert (capacity["good"], capacity["bad"], capacity["unit"]) == (2, 4, "connections")  # 390 are twice 195
    assert capacity["flattens_between"] == [2, 4]


def of_table(tmp_path: Path, rows: str, model: Literal["open", "closed"] | None = None) -> dict[str, Any]:
    (tmp_path / "t.csv").write_text("users,throughput (req/s)\n" + rows)
    [answer] = analyze([tmp_path / "t.csv"], AnalysisChoices(tmp_path / "runs", model=model, report=False))
    return answer.findings[0]


def test_a_table_of_a_closed_load_is_carried_as_far_as_throughput_goes_with_the_users(tmp_path: Path) -> None:
    found = of_table(tmp_path, "10,100\n20,195\n30,280\n40,302\n50,300\n60,303\n")
    capacity = found["capacity"]
    assert (capacity["good"], capacity["bad"], capacity["plateau_share"]) == (30, 40, 0.95)
    assert (
        "rises with the load up to 30 users (280/s); from 40 users on, more bring no more throughput: 302/s, the mean "
        "of 3 levels (300 to 303/s)." in found["answer"]
    )
    assert [step["verdict"] for step in found["steps"]] == ["good"] * 3 + ["bad"] * 3


def test_where_a_table_begins_to_flatten_has_a_name_of_its_own(tmp_path: Path) -> None:
    """From 20 to 30 users less than half is gained. 30 and 40 users get less than they ask for, though more bring more:
    that is neither."""
    found = of_table(tmp_path, "10,100\n20,195\n30,240\n40,276\n50,300\n60,300\n")
    assert (found["capacity"]["good"], found["capacity"]["bad"]) == (20, 50)
    assert "up to 20 users (195/s), by less than the load up to 40 users (276/s); from 50 users" in found["answer"]
    assert [step["verdict"] for step in found["steps"]] == ["good", "good", "unknown", "unknown", "bad", "bad"]
    assert found["capacity"]["flattens_between"] == [20, 30]
    assert found["facts"] == [["Begins to flatten", "between 20 and 30 users"]]
    assert "It begins to flatten between 20 and 30 users" in " ".join(found["notes"])


def test_a_table_whose_most_is_its_highest_level_says_that_the_plateau_may_be_higher(tmp_path: Path) -> None:
    found = of_table(tmp_path, "10,100\n20,195\n40,205\n")
    assert (found["capacity"]["good"], found["capacity"]["bad"]) == (20, 40)
    found = of_table(tmp_path, "10,100\n20,195\n30,230\n40,245\n")
    assert (found["capacity"]["good"], found["capacity"]["bad"]) == (20, 40)
    assert not found["capacity"]["plateau_seen"] and "no more throughput" not in found["answer"]
    assert "the plateau may lie above it" in " ".join(found["notes"])
    assert any("above 40 users" in step for step in found["next"])


@pytest.mark.parametrize(
    ("rows", "more"), [("10,100\n20,190\n40,340\n80,500\n", "47%"), ("10,100\n20,195\n40,260\n", "33%")]
)
def test_a_curve_that_still_rises_is_not_called_saturated_at_its_end(tmp_path: Path, rows: str, more: str) -> None:
    found = of_table(tmp_path, rows)
    assert found["capacity"]["bad"] is None and found["steps"][-1]["verdict"] == "unknown"
    assert f"{more} more than at" in found["answer"] and "No plateau was seen" in found["answer"]


def test_a_level_that_gets_what_its_users_ask_for_is_carried_however_near_to_the_plateau(tmp_path: Path) -> None:
    """200 users bring 98% of twice what 100 do, which is 96% of the most: an outside user found it “not carried”."""
    (tmp_path / "t.csv").write_text("users,throughput (req/s),p95 (ms)\n100,99,80\n200,196,120\n250,205,400\n")
    limit = ({"objective": "p95<=200ms"},)
    choices = AnalysisChoices(tmp_path / "runs", objectives=limit, expected=100, report=False)
    [answer] = analyze([tmp_path / "t.csv"], choices)
    found = answer.findings[0]
    assert (found["capacity"]["good"], found["capacity"]["bad"]) == (200, 250)
    assert found["headroom"]["carries"] and found["headroom"]["ratio"] == pytest.approx(1.0)
    assert "rises with the load up to 200 users (196/s) and flattens towards 250 users (205/s)" in found["answer"]


def test_between_what_is_carried_and_what_is_not_the_expected_load_is_not_known(tmp_path: Path) -> None:
    rows = "10,100\n20,195\n30,240\n40,276\n50,300\n60,300\n"
    (tmp_path / "t.csv").write_text("users,throughput (req/s)\n" + rows)
    carries = []
    for expected in (20, 35, 50):
        choices = AnalysisChoices(tmp_path / "runs", expected=expected, report=False)
        [answer] = analyze([tmp_path / "t.csv"], choices)
        carries.append(answer.findings[0]["headroom"]["carries"])
    assert carries == [True, None, False]


def test_twenty_users_who_bring_two_thirds_more_than_ten_are_not_too_many(tmp_path: Path) -> None:
    found = of_table(tmp_path, "10,100\n20,167\n")
    assert (found["capacity"]["good"], found["capacity"]["bad"]) == (10, None)
    assert found["answer"].startswith("Throughput rises, though in less than proportion at the end, up to 20 users")


def test_past_a_fall_nothing_is_carried_and_the_peak_is_if_it_is_in_proportion(tmp_path: Path) -> None:
    found = of_table(tmp_path, "100,100\n200,200\n300,120\n")
    assert (found["capacity"]["good"], found["capacity"]["bad"]) == (200, 300)
    assert "past 200 users it falls, by 40% to 120/s at 300 users" in found["answer"]


def test_a_table_that_is_at_its_plateau_with_one_user_carries_that_one(tmp_path: Path) -> None:
    found = of_table(tmp_path, "1,100\n2,102\n4,101\n")
    assert (found["capacity"]["good"], found["capacity"]["bad"]) == (1, 2)
    words = (
        "Throughput does not rise with the load: from 1 to 4 users it is 101/s, the mean of 3 levels (100 to 102/s)."
    )
    assert found["answer"] == f"{words} One user alone brings as much."
    assert found["facts"] == [] and not any("between 1 user and 2 users" in step for step in found["next"])


@pytest.mark.parametrize(("second", "good", "bad"), [(160, 100, 200), (176, 100, 400), (190, 200, 400)])
def test_an_open_load_is_carried_while_what_comes_is_done(tmp_path: Path, second: int, good: float, bad: float) -> None:
    """Of 200/s that are asked for, 160 done leave a fifth undone, whatever more load brings; 176 decide nothing."""
    (tmp_path / "t.csv").write_text(f"rate (req/s),throughput (req/s)\n100,100\n200,{second}\n400,210\n")
    [answer] = analyze([tmp_path / "t.csv"], AnalysisChoices(tmp_path / "runs", model="open", report=False))
    found = answer.findings[0]
    assert (found["capacity"]["good"], found["capacity"]["bad"]) == (good, bad)


def test_a_table_of_an_open_load_is_carried_as_long_as_throughput_rises(tmp_path: Path) -> None:
    found = of_table(tmp_path, "10,100\n20,195\n40,200\n", "open")
    assert (found["capacity"]["good"], found["capacity"]["bad"], found["capacity"]["plateau_share"]) == (20, 40, None)
    assert "at 40 users (200/s) 50% of what comes is not done" in found["answer"]


@pytest.mark.parametrize("model", ["open", "closed", None])
def test_a_tables_capacity_has_the_model_that_was_asked_for(tmp_path: Path, model: Literal["open", "closed"]) -> None:
    (tmp_path / "t.csv").write_text("users,throughput (req/s),mean (ms)\n10,100,20\n20,190,900\n40,200,900\n")
    choices = AnalysisChoices(tmp_path / "runs", model=model, report=False)
    [answer] = analyze([tmp_path / "t.csv"], choices)
    levels = answer.findings[0]
    assert levels["capacity"]["model"] == (model or "closed")
    assert any("Little's law" in note for note in levels["notes"]) == (model != "open")


def test_samples_have_the_model_that_was_asked_for(tmp_path: Path) -> None:
    choices = AnalysisChoices(tmp_path / "runs", model="open", report=False)
    [answer] = analyze([jtl(tmp_path / "r.jtl")], choices)
    assert next(one for one in answer.findings if "capacity" in one)["capacity"]["model"] == "open"


def test_the_capacity_of_wrk2_is_that_of_an_open_load(tmp_path: Path) -> None:
    text = "Running 3s test @ http://x/\n  1 threads and {0} connections\n  Thread calibration: mean lat.: 9 usec\n"
    text += "    Latency 900.00ms 1.00ms 990.00ms 70%\n  {2} requests in 3.00s, 1MB read\nRequests/sec: {1}\n"
    (tmp_path / "w").write_text("".join(text.format(*one, 3 * one[1]) for one in ((1, 200), (2, 390), (4, 400))))
    [answer] = analyze([tmp_path / "w"], AnalysisChoices(tmp_path / "runs"))
    levels, source = answer.findings
    assert levels["capacity"]["model"] == "open" and not any("contradict" in note for note in levels["notes"])
    assert answer.report is not None and "wait for each answer" not in " ".join(source["notes"])


def test_an_objective_of_a_misspelt_request_in_a_table_is_no_success(tmp_path: Path) -> None:
    rows = "operation,users,throughput (req/s),p95 (ms)\n"
    rows += "".join(f"GET /search,{users},{10 * users},20\n" for users in (10, 20, 40))
    (tmp_path / "t.csv").write_text(rows)
    wanted = ({"request": "GET /serach", "objective": "p95<=200ms"},)
    choices = AnalysisChoices(tmp_path / "runs", objectives=wanted, expected=20, report=False)
    [answer] = analyze([tmp_path / "t.csv"], choices)
    levels = answer.findings[0]
    assert "Did you mean GET /search?" in levels["answer"] and levels["headroom"]["carries"] is None
    assert exit_code_of([answer.findings]) == 99
