"""What the planner does with a statement: EXPLAIN without running it, its sequential scans, sorts and joins.

Parameters that nobody knows are planned for as unknown: EXPLAIN (GENERIC_PLAN) from version 16 on, before that a
prepared statement under plan_cache_mode = force_generic_plan, which looks at no value either.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
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
    come from the other side; `sort_keys` of a Sort above it, of which a LIMIT needs only the first `limit_rows`;
    `cost` is the planner's for the scan alone, `indexes` those that it reads; `is_check`: it looks for rows that refer
    to one that a DELETE takes away.
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
    cost: float = 0.0
    limit_rows: float = 0.0
    indexes: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, str, str]:
        """What tells it from other scans of a statement."""
        return self.schema, self.table, self.alias


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


def indexes_of(plan: Node) -> set[str]:
    """The names of all indexes that a plan reads."""
    return {str(node["Index Name"]) for node in _nodes(plan) if "Index Name" in node}


def conditions(plan: Node) -> Iterator[tuple[str, str, str, str]]:
    """(schema, table, alias, condition) of every scan of a table, its filter and what it asks an index for."""
    for node in _nodes(plan):
        if "Relation Name" not in node or "Alias" not in node:
            continue
        for name in ("Filter", "Index Cond", "Recheck Cond"):
            if node.get(name):
                yield node.get("Schema", "public"), node["Relation Name"], node["Alias"], node[name]


def wasteful_scans(plan: Node) -> list[Scan]:
    """The sequential scans of a plan, and the scans by an index that a filter sifts or whose many rows are sorted for
    the few of a LIMIT, in its order."""
    return list(_scans(plan, _Above()))


@dataclass(frozen=True)
class _Above:
    """What the nodes above a scan do with its rows."""

    keys: tuple[str, ...] = ()
    limit_rows: float = 0.0
    join: str = ""
    other_rows: float = 0.0

    @property
    def sort_keys(self) -> tuple[str, ...]:
        return self.keys if self.limit_rows else ()


_PASSES_ORDER = ("Result", "Subquery Scan", "Gather", "Gather Merge", "LockRows", "ModifyTable", "ProjectSet")
_PASSES_JOIN = ("Hash", "Sort", "Materialize", "Memoize", "Limit")
_MANY_FOR_FEW = 10.0


def _scans(node: Node, above: _Above) -> Iterator[Scan]:
    kind = node["Node Type"]
    if kind == "Seq Scan":
        scan = _scan_of(node, above, node.get("Filter", ""))
        yield replace(scan, join=above.join, other_rows=above.other_rows)
        return
    if kind in ("Index Scan", "Bitmap Heap Scan"):
        is_sorted = bool(above.sort_keys) and float(node["Plan Rows"]) > _MANY_FOR_FEW * above.limit_rows
        if node.get("Filter") or is_sorted:
            by = node.get("Index Cond") or node.get("Recheck Cond")
            scan = _scan_of(node, above, " AND ".join(filter(None, (node.get("Filter"), by))))
            yield replace(scan, by_index=True, indexes=tuple(sorted(indexes_of(node))))
        return
    limit_rows, keys = above.limit_rows, above.keys
    if kind == "Limit":
        limit_rows = float(node["Plan Rows"])
    elif kind in ("Sort", "Incremental Sort"):
        keys = tuple(node.get("Sort Key") or ())
    elif kind not in _PASSES_ORDER:
        keys, limit_rows = (), 0.0
    condition = node.get("Hash Cond") or node.get("Merge Cond") or node.get("Join Filter") or ""
    children = list(node.get("Plans") or ())
    plain = [child for child in children if child.get("Parent Relationship") in ("Outer", "Inner")]
    for child in children:
        is_joined = bool(condition) and len(plain) == 2 and child in plain
        other = float(next(one for one in plain if one is not child)["Plan Rows"]) if is_joined else above.other_rows
        join = condition if is_joined else above.join if kind in _PASSES_JOIN else ""
        if child.get("Parent Relationship") in ("InitPlan", "SubPlan"):
            yield from _scans(child, _Above(join=join, other_rows=other))
        else:
            yield from _scans(child, _Above(keys, limit_rows, join, other))


def _scan_of(node: Node, above: _Above, condition: str) -> Scan:
    return Scan(
        node.get("Schema", "public"), node["Relation Name"], node["Alias"], float(node["Plan Rows"]), condition,
        sort_keys=above.sort_keys, cost=float(node.get("Total Cost", 0.0)), limit_rows=above.limit_rows,
    )  # fmt: skip
