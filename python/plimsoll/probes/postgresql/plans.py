"""What the planner does with a statement: EXPLAIN without running it, its sequential scans, sorts and joins.

Parameters that nobody knows are planned for as unknown: EXPLAIN (GENERIC_PLAN) from version 16 on, before that a
prepared statement under plan_cache_mode = force_generic_plan, which looks at no value either.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.probes.postgresql.connection import MARK, Session

GENERIC_PLAN_FROM = 160_000
_OPTIONS = "VERBOSE, FORMAT JSON"
_NUMBERS = itertools.count(1)
Node = Mapping[str, Any]


@dataclass(frozen=True)
class Scan:
    """A scan that reads a table to find rows, or to sort them: in sequence, or by an index (`by_index`) whose rows a
    filter then sifts.

    `filter` as EXPLAIN prints it, empty without one; `join`: the condition that joins it, `other_rows` how many rows
    come from the other side; `sort_keys` of a Sort above it, of which a LIMIT needs only the first rows; `is_check`: it
    looks for rows that refer to one that a DELETE takes away.
    """

    schema: str
    table: str
    alias: str
    rows: float
    filter: str = ""
    join: str = ""
    other_rows: float = 0.0
    sort_keys: tuple[str, ...] = ()
    by_index: bool = False
    is_check: bool = False


def explain(session: Session, text: str, parameters: int) -> Node:
    """The plan's top node. Raises psycopg.Error where the statement cannot be planned: no right, a type unknown."""
    if parameters and session.version < GENERIC_PLAN_FROM:
        return _explain_prepared(session, text, parameters)
    generic = "GENERIC_PLAN, " if parameters else ""
    return top_node(session.run(f"EXPLAIN {MARK} ({generic}{_OPTIONS}) {text}")[0]["QUERY PLAN"])


def _explain_prepared(session: Session, text: str, parameters: int) -> Node:
    """The session's plan_cache_mode is force_generic_plan."""
    name = f"plimsoll_{next(_NUMBERS)}"
    session.run(f"PREPARE {name} AS {MARK} {text}")
    try:
        values = ", ".join(["NULL"] * parameters)
        return top_node(session.run(f"EXPLAIN {MARK} ({_OPTIONS}) EXECUTE {name}({values})")[0]["QUERY PLAN"])
    finally:
        session.run(f"DEALLOCATE {MARK} {name}")


def top_node(document: Any) -> Node:
    """The plan of EXPLAIN (FORMAT JSON)."""
    found: Node = (json.loads(document) if isinstance(document, str) else document)[0]["Plan"]
    return found


def cost(plan: Node) -> float:
    """The planner's total cost, in its own unit."""
    return float(plan["Total Cost"])


def uses_index(plan: Node, name: str) -> bool:
    """Whether a node of the plan uses that index."""
    return any(node.get("Index Name") == name for node in _nodes(plan))


def deleted_from(plan: Node) -> list[tuple[str, str]]:
    """(schema, table) of what a plan deletes from."""
    found = (node for node in _nodes(plan) if node["Node Type"] == "ModifyTable" and node.get("Operation") == "Delete")
    return list(dict.fromkeys((node.get("Schema", "public"), node["Relation Name"]) for node in found))


def _nodes(plan: Node) -> Iterator[Node]:
    yield plan
    for child in plan.get("Plans") or ():
        yield from _nodes(child)


def wasteful_scans(plan: Node) -> list[Scan]:
    """The sequential scans of a plan, and the scans by an index that a filter sifts, in its order."""
    return list(_scans(plan, (), False, "", 0.0))


def _scans(node: Node, keys: tuple[str, ...], limited: bool, join: str, other_rows: float) -> Iterator[Scan]:
    kind = node["Node Type"]
    if kind == "Seq Scan":
        sort = keys if limited else ()
        yield Scan(
            node.get("Schema", "public"), node["Relation Name"], node["Alias"], float(node["Plan Rows"]),
            node.get("Filter", ""), join, other_rows, sort,
        )  # fmt: skip
        return
    if kind in ("Index Scan", "Bitmap Heap Scan") and node.get("Filter"):
        by = node.get("Index Cond") or node.get("Recheck Cond")
        condition = f"{node['Filter']} AND {by}" if by else node["Filter"]
        name, alias = node["Relation Name"], node["Alias"]
        rows = float(node["Plan Rows"])
        yield Scan(node.get("Schema", "public"), name, alias, rows, condition, by_index=True)
        return
    children = list(node.get("Plans") or ())
    if kind == "Limit":
        limited = True
    elif kind in ("Sort", "Incremental Sort"):
        keys = tuple(node.get("Sort Key") or ())
    elif kind not in ("Result", "Subquery Scan", "Gather", "Gather Merge", "LockRows", "ModifyTable", "ProjectSet"):
        keys, limited = (), False
    condition = node.get("Hash Cond") or node.get("Merge Cond") or node.get("Join Filter") or ""
    plain = [child for child in children if child.get("Parent Relationship") in ("Outer", "Inner")]
    for child in children:
        is_joined = bool(condition) and len(plain) == 2 and child in plain
        other = float(next(one for one in plain if one is not child)["Plan Rows"]) if is_joined else other_rows
        passes = kind in ("Hash", "Sort", "Materialize", "Memoize", "Limit")
        own = condition if is_joined else join if passes else ""
        is_sub = child.get("Parent Relationship") in ("InitPlan", "SubPlan")
        yield from _scans(child, () if is_sub else keys, limited and not is_sub, own, other)
