"""A host that is not equally fast is told, by the steps that loaded it."""

from __future__ import annotations

from capacity_steps import step

from plimsoll.findings.validity.wandering_host import host_words


def speed(work_per_cpu_s: float) -> dict[str, dict[str, float]]:
    return {"core_speed": {"work_per_cpu_s": work_per_cpu_s}}


STEPS = [
    step(50, "good", done_per_s=50.0),
    step(700, "undecided", done_per_s=680.0, measured_from_s=72, end_s=94),
    step(630, "bad", done_per_s=491.0, measured_from_s=261, end_s=271),
    step(630, "bad", done_per_s=530.0),
]


def test_a_host_that_slows_down_is_told_with_where_and_by_how_much() -> None:
    [words] = host_words(STEPS, [speed(4000), speed(6000), speed(4950), speed(5400)], "users")
    assert "18% less" in words and "at 630 users (261 to 271 s) than at 700 users (72 to 94 s)" in words


def test_a_steady_host_and_one_that_idles_are_not_worth_a_word() -> None:
    assert host_words(STEPS, [speed(4000), speed(6000), speed(5800), speed(5900)], "users") == []
    assert host_words(STEPS, [{}] * 4, "users") == []
    assert host_words([], [], "users") == []
