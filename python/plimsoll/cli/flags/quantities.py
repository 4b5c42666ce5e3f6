"""Durations and counts as flags take them: "90s", "5m", "1h30m"; "2000", "2k", "1.5M"."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated

import typer

from plimsoll.study.bounds import MOST_SECONDS, MOST_USERS

_TIMES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6}
_COUNT = re.compile(r"(-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?)([kKM]?)")
_LONGEST_TEXT = 60


def duration(flag: str, *, bare_s: bool = False, most_s: float = MOST_SECONDS) -> Callable[[str], float]:
    """A parser of the flag's text to seconds, at most `most_s`; `bare_s`: a number without a unit means seconds. Raises
    InputError."""

    def parse(text: str) -> float:
        from plimsoll.study.durations import parse_duration

        return parse_duration(text, flag, bare_s=bare_s, most_s=most_s)

    return parse


def seconds(flag: str, least: float = 0.0) -> Callable[[str], float]:
    """A parser of the flag's text to seconds between `least` and a month: 90s, 5m, or a number of seconds. Raises
    InputError."""

    def parse(text: str) -> float:
        from plimsoll.study.bounds import checked_number
        from plimsoll.study.durations import parse_duration

        try:
            given = float(text)
        except ValueError:
            given = parse_duration(text, flag)
        return checked_number(given, flag, least=least, most=MOST_SECONDS, given=str(text))

    return parse


def number(flag: str, least: float, most: float, *, above: bool = False) -> Callable[[str], float]:
    """A parser of the flag's text to a number between bounds; `above`: not `least` itself. Raises InputError."""

    def parse(text: str) -> float:
        from plimsoll.study.bounds import number_of

        return number_of(text, flag, least=least, most=most, is_above=above)

    return parse


def count(flag: str, most: float = MOST_USERS) -> Callable[[str], float]:
    """A parser of the flag's text to a number, as 2000, 2k or 1.5M. Raises InputError."""

    def parse(text: str) -> float:
        from plimsoll.errors import InputError
        from plimsoll.study.bounds import checked_number

        given = str(text).strip().replace("_", "")
        found = _COUNT.fullmatch(given) if len(given) <= _LONGEST_TEXT else None
        try:
            number = float(found[1].replace(",", "")) * _TIMES[found[2]] if found else None
        except ValueError:
            number = None
        if number is None or not 0 < number < float("inf"):
            what = f"{flag}: {str(text)[:_LONGEST_TEXT]!r} is not a number above zero"
            raise InputError(what, "Write it like 2000, 2k or 1.5M.")
        return checked_number(number, flag, most=most, is_above=True, given=str(text))

    return parse


def for_text(seconds: float | None) -> str | None:
    """The time of `--for` as the option `for` of an experiment takes it."""
    return None if seconds is None else f"{seconds:g}s"


LoadTime = Annotated[
    float | None,
    typer.Option("--for", parser=duration("--for"), metavar="TIME", help="time of all its load, as 90s, 5m or 1h30m"),
]
