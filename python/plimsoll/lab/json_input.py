"""What the lab's services demand of a request alike: strict JSON, and the parameters they know."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mistake:
    """What is wrong at one place of the input."""

    field: str
    what: str


def is_json(content_type: str) -> bool:
    """Whether a Content-Type says JSON."""
    return content_type.split(";")[0].strip().lower() == "application/json"


def strict_json(body: bytes) -> Any:
    """The value of a JSON text. Raises ValueError where it is none, is nested too deeply, or holds NaN or a number that
    no float is."""
    try:
        return json.loads(body, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parameter_mistakes(names: list[str], known: Iterable[str]) -> list[Mistake]:
    """Names of query parameters that are unknown or given twice."""
    known = list(known)
    found = [
        Mistake(name[:60] or "(no name)", f"is not a parameter here; use {', '.join(known) or 'none'}")
        for name in dict.fromkeys(names)
        if name not in known
    ]
    return found + [Mistake(name, "is given more than once") for name in known if names.count(name) > 1]


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number
