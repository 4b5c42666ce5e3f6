"""The nearest of the words that are known, for whoever mistyped one. It imports nothing of the package."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterable, Sequence
from typing import Any

_MOST_WORDS, _LONGEST_WORD = 200, 60  # to compare one with another takes its time


def nearest(word: Any, known: Iterable[str], otherwise: str) -> str:
    """ "Did you mean …?" with the nearest of the known words, else the given text."""
    close = difflib.get_close_matches(str(word)[:_LONGEST_WORD], list(known)[:_MOST_WORDS], n=1)
    return f"Did you mean {close[0]}?" if close else otherwise


def none_of(word: Any, known: Sequence[str]) -> str:
    """What is wrong with a value that is none of the known ones, and the nearest of them."""
    return f"'{str(word)[:_LONGEST_WORD]}' is none of {', '.join(known)}. {nearest(word, known, '')}".rstrip()


class NamingParser(argparse.ArgumentParser):
    """A parser of flags that names the nearest flag or value for one that it does not know."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As ArgumentParser's; a word that is neither flag nor value ends it with `error`."""
        given, unknown = self.parse_known_args(args, namespace)
        if unknown:
            flags = dict.fromkeys(word.split("=", 1)[0] for word in unknown if word[:1] == "-" != word)
            known = self._spellings(given)
            told = [f"there is no flag {flag}. {nearest(flag, known, '')}".rstrip() for flag in flags]
            self.error("; ".join(told) or f"'{unknown[0]}' is one word too many")
        return given

    def _spellings(self, given: Any) -> list[str]:
        """Of this parser's flags, and of those of the verb that was named."""
        found = list(self._option_string_actions)
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                found += action.choices[getattr(given, action.dest)]._option_string_actions
        return found

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(action, none_of(value, [str(choice) for choice in action.choices]))
