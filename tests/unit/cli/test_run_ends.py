"""How `plimsoll run` serves Ctrl-C: once gracefully, twice at once, and a script that stays deaf is left behind."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll import engine as engine_module
from plimsoll.cli.run.tally import Tally
from plimsoll.cli.run.verb import _follow
from plimsoll.engine import DeafScript


class Engine:
    """Snapshots as `turns` say it: exceptions are raised, the rest are returned; then none for ever."""

    def __init__(self, *turns: Any) -> None:
        self.turns = list(turns)
        self.stops: list[bool] = []

    def next_snapshot(self) -> Any:
        turn = self.turns.pop(0) if self.turns else None
        if isinstance(turn, type) and issubclass(turn, BaseException):
            raise turn
        return turn

    def stop(self, at_once: bool = False) -> None:
        self.stops.append(at_once)

    def elapsed_s(self) -> float:
        return 1.0


class Control:
    def __init__(self, engine: Engine, interruptions: int = 0) -> None:
        self.engine = engine
        self.writer = self
        self.events: list[str] = []
        self.interruptions = interruptions

    def serve(self) -> None:
        pass

    def append_event(self, kind: str, **_: Any) -> None:
        self.events.append(kind)
        if self.interruptions:
            self.interruptions -= 1
            raise KeyboardInterrupt


def follow(control: Control) -> Tally:
    tally = Tally()
    _follow(control, tally, None, True)  # type: ignore[arg-type]
    return tally


def test_the_second_ctrl_c_ends_it_at_once() -> None:
    engine = Engine(None, KeyboardInterrupt, None, KeyboardInterrupt, None, StopIteration)
    tally = follow(Control(engine))
    assert engine.stops == [False, True] and tally.interrupted and tally.ended_at_once


def test_a_ctrl_c_while_the_first_is_served_is_the_second() -> None:
    engine = Engine(KeyboardInterrupt, StopIteration)
    tally = follow(Control(engine, interruptions=1))
    assert engine.stops == [False, True] and tally.ended_at_once


def test_a_script_that_does_not_end_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "END_AT_ONCE_S", 0.01)
    engine = Engine(KeyboardInterrupt, KeyboardInterrupt)
    with pytest.raises(DeafScript, match="cannot be interrupted"):
        follow(Control(engine))


def test_one_ctrl_c_waits_for_as_long_as_iterations_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "END_AT_ONCE_S", 0.0)
    engine = Engine(KeyboardInterrupt, *[None] * 50, StopIteration)
    assert not follow(Control(engine)).ended_at_once
