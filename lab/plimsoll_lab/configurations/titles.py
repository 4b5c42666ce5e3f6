"""The words of a title, as searches compare them."""

from __future__ import annotations

import re
import unicodedata

from plimsoll_lab.configurations.schema import WORD_LETTERS

_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """Its words, in lower case and without accents."""
    plain = unicodedata.normalize("NFKD", text)
    without = "".join(letter for letter in plain if not unicodedata.combining(letter)).casefold()
    return [word[:WORD_LETTERS] for word in _WORD.findall(without)]
