"""`compare` says where one side alone is given a variable, such as the address."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.plans.requests import CompareRequest, TrialChoices
from plimsoll.plans.trials import compare_setup

SCRIPT = """
import http from 'k6/http';
export const options = { vus: 2, duration: '10s' };
export default function () { http.get(`${__ENV.BASE_URL}/${__ENV.SIZE}`); }
"""
STUDY = """
expected_users: 10
target: {url: "http://127.0.0.1:9"}
workload: {script: script.js, env: {SIZE: "1"}, operations: [{name: default, per_user_hour: 60}]}
"""


def said_of(source: Path, env: dict[str, str] | None = None, **sides: tuple[str, ...]) -> list[str]:
    said: list[str] = []
    compare_setup(CompareRequest(source, **sides), TrialChoices(env=env or {}), said.append)
    return [text for text in said if " alone. " in text]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "script.js").write_text(SCRIPT)
    return tmp_path / "script.js"


def test_an_address_of_one_side_alone_is_told_with_what_sets_the_other(script: Path) -> None:
    [told] = said_of(script, a=("http://127.0.0.1:9",))
    assert told.startswith("BASE_URL is set for A alone. B runs with what the script says") and "--b" in told
    [told] = said_of(script, b=("SIZE=5",))
    assert told.startswith("SIZE is set for B alone. A runs") and "-e SIZE=… for both" in told


def test_nothing_is_told_where_both_have_it_or_something_else_gives_it(script: Path) -> None:
    assert said_of(script, a=("http://127.0.0.1:9",), b=("http://127.0.0.1:8",)) == []
    assert said_of(script, {"BASE_URL": "http://127.0.0.1:8"}, a=("http://127.0.0.1:9",)) == []
    study = script.with_name("study.yaml")
    study.write_text(STUDY)
    assert said_of(study, a=("SIZE=5", "http://127.0.0.1:8")) == []


@pytest.mark.parametrize(
    ("a", "b", "is_same"),
    [
        (("SIZE=5",), ("SIZE=5",), True),
        (("MODE=plain",), ("MODE=cached",), True),  # which the script never reads
        (("SIZE=5", "MODE=plain"), ("SIZE=5",), True),
        (("SIZE=5",), ("SIZE=6",), False),
        (("http://127.0.0.1:9",), ("http://127.0.0.1:9",), True),
    ],
)
def test_arms_that_do_not_differ_for_the_script_are_the_same(
    script: Path, a: tuple[str, ...], b: tuple[str, ...], is_same: bool
) -> None:
    """Two values of a variable that nothing reads were compared as if they were two forms."""
    said: list[str] = []
    plan = compare_setup(CompareRequest(script, a=a, b=b), TrialChoices(), said.append).plan
    assert plan.analysis.get("same", False) is is_same
    assert any(text.startswith("A and B are the same") for text in said) is is_same
