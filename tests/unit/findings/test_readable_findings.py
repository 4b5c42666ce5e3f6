"""Findings read well: short sentences, the words of the field, and Flesch's reading ease where it was reached.

Each finding that any test makes is held to the first two (tests/findings_as_json.py).
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from capacity_runs import LOADS, run_of
from markdown_pages import ROOT
from sentences_of_findings import faults, faults_of_sentence, reading_ease, sentences, texts_of, words

from plimsoll.findings.capacity.further import further_findings
from plimsoll.verbs.analysis import AnalysisChoices, analyze

FIRST_READ = ("answer", "caution", "reason", "limit", "next step")
TABLE = "users,req/s,cpu (%),db disk busy (%)\n10,50,12,3\n50,240,55,20\n100,420,95,93\n200,430,98,96\n"


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Of every experiment: the examples of docs/findings.md, capacity runs with all that follows from them, a table."""
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    told = [one for text in re.findall(r"```json\n(.*?)```", page, re.DOTALL) for one in _listed(json.loads(text))]
    for own in (
        {"bad": 900.0},
        {"bad": None},
        {"bad": 900.0, "thread": False, "own": 1},
        {"open_": False, "bad": 900.0},
    ):
        main, run = run_of(LOADS, **own)
        told += [main, *further_findings(main, run, same_host=True, budgets={"cpu": 0.5}, cores=8)]
    folder = tmp_path_factory.mktemp("table")
    (folder / "levels.csv").write_text(TABLE)
    [of_table] = analyze([folder / "levels.csv"], AnalysisChoices(runs=folder / "runs"))
    return [*told, *of_table.findings]


def _listed(example: Any) -> list[dict[str, Any]]:
    return example if isinstance(example, list) else [example]


def test_the_corpus_has_every_experiment(findings: list[dict[str, Any]]) -> None:
    wanted = {"capacity", "hold", "grow", "drain", "compare", "decompose", "sweep", "analyze"}
    assert wanted <= {one.get("experiment") for one in findings}
    assert {place for one in findings for place, _ in texts_of(one)} >= {*FIRST_READ} - {"reason", "caution"}


def test_no_finding_has_a_sentence_that_is_hard_to_read(findings: list[dict[str, Any]]) -> None:
    assert [fault for one in findings for fault in faults(one)] == []


@pytest.mark.parametrize(("places", "least"), [(FIRST_READ, 84.0), (None, 79.0)])
def test_the_reading_ease_of_all_findings_is_no_less_than_was_reached(
    findings: list[dict[str, Any]], places: tuple[str, ...] | None, least: float
) -> None:
    texts = {text for one in findings for place, text in texts_of(one) if places is None or place in places}
    assert reading_ease(texts) >= least


@pytest.mark.parametrize(
    ("sentence", "count"),
    [
        ("It carries 1,640 users.", 3),
        ("It took between 12 ms and 3 min 5 s, 95% of all.", 9),
        ("It fell by 19% (95%: 14% to 23%) at 40 users.", 6),
        ("Run ALTER TABLE `a` ADD INDEX (`b`), if EXPLAIN shows none.", 6),
    ],
)
def test_a_number_with_its_unit_or_interval_and_a_statement_are_a_word_each(sentence: str, count: int) -> None:
    assert [words(one) for one in sentences(sentence)] == [count]


@pytest.mark.parametrize(
    ("sentence", "fault"),
    [
        ("word " * 30 + "end.", "31 words"),
        ("Had 19% of it been left over, it would show.", "'left over' (write: the backlog grows by so many a second)"),
        ("Work piles up.", "'piles up' (write: the target is saturated)"),
        ("It is not seen by nobody.", "negated twice"),
    ],
)
def test_what_is_hard_to_read_would_be_seen(sentence: str, fault: str) -> None:
    assert list(faults_of_sentence(sentence)) == [fault]


def test_negations_of_two_clauses_are_two_and_a_short_sentence_has_no_fault() -> None:
    assert list(faults_of_sentence("It was not seen, and nothing failed at 40 users.")) == []


def test_the_reading_ease_is_flesch_s() -> None:
    assert reading_ease(["The cat sat on the mat."]) == pytest.approx(206.835 - 1.015 * 6 - 84.6)
    assert reading_ease(["Capacity."]) == pytest.approx(206.835 - 1.015 - 84.6 * 4)
