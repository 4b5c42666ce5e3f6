"""How the load of an experiment ends: gracefully, by interrupting iterations, and at Ctrl-C meanwhile at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.engine import DeafScript, EngineConfig, EngineSource
from plimsoll.runs.snapshot import Snapshot


class Run:
    """A run that ends as `turns` say it, one for each time that its seconds are read."""

    def __init__(self, *turns: Any) -> None:
        self.turns = list(turns)
        self.told: list[str] = []

    def stop(self, at_once: bool = False) -> None:
        self.told.append("at once" if at_once else "gracefully")

    def cut(self) -> None:
        self.told.append("cut")

    def snapshots(self, within_s: float) -> Iterator[Snapshot]:
        yield Snapshot(len(self.told))
        turn = self.turns.pop(0) if self.turns else None
        if turn is not None:
            raise turn

    def result(self) -> None:
        self.told.append("result")


def source(run: Run) -> EngineSource:
    made = EngineSource(EngineConfig(Path("script.js")), unit="vus", is_open=False)
    made._run = run  # type: ignore[assignment]
    return made


@pytest.mark.parametrize(("graceful", "told"), [(True, "gracefully"), (False, "cut")])
def test_iterations_end_or_are_interrupted_and_teardown_runs(graceful: bool, told: str) -> None:
    run = Run()
    load = source(run)
    load.stop(graceful)
    assert run.told == [told, "result"] and [one.second for one in load.rest()] == [1]


@pytest.mark.parametrize("graceful", [True, False])
def test_ctrl_c_while_it_ends_ends_it_at_once_and_is_raised(graceful: bool) -> None:
    run = Run(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        source(run).stop(graceful)
    assert run.told[1:] == ["at once", "result"]


def test_a_script_that_stays_deaf_is_left_behind_and_not_waited_for_again(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(KeyboardInterrupt(), DeafScript())
    load = source(run)
    with pytest.raises(KeyboardInterrupt):
        load.stop()
    load.stop(graceful=False)
    assert run.told == ["gracefully", "at once"] and "cannot be interrupted" in capsys.readouterr().err
