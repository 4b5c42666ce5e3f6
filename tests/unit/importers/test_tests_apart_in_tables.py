"""Tables that hold several tests, repeats, failures, other levels than users, or columns that are not understood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.verbs.analysis import AnalysisChoices, analyze

LEVELS = "Up to which load does throughput rise"


def analysed(folder: Path, text: str, **choices: Any) -> list[dict[str, Any]]:
    (folder / "t.csv").write_text(text)
    [answer] = analyze([folder / "t.csv"], AnalysisChoices(folder / "runs", report=False, **choices))
    return answer.findings


def levels_of(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for one in found if one["question"].startswith(LEVELS)]


@pytest.mark.parametrize(
    "text",
    [
        "users,req/s,errors (%),p95 (ms)\n10,100,0,20\n20,200,0,21\n40,400,60,22\n80,800,95,22\n",
        "users,req/s,failed,samples\n10,100,0,1000\n20,200,0,2000\n40,400,2400,4000\n80,800,7600,8000\n",
    ],
)
def test_failures_are_never_carried_load(tmp_path: Path, text: str) -> None:
    [levels] = levels_of(analysed(tmp_path, text))
    assert (levels["capacity"]["good"], levels["capacity"]["bad"]) == (20, 40)
    assert [step["verdict"] for step in levels["steps"]] == ["good", "good", "bad", "bad"]
    assert "at 40 users 60% of the requests fail, 0% at 10" in levels["answer"]
    assert levels["capacity"]["requests_per_s"] == 200


def test_an_objective_says_how_many_failures_are_allowed(tmp_path: Path) -> None:
    text = "users,req/s,errors (%)\n10,100,0\n20,200,3\n40,400,6\n"
    [strict] = levels_of(analysed(tmp_path, text))
    assert strict["capacity"]["bad"] == 20
    [mild] = levels_of(analysed(tmp_path, text, objectives=({"objective": "error_rate<=5%"},)))
    assert (mild["capacity"]["good"], mild["capacity"]["bad"]) == (20, 40)


def test_a_percentile_of_requests_most_of_which_failed_is_not_met(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(
        "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,"
        "Max Response Time,Average Content Size,Requests/s,Failures/s,"
        "50%,66%,75%,80%,90%,95%,98%,99%,99.9%,99.99%,100%\n"
        ",Aggregated,1000,900,10,10.0,5,40,100,10,9,10,10,11,11,12,20,30,35,40,40,40\n"
    )
    choices = AnalysisChoices(tmp_path / "runs", report=False, objectives=({"objective": "p95<=300ms"},))
    [answer] = analyze([tmp_path / "s.csv"], choices)
    [levels] = levels_of(answer.findings)
    assert levels["objectives"][0]["verdict"] == "failed"
    assert "900 of 1,000 requests failed (90%)" in levels["answer"]


def test_operations_are_tests_of_their_own_unless_they_ran_together(tmp_path: Path) -> None:
    text = "operation,users,req/s,cpu (%)\nv1,100,100,50\nv2,100,400,30\n"
    found = analysed(tmp_path, text)
    costs = {one["question"]: one["demand"]["measured"][0]["demand_ms"] for one in found if one.get("demand")}
    assert costs == {
        "What does a request cost of cpu in v1?": pytest.approx(5),
        "What does a request cost of cpu in v2?": pytest.approx(0.75),
    }
    assert "taken for a test of its own" in " ".join(found[-1]["notes"])
    found = analysed(tmp_path, text, together=True)
    [cost] = [one["demand"]["measured"] for one in found if one.get("demand")]
    assert cost[0]["per_s"] == 500


def test_a_level_without_all_operations_is_not_added_up(tmp_path: Path) -> None:
    text = "operation,users,req/s\na,10,100\nb,10,50\na,20,200\nb,20,100\na,40,400\n"
    [levels] = levels_of(analysed(tmp_path, text, together=True))
    assert levels["capacity"]["good"] == 20 and any("Left out: 40 users" in note for note in levels["notes"])


@pytest.mark.parametrize("heading", ["variant", "host", "build"])
def test_words_that_come_again_at_each_level_are_variants_with_one_answer_each(tmp_path: Path, heading: str) -> None:
    text = f"{heading},users,req/s\na,10,100\nb,10,60\na,20,200\nb,20,62\na,40,400\nb,40,63\n"
    found = analysed(tmp_path, text)
    first, second = levels_of(found)
    assert first["question"] == f"{LEVELS} in a?" and second["question"] == f"{LEVELS} in b?"
    assert first["capacity"]["most_per_s"] == 400 and "rises in proportion up to 40" in first["answer"]
    assert "232" not in first["answer"] + second["answer"] and second["capacity"] is None
    assert any(f"{heading} tells apart" in note for note in found[-1]["notes"])


def test_numbers_that_tell_tests_apart_are_variants_and_numbers_of_repeats_are_not(tmp_path: Path) -> None:
    text = "{},users,req/s\n2,10,100\n4,10,102\n2,20,190\n4,20,205\n2,40,240\n4,40,400\n"
    assert [one["question"][len(LEVELS) :] for one in levels_of(analysed(tmp_path, text.format("cores")))] == [
        " in cores 2?",
        " in cores 4?",
    ]
    assert len(levels_of(analysed(tmp_path, text.format("run")))) == 1


def test_remarks_that_differ_in_each_row_are_no_variants(tmp_path: Path) -> None:
    text = "users,req/s,remark\n10,100,first\n20,200,warm\n20,190,again\n40,400,last\n"
    assert len(levels_of(analysed(tmp_path, text))) == 1


def test_a_repeat_that_disagrees_is_shown_and_its_level_is_mixed(tmp_path: Path) -> None:
    [levels] = levels_of(analysed(tmp_path, "users,req/s\n100,100\n200,200\n400,400\n500,500\n500,150\n"))
    assert (levels["capacity"]["good"], levels["capacity"]["bad"]) == (400, None)
    assert [step["verdict"] for step in levels["steps"]] == ["good"] * 3 + ["mixed"] * 2
    assert "At 500 users the repeats disagree (500/s and 150/s)" in levels["answer"]
    assert not any("measured once" in note for note in levels["notes"])


def test_repeats_that_agree_are_averaged_and_shown(tmp_path: Path) -> None:
    [levels] = levels_of(analysed(tmp_path, "users,req/s\n10,100\n10,104\n20,200\n20,196\n40,202\n40,199\n"))
    assert (levels["capacity"]["good"], levels["capacity"]["bad"]) == (20, 40)
    assert any("10: 100/s and 104/s" in note for note in levels["notes"])


def test_one_level_tells_no_demand_without_load(tmp_path: Path) -> None:
    found = analysed(tmp_path, "users,req/s,cpu (%)\n8,3700,61\n8,3600,63.5\n8,3650,60\n", budgets={"cpu": 0.8})
    [cost] = [one for one in found if one.get("demand")]
    assert not any("without any request" in note for note in cost["notes"])
    assert any("One level does not show" in note for note in cost["notes"])
    assert cost["demand"]["line_per_s"] is None and "no line: one level" in cost["answer"]


def test_a_column_that_is_not_understood_is_left_out_with_one_line(tmp_path: Path) -> None:
    found = analysed(tmp_path, "users,req/s,cpu used (vCPU)\n10,100,12\n20,200,40\n40,220,79\n")
    [told] = [note for note in found[-1]["notes"] if "cpu used (vCPU)" in note]
    assert told == "Left out: cpu used (vCPU): (vCPU) is no unit that is known."
    assert levels_of(found)[0]["capacity"]["good"] == 20 and not any(one.get("demand") for one in found)


@pytest.mark.parametrize(
    ("heading", "unit"),
    [("processors", "processors"), ("injectors", "injectors"), ("items", "items"), ("threads", "threads"),
     ("rate (req/s)", "requests/s")],
)  # fmt: skip
def test_other_levels_than_users_are_known(tmp_path: Path, heading: str, unit: str) -> None:
    [levels] = levels_of(analysed(tmp_path, f"{heading},throughput (req/s)\n1,100\n2,195\n4,380\n8,385\n16,384\n"))
    assert levels["level_unit"] == unit and (levels["capacity"]["good"], levels["capacity"]["bad"]) == (4, 8)


def test_any_column_may_be_named_as_the_level(tmp_path: Path) -> None:
    text = "batch size,users,throughput (req/s)\n1,8,100\n2,8,195\n4,8,280\n8,8,290\n16,8,292\n"
    [levels] = levels_of(analysed(tmp_path, text, level="batch size"))
    assert (levels["level_unit"], levels["capacity"]["bad"]) == ("batch sizes", 4)
    with pytest.raises(InputError, match="there is no such column; it has batch size, users"):
        analysed(tmp_path, text, level="batch")


def test_compare_judges_throughput_as_well_as_times(tmp_path: Path) -> None:
    heading = "users,req/s,p95 (ms)\n"
    levels = (10, 20, 30, 40, 50, 60)
    (tmp_path / "a.csv").write_text(heading + "".join(f"{one},{10 * one},20\n" for one in levels))
    (tmp_path / "b.csv").write_text(heading + "".join(f"{one},{9 * one},20\n" for one in levels))
    choices = AnalysisChoices(tmp_path / "runs", compare=True, report=False)
    found = analyze([tmp_path / "a.csv", tmp_path / "b.csv"], choices)[-1].findings[0]
    assert "Throughput is consistent with B doing less: lower at 6 of 6 levels, in the median by 10%" in found["answer"]


@pytest.mark.parametrize(
    ("cells", "told"),
    [(("1.000", "1.900", "2.500"), True), (("1.000", "1.9", "2.500"), False), (("0.512", "1.900", "2.500"), False)],
)
def test_a_point_that_may_part_thousands_is_told_where_no_cell_says_what_it_is(
    tmp_path: Path, cells: tuple[str, ...], told: bool
) -> None:
    rows = "".join(f"{10 * number};{cell}\n" for number, cell in enumerate(cells, 1))
    found = analysed(tmp_path, "users;throughput (req/s)\n" + rows)
    notes = " ".join(found[-1]["notes"])
    assert ("1.000 was read as 1, as a point begins a fraction. If it means 1000" in notes) == told


def test_columns_without_a_name_are_numbered_and_not_judged(tmp_path: Path) -> None:
    found = analysed(tmp_path, "users,req/s,,\n10,100,,\n20,200,,x\n40,390,,\n")
    assert "Columns kept and not judged: column 3, column 4." in found[-1]["notes"]
