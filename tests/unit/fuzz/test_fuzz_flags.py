"""Flags of every verb with values that nobody meant: parsed and planned, and nothing is started. Each ends with a plan,
an exit code or a message."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest
import typer
from fuzzing import holds
from hypothesis import strategies as st
from odd_values import odd_texts

import plimsoll.engine
import plimsoll.runs.writer
import plimsoll.verbs.studies
from plimsoll.cli.app import app
from plimsoll.cli.run.flags import parser
from plimsoll.cli.run.verb import run
from plimsoll.errors import PlimsollError

PLANNED = ("capacity", "hold", "grow", "drain", "compare", "decompose", "sweep", "study", "demo")
OTHERS = ("analyze", "size", "report", "schema", "control")
SOURCES = st.sampled_from(["study.yaml", "study.yaml", "script.js", "script.js", "missing", "."])


class PlannedInstead(Exception):
    """All that comes before the load was gone through."""


def _planned(*_: Any, **__: Any) -> Any:
    raise PlannedInstead


@pytest.fixture(autouse=True)
def nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_script(config: Any, *_: Any) -> None:
        plimsoll.engine.inspect(config)
        raise PlannedInstead

    monkeypatch.setattr(plimsoll.engine, "EngineRun", of_script)
    monkeypatch.setattr(plimsoll.runs.writer.RunWriter, "create", _planned)
    monkeypatch.setattr(plimsoll.runs.writer.RunWriter, "reopen", _planned)
    monkeypatch.setattr(plimsoll.verbs.studies, "make_named_directory", _planned)


def _flags(options: list[tuple[str, bool]]) -> st.SearchStrategy[list[list[str]]]:
    """Up to four of these flags (spelling, whether a value follows)."""
    if not options:
        return st.just([])
    one = st.sampled_from(options).flatmap(
        lambda option: odd_texts.map(lambda text: [option[0], text]) if option[1] else st.just([option[0]])
    )
    return st.lists(one, max_size=4)


def _quietly(call: Any) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            call()
        except (PlannedInstead, PlimsollError, SystemExit):
            pass
        except Exception as error:  # typer brings a click of its own, whose module has no public name
            if not {kind.__name__ for kind in type(error).__mro__} & {"ClickException", "Exit"}:
                raise


@pytest.mark.parametrize("verb", [*PLANNED, *OTHERS])
def test_flags_of_a_verb_end_with_a_plan_or_a_message(verb: str, folder: Path) -> None:
    command: Any = typer.main.get_command(app)
    params = command.commands[verb].params
    options = [
        (spelling, not one.is_flag)
        for one in params
        if one.opts[0].startswith("-") and one.name not in ("help", "output", "all_in")
        for spelling in one.opts
    ]
    arguments = sum(not one.opts[0].startswith("-") for one in params)
    words = st.tuples(st.lists(SOURCES | odd_texts, min_size=min(arguments, 1), max_size=arguments), _flags(options))

    def check(case: tuple[list[str], list[list[str]]]) -> None:
        sources, flags = case
        argv = [verb, *(word for flag in flags for word in flag), *sources]
        _quietly(lambda: command.main(argv, prog_name="plimsoll", standalone_mode=False))

    holds(f"flags of {verb}", words, check)


def test_flags_of_run_end_with_a_plan_or_a_message(folder: Path) -> None:
    options = [
        (spelling, action.nargs != 0)
        for action in parser()._actions
        if action.dest not in ("help", "consoleOutput", "summaryExport")
        for spelling in action.option_strings
    ]
    words = st.tuples(st.sampled_from(["script.js", "script.js", "missing", ""]), _flags(options))

    def check(case: tuple[str, list[list[str]]]) -> None:
        script, flags = case
        _quietly(lambda: run([*(word for flag in flags for word in flag), script]))

    holds("flags of run", words, check)
