"""The trigrams of a pattern, which pg_trgm's index looks up (postgresql.org/docs/current/pgtrgm.html).

A word is made of letters and digits, in lower case. Only the pieces between wildcards are known; a piece gives a
trigram for each three characters in a row, and where it begins or ends a word for sure, one with spaces. A pattern with
none makes the index read all of itself.
"""

from __future__ import annotations

import re

MOST = 12
_WILDCARD = re.compile(r"[%_]")


def trigrams(pattern: str) -> list[str]:
    """Of a LIKE or ILIKE pattern, in lower case, without those that spaces at a word's ends give."""
    pieces = _WILDCARD.split(re.sub(r"\\(.)", r"\1", pattern).lower())
    words = [word for piece in pieces for word in re.split(r"[\W_]+", piece)]
    found = [word[place : place + 3] for word in words for place in range(len(word) - 2)]
    return list(dict.fromkeys(found))


def conditions_of(expression: str, constant: str) -> list[str]:
    """For each trigram of the pattern the condition that a text has it; `constant` as EXPLAIN prints it."""
    pattern = re.fullmatch(r"'((?:[^']|'')*)'(?:::\w+)?", constant)
    if pattern is None:
        return []
    found = trigrams(pattern[1].replace("''", "'"))[:MOST]
    return [f"pg_catalog.strpos(pg_catalog.lower(({expression})::text), '{one}') > 0" for one in found]
