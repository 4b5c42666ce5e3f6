"""Lines that somebody else put into control.jsonl: each is a word with a level that can be, or passed over."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fuzzing import holds
from hypothesis import strategies as st
from odd_values import changed, changes, cut, cuts

from plimsoll.cli.run.live_control import RunControl
from plimsoll.engine import EngineConfig
from plimsoll.runs.control import CONTROL, Listener
from plimsoll.study.bounds import MOST_LEVEL

WORDS = [{"id": "ab", "verb": "level", "level": 2.0}, {"id": "cd", "verb": "pause", "level": None}]


def test_changed_words_are_carried_out_or_passed_over(folder: Path) -> None:
    levels: list[float] = []
    engine = SimpleNamespace(set_level=levels.append, stop=lambda: None, fixed_iterations=[])
    writer = SimpleNamespace(path=folder, append_event=lambda *_, **__: None)
    lines = st.tuples(changes, st.none() | cuts)

    def check(case: tuple[list, Any]) -> None:
        given, bytes_too = case
        made = changed(WORDS, given)
        told = made if isinstance(made, list) else [made]
        data = "".join(json.dumps(line) + "\n" for line in told if line is not None).encode()
        (folder / CONTROL).write_bytes(data if bytes_too is None else cut(data, bytes_too))
        levels.clear()
        control: Any = RunControl(engine, writer, EngineConfig(folder / "script.js"))  # type: ignore[arg-type]
        control.serve()
        assert all(0 <= level <= MOST_LEVEL for level in levels)

    holds("control lines", lines, check)


def test_a_level_that_no_generator_makes_is_refused_and_the_run_goes_on(folder: Path) -> None:
    levels: list[float] = []
    engine: Any = SimpleNamespace(set_level=levels.append, stop=lambda: None, fixed_iterations=[])
    answers: list[str] = []
    writer: Any = SimpleNamespace(path=folder, append_event=lambda *_, answer, **__: answers.append(answer))
    control = RunControl(engine, writer, EngineConfig(folder / "script.js"))
    told = [{"id": "1", "verb": "level", "level": level} for level in (2, 1e300, 1e6, 3)]
    (folder / CONTROL).write_text("".join(json.dumps(line) + "\n" for line in told))
    assert [word.level for word in Listener(folder).words()] == [2, 1e6, 3]
    control.serve()
    assert levels == [2, 2, 3] or levels == [2, 3]
    assert answers[1].startswith("refused: level 1e+06 means 5,000,000 arrivals per second") and "stays 2" in answers[1]


@pytest.mark.parametrize("level", ["1e300", "inf", "nan", "-1", "1000001"])
def test_plimsoll_control_refuses_such_a_level_with_its_bounds(level: str, folder: Path) -> None:
    import typer

    from plimsoll.cli.app import app
    from plimsoll.errors import InputError

    command: Any = typer.main.get_command(app)
    with pytest.raises(InputError, match="from 0 to 1,000,000"):
        command.main(["control", "runs", "level", "--", level], prog_name="plimsoll", standalone_mode=False)
