"""What an index that PostgreSQL's probe advises is expected to bring, and on what that rests."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from plimsoll.words import ms_words, number, share_words

Advice = Mapping[str, Any]


def proof_of(one: Advice) -> str:
    """What proves it: "executed", "planner" or "none". Runs before this was told have `proven`, of hypopg's planner."""
    return str(one.get("proof") or ("planner" if one["proven"] else "none"))


def needs_analyze(sql: str) -> bool:
    """Whether one of its keys is an expression, of which the planner has statistics only after an ANALYZE."""
    keys = sql.partition(" USING ")[2].partition(" (")[2].partition(") WHERE ")[0]
    return "(" in keys


def effect_words(one: Advice) -> str:
    """The predicted effect of an index, and on what that rests."""
    proof = proof_of(one)
    if proof == "executed":
        return _executed_words(one)
    if proof == "planner":
        costs = [item for item in one["statements"] if item["cost_after"] is not None]
        first = max(costs, key=lambda item: item["share"])
        factor = first["cost_before"] / max(first["cost_after"], 0.01)
        return (
            "not proven by a run. The planner's cost with a hypothetical index falls from "
            f"{number(first['cost_before'])} to {number(first['cost_after'])}, a factor of {number(factor)}"
        )
    rows = f"{number(one['table_rows'])} rows"
    if one["is_order"]:
        predicted = f"the first rows come in order, in place of reading and sorting all of its {rows}"
    else:
        predicted = f"it reads about {share_words(one['kept_share'])} of its {rows} in place of all"
    return f"not proven: {one['why_unproven']}; expected is that {predicted}"


def _executed_words(one: Advice) -> str:
    """The times of the run of the statement that takes most."""
    runs = [item for item in one["statements"] if item.get("time_after_ms") is not None]
    first = max(runs, key=lambda item: item["share"])
    before, after = first["time_before_ms"], first["time_after_ms"]
    together = one.get("together_with") or ()
    also = f" and {'; '.join(each.rstrip(';') for each in together)}" if together else ""
    proven = "proven by a run: the statement takes"
    if one.get("values") == "drawn":
        proven = "not proven for the application's own values; with values of the table's rows a run of it takes"
    return (
        f"{proven} {ms_words(before)} without and {ms_words(after)} with it{also}, "
        f"a factor of {number(before / max(after, 1e-3))}"
    )


def for_statements(one: Advice, identifiers: Collection[str]) -> dict[str, Any]:
    """The same advice for these of its statements alone: what was proven of another is not proven of them."""
    mine = [item for item in one["statements"] if item["id"] in identifiers]
    proof = proof_of(one)
    told = {"executed": "time_after_ms", "planner": "cost_after"}.get(proof)
    if told is None or any(item.get(told) is not None for item in mine):
        return {**one, "statements": mine}
    asked = "another statement was run with it" if proof == "executed" else "the planner was asked of another statement"
    return {**one, "statements": mine, "proof": "none", "proven": False, "why_unproven": f"{asked} only"}
