"""What the probes cost is counted and said where it is too much."""

from __future__ import annotations

import time

import pytest

from plimsoll.probes.probe_cost import Cost, ProbeCost


def test_a_cost_is_said_and_one_above_the_goal_names_the_dearest() -> None:
    cheap = Cost(0.5, 100.0, {"host": 0.3, "process:app": 0.2}, 3.0)
    assert (cheap.cores, cheap.words()) == (0.005, "The probes took 0.5% of a core.")
    said = Cost(1.04, 100.0, {"host": 1.04}, 0.0).words()
    assert said == "The probes took 1% of a core.", "1.04% is not said to be more than 1%"
    dear = Cost(4.0, 100.0, {"host": 1.0, "prometheus:db": 3.0}, 0.0)
    assert str(dear.words()).startswith(
        "The probes took 4% of a core, more than the 1% that they should; prometheus:db took 75% of it."
    )
    assert str(dear.words()).endswith("Leave it out of `probes` in the study, or let it read less.")
    many = Cost(4.0, 100.0, {f"process:{number}": 1.0 for number in range(4)}, 0.0)
    assert "No single one takes most of it" in str(many.words())
    assert dear.to_json()["by_source_cpu_s"] == {"host": 1.0, "prometheus:db": 3.0}


def test_a_run_too_short_to_tell_says_nothing() -> None:
    assert Cost(1.0, 2.0, {"host": 1.0}, 0.0).words() is None


def test_the_first_question_of_each_probe_is_counted_apart() -> None:
    class Busy:
        source = "busy"

    probe = Busy()

    def ask(seconds: float) -> None:
        with cost.of(probe):
            end = time.thread_time() + seconds
            while time.thread_time() < end:
                pass

    cost = ProbeCost([])
    ask(0.05)
    assert cost.so_far().cpu_s == 0.0
    assert cost.so_far().first_s >= 0.05
    ask(0.01)
    assert cost.so_far().by_source["busy"] >= 0.01


def test_what_a_thread_of_the_probe_used_counts_and_what_it_used_before_counts_as_first() -> None:
    class Threaded:
        source = "postgresql:db"
        cpu_s = 0.5

    probe = Threaded()
    cost = ProbeCost([probe])
    with cost.of(probe):
        probe.cpu_s = 0.6
    assert cost.so_far().first_s >= 0.5 and cost.so_far().by_source[probe.source] == pytest.approx(0.1)
    probe.cpu_s = 1.5
    assert cost.so_far().by_source[probe.source] == pytest.approx(1.0)
