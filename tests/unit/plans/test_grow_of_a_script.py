"""Which function of a script `grow` calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.plans.load import Choices
from plimsoll.plans.long_runs import grow_plan
from plimsoll.study.experiments import GrowOptions

PUT = "export function put() {}"
MIXED = """export const options = {scenarios: {
  a: {executor: 'constant-vus', exec: 'put', vus: 1, duration: '1s'},
  b: {executor: 'constant-arrival-rate', exec: 'put', rate: 1, duration: '1s', preAllocatedVUs: 1}}};
"""


def functions_of(folder: Path, text: str, function: str | None) -> list[str]:
    script = folder / "script.js"
    script.write_text(text)
    plan = grow_plan(script, GrowOptions(items=10, exec=function), Choices())
    return [scenario["exec"] for scenario in plan.config.options["scenarios"].values()]


@pytest.mark.parametrize("text", [PUT, MIXED + PUT])
def test_the_function_that_is_named_is_all_that_the_script_must_have(tmp_path: Path, text: str) -> None:
    assert functions_of(tmp_path, text, "put") == ["put"]


def test_without_a_name_it_is_the_default_function(tmp_path: Path) -> None:
    assert functions_of(tmp_path, PUT + "\nexport default function () {}", None) == ["default"]


@pytest.mark.parametrize("function", [None, "nope"])
def test_a_function_that_is_not_there_is_told_with_those_that_are(tmp_path: Path, function: str | None) -> None:
    with pytest.raises(InputError, match=r"exports no function .*put"):
        functions_of(tmp_path, PUT, function)
