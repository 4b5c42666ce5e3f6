"""lab/docs/conclusions.md is made of the studies' READMEs, and every conclusion has a mark."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("conclusions_page", ROOT / "lab" / "docs" / "conclusions_page.py")
assert _spec and _spec.loader
made = importlib.util.module_from_spec(_spec)
sys.modules["conclusions_page"] = made
_spec.loader.exec_module(made)

MARKS = re.compile(r"reproduced|contradicted|consistent with|figure not published|no figure")


def of(study: str) -> list:
    return made.conclusions_of((ROOT / "lab" / "studies" / study / "README.md").read_text(encoding="utf-8"))


def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "lab" / "docs" / "conclusions.md").read_text(encoding="utf-8") == made.page(), "run `make docs`"


@pytest.mark.parametrize("study", made.STUDIES)
def test_each_conclusion_names_its_lines_and_has_a_mark(study: str) -> None:
    found = of(study)
    assert len(found) >= 9
    for one in found:
        assert re.search(r"\d|tables", one.line) and MARKS.match(one.mark), one


@pytest.mark.parametrize("study", made.STUDIES)
def test_where_no_figure_is_published_the_lab_has_one_or_says_that_it_has_none(study: str) -> None:
    assert [one.says for one in of(study) if one.mark.startswith("figure not published") and not one.lab] == []


def test_what_the_lab_measured_is_told_apart_from_the_mark() -> None:
    text = """
| the author says | line | from the author's data | mark |
|---|---|---|---|
| a | 1 | b | reproduced; our lab: 5 ms |
| c | 2–3 | d | figure not published; our lab differs: 7 |
| e | 4 | contradicted: f, which is not measured by the lab |
| g | 5 | h | reproduced |

| another | table |
"""
    assert [(one.figures, one.mark, one.lab) for one in made.conclusions_of(text)] == [
        ("b", "reproduced", "5 ms"),
        ("d", "figure not published", "differs: 7"),
        ("", "contradicted: f", "which is not measured by the lab"),
        ("h", "reproduced", ""),
    ]


@pytest.mark.parametrize("text", ["# no table", "| the author | line | x |\n|---|---|---|\n| one | 2 |\n"])
def test_a_readme_without_such_a_table_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no table|not three or four"):
        made.conclusions_of(text)
