from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import ValidationError

from plimsoll.report import charts, level_charts, theme
from plimsoll.report.level_charts import Marks, marks_of
from plimsoll.report.steps import Step
from plimsoll.report.trials import trial_charts

CAPACITY = {"capacity": {"good": 7000, "bad": 7400}, "headroom": {"expected_users": 3000}}


def steps() -> list[Step]:
    """Three steps, the last of them overloaded."""
    levels = ((2000, "good", 5.0), (7000, "good", 40.0), (7400, "bad", 900.0))
    return [
        Step(level, 0, 10, verdict=verdict, planned_per_s=level / 72, done_per_s=97, p50_ms=p50, p90_ms=3 * p50)
        for level, verdict, p50 in levels
    ]


def titles(specification: dict[str, Any]) -> set[str]:
    encodings = [layer.get("encoding", {}) for layer in specification["layer"]]
    return {
        encoding[axis]["title"] for encoding in encodings for axis in ("x", "y") if "title" in encoding.get(axis, {})
    }


def test_axes_say_what_they_show_and_in_which_unit() -> None:
    specification = level_charts.response_chart(steps(), Marks(), "users")
    assert specification is not None
    assert {"Load level, users", "Response time, ms (logarithmic)"} <= titles(specification)


def test_bracket_and_expected_load_are_labelled_in_words() -> None:
    specification = level_charts.throughput_chart(steps(), marks_of(CAPACITY, {}, []), "users")
    words = json.dumps(specification)
    for label in ("carried up to 7,000 users", "not carried from 7,400 users", "expected 3,000 users"):
        assert label in words


def test_an_expectation_far_beyond_what_was_tried_does_not_squeeze_the_curves() -> None:
    specification = level_charts.throughput_chart(steps(), Marks(7000, 7400, 900_000), "users")
    assert "900,000" not in json.dumps(specification)


def test_the_knee_is_marked_beside_the_bracket() -> None:
    finding = {"capacity": {**CAPACITY["capacity"], "knee": 3600}}
    specification = level_charts.response_chart(steps(), marks_of(finding, {}, []), "users")
    assert specification is not None and "knee about 3,600 users" in json.dumps(specification)


def test_marks_without_a_finding_come_from_the_verdicts_of_the_steps() -> None:
    marks = marks_of({}, {"study": {"expected_users": 3000}}, steps())
    assert (marks.good, marks.bad, marks.expected) == (7000, 7400, 3000)


def test_a_study_or_a_headroom_that_is_null_marks_nothing() -> None:
    assert marks_of({"headroom": None, "capacity": None}, {"study": None}, []) == Marks()


def test_without_values_there_is_no_chart() -> None:
    assert level_charts.utilisation_chart(steps(), Marks(), "users") is None
    assert level_charts.throughput_chart([], Marks(), "users") is None


def test_a_parameter_whose_values_are_words_keeps_their_order() -> None:
    cells = [{"parameters": {"MODE": mode}, "work_ms": 5.0, "state": "answers"} for mode in ("warm", "cold")]
    specification = trial_charts.curve_chart(cells, "MODE", "work_ms", "Duration, ms")
    assert specification is not None
    x = specification["layer"][0]["encoding"]["x"]
    assert (x["field"], x["type"], x["title"], x["sort"]) == ("x", "nominal", "MODE", ["warm", "cold"])
    assert x["axis"]["labelAngle"] == 0  # short words stood upright


@pytest.mark.parametrize(("values", "marks"), [(("warm", "cold"), ["point"]), (("1", "2"), ["line", "point"])])
def test_no_line_joins_values_that_have_no_order(values: tuple[str, ...], marks: list[str]) -> None:
    cells = [
        {"parameters": {"MODE": value, "users": users}, "work_ms": 5.0, "state": "answers"}
        for value in values
        for users in ("1", "4")
    ]
    specification = trial_charts.curve_chart(cells, "MODE", "work_ms", "Duration, ms")
    assert specification is not None and [one["mark"]["type"] for one in specification["layer"]] == marks


@pytest.mark.parametrize("wrong", [{"field": "level", "titel": "Load"}, {"field": "level", "type": "number"}])
def test_a_part_that_vega_lite_does_not_know_fails_the_test_that_makes_it(
    wrong: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(level_charts, "_tooltip", lambda *_: [wrong])
    with pytest.raises(ValidationError):
        level_charts.response_chart(steps(), Marks(), "users")


@pytest.mark.parametrize(
    ("values", "ends"),
    [([7.8, 1700], [5, 2000]), ([1, 10], [1, 10]), ([0.03, 0.9], [0.02, 1]), ([600, 6000], [500, 10000])],
)
def test_a_logarithmic_axis_ends_at_round_numbers(values: list[float], ends: list[float]) -> None:
    low, high, ticks = level_charts.decades([{"value": value} for value in values])
    assert [low, high] == pytest.approx(ends)
    assert ticks[0] == low
    assert ticks[-1] == high


def test_both_themes_know_the_same_styles_so_that_one_specification_serves_both() -> None:
    light, dark = theme.vega_config(dark=False), theme.vega_config(dark=True)
    assert light["style"].keys() == dark["style"].keys()
    assert light["axis"]["titleColor"] != dark["axis"]["titleColor"]


def test_a_plan_is_broken_and_what_was_done_is_solid() -> None:
    assert theme.dashes(["planned", "done"]) == [[6, 3], [1, 0]]


def test_the_static_drawing_escapes_names() -> None:
    step = Step(10, 0, 5, cpu={"</svg><script>alert(1)</script>": 0.5})
    specification = level_charts.utilisation_chart([step], Marks(), "users")
    assert specification is not None
    assert "<script" not in charts.static_svg(specification)
