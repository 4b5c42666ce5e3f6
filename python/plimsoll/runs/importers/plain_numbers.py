"""Numbers in text as tools write them: ASCII digits, without `_`. Python's own int() and float() also read `1_000` and
the digits of other scripts, which in a result are damage."""

from __future__ import annotations


def real(text: str) -> float:
    """The number. ValueError for what is none."""
    return float(_plain(text))


def integer(text: str) -> int:
    """The whole number. ValueError for what is none."""
    return int(_plain(text))


def _plain(text: str) -> str:
    if "_" in text or not text.isascii():
        raise ValueError(f"{text[:40]!r} is no number")
    return text
