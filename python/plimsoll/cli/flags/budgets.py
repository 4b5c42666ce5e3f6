"""Shares on the command line: --budget NAME=80%, --negligible-below 5%."""

from __future__ import annotations

import math
from collections.abc import Iterable

from plimsoll.errors import InputError
from plimsoll.words import share_words


def budgets_of(texts: Iterable[str] | None) -> dict[str, float]:
    """{name: share in (0, 1]} of texts like "gc=83%" or "gc=0.83". InputError for others."""
    return dict(map(_budget, texts or ()))


def _budget(text: str) -> tuple[str, float]:
    name, equals, share = text.rpartition("=")
    value = _share(share)
    if not equals or not name.strip() or value is None or not 0 < value <= 1:
        raise InputError(f"--budget {text!r} is no share of a resource", "Write it like gc=83%.")
    return name.strip(), value


def share_of(text: str, flag: str, example: str) -> float:
    """A number of "5%" or "0.05", below 1. InputError for others."""
    value = _share(text)
    if value is None:
        raise InputError(f"{flag} {text!r} is no share", f"Write it like {example}.")
    if not 0 <= value < 1:
        raise InputError(f"{flag} {share_words(value, 6)} is no share below 100%", f"Write it like {example}.")
    return value


def _share(text: str) -> float | None:
    words = text.strip()
    try:
        share = float(words.removesuffix("%")) / (100 if words.endswith("%") else 1)
    except ValueError:
        return None
    return share if math.isfinite(share) else None
