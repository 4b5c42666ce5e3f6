import pytest

from plimsoll.stats.throughput.bracket import relevant_bounds


@pytest.mark.parametrize(
    ("trials", "bounds"),
    [
        ([], (None, None)),
        ([(100, True)], (100, None)),
        ([(100, False)], (None, 100)),
        ([(100, True), (200, False), (150, True)], (150, 200)),
    ],
    ids=["none", "only good", "only bad", "three levels"],
)
def test_bounds_of_levels_held_once(trials, bounds):
    assert relevant_bounds(trials) == bounds


def test_a_good_level_above_a_bad_one_does_not_count():
    assert relevant_bounds([(100, True), (120, False), (150, True)]) == (100, 120)


def test_most_steps_of_a_level_decide():
    assert relevant_bounds([(100, True), (100, False), (100, True)]) == (100, None)


def test_a_level_whose_steps_are_even_is_bad():
    assert relevant_bounds([(80, True), (100, True), (100, False)]) == (80, 100)
