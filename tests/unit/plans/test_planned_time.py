"""What a study is planned to take together, in words."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.plans.planned_time import planned_s, planned_total
from plimsoll.study import Study

TRIALS = {"compare": {"a": "N=1", "b": "N=2", "pairs": 2, "trial_s": 10, "warm_up_s": 2, "users": [1, 2]}}  # 96 s
HOLD = {"hold": {"duration_s": 150, "warm_up_s": 10, "baseline_s": 20}}  # 180 s
CAPACITY: dict[str, Any] = {"capacity": {"step_s": 10}}
GROW = {"grow": {"items": 10}}


def total(*experiments: dict[str, Any]) -> str:
    groups = [{"name": "work"}]
    study = Study.model_validate(
        {
            "target": {"url": "http://127.0.0.1:1", "data_volume": "/volume#items"},
            "workload": {"script": "work.js", "model": "closed", "groups": groups},
            "expected_users": 1,
            "experiments": list(experiments),
        }
    )
    return planned_total((study, item) for item in study.experiments)


@pytest.mark.parametrize(
    ("experiments", "words"),
    [
        ([TRIALS], "1 min 36 s of load"),
        ([TRIALS, HOLD], "4 min 36 s of load"),
        ([GROW], "as long as grow takes"),
        ([HOLD, GROW], "3 min of load, and as long as grow takes"),
        ([GROW, HOLD, GROW], "3 min of load, and as long as 2 runs of grow take"),
        ([], "no load"),
    ],
)
def test_the_sum_names_what_has_no_bound(experiments: list[dict[str, Any]], words: str) -> None:
    assert total(*experiments) == words


def test_the_sum_is_a_bound_as_soon_as_one_part_is() -> None:
    assert total(HOLD, CAPACITY).startswith("at most ") and not total(HOLD, TRIALS).startswith("at most ")


def test_a_capacity_before_and_after_a_remedy_counts_twice() -> None:
    study = Study.model_validate(
        {
            "workload": {"script": "work.js", "operations": [{"name": "work", "per_user_hour": 1}]},
            "experiments": [CAPACITY, {"capacity": {"step_s": 10, "verify": "./remedy.sh"}}],
        }
    )
    once, twice = (planned_s(study, item) for item in study.experiments)
    assert once and twice == 2 * once
