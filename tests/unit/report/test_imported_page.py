"""The first screen of another tool's results: chart and rows say what the answer says, and no verdict nobody gave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plimsoll.findings.imported import shown
from plimsoll.report.page import Page, build
from plimsoll.report.run_evidence import read_run
from plimsoll.verbs.analysis import AnalysisChoices, analyze

HEADING = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,grpThreads,allThreads\n"
T0_MS = 1_764_000_000_000


def jtl(path: Path, levels: dict[int, tuple[int, float]]) -> Path:
    """A JTL of 10 s at each level, of so many requests a second of which that share fails."""
    lines, start = [], 0
    for users, (per_s, failing) in levels.items():
        for place in range(10 * per_s):
            fails = place % 100 < 100 * failing
            at = T0_MS + 1000 * start + place * 1000 // per_s
            code, good = ("500", "false") if fails else ("200", "true")
            lines.append(f"{at},20,Home,{code},,Users 1-{place % users + 1},{good},100,{users},{users}")
        start += 10
    path.write_text(HEADING + "\n".join([*lines, f"{T0_MS + 1000 * start},20,Home,200,,Users 1-1,true,100,1,1"]) + "\n")
    return path


def page_of(file: Path, **choices: Any) -> Page:
    [found] = analyze([file], AnalysisChoices(file.parent / "runs", report=False, **choices))
    return build(read_run(found.run_directory))


def rows_of(page: Page) -> dict[str, tuple[str, str, str]]:
    return {row.subject: (row.key, row.badge, row.words) for row in page.findings[0].decided}


def first_chart(page: Page) -> str:
    return str(page.curves[0].specification)


RISING = {5: (50, 0.0), 10: (100, 0.0), 20: (200, 0.0), 40: (300, 0.0), 60: (302, 0.0), 80: (301, 0.0)}


def test_levels_where_throughput_flattens_are_not_marked_as_not_carried(tmp_path: Path) -> None:
    page = page_of(jtl(tmp_path / "r.jtl", RISING))
    told = [row["verdict"] for row in page.steps]
    assert told == ["throughput rises"] * 3 + ["no more throughput"] * 3
    assert page.findings[0].load_line is None and "not carried" not in first_chart(page)
    assert "planned" not in first_chart(page) and "rises up to 20 users" in first_chart(page)
    facts = dict(page.findings[0].facts)
    assert (facts["Throughput rises up to"], facts["No more throughput from"]) == (
        "20 users",
        "40 users",
    ) and "Carried up to" not in facts


def test_its_first_screen_says_what_was_found_what_failed_and_what_the_source_cannot_tell(tmp_path: Path) -> None:
    page = page_of(jtl(tmp_path / "r.jtl", RISING))
    rows = rows_of(page)
    assert rows["throughput"] == ("unknown", "levels off", "At 301/s from 40 users on.")
    assert rows["failures"] == ("good", "✓ none", "0 of 12,531 requests.")
    assert rows["not in the source"][2].startswith("The file does not say whether users wait for their answers. ")
    assert page.curves[0].key == "level-throughput"
    assert not page.findings[-1].decided, "the last answer says all of it"


def test_failures_are_a_row_and_a_mark_and_are_no_throughput_in_the_chart(tmp_path: Path) -> None:
    page = page_of(jtl(tmp_path / "r.jtl", {5: (50, 0.0), 10: (100, 0.0), 20: (200, 0.0), 40: (400, 0.25)}))
    rows = rows_of(page)
    assert rows["throughput"][:2] == ("bad", "✗ requests fail") and rows["failures"][1] == "✗ 13%"
    assert [row["verdict"] for row in page.steps][-1] == "✗ too many fail"
    assert page.steps[-1]["done"] == "300" and "too many fail from 40 users" in first_chart(page)
    assert page.findings[0].answer.startswith("Throughput rises with the load up to 20 users (200/s); at 40 users 25%")


def test_a_throughput_that_is_the_same_everywhere_has_no_bracket(tmp_path: Path) -> None:
    page = page_of(jtl(tmp_path / "r.jtl", {1: (96, 0.0), 5: (97, 0.0), 10: (96, 0.0), 60: (97, 0.0)}))
    assert rows_of(page)["throughput"][1] == "does not rise"
    assert {row["verdict"] for row in page.steps} == {"no more throughput"}
    assert (
        not {"Throughput rises up to", "No more throughput from", "Carried up to"} & dict(page.findings[0].facts).keys()
    )
    assert "rises up to" not in first_chart(page)


def test_an_open_load_is_still_carried_or_not(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("rate (req/s),throughput (req/s)\n100,100\n200,198\n400,210\n")
    page = page_of(tmp_path / "t.csv", model="open")
    assert [row["verdict"] for row in page.steps] == ["✓ carried", "✓ carried", "✗ not carried"]
    assert rows_of(page)["throughput"][1] == "✗ falls behind"


def test_requests_are_drawn_where_iterations_are_counted_beside_them() -> None:
    step = {"level": 10, "done_per_s": 5.0, "requests_per_s": 20.0, "error_share": 0.1}
    assert shown.good_per_s(step) == pytest.approx(18.0)
    assert shown.good_per_s({"done_per_s": 7}) == 7 and shown.good_per_s({}) is None


@pytest.mark.parametrize(
    "finding",
    [
        {"experiment": "analyze", "capacity": None, "steps": None},
        {"experiment": "analyze", "capacity": [1], "steps": [3, {"verdict": "mixed"}], "cannot": "text"},
        {"experiment": "analyze", "capacity": {"bad": "x", "model": "open"}, "totals": {"requests": None}},
        {"experiment": "analyze", "capacity": {"falls_by": 0.5}, "steps": [{"error_share": True}]},
    ],
)
def test_a_finding_that_lacks_keys_has_rows_all_the_same(finding: dict[str, Any]) -> None:
    assert {row[0] for row in shown.rows_of(finding)} <= {"throughput", "failures", "repeats", "not in the source"}
    assert shown.judged_as({"verdict": "bad"}, finding) in ("bad", "flat")


def test_the_chart_draws_the_requests_of_the_answer_and_not_their_transactions(tmp_path: Path) -> None:
    heading, *lines = jtl(tmp_path / "r.jtl", RISING).read_text().splitlines()
    told = [f"{heading},URL"]
    for place, line in enumerate(lines):
        told.append(f"{line},http://x/")
        if place % 4 == 0:
            message = '"Number of samples in transaction : 4, number of failing samples : 0"'
            cells = line.split(",")
            told.append(",".join([*cells[:2], "Buy", "200", message, *cells[5:], "null"]))
    (tmp_path / "r.jtl").write_text("\n".join(told) + "\n")
    page = page_of(tmp_path / "r.jtl")
    assert page.steps[-1]["done"] == "301" and "301/s, the mean of 3 levels" in page.findings[0].answer


def test_the_rate_of_the_whole_is_the_one_that_the_answer_tells(tmp_path: Path) -> None:
    """Seen: 20.1/s on the terminal and 18.2/s on the page, which divided by whole seconds."""
    file = jtl(tmp_path / "r.jtl", {5: (20, 0.0)})
    file.write_text(
        "\n".join(file.read_text().splitlines()[:-1]) + f"\n{T0_MS + 10_475},20,Home,200,,U 1-1,true,9,5,5\n"
    )
    page = page_of(file)
    [answer] = [one.answer for one in page.findings if "JTL as CSV" in one.answer]
    [whole] = [row for table in page.whole_run for row in table.rows if row["name"] == "Home"]
    assert f"requests in 10.5 s, {whole['rate']}/s" in answer, (whole["rate"], answer)
