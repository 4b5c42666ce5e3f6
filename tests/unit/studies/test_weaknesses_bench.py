"""What the bench of weaknesses takes for found and for gone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benches"))
import weaknesses

Told = weaknesses.Told
PROFILER = next(one for one in weaknesses.WEAKNESSES if one.switch == "--profiler")


def compared(verdict: str, interval: list[float] | None, statistic: str = "p95") -> dict[str, Any]:
    about = {"load": "1 user", "operation": None, "request": None, "statistic": statistic}
    return {**about, "primary": True, "verdict": verdict, "interval": interval}


def work(variant: str, process: str, interval: list[float] | None, level: float = 1.0) -> dict[str, Any]:
    return {"variant": variant, "level": level, "processes": [{"process": process, "interval_ms": interval}]}


STORAGE_WORKS = (work("a", "storage", [70.0, 80.0]), work("b", "profiled storage", [200.0, 240.0]))


def told(verdict: str, *comparisons: dict[str, Any], works: tuple[dict[str, Any], ...] = STORAGE_WORKS) -> Any:
    finding = {"question": "Is B slower than A?", "answer": "As told.", "verdict": verdict, "valid": True}
    cpu = {"question": weaknesses.WORK, "answer": "Storage.", "process_work": list(works), "valid": True}
    return Told([finding | {"comparisons": list(comparisons)}, cpu], "", 1.0)


SLOWER = told("slower", compared("slower", [1.2, 9.0], "p50"), compared("slower", [2.8, 4.3]))


@pytest.mark.parametrize(
    ("off", "marked"),
    [
        (told("undecided", compared("undecided", [0.9, 2.7]), compared("undecided", [0.1, 9.0], "p50")), "found, gone"),
        (told("same", compared("same", [0.98, 1.02])), "found, gone"),
        (told("undecided", compared("undecided", [0.9, 2.9])), "found, **not told apart**"),
        (told("undecided", compared("undecided", None)), "found, **not told apart**"),
        (told("undecided", compared("undecided", [0.9, 1.1], "p50")), "found, **not told apart**"),
        (told("slower", compared("slower", [1.1, 1.4])), "found, **still there**"),
    ],
)
def test_gone_wants_the_interval_without_it_below_that_with_it_of_what_told_it_best(off: Any, marked: str) -> None:
    assert weaknesses.mark(PROFILER, SLOWER, off) == marked


@pytest.mark.parametrize(
    ("works", "marked"),
    [
        ((work("a", "storage", [70.0, 80.0]), work("b", "profiled storage", [79.0, 240.0])), "**cannot tell**"),
        ((work("a", "storage", None), work("b", "profiled storage", [79.0, 240.0])), "**cannot tell**"),
        ((*STORAGE_WORKS, work("a", "storage", [9.0, 10.0], 5), work("b", "profiled storage", [8.0, 9.5], 5)),
         "**cannot tell**"),
        (STORAGE_WORKS, "found"),
    ],
)  # fmt: skip
def test_found_wants_the_process_of_the_weakness_to_work_more_at_the_highest_level(
    works: tuple[dict[str, Any], ...], marked: str
) -> None:
    slower = told("slower", compared("slower", [2.8, 4.3]), works=works)
    without = told("same", compared("same", [0.98, 1.02]))
    assert weaknesses.mark(PROFILER, slower, without) == f"{marked}, gone"


def test_what_was_not_found_with_the_switch_is_not_gone_without_it() -> None:
    undecided = told("undecided", compared("undecided", [0.88, 1.3]))
    assert weaknesses.mark(PROFILER, undecided, undecided) == "**not found**, **not told apart**"


def test_the_intervals_that_an_answer_leaves_out_are_printed_beside_it() -> None:
    left_out = (compared("same", [0.88, 1.3], "p50"), compared("same", None, "p90"))
    said = weaknesses.said(PROFILER, told("undecided", compared("undecided", [0.5, 2.0]), *left_out))
    assert said == "“As told.” “Storage.” (p50 at 1 user −12 to +30%; p90 at 1 user: no interval)"
    assert weaknesses.said(PROFILER, SLOWER) == "“As told.” “Storage.”"


@pytest.mark.parametrize(("used", "is_found"), [(150.0, True), (140.0, False), (None, False)])
def test_a_restart_counts_as_that_of_a_limit_where_memory_was_near_it(used: float | None, is_found: bool) -> None:
    row = {"label": "storage", "memory_bytes": used, "memory_limit_bytes": 180.0} if used else {"second": 20}
    assert weaknesses.restarted_at_limit("storage", 0.8)([{}, {"restarts": [row]}]) is is_found


@pytest.mark.parametrize(("b", "answer"), [([9.4, 10.4], True), ([1.7, 1.8], False), (None, None)])
def test_more_of_a_metric_wants_the_whole_interval_above(b: list[float] | None, answer: bool | None) -> None:
    loads = [{"variant": "a", "mean_interval": [1.65, 1.72]}, {"variant": "b", "mean_interval": b}]
    found = [{}, {"script_metrics": [{"metric": "transactions", "loads": loads}, {"metric": "other", "loads": []}]}]
    assert weaknesses.more_of("transactions")(found) is answer


def ageing(grows: bool | None, change: float, constant: float, later: float | None = None) -> list[dict[str, Any]]:
    """Of 1 ms an item at first; `constant`: the weight of no growth; `later`: the interval's end at four times."""
    b = change / 1_000 / 9_000
    linear = {"family": "linear", "a": 1e-3 - 1_000 * b, "b": b, "cv": 0.02, "weight": 1 - constant}
    flat = {"family": "constant", "a": 1e-3, "b": None, "cv": 0.05, "weight": constant}
    end = None if later is None else {"volume": 40_000, "per_item_s": later, "interval_s": [0.9 * later, later]}
    about = {"grows": grows, "fits": [linear, flat], "change": change, "from_volume": 1_000, "at_four_times": end}
    return [{"ageing": about}]


@pytest.mark.parametrize(
    ("found", "named"),
    [
        (ageing(True, 0.6, 0.0), True),
        (ageing(True, 0.2, 0.0), False),
        (ageing(False, 0.0, 1.0), False),
        (ageing(None, 0.14, 0.01), False),
        (ageing(None, 0.14, 0.4), None),
        (ageing(None, 0.14, 0.4, later=1.4e-3), False),
        (ageing(None, 0.14, 0.4, later=1.6e-3), None),
        (ageing(None, 0.6, 0.4), None),
        ([{"ageing": None}], None),
    ],
)
def test_no_growth_is_gone_only_where_as_much_as_was_found_is_ruled_out(found: Any, named: bool | None) -> None:
    assert weaknesses.ages(found) is named
