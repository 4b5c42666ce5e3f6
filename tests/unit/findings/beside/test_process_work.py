"""Which process does the work, from trials whose processes use a known CPU for an operation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from findings_as_json import checked

from plimsoll.findings.beside.further import findings_beside
from plimsoll.findings.beside.process_work import EVERY, QUESTION
from plimsoll.runs import RunFacts, RunReader, RunWriter
from plimsoll.stats.estimates.mean_interval import mean_interval
from plimsoll.study.secrets.redactor import Redactor

TRIALS, LEVELS = 5, (10.0, 20.0)
Cost = Callable[[str, float], dict[str, float]]


def costs(variant: str, level: float) -> dict[str, float]:
    """ms of CPU an operation of each process: B's forum costs half as much again."""
    return {"forum": 3.0 if variant == "b" else 2.0, "accounts": 1.0, "idle": 0.001}


def run_of(
    folder: Path, cost: Cost = costs, experiment: str = "compare", of_b: dict[str, Any] | None = None, **trial: Any
) -> RunReader:
    """Two arms at two levels, 100 operations/s a user, CPU with a scatter of 3%."""
    random = np.random.default_rng(5)
    writer = RunWriter.create(folder, RunFacts(experiment, t0_unix=1e9), tables=False, redactor=Redactor())
    plan = {
        "experiment": experiment,
        "variants": [{"name": name, "label": f"build={name}", "facts": {}} for name in ("a", "b")],
        "levels": [{"level": level, "words": f"{level:g} users"} for level in LEVELS],
        "analysis": {"paired": True},
    }
    with writer:
        writer.write_plan(plan)
        places = [(r, name, level) for r in range(1, TRIALS + 1) for level in LEVELS for name in ("a", "b")]
        for number, (repetition, name, level) in enumerate(places, 1):
            per_s = 100 * level
            used = {
                f"process:{label}": {"cpu_cores_used": ms / 1000 * per_s * random.normal(1, 0.03), "rss_bytes": 1e8}
                for label, ms in cost(name, level).items()
            }
            about = {
                "trial": number,
                "repetition": repetition,
                "variant": name,
                "level": level,
                "load": f"{level:g} users",
            }
            seconds = {"start_s": 0, "measured_from_s": 1, "end_s": 11, "failed": 0, "requests": 1000}
            resources = {"host": {"cpu_cores_used": 9.0}, **used}
            more = {**trial, **(of_b or {} if name == "b" else {})}
            writer.append_trial({**about, **seconds, "done_per_s": per_s, "resources": resources, **more})
    return RunReader(writer.path)


def main_of(**own: Any) -> dict[str, Any]:
    return {"experiment": "compare", "status": "finished", "valid": True, "level_unit": "users", "run": None, **own}


def test_each_cell_has_the_cpu_of_each_process_and_the_pairs_their_change(tmp_path: Path) -> None:
    [found] = checked(findings_beside(run_of(tmp_path), [main_of()]))
    assert found["question"] == QUESTION and found["valid"]
    assert [(cell["variant"], cell["level"]) for cell in found["process_work"]] == [
        ("a", 10.0), ("a", 20.0), ("b", 10.0), ("b", 20.0)
    ]  # fmt: skip
    for cell in found["process_work"]:
        truth = costs(cell["variant"], cell["level"])
        for one in cell["processes"]:
            assert one["cpu_ms"] == pytest.approx(truth[one["process"]], rel=0.05)
            low, high = one["interval_ms"]
            assert low < one["cpu_ms"] < high < 1.1 * truth[one["process"]]  # that it covers: the last test
        assert sum(one["share"] for one in cell["processes"]) == pytest.approx(1)
        assert cell["processes"][0]["process"] == "forum"
    changes = {(one["process"], one["level"]): one for one in found["work_changes"]}
    assert {name for name, _ in changes} == {EVERY, "forum", "accounts"}  # what is idle takes no part
    for (name, _), truth_ratio in zip(sorted(changes), (1.0, 1.0, 4 / 3, 4 / 3, 1.5, 1.5), strict=True):
        one = changes[name, 10.0]
        assert one["interval"][0] < truth_ratio < one["interval"][1]
        assert one["pairs"] == TRIALS
    assert "B beside A at 20 users: all processes" in found["answer"] and "forum" in found["answer"]
    assert "idle" not in found["answer"] and "idle" not in found["tables"][0]["columns"]


def test_a_sweep_has_cells_alone_and_names_the_dearest(tmp_path: Path) -> None:
    [found] = checked(findings_beside(run_of(tmp_path, experiment="sweep"), [main_of(experiment="sweep")]))
    assert found["work_changes"] == [] and len(found["tables"]) == 1
    assert (
        found["answer"].startswith("At build=b, ") and "Within chance it costs as much at build=b, " in found["answer"]
    )
    assert "at build=a" not in found["answer"]
    [found] = checked(
        findings_beside(
            run_of(tmp_path / "x", lambda *at: {"forum": at[1]}, experiment="sweep"), [main_of(experiment="sweep")]
        )
    )
    assert "20 users an operation" in found["answer"] and "10 users" not in found["answer"]
    dearer = run_of(tmp_path / "y", lambda variant, level: {"forum": level * (2 if variant == "b" else 1)}, "sweep")
    [found] = checked(findings_beside(dearer, [main_of(experiment="sweep")]))
    assert found["answer"].startswith("At build=b, 20 users, where an operation costs most, it takes ")


def test_processes_of_one_arm_only_are_compared_by_what_all_take_together(tmp_path: Path) -> None:
    def apart(variant: str, level: float) -> dict[str, float]:
        return {"old": 2.0 if variant == "a" else 0.001, "new": 0.001 if variant == "a" else 1.0}

    [found] = findings_beside(run_of(tmp_path, apart), [main_of()])
    assert {one["process"] for one in found["work_changes"]} == {EVERY}
    assert all(one["interval"][0] < 0.5 < one["interval"][1] for one in found["work_changes"])


def test_trials_that_do_not_count_are_left_out_and_few_have_no_interval(tmp_path: Path) -> None:
    left_out = [{"trial": number} for number in range(9, 4 * TRIALS + 1)]
    [found] = checked(findings_beside(run_of(tmp_path), [main_of(excluded=left_out)]))
    assert {cell["trials"] for cell in found["process_work"]} == {2}
    assert all(one["interval_ms"] is None for cell in found["process_work"] for one in cell["processes"])
    assert found["work_changes"] == [] and "B beside A" not in found["answer"]


@pytest.mark.parametrize("trial", [{"done_per_s": None}, {"done_per_s": 0.0}, {"resources": {}}])
def test_without_operations_or_processes_there_is_nothing_to_say(tmp_path: Path, trial: dict[str, Any]) -> None:
    assert findings_beside(run_of(tmp_path, **trial), [main_of()]) == []


def test_the_two_values_of_a_change_give_its_ratio_and_no_cell_costs_most_by_chance(tmp_path: Path) -> None:
    """Seen: "0.394 to 0.265 ms, -29.9%" of means beside a ratio of pairs, and "where an operation costs most" although
    the interval of the change was -63 to +35%."""
    random = np.random.default_rng(3)

    def wide(variant: str, level: float) -> dict[str, float]:
        return {"shop": 0.3 * random.lognormal(0, 0.7)}

    [found] = checked(findings_beside(run_of(tmp_path, wide), [main_of()]))
    for one in found["work_changes"]:
        assert one["b_ms"] / one["a_ms"] == pytest.approx(one["ratio"])
    assert "an operation costs most," not in found["answer"]
    assert "Within chance it costs as much at " in found["answer"]


def test_a_trial_in_which_a_process_was_restarted_is_left_out(tmp_path: Path) -> None:
    restarted = {"process:forum": {"cpu_cores_used": 1.0, "restarts": 2.0}, "process:accounts": {"cpu_cores_used": 1.0}}
    assert findings_beside(run_of(tmp_path, resources=restarted), [main_of()]) == []


def test_a_trial_in_which_many_requests_failed_is_left_out(tmp_path: Path) -> None:
    assert len(findings_beside(run_of(tmp_path / "few", failed=100), [main_of()])) == 1
    assert findings_beside(run_of(tmp_path / "many", failed=101), [main_of()]) == []


def test_a_variant_whose_process_was_not_read_has_no_number_and_is_not_compared(tmp_path: Path) -> None:
    """Seen: B on another host beside a database of this one, which was all that B "cost"."""
    why = "forum: 10.0.0.7:8710 is not on this host, so its process is not read."

    def without_forum(variant: str, level: float) -> dict[str, float]:
        dearer = {name: ms * level / 10 for name, ms in costs(variant, level).items()}
        return {"accounts": 1.0} if variant == "b" else dearer

    run = run_of(tmp_path, without_forum, of_b={"unseen": {"forum": why}})
    [found] = checked(findings_beside(run, [main_of()]))
    assert {cell["variant"] for cell in found["process_work"]} == {"a"} and found["work_changes"] == []
    assert [(one["variant"], one["level"], one["because"]) for one in found["work_unknown"]] == [
        ("b", level, why) for level in LEVELS
    ]
    assert "costs most of what is known" in found["answer"] and "B beside A" not in found["answer"]
    assert f"Not known at build=b, 20 users. {why}" in found["answer"]


def test_a_process_that_did_nothing_for_one_arm_is_not_seen_and_never_cheaper(tmp_path: Path) -> None:
    """Seen: A's process read for both arms: "4.47 ms to 0.0479 ms, -98.9%", with `valid: true`."""

    def wrong_process(variant: str, level: float) -> dict[str, float]:
        return {"shop": 4.47 if variant == "a" else 0.0005}

    for place, cost in enumerate((wrong_process, lambda variant, level: {"shop": 4.47 if variant == "a" else 0.0})):
        [found] = checked(findings_beside(run_of(tmp_path / str(place), cost), [main_of()]))
        assert {cell["variant"] for cell in found["process_work"]} == {"a"} and found["work_changes"] == []
        assert "-9" not in found["answer"] and "Not known at build=b, 10 users. shop did nothing at" in found["answer"]
        assert "name it in target.processes" in found["work_unknown"][0]["because"]


def test_a_process_of_which_less_was_due_than_its_clock_shows_is_not_called_idle(tmp_path: Path) -> None:
    """Seen in a sweep of 2 s at 10/s: "target did nothing (0 ms of CPU), so another process did its work", where one
    tick of the kernel's clock was due."""

    def ticks(variant: str, level: float) -> dict[str, float]:
        return {"shop": 0.5 * 10 / (100 * level) if variant == "a" else 0.0}  # 0.5 ms for each of 10/s

    short = {"measured_from_s": 1, "end_s": 3, "done_per_s": 10.0, "requests": 20}
    [found] = findings_beside(run_of(tmp_path, ticks, **short), [main_of()])
    assert found["work_unknown"] == [] and "did nothing" not in found["answer"]


def test_a_lesser_process_that_one_arm_does_not_use_is_told_and_the_whole_is_compared(tmp_path: Path) -> None:
    def without_accounts(variant: str, level: float) -> dict[str, float]:
        return {"forum": 2.0, "accounts": 1.0 if variant == "a" else 0.0}

    [found] = findings_beside(run_of(tmp_path, without_accounts), [main_of()])
    assert {one["process"] for one in found["work_changes"]} == {EVERY, "forum"} and found["work_unknown"] == []
    assert any("accounts did nothing at build=b" in note for note in found["notes"])


def test_who_was_read_for_a_variant_elsewhere_and_whom_nobody_saw_is_told(tmp_path: Path) -> None:
    run = run_of(tmp_path / "followed", of_b={"followed": {"forum": 8711}, "unseen": {"worker": "worker: not there."}})
    [found] = findings_beside(run, [main_of()])
    assert "forum follows the URL: it is who listens on port 8711 at build=b." in found["notes"]
    assert "worker: not there." in found["notes"] and len(found["process_work"]) == 4
    nothing = run_of(tmp_path / "unseen", lambda *_: {}, unseen={"worker": "worker: not there."})
    [found] = checked(findings_beside(nothing, [main_of()]))
    assert not found["valid"] and found["answer"].startswith("Cannot tell") and found["invalid_because"]


def test_other_experiments_have_steps_and_no_trials(tmp_path: Path) -> None:
    assert findings_beside(run_of(tmp_path), [main_of(experiment="grow")]) == []


def test_the_interval_of_a_mean_covers_it() -> None:
    random = np.random.default_rng(8)
    covered = [low < 5.0 < high for low, high in (mean_interval(random.normal(5, 2, 4)) for _ in range(2000))]
    assert 0.93 < np.mean(covered) < 0.97
    with pytest.raises(ValueError, match="two values"):
        mean_interval([1.0])
