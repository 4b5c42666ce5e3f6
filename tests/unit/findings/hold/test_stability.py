"""What a held load says of drift: beyond chance, excluded, or neither."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.findings.hold.finding import _how_little
from plimsoll.findings.hold.series import HoldSeries
from plimsoll.findings.hold.stability import drift_finding, periodic_finding


@pytest.mark.parametrize(
    ("rise", "scatter_ms", "starts", "verdict", "words"),
    [
        (0.0, 5.0, "No drift beyond chance", "steady", "would have shown"),
        (0.0, 120.0, "It cannot be told", "undecided", "or more shows in a run like this one"),
        (0.5, 5.0, "Yes", "drifts", "changed by +"),
    ],
)
def test_a_drift_is_told_excluded_or_neither(rise, scatter_ms, starts, verdict, words):
    at = np.arange(300.0)
    times = 100 * (1 + rise * at / 300) + scatter_ms * np.random.default_rng(5).standard_normal(300)
    none = np.zeros(300)
    found = drift_finding(HoldSeries(at, times, none, none + 10, none + 10, {}, [], {}))
    assert found["answer"].startswith(starts) and words in found["answer"]
    assert found["drift"]["verdict"] == verdict and found["drift"]["smallest_detectable"] > 0
    assert bool(found["next"]) == (verdict != "steady")


@pytest.mark.parametrize(("share", "verdict"), [(0.4, "steady"), (0.8, "drifts")])
def test_seconds_that_a_hypervisor_took_are_no_drift_where_most_are_without(share, verdict):
    """A hypervisor takes a tenth of a core in more and more seconds, which then take half as long again."""
    random, at = np.random.default_rng(5), np.arange(300.0)
    taken = random.random(300) < 2 * share * at / 300
    times = 100 * np.where(taken, 1.5, 1.0) + 5 * random.standard_normal(300)
    none = np.zeros(300)
    series = HoldSeries(at, times, none, none + 10, none + 10, {}, [], {}, stolen=np.where(taken, 0.1, 0.0))
    found = drift_finding(series)
    assert found["drift"]["verdict"] == verdict
    left_out = [f"{taken.sum()} seconds in which a hypervisor took more than"] if verdict == "steady" else []
    assert [note[: len(left_out[0])] for note in found.get("notes", [])] == left_out


def test_a_stall_that_is_no_pulse_changes_neither_what_a_pulse_takes_nor_what_is_calm():
    """A job doubles two seconds in every fifteen; once, for half a minute, all took a hundred times as long."""
    random, at = np.random.default_rng(4), np.arange(300.0)
    times = 10 * np.exp(random.normal(0, 0.05, at.size))
    times[(at % 15) < 2] *= 2
    times[5:35] *= 100
    none = np.zeros(at.size)
    found = periodic_finding(HoldSeries(at, times, none, none + 10, none + 10, {}, [], {}))
    assert found["periodic"]["period_s"] == pytest.approx(15, rel=0.02)
    assert found["periodic"]["outside_ms"] == pytest.approx(10, rel=0.1)
    assert found["periodic"]["inside_ms"] == pytest.approx(20, rel=0.15)


def test_what_no_run_could_show_is_not_told_as_a_number():
    """Four hundred times as long in the first half minute: a straight line ends below nothing."""
    at = np.arange(150.0)
    times = np.where(at < 30, 4000.0, 10.0) * np.exp(np.random.default_rng(4).normal(0, 0.5, at.size))
    none = np.zeros(at.size)
    found = drift_finding(HoldSeries(at, times, none, none + 10, none + 10, {}, [], {}))
    assert "may have changed by anything" in found["answer"] and "scatters too much" in found["answer"]


def test_a_hold_that_ended_before_anything_was_measured_says_where_it_was() -> None:
    """Seen after Ctrl-C in the warm-up: "only 0 s were measured under load"."""
    empty, one = np.zeros(0), np.zeros(1)
    nothing = HoldSeries(empty, empty, empty, empty, empty, {}, [], {})
    assert _how_little(nothing, {"level": 1.0}) == "it ended while the load warmed up."
    assert _how_little(nothing, None) == "it ended before the load was put on."
    assert _how_little(HoldSeries(one, one, one, one, one, {}, [], {}), None) == "only 1 s was measured under load."
    assert drift_finding(nothing)["answer"] == "It cannot be told: 0 seconds have answers."
