"""JSON as `json.loads` reads it, in about half of its time: for files of many lines, which are read more than once."""

from __future__ import annotations

import json
from typing import Any

NUMBERS = (int, float)  # of isinstance: `int | float` is made anew each time that it is passed


class NestedTooDeeply(ValueError):
    """JSON that may be whole and is nested more deeply than can be read."""


def loads(text: str | bytes) -> Any:
    """The value of `text`; ValueError if it is no JSON, NestedTooDeeply if that is why.

    What the quick parser refuses (lone surrogates, nesting beyond 200, a byte order mark, and what is no JSON) is
    given to `json`, so that both take the same texts and complain in the same words.
    """
    from pydantic_core import from_json  # a run that reads nothing back need not import it

    try:
        return from_json(text)
    except (ValueError, TypeError):  # TypeError: a str with a lone surrogate, which is no UTF-8
        pass
    try:
        return json.loads(text)
    except RecursionError:
        raise NestedTooDeeply("it is nested too deeply") from None
