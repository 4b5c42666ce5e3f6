"""Help texts read as well as the pages: at most 25 words a sentence, and the words of the field."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator
from typing import get_args, get_type_hints

import pytest
import typer
from markdown_pages import sentences, words
from test_readability import MOST_WORDS, coinages_in

from plimsoll.cli.app import app
from plimsoll.cli.lab import installed_lab
from plimsoll.cli.run.flags import DESCRIPTION, parser


def texts() -> dict[str, str]:
    """What `--help` says: of each command, argument and flag, by where it stands."""
    return dict([*_of_group(app, "plimsoll"), *_of_run(), *_of_lab()])


def _of_group(group: typer.Typer, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(group.info.help, str):
        yield name, group.info.help
    for command in group.registered_commands:
        assert command.callback is not None
        own = f"{name} {command.name or command.callback.__name__}"
        yield own, inspect.cleandoc(command.help or command.callback.__doc__ or "")
        for parameter, hint in get_type_hints(command.callback, include_extras=True).items():
            for info in get_args(hint)[1:]:
                yield f"{own}: {parameter}", getattr(info, "help", None) or ""
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from _of_group(inner.typer_instance, f"{name} {inner.typer_instance.info.name}")


def _of_run() -> Iterator[tuple[str, str]]:
    yield "plimsoll run", DESCRIPTION
    yield from _of_parser(parser(), "plimsoll run")


def _of_lab() -> Iterator[tuple[str, str]]:
    top = installed_lab().parser()
    yield "plimsoll lab", top.description or ""
    [targets] = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]
    for listed in targets._choices_actions:
        yield f"plimsoll lab {listed.dest}", listed.help or ""
    for target, its in targets.choices.items():
        yield from _of_parser(its, f"plimsoll lab {target}")


def _of_parser(its: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, str]]:
    for action in its._actions:
        if action.help and action.help != argparse.SUPPRESS:
            yield f"{name}: {(action.option_strings or [action.dest])[-1]}", action.help.replace("%%", "%")


TEXTS = texts()


def test_commands_arguments_and_flags_of_every_kind_are_looked_at() -> None:
    wanted = {"plimsoll", "plimsoll capacity", "plimsoll capacity: max_users", "plimsoll runs", "plimsoll runs show"}
    wanted |= {"plimsoll run", "plimsoll run: --vus", "plimsoll lab tracker", "plimsoll lab tracker: --port"}
    assert wanted <= set(TEXTS) and len(TEXTS) > 250


def test_no_sentence_of_a_help_text_is_longer_than_25_words() -> None:
    told = ((place, one) for place, text in TEXTS.items() for one in sentences(text))
    long = [f"{place}, {words(one)} words: {one}" for place, one in told if words(one) > MOST_WORDS]
    assert long == []


def test_no_help_text_has_a_coinage() -> None:
    assert [f"{place}: {one}" for place, text in TEXTS.items() for one in coinages_in(text)] == []


@pytest.mark.parametrize("place", [place for place, text in TEXTS.items() if " " in place and ":" not in place])
def test_every_command_says_what_it_does(place: str) -> None:
    assert words(TEXTS[place]) >= 2


def test_every_flag_says_what_it_does() -> None:
    assert [place for place, text in TEXTS.items() if not text.strip()] == []
