"""What a caller can get wrong in compare, decompose and sweep is said before any load, with the next step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import plimsoll
from plimsoll.errors import InputError
from plimsoll.plans.requests import request_of
from plimsoll.plans.trials import compare_setup, decompose_setup, sweep_setup
from plimsoll.study import parse_study

OPEN = """import http from 'k6/http';
export const options = { scenarios: { views: {
  executor: 'constant-arrival-rate', rate: 50, timeUnit: '1s', duration: '5s', preAllocatedVUs: 5 } } };
export default function () { http.get(__ENV.BASE_URL); }
"""
CLOSED = (
    "import http from 'k6/http';\nexport default function () { http.get(__ENV.BASE_URL); }\n"
    "export function db() { http.get(`${__ENV.BASE_URL}/${__ENV.R}`); }\n"
)
STUDY = """target:
  url: http://127.0.0.1:9
  reset: ./reset.sh
  variants: {old: {switch: ./use.sh old}, new: {switch: ./use.sh new}}
workload: {script: closed.js, model: closed, groups: [{name: readers, exec: default}]}
expected_users: 30
experiments:
  - compare: {a: old, b: new, pairs: 4, trial_s: 5, margin: 0.1}
  - decompose: {variants: {all: default, database: db}, parts: true, rounds: 3}
  - sweep: {over: {R: [1, 10, 100], users: [1, 5]}, repeats: 2, stop_at_failure: true}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "open.js").write_text(OPEN)
    (tmp_path / "closed.js").write_text(CLOSED)
    (tmp_path / "study.yaml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def quiet(text: str) -> None: ...


@pytest.mark.parametrize(
    ("verb", "request_", "choices", "words"),
    [
        ("compare", plimsoll.CompareRequest(), {}, "nothing to compare"),
        ("compare", plimsoll.CompareRequest("open.js"), {}, "how A and B differ"),
        ("compare", plimsoll.CompareRequest("open.js", a=("old",)), {}, "says nothing about a form"),
        ("compare", plimsoll.CompareRequest("study.yaml", a=("odl",), b=("new",)), {}, "Did you mean old"),
        ("compare", plimsoll.CompareRequest("open.js", Path("closed.js")), {}, "another kind of load"),
        ("compare", plimsoll.CompareRequest("open.js", Path("open.js"), margin=5.0), {}, "between 0 and 1"),
        ("compare", plimsoll.CompareRequest("open.js", Path("open.js"), primary=("p98",)), {}, "no statistic 'p98'"),
        ("compare", plimsoll.CompareRequest("study.yaml", reset="true"), {}, "are for scripts"),
        ("compare", plimsoll.CompareRequest("open.js", Path("open.js")), {"users": (5.0,)}, "declares arrival rates"),
        ("compare", plimsoll.CompareRequest("closed.js", Path("closed.js")), {"rate": (5.0,)}, "no arrival rate"),
        ("compare", plimsoll.CompareRequest("closed.js", Path("closed.js")), {"users": (5.0, 5.0)}, "there twice"),
        ("compare", plimsoll.CompareRequest(runs_a=(Path("x"),), source="open.js"), {}, "alone"),
        ("decompose", plimsoll.DecomposeRequest(("closed.js",), ("default",)), {}, "two variants or more"),
        ("decompose", plimsoll.DecomposeRequest(("closed.js",), ("default", "orm")), {}, "exports no function 'orm'"),
        ("decompose", plimsoll.DecomposeRequest(("closed.js",), ("a:b=1", "http://x")), {}, "has no name"),
        ("sweep", plimsoll.SweepRequest("closed.js"), {}, "nothing is swept"),
        ("sweep", plimsoll.SweepRequest("closed.js", {"R": ("1",)}), {}, "two different values"),
        ("sweep", plimsoll.SweepRequest("closed.js", {"users": ("1", "x")}), {}, "a level is no number"),
    ],
)
def test_mistakes_are_said_before_any_load(
    folder: Path, verb: str, request_: Any, choices: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        getattr(plimsoll, verb)(request_, plimsoll.TrialChoices(**choices))
    assert not (folder / "runs").exists()


def test_a_verb_takes_its_options_by_name_and_a_wrong_name_is_told(folder: Path) -> None:
    with pytest.raises(InputError, match="no arrival rate"):
        plimsoll.compare("closed.js", a="MODE=plain", b="MODE=cached", rate=5)
    with pytest.raises(InputError, match="no option 'pears'"):
        plimsoll.compare("closed.js", a="MODE=plain", b="MODE=cached", pears=5)
    request, choices = request_of(plimsoll.CompareRequest, "open.js", None, {"a": "X=1", "b": ["X=2"], "users": 20})
    assert request == plimsoll.CompareRequest("open.js", a=("X=1",), b=("X=2",))
    assert choices == plimsoll.TrialChoices(users=(20,))


def test_a_study_says_what_is_compared_decomposed_and_swept(folder: Path) -> None:
    choices = plimsoll.TrialChoices()
    compared = compare_setup(plimsoll.CompareRequest("study.yaml"), choices, quiet)
    assert (compared.plan.repetitions, compared.plan.trial_s, compared.plan.order) == (4, 5.0, "grouped")
    assert [level.words for level in compared.plan.levels] == ["30 users"]
    assert compared.switch_to == {"a": "old", "b": "new"} and compared.plan.analysis["margin"] == 0.1
    assert compared.configs["a"].options["scenarios"]["readers"]["gracefulStop"] == "5s"
    split = decompose_setup(plimsoll.DecomposeRequest(("study.yaml",)), choices, quiet)
    assert [variant.label for variant in split.plan.variants] == ["all", "database"] and split.plan.analysis["parts"]
    assert split.configs["database"].options["scenarios"]["work"]["exec"] == "db"
    swept = sweep_setup(plimsoll.SweepRequest("study.yaml"), choices, quiet)
    assert [variant.name for variant in swept.plan.variants] == ["R=1", "R=10", "R=100"]
    assert swept.configs["R=10"].env["R"] == "10" and swept.plan.order == "ascending"
    assert len(swept.plan.trials()) == 3 * 2 * 2


def test_rates_and_users_become_levels_of_a_scripts_load(folder: Path) -> None:
    request = plimsoll.CompareRequest("open.js", a=("http://127.0.0.1:9",), b=("http://127.0.0.1:10",))
    rates = compare_setup(request, plimsoll.TrialChoices(rate=(25.0, 100.0)), quiet).plan
    assert [(one.level, one.words) for one in rates.levels] == [(0.5, "25 arrivals/s"), (2.0, "100 arrivals/s")]
    assert rates.open and [variant.label for variant in rates.variants] == ["http://127.0.0.1:9", "http://127.0.0.1:10"]


def test_a_variable_that_the_script_does_not_read_is_told_and_a_secret_is_not_shown(folder: Path) -> None:
    said: list[str] = []
    request = plimsoll.CompareRequest("closed.js", a=("MODE=1",), b=("API_TOKEN=abcdefgh",))
    plan = compare_setup(request, plimsoll.TrialChoices(), said.append).plan
    assert any("closed.js never reads __ENV.MODE" in text for text in said)
    assert plan.label("b") == "API_TOKEN=***"


def test_an_unknown_option_of_an_experiment_is_a_mistake_with_its_line() -> None:
    with pytest.raises(InputError, match=r"study.yaml:3: experiments\[0\].compare.pair: unknown key"):
        parse_study(
            "workload: {script: s.js, operations: [{name: v, per_user_hour: 1}]}\nexperiments:\n"
            "  - compare: {a: old, b: new, pair: 3}\n"
        )
