"""A consumer's number that never moved shows no speed, and what waited before the load is nothing that drained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from findings_as_json import checked
from test_simulated_runs import Fed, writer

from plimsoll.experiments.long_runs.drain import DrainSettings, run_drain
from plimsoll.findings.drain.finding import drain_findings
from plimsoll.runs import RunReader


class Told(Fed):
    """Tells only these of its numbers: as they are, or one that stands still."""

    def __init__(self, rate: float, **told: float | None) -> None:
        super().__init__(rate)
        self.told = told

    def sample(self, second: int, t_unix: float) -> list[dict[str, Any]]:
        [row] = super().sample(second, t_unix)
        true = row["values"] | {"put_in": self.put}
        values = {name: true[name] if value is None else value for name, value in self.told.items()}
        return [row | {"values": values}]


class Standing(Fed):
    """500 items wait all the time."""

    def sample(self, second: int, t_unix: float) -> list[dict[str, Any]]:
        [row] = super().sample(second, t_unix)
        return [row | {"values": row["values"] | {"waiting": row["values"]["waiting"] + 500}}]


def findings_of(folder: Path, load: Fed) -> tuple[dict[str, Any], dict[str, Any]]:
    with writer(folder, "drain", "users") as run:
        run_drain(load, DrainSettings(50, 60, 5, 60), run, load.sample)
        main, drained, *_ = checked(drain_findings(RunReader(run.path)))
    return main, drained


@pytest.mark.parametrize("waiting", [5.0, 0.0])
def test_a_backlog_that_never_moved_says_so_and_nothing_of_a_speed(tmp_path: Path, waiting: float) -> None:
    """Seen: "5 items took 0.99 s without load" of a number that was 5 before, under and after the load."""
    main, drained = findings_of(tmp_path, Told(80, waiting=waiting))
    assert f"The backlog did not move: {waiting:g} items in all " in main["answer"]
    assert "/s were done" not in main["answer"] and "how fast they were done was not seen" in main["answer"]
    assert not any(label == "Done" for label, _ in main["facts"])
    assert "took" not in drained["answer"] and drained["drain"]["drained_s"] is None
    assert any("--consumed" in step for step in main["next"])
    assert ("if that is the number of these items" in main["answer"]) is bool(waiting)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"put_in": None, "taken_out": 7.0}, "The counter of items done did not move: 7 in all "),
        ({"taken_out": None, "put_in": 7.0}, "The counter of items put in did not move: 7 in all "),
    ],
)
def test_a_counter_that_never_moved_is_named(tmp_path: Path, told: dict[str, float | None], words: str) -> None:
    main, drained = findings_of(tmp_path, Told(80, **told))
    assert words in main["answer"] and "took" not in drained["answer"]
    assert "did not move" in main["next"][0]


def test_only_what_came_beyond_what_waited_before_the_load_drained(tmp_path: Path) -> None:
    main, drained = findings_of(tmp_path, Standing(40))
    above = main["consumer"]["backlog_end"] - 500
    assert drained["drain"]["drained_s"] == pytest.approx(above / 40, abs=3)
    assert drained["drain"]["alone_per_s"] == pytest.approx(40, rel=0.05)
    assert " items beyond the 500 that waited before the load took " in drained["answer"]
