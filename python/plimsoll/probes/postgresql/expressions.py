"""Conditions as EXPLAIN prints them: the conjuncts, their two sides, and what columns each side needs.

EXPLAIN prints its own canonical form: every operator within brackets, every constant with its type, and with VERBOSE
every column behind its table's alias. So a few rules read it, and an expression can go into an index as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plimsoll.probes.postgresql.statement_text import Token, tokens

COMPARISONS = ("=", "<", ">", "<=", ">=", "~~", "~~*", "~", "~*", "@@", "@>", "<@", "?", "?|", "?&", "&&")
MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "@>": "<@", "<@": "@>", "=": "=", "@@": "@@", "&&": "&&"}


IS = "IS"


@dataclass(frozen=True)
class Comparison:
    """`left operator right` of one table: `left` needs its columns, `right` none of them. Texts without the alias;
    `text` is all of it. The operator IS has NULL, NOT NULL, TRUE or FALSE on its right."""

    left: str
    operator: str
    right: str
    text: str = ""


def comparisons(condition: str, alias: str) -> list[Comparison]:
    """What a condition asks of the columns of `alias`, without conjuncts that no index helps (OR, <>, functions)."""
    found = []
    for conjunct in _conjuncts(_stripped(tokens(condition))):
        pieces = _stripped(conjunct)
        one = _comparison(pieces, alias) or _test(pieces, alias)
        if one is not None:
            found.append(replace(one, text=_text(pieces, alias)))
    return found


def _test(pieces: list[Token], alias: str) -> Comparison | None:
    """`column IS [NOT] NULL`, `column` and `NOT column` (of a boolean)."""
    words = [token.text.upper() if token.kind == "word" else "" for token in pieces]
    if words[-3:] == ["IS", "NOT", "NULL"]:
        left, right = pieces[:-3], "NOT NULL"
    elif words[-2:] == ["IS", "NULL"]:
        left, right = pieces[:-2], "NULL"
    elif words[:1] == ["NOT"]:
        left, right = _stripped(pieces[1:]), "FALSE"
    else:
        left, right = pieces, "TRUE"
    left = _stripped(left)
    is_column = len(left) == 3 and _is_reference(left, 0) and _same(left[0].text, alias)
    return Comparison(_text(left, alias), IS, right) if is_column else None


def sort_key(text: str, alias: str) -> tuple[str, str] | None:
    """(expression, direction) of a key of a Sort, direction as it stands in an index; None where it needs others."""
    pieces = tokens(text)
    direction: list[str] = []
    while pieces and pieces[-1].text.upper() in ("DESC", "ASC", "NULLS", "FIRST", "LAST"):
        direction.insert(0, pieces.pop().text.upper())
    if (
        "COLLATE" in (token.text.upper() for token in pieces)
        or not _needs(pieces, alias)
        or _needs_others(pieces, alias)
    ):
        return None
    return _text(_stripped(pieces), alias), " ".join(direction)


def plain_column(expression: str) -> str | None:
    """The column, where the expression is nothing but one (as it stands, quoted if need be)."""
    pieces = tokens(expression)
    return expression if len(pieces) == 1 and pieces[0].kind in ("word", "quoted") else None


def functions(expression: str) -> list[tuple[str, int]]:
    """(name without schema, number of arguments) of every function that an expression calls."""
    pieces, found = tokens(expression), []
    for place, token in enumerate(pieces[:-1]):
        if (
            token.kind in ("word", "quoted")
            and pieces[place + 1].text == "("
            and token.text.upper() not in _NO_FUNCTIONS
        ):
            found.append((token.text.strip('"'), _arguments(pieces[place + 2 :])))
    return found


_NO_FUNCTIONS = (
    "ANY",
    "ALL",
    "IN",
    "COALESCE",
    "GREATEST",
    "LEAST",
    "NULLIF",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "AND",
    "OR",
    "NOT",
)


def _arguments(pieces: Sequence[Token]) -> int:
    depth, count, any_token = 0, 1, False
    for token in pieces:
        if token.text in ("(", "["):
            depth += 1
        elif token.text in (")", "]"):
            if depth == 0:
                break
            depth -= 1
        elif token.text == "," and depth == 0:
            count += 1
        any_token = True
    return count if any_token else 0


def bare(expression: str) -> str:
    """An expression without brackets, spaces and case, to compare two that PostgreSQL printed in different places."""
    return "".join(token.text.lower() for token in tokens(expression) if token.text not in ("(", ")"))


def has_parameter(expression: str) -> bool:
    """Whether a part of it is not known: it was a constant that normalisation took out."""
    return any(token.kind == "parameter" for token in tokens(expression))


def _conjuncts(pieces: list[Token]) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in pieces:
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        if depth == 0 and token.kind == "word" and token.text.upper() == "AND":
            parts.append([])
        else:
            parts[-1].append(token)
    if len(parts) == 1:
        return parts
    return [inner for part in parts for inner in _conjuncts(_stripped(part))]


def _comparison(pieces: list[Token], alias: str) -> Comparison | None:
    depth = 0
    for place, token in enumerate(pieces):
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        if depth == 0 and token.kind == "operator" and token.text in COMPARISONS:
            return _sides(pieces[:place], token.text, pieces[place + 1 :], alias)
        if depth == 0 and token.kind == "word" and token.text.upper() == "OR":
            return None
    return None


def _sides(left: list[Token], operator: str, right: list[Token], alias: str) -> Comparison | None:
    if right and right[0].text.upper() in ("ANY", "ALL"):
        if right[0].text.upper() == "ALL" or operator != "=":
            return None
        right = right[1:]
    if _needs(right, alias) and not _needs(left, alias) and operator in MIRRORED:
        left, right, operator = right, left, MIRRORED[operator]
    if not _needs(left, alias) or _needs(right, alias) or _needs_others(left, alias):
        return None
    return Comparison(_text(_stripped(left), alias), operator, _text(_stripped(right), alias))


def _needs(pieces: Sequence[Token], alias: str) -> bool:
    return any(_is_reference(pieces, place) and _same(pieces[place].text, alias) for place in range(len(pieces)))


def _needs_others(pieces: Sequence[Token], alias: str) -> bool:
    """Whether it needs columns of another table, or a value of another part of the plan."""
    for place, token in enumerate(pieces):
        if _is_reference(pieces, place) and not _same(token.text, alias):
            return True
        if token.kind == "word" and token.text in ("SubPlan", "InitPlan"):
            return True
    return False


def _is_reference(pieces: Sequence[Token], place: int) -> bool:
    """Whether alias.column begins here, which schema.function( does not."""
    is_name = pieces[place].kind in ("word", "quoted") and (place == 0 or pieces[place - 1].text != ".")
    dotted = place + 2 < len(pieces) and pieces[place + 1].text == "." and pieces[place + 2].kind in ("word", "quoted")
    return is_name and dotted and not (place + 3 < len(pieces) and pieces[place + 3].text == "(")


def _same(name: str, alias: str) -> bool:
    return name.strip('"') == alias


def _stripped(pieces: list[Token]) -> list[Token]:
    """Without the brackets around all of it."""
    while len(pieces) >= 2 and pieces[0].text == "(" and _closing(pieces) == len(pieces) - 1:
        pieces = pieces[1:-1]
    return pieces


def _closing(pieces: Sequence[Token]) -> int:
    depth = 0
    for place, token in enumerate(pieces):
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0:
            return place
    return -1


def _text(pieces: Sequence[Token], alias: str) -> str:
    """As it stood, spaces as single ones, `alias.` before columns left out."""
    written, place = "", 0
    previous_end: int | None = None
    while place < len(pieces):
        if _is_reference(pieces, place) and _same(pieces[place].text, alias):
            if previous_end is not None and pieces[place].start > previous_end:
                written += " "
            place += 2
            previous_end = pieces[place].start
        token = pieces[place]
        if previous_end is not None and token.start > previous_end:
            written += " "
        written += token.text
        previous_end = token.end
        place += 1
    return written
