"""Time that the generator did not live is told by every verb, wherever in the run it was, and only once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from plimsoll.findings.of_run import _tell_lost_time
from plimsoll.findings.trials.trials import sound_trials
from plimsoll.findings.validity.self_diagnosis import diagnose
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.snapshot import Snapshot

HEALTHY = {"cpu_s": 0.1, "lag_p50_ms": 0.03, "lag_p99_ms": 0.5, "lag_max_ms": 2.0, "longest_turn_ms": 0.4, "threads": 1}


def seconds(count: int, **odd: dict[str, float]) -> list[Snapshot]:
    """That many healthy seconds but for those named `s12`, of which more is told."""
    told = [{**HEALTHY, "slept_ms": 0.0, "clock_jump_ms": 0.0, **odd.get(f"s{at}", {})} for at in range(count)]
    return [Snapshot(at, planned=50, started=50, done=50, generator=one) for at, one in enumerate(told)]


class Run:
    def __init__(self, snapshots: list[Snapshot]) -> None:
        self._snapshots = snapshots
        self.manifest: dict[str, Any] = {}

    def snapshots(self, metrics: tuple[str, ...]) -> Iterator[Snapshot]:
        yield from self._snapshots


def notes(snapshots: list[Snapshot], **main: Any) -> list[str]:
    finding: dict[str, Any] = {"valid": True, **main}
    _tell_lost_time(Run(snapshots), finding)  # type: ignore[arg-type]
    return finding["notes"]


STOPPED = {"lag_max_ms": 4000.0, "cpu_s": 0.01}


def test_a_machine_that_slept_is_told_also_where_no_probe_saw_it() -> None:
    [told] = notes(seconds(30, s3={"slept_ms": 60_000.0}))
    assert told.startswith("The generator stood still for 60 s from second 3: the machine slept")
    assert told.endswith("Not in what decides the answer.")


def test_seconds_that_cannot_be_read_are_told_first() -> None:
    whole = seconds(30)
    [told] = notes([one for one in whole if one.second not in (4, 5, 6, 20)])
    assert told.startswith("4 seconds of the run cannot be read: its files are damaged there (second 4 to 6, 20).")


def test_a_clock_that_was_set_is_told() -> None:
    [told] = notes(seconds(30, s3={"clock_jump_ms": -5000.0}))
    assert "The wall clock jumped by -5 s" in told
    assert notes(seconds(30)) == []


def test_what_was_told_of_the_deciding_seconds_hides_no_other_standstill() -> None:
    snapshots = seconds(60, s5=STOPPED, s40=STOPPED)
    own = "The generator stood still for 4 s from second 40: its process was stopped"
    told = notes(snapshots, notes=[own], generator={"stood_still_s": 4.0})
    assert told == [own, "Outside of what decides the answer the generator stood still for 4 s more."]
    assert notes(seconds(60, s40=STOPPED), notes=[own], generator={"stood_still_s": 4.0}) == [own]


def test_sleep_that_engine_and_probe_both_saw_counts_once() -> None:
    facts = GeneratorSeconds()
    for snapshot in seconds(20, s5={"slept_ms": 30_000.0}):
        facts.add(snapshot)
    facts.add_row({"second": 6, "source": "generator", "values": {"suspended_s": 30.0}})
    [one] = facts.standstills()
    assert one.length_s == pytest.approx(30.0) and one.cause == "suspended"
    assert diagnose(facts)[0].name == "stood_still"


def trial(number: int) -> dict[str, Any]:
    from_s = 20 * (number - 1)
    return {
        "trial": number, "variant": "a", "load": "50/s", "level": 50.0, "start_s": from_s,
        "measured_from_s": from_s + 5,
        "end_s": from_s + 20, "planned": 750, "done": 750, "requests": 750, "failed": 0, "causes": {},
    }  # fmt: skip


def test_a_trial_that_counts_in_spite_of_a_short_standstill_says_so() -> None:
    short = {"lag_max_ms": 600.0, "cpu_s": 0.01}
    found = sound_trials([trial(1), trial(2)], seconds(40, s10=short, s27=STOPPED), [], rests_on="middle")
    assert [one["trial"] for one in found.sound] == [1] and found.excluded[0]["name"] == "stood_still"
    assert found.generator["notes"] == [
        "In trial 1, which counts: The generator stood still for 0.6 s from second 10: its process was stopped "
        "(a signal, docker pause, a frozen control group), or the machine paused."
    ]
    assert found.generator["stood_still_s"] == pytest.approx(4.6)


def test_a_warm_up_of_a_trial_is_told_too() -> None:
    snapshots = seconds(20, s2=STOPPED)
    found = sound_trials([trial(1)], snapshots, [], rests_on="middle")
    assert found.sound and found.generator["notes"] == [] and found.generator["stood_still_s"] == 0
    [told] = notes(snapshots, generator=found.generator)
    assert "stood still for 4 s from second 2" in told and told.endswith("Not in what decides the answer.")


def test_a_script_that_computes_for_seconds_did_not_stand_still() -> None:
    computed = {"lag_max_ms": 1990.0, "cpu_s": 2.0, "longest_turn_ms": 2000.0}
    told = seconds(3, s1=computed, s2={"lag_max_ms": 0.0, "cpu_s": 0.0003, "longest_turn_ms": 0.0})
    told[2] = Snapshot(2, planned=0, started=0, done=0, generator=told[2].generator)
    assert notes(told) == []
