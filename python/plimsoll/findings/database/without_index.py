"""Statements of MariaDB and MySQL that ran without an index, and the index that is evident.

Their digests tell of each statement in how many calls a table was read whole, and how many rows were read for those
that were returned (docs/probes/mysql.md). They have no constants, and no planner is asked. So a table is named where it
is the only one of the statement that was read without an index, and columns only where the text leaves no others: one
table, equalities of its columns and nothing else, and few of its rows returned. A LIMIT, groups or functions would
return few rows whatever the condition selects. EXPLAIN has the last word, as an index that is there may be of another
type or collation than the comparison.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.words import number, share_words

LEAST_EXAMINED_ROWS = 1_000
FEW_RETURNED = 0.1  # of the rows that were read
COUNTERS = ("calls", "rows", "rows_examined", "no_index_calls")
CUT_OFF = "..."  # what a digest ends in that is longer than max_digest_length
Statement = Mapping[str, Any]

_NAME = r"`(?:[^`]|``)+`"
_COLUMN = rf"(?:{_NAME} ?\. ?)*({_NAME}|[A-Z_]+)"  # MariaDB writes names that are keywords elsewhere as ID, STATUS
_ONE_TABLE = re.compile(
    rf"SELECT (?!DISTINCT )[^()]+ FROM (?P<table>(?:{_NAME} ?\. ?)?{_NAME})(?: (?:AS )?{_NAME})? "
    rf"WHERE (?P<equalities>{_COLUMN} = \?(?: AND {_COLUMN} = \?)*)"
    rf"(?: ORDER BY {_COLUMN}(?: ASC| DESC)?(?: , {_COLUMN}(?: ASC| DESC)?)*)?"
)
_SELECTS_OR_SORTS = re.compile(r"\b(?:WHERE|JOIN|ON|ORDER BY|GROUP BY|DISTINCT)\b")
_UNPROVEN = "Its effect is not proven, as no planner was asked"
_CHANGES = re.compile(r"\s*(?:UPDATE|DELETE)\b")


@dataclass(frozen=True)
class WithoutIndex:
    """What was seen, as a sentence, and what to do, as a clause that sentences may follow, without a full stop at the
    end."""

    words: str
    remedy: str


def ran_without_index(one: Statement) -> bool:
    """Whether most calls used no index and read many rows for it."""
    examined = one.get("rows_examined", 0) / one["calls"]
    return bool(not uses_index(one) and examined >= LEAST_EXAMINED_ROWS)


def uses_index(one: Statement) -> bool:
    """Whether most calls read no table whole; also of databases that do not count it."""
    return bool(one.get("no_index_calls", 0) <= one["calls"] / 2)


def without_index(alike: Sequence[Statement], text: str, tables: Iterable[Statement]) -> WithoutIndex | None:
    """Of statements of one text, taken together; None where they used an index. `tables`: those of which rows were read
    in sequence at that time."""
    sums = {name: sum(int(one.get(name, 0)) for one in alike) for name in COUNTERS}
    if not sums["calls"] or not ran_without_index(sums):
        return None
    calls = sums["calls"]
    words = (
        f"It used no index in {share_words(min(1.0, sums['no_index_calls'] / calls))} of its calls, and read "
        f"{number(sums['rows_examined'] / calls)} rows for the {number(sums['rows'] / calls)} that a call returned or "
        "changed."
    )
    return WithoutIndex(words, _remedy(sums, text, tables))


def locks_what_it_reads(statements: Iterable[Statement], texts: Mapping[str, str]) -> str | None:
    """The text of the dearest UPDATE or DELETE that ran without an index: InnoDB locks each row that such a one reads,
    whether or not it changes it (dev.mysql.com, "Locks Set by Different SQL Statements in InnoDB")."""
    found = (texts.get(str(one["id"]), "") for one in statements if ran_without_index(one))
    return next((text for text in found if _CHANGES.match(text)), None)


def _remedy(sums: Statement, text: str, tables: Iterable[Statement]) -> str:
    if not _SELECTS_OR_SORTS.search(text) and not text.endswith(CUT_OFF):
        return "have it read fewer rows, as it reads the whole table whatever indexes there are, or call it less often"
    evident = _ONE_TABLE.fullmatch(text.strip().removesuffix(";").strip())
    if evident is not None and sums["rows"] <= FEW_RETURNED * sums["rows_examined"]:
        names = re.findall(rf"{_COLUMN} = \?", evident["equalities"])
        columns = dict.fromkeys(name if name.startswith("`") else f"`{name.lower()}`" for name in names)
        name = re.sub(r" ?\. ?", ".", evident["table"])
        each = [number(sums[key] / sums["calls"]) for key in ("rows", "rows_examined")]
        return (
            f"run ALTER TABLE {name} ADD INDEX ({', '.join(columns)}), if EXPLAIN shows no index that it could use. "
            f"A call should then read about {each[0]} rows in place of {each[1]}. {_UNPROVEN}"
        )
    named = _named(text, tables)
    if named is None:
        serves = "give it an index that serves (ALTER TABLE … ADD INDEX …)"
        return f"see by EXPLAIN which table it reads whole, and {serves}. {_UNPROVEN}"
    index = f"give it an index for that (ALTER TABLE {named} ADD INDEX …)"
    return f"see by EXPLAIN what it reads {named} for, and {index}. {_UNPROVEN}"


def _named(text: str, tables: Iterable[Statement]) -> str | None:
    """The one table of the text that was read in sequence."""
    if text.endswith(CUT_OFF):
        return None
    names = dict.fromkeys(str(one["table"]).rpartition(".")[2] for one in tables)
    found = [name for name in names if f"`{name}`" in text or re.search(rf"\b{re.escape(name.upper())}\b", text)]
    return f"`{found[0]}`" if len(found) == 1 else None
