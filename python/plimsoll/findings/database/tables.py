"""Tables of a database's finding, and words that are cut short."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import shorten
from typing import Any


def table(
    title: str,
    note: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    words: Sequence[str] = (),
    codes: Sequence[str] = (),
) -> dict[str, Any]:
    return {
        "title": title, "note": note, "columns": list(columns), "rows": [list(row) for row in rows],
        "words": list(words), "codes": list(codes),
    }  # fmt: skip


def short(text: str, width: int) -> str:
    return shorten(text, width, placeholder=" …")


def capital(words: str) -> str:
    return words[:1].upper() + words[1:]
