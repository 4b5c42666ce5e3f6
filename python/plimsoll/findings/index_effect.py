"""What an index that PostgreSQL's probe advises is expected to bring, and on what that rests."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from plimsoll.findings.capacity_words import number
from plimsoll.findings.words import share_words

Advice = Mapping[str, Any]


def effect_words(one: Advice) -> str:
    """The predicted effect of an index, and on what that rests."""
    if one["proven"]:
        costs = [item for item in one["statements"] if item["cost_after"] is not None]
        first = max(costs, key=lambda item: item["share"])
        factor = first["cost_before"] / max(first["cost_after"], 0.01)
        return (
            f"proven by hypopg: the planner's cost falls from {number(first['cost_before'])} to "
            f"{number(first['cost_after'])}, a factor of {number(factor)}"
        )
    rows = f"{number(one['table_rows'])} rows"
    if one["is_order"]:
        predicted = f"the first rows come in order, in place of reading and sorting all of its {rows}"
    else:
        predicted = f"it reads about {share_words(one['kept_share'])} of its {rows} in place of all"
    return f"not proven: {one['why_unproven']}; expected is that {predicted}"


def for_statements(one: Advice, identifiers: Collection[str]) -> dict[str, Any]:
    """The same advice for these of its statements alone: what was proven of another is not proven of them."""
    mine = [item for item in one["statements"] if item["id"] in identifiers]
    proven = one["proven"] and any(item["cost_after"] is not None for item in mine)
    why = one["why_unproven"] or "the planner was asked of another statement only"
    return {**one, "statements": mine, "proven": proven, "why_unproven": "" if proven else why}
