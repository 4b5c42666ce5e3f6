"""The secrets of a command line: what `plimsoll run` is told, and any command whose error is shown."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plimsoll.study.secrets.redactor import Redactor
from plimsoll.study.secrets.sources import values_of_sources

if TYPE_CHECKING:
    from plimsoll.cli.run.settings import Settings

_ENV, _SOURCE = ("-e", "--env"), ("--secret-source",)


def redactor_of_run(flags: Mapping[str, Any], told: Settings, environment: Mapping[str, str]) -> Redactor:
    """A redactor that knows the secrets of a run's flags, options and variables, and of its sources."""
    data = {
        "env": _variables(told.run.get("env") or (), environment),
        "options": [told.below, told.above],
        "headers": dict(flags["header"]),
        "url": [text for text in (flags["url"], flags["body"]) if text],
    }
    return Redactor.for_data(
        data, environment=environment, declared=values_of_sources(told.run.get("secretSource") or ())
    )


def redactor_of_words(words: Sequence[str], environment: Mapping[str, str]) -> Redactor:
    """A redactor that knows the secrets of a command line, for the error that it ends with."""
    data = {"env": _variables(_values_after(words, _ENV), environment), "command": shlex.join(_without(words, _SOURCE))}
    sources = [*_values_after(words, _SOURCE), environment.get("K6_SECRET_SOURCE", "")]
    return Redactor.for_data(data, environment=environment, declared=values_of_sources(sources))


def _variables(texts: Sequence[str] | Iterator[str], environment: Mapping[str, str]) -> dict[str, str]:
    """NAME=value as a mapping; NAME alone takes the system's."""
    parts = (text.partition("=") for text in texts)
    return {name: value if equals else environment.get(name, "") for name, equals, value in parts}


def _without(words: Sequence[str], flags: tuple[str, ...]) -> list[str]:
    """The words without these flags and their values, of which only a part is secret."""
    return [
        word
        for place, word in enumerate(words)
        if word not in flags and not word.startswith(tuple(f"{flag}=" for flag in flags))
        if place == 0 or words[place - 1] not in flags
    ]


def _values_after(words: Sequence[str], flags: tuple[str, ...]) -> Iterator[str]:
    for place, word in enumerate(words):
        for flag in flags:
            if word == flag:
                yield from words[place + 1 : place + 2]
            elif word.startswith(f"{flag}="):
                yield word[len(flag) + 1 :]
            elif len(flag) == 2 and word.startswith(flag):
                yield word[2:]
