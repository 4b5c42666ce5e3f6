"""A second Ctrl-C cuts the load off, also one that comes while the first is still being served."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.experiments.capacity.experiment import run_capacity
from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.experiments.long_runs.drain import DrainSettings, run_drain
from plimsoll.experiments.long_runs.grow import GrowSettings, run_grow
from plimsoll.experiments.long_runs.hold import HoldSettings, run_hold

sys.path.insert(0, str(Path(__file__).parents[2] / "accuracy"))
from simulators import OpenQueue


class Watched(OpenQueue):
    """A queue that notes how it was stopped; `again` interrupts the first stop too."""

    def __init__(self, again: bool) -> None:
        super().__init__(1, 0.01, 1, interrupt_at_s=3.0)
        self.again, self.stops = again, list[bool]()

    def stop(self, graceful: bool = True) -> None:
        self.stops.append(graceful)
        if self.again and len(self.stops) == 1:
            raise KeyboardInterrupt

    def pause_at(self, at_s: float) -> bool:
        return False


EXPERIMENTS: dict[str, Callable[..., Any]] = {
    "capacity": lambda source, **more: run_capacity(source, CapacitySettings(), **more),
    "hold": lambda source, **more: run_hold(source, HoldSettings(20.0, 60.0), **more),
    "drain": lambda source, **more: run_drain(source, DrainSettings(20.0, 60.0), **more),
    "grow": lambda source, **more: run_grow(source, GrowSettings(1000), **more),
}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_while_the_first_is_served(name: str) -> None:
    source = Watched(again=False)

    def tell(words: str) -> None:
        if words.startswith("stopping"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        EXPERIMENTS[name](source, on_message=tell)
    assert source.stops == [False]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_while_running_iterations_may_end(name: str) -> None:
    source = Watched(again=True)
    with pytest.raises(KeyboardInterrupt):
        EXPERIMENTS[name](source)
    assert source.stops == [True, False]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_first_alone_is_graceful(name: str) -> None:
    source = Watched(again=False)
    assert EXPERIMENTS[name](source).status == "interrupted" and source.stops == [True]
