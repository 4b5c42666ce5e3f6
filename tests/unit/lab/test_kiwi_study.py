"""The study files, the script and the variants of lab/studies/kiwi agree with each other and with the lab."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plimsoll.study import load_study
from plimsoll_lab.__main__ import parser
from plimsoll_lab.testcases.methods import METHODS
from plimsoll_lab.testcases.variants import MOST_CASES, STATIC_ANSWERS

STUDY = Path(__file__).parents[3] / "lab" / "studies" / "kiwi"
SCRIPT = (STUDY / "kiwi.js").read_text()


@pytest.mark.parametrize("name", ["study.yaml", "full.yaml", "real.yaml"])
def test_each_study_loads_and_names_functions_of_the_script(name: str) -> None:
    study = load_study(STUDY / name)
    exported = set(re.findall(r"export function (\w+)", SCRIPT))
    assert "work" in exported
    kinds = []
    for experiment in study.experiments:
        chosen = experiment.model_dump(exclude_none=True)
        [kind] = chosen
        kinds.append(kind)
        if kind == "decompose":
            assert list(chosen[kind]["variants"]) == ["whole", "orm", "static"]
            assert set(chosen[kind]["variants"].values()) <= exported and chosen[kind]["parts"]
        else:
            assert max(map(int, chosen[kind]["over"].get("R", [1]))) <= MOST_CASES
            assert set(chosen[kind]["over"].get("READ", [])) <= set(METHODS)
    assert kinds == ["decompose", "sweep", "sweep"]


def test_the_script_calls_methods_that_the_lab_has_and_that_have_a_static_answer() -> None:
    called = set(re.findall(r"call\('([A-Za-z]+\.\w+)'", SCRIPT))
    listed = set(re.findall(r"^  '([A-Za-z]+\.\w+)',$", SCRIPT, re.MULTILINE))
    assert len(listed) == 10 and listed < called
    assert called <= set(METHODS) and called <= set(STATIC_ANSWERS)


def test_the_labs_known_defect_is_off_unless_asked_for() -> None:
    assert parser().parse_args(["testcases"]).recount_results is False
    assert parser().parse_args(["testcases", "--recount-results"]).recount_results is True
    url = load_study(STUDY / "study.yaml").target.url
    assert url is not None and url.endswith(f":{parser().parse_args(['testcases']).port}")
