"""How many pairs a comparison is told to make: as many as decide, by the power of its own test."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.findings.trials.comparisons import Comparison
from plimsoll.plans.arms import Arm, with_scripts
from plimsoll.plans.load_time import repetitions_within
from plimsoll.plans.pairs_that_decide import few_pairs_words, pairs_that_decide
from plimsoll.plans.requests import CompareRequest, TrialChoices
from plimsoll.plans.trials import compare_setup
from plimsoll.stats.comparison.log_ratio import paired_log_ratio
from plimsoll.stats.comparison.pairs_needed import USUAL_SCATTER, difference_told, power_of_pairs

SCRIPT = """import http from 'k6/http';
export const options = {scenarios: {a: {executor: 'constant-vus', vus: 1, duration: '9s'}}};
export default function () { http.get(`http://127.0.0.1:9/${__ENV.X}`); }
"""


@pytest.mark.parametrize("margin", [0.02, 0.05, 0.1, 0.5])
def test_as_many_pairs_as_are_advised_have_the_power_and_one_fewer_has_not(margin: float) -> None:
    wanted = pairs_that_decide(margin, 2)
    assert power_of_pairs(wanted, math.log1p(margin), USUAL_SCATTER, 0.01) >= 0.8
    same = [power_of_pairs(pairs, math.log1p(margin), USUAL_SCATTER, 0.01) for pairs in (wanted - 1, wanted)]
    assert same[0] < 0.9 <= same[1]


@pytest.mark.parametrize("pairs", [2, 3, 5, 10])
def test_the_least_difference_that_is_told_is_that_of_the_power(pairs: int) -> None:
    least = difference_told(pairs, USUAL_SCATTER, 0.01)
    assert least is not None and power_of_pairs(pairs, least, USUAL_SCATTER, 0.01) == pytest.approx(0.8, abs=0.01)
    assert difference_told(pairs, 100.0, 0.01) is None


def test_few_pairs_are_said_to_show_little_with_how_many_decide() -> None:
    """Seen: "too short for any answer: give it --for 48s or more", of which two pairs decided nothing."""
    words = few_pairs_words(2, 0.05, ["p50", "p95"], 1, 24.0)
    assert words.startswith("2 pairs will hardly show a difference below 5.6 times")
    assert "About 10 decide about the margin of 5%: --pairs 10, 4 min of load." in words
    assert few_pairs_words(10, 0.05, ["p50", "p95"], 1, 24.0) == ""


def test_a_time_that_is_too_short_asks_for_as_many_as_decide() -> None:
    with pytest.raises(InputError, match="the 10 pairs that decide take 4 min of load") as told:
        repetitions_within(45, 24, 2, "pairs", 10)
    assert "--for 4m" in told.value.next_step


def test_a_comparison_says_it_before_it_is_made(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text(SCRIPT)
    request = CompareRequest(tmp_path / "a.js", a=("X=1",), b=("X=2",))
    told: list[str] = []
    compare_setup(request, TrialChoices(repetitions=2), told.append)
    assert any(text.startswith("2 pairs will hardly show") for text in told)
    told.clear()
    compare_setup(request, TrialChoices(), told.append)
    assert not any("hardly" in text for text in told)
    with pytest.raises(InputError, match="the 10 pairs that decide"):
        compare_setup(request, TrialChoices(for_s=45), told.append)


def test_two_pairs_that_lie_close_by_chance_do_not_plan_the_next_comparison() -> None:
    """Seen: --pairs 7 advised by the scatter of two."""
    one = Comparison(1.0, "1 VU", None, None, "p95", True, True, a=[100.0, 101.0], b=[100.4, 101.5])
    one.effect = paired_log_ratio(one.a, one.b)
    assert one.effect is not None and one.effect.sd < 0.01
    wanted = one.pairs_to_settle(0.05)
    assert wanted is not None and wanted >= pairs_that_decide(0.05, 1)


def shown(*paths: Path) -> list[str]:
    return [arm.label for arm in with_scripts([Arm(name, "") for name in "ab"], list(paths))]


def test_scripts_are_called_by_as_little_as_tells_them_apart(tmp_path: Path) -> None:
    """Seen: "B (runs/../cap4.js) is slower than A (runs/../cap4.js)"."""
    (tmp_path / "old").mkdir()
    assert shown(tmp_path / "a.js", tmp_path / "b.js") == ["a.js", "b.js"]
    assert shown(tmp_path / "old/../a.js", tmp_path / "a.js") == ["a.js", "a.js"]
    assert shown(tmp_path / "old/../old/a.js", tmp_path / "new/a.js") == ["old/a.js", "new/a.js"]
    assert shown(tmp_path / "old/x/a.js", tmp_path / "new/x/a.js") == ["old/x/a.js", "new/x/a.js"]
