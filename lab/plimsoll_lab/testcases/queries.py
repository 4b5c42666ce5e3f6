"""Every statement that changes something.

Functions take an open connection first; `Database.run` makes each a transaction.

Rules kept throughout: a call costs the same however many cases, runs and results there are (each lookup has its index,
schema.py); what another call may remove meanwhile is found out by the database's own constraints.

With `recount`, each new result reads every result of its run, one by one and each with its case, to see whether the run
is complete, instead of asking for one that is not: the known defect that makes a result dearer the more results its run
has, as code does that walks over an ORM's relations (N + 1 queries).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, FromClause, Table, delete, exists, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from plimsoll_lab.testcases import schema as s
from plimsoll_lab.testcases.values import CONFLICT, INVALID_PARAMS, LARGEST_ID, NOT_FOUND, CallError

SORTKEY_STEP = 10


@dataclass(frozen=True)
class Fixed:
    """Rows that never change after seeding, by what calls need of them."""

    idle_status: int
    weights: Mapping[int, int]
    confirmed_statuses: frozenset[int]

    @classmethod
    def load(cls, connection: Connection) -> Fixed:
        statuses = connection.execute(select(s.execution_statuses.c.id, s.execution_statuses.c.weight)).all()
        confirmed = select(s.case_statuses.c.id).where(s.case_statuses.c.is_confirmed)
        return cls(
            idle_status=min(row.id for row in statuses if row.weight == 0),
            weights={row.id: row.weight for row in statuses},
            confirmed_statuses=frozenset(connection.execute(confirmed).scalars()),
        )


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def _added(connection: Connection, table: Table, row: dict[str, Any]) -> int:
    key = connection.execute(insert(table).values(row)).inserted_primary_key
    if key is None:
        raise RuntimeError(f"{table.name} gave no key to a new row")
    return int(key[0])


def _there(connection: Connection, table: Table, number: int, name: str) -> None:
    if connection.execute(select(table.c.id).where(table.c.id == number)).first() is None:
        raise CallError(NOT_FOUND, f"There is no {name} {number}.")


def _row(connection: Connection, table: FromClause, number: int, name: str) -> Any:
    found = connection.execute(select(table).where(table.c.id == number)).first()
    if found is None:
        raise CallError(NOT_FOUND, f"There is no {name} {number}.")
    return found


def create_product(connection: Connection, values: dict[str, Any]) -> dict[str, Any]:
    """A product with its first category and version, as Kiwi TCMS makes them."""
    _there(connection, s.classifications, values["classification"], "classification")
    row = {
        "name": values["name"],
        "description": values.get("description", ""),
        "classification_id": values["classification"],
    }
    number = _added(connection, s.products, row)
    _added(connection, s.categories, {"name": "--default--", "product_id": number})
    version = _added(connection, s.versions, {"value": "unspecified", "product_id": number})
    _added(connection, s.builds, {"name": "unspecified", "version_id": version, "is_active": True})
    return {
        "id": number,
        "name": row["name"],
        "description": row["description"],
        "classification": values["classification"],
    }


def create_version(connection: Connection, values: dict[str, Any]) -> dict[str, Any]:
    _there(connection, s.products, values["product"], "product")
    number = _added(connection, s.versions, {"value": values["value"], "product_id": values["product"]})
    return {"id": number, **values}


def create_build(connection: Connection, values: dict[str, Any]) -> dict[str, Any]:
    _there(connection, s.versions, values["version"], "version")
    active = values.get("is_active", True)
    row = {"name": values["name"], "version_id": values["version"], "is_active": active}
    return {
        "id": _added(connection, s.builds, row),
        "name": values["name"],
        "version": values["version"],
        "is_active": active,
    }


def create_plan(connection: Connection, values: dict[str, Any], user: int) -> dict[str, Any]:
    version = _row(connection, s.versions, values["product_version"], "version")
    if version.product_id != values["product"]:
        raise CallError(INVALID_PARAMS, f"Version {version.id} is not of product {values['product']}.")
    _there(connection, s.plan_types, values["type"], "plan type")
    created_ms = now_ms()
    row = {
        "name": values["name"],
        "text": values.get("text", ""),
        "product_id": values["product"],
        "version_id": values["product_version"],
        "type_id": values["type"],
        "author_id": user,
        "is_active": values.get("is_active", True),
        "created_ms": created_ms,
    }
    number = _added(connection, s.plans, row)
    return {"id": number, "text": "", "is_active": True, **values, "author": user, "created_ms": created_ms}


def create_case(connection: Connection, values: dict[str, Any], user: int) -> dict[str, Any]:
    category = _row(connection, s.categories, values["category"], "category")
    if values.get("product") not in (None, category.product_id):
        raise CallError(INVALID_PARAMS, f"Category {category.id} is not of product {values['product']}.")
    _there(connection, s.priorities, values["priority"], "priority")
    _there(connection, s.case_statuses, values["case_status"], "case status")
    row = {
        "summary": values["summary"],
        "text": values.get("text", ""),
        "notes": values.get("notes", ""),
        "is_automated": values.get("is_automated", False),
        "status_id": values["case_status"],
        "category_id": values["category"],
        "priority_id": values["priority"],
        "author_id": user,
        "created_ms": now_ms(),
    }
    number = _added(connection, s.cases, row)
    return {"id": number, **case_answer(row)}


def case_answer(row: Mapping[str, Any]) -> dict[str, Any]:
    """A case's columns under the names of the calls, without the id."""
    return {
        "summary": row["summary"],
        "text": row["text"],
        "notes": row["notes"],
        "is_automated": row["is_automated"],
        "case_status": row["status_id"],
        "category": row["category_id"],
        "priority": row["priority_id"],
        "author": row["author_id"],
        "created_ms": row["created_ms"],
    }


def create_run(connection: Connection, values: dict[str, Any], user: int) -> dict[str, Any]:
    plan = _row(connection, s.plans, values["plan"], "plan")
    build = _row(connection, s.builds, values["build"], "build")
    if build.version_id != plan.version_id:
        raise CallError(INVALID_PARAMS, f"Build {build.id} is not of the version of plan {plan.id}.")
    _there(connection, s.users, values["manager"], "user")
    if values.get("default_tester") is not None:
        _there(connection, s.users, values["default_tester"], "user")
    started_ms = now_ms()
    row = {
        "summary": values["summary"],
        "notes": values.get("notes", ""),
        "plan_id": values["plan"],
        "build_id": values["build"],
        "manager_id": values["manager"],
        "default_tester_id": values.get("default_tester", user),
        "started_ms": started_ms,
        "stopped_ms": None,
    }
    number = _added(connection, s.runs, row)
    return {"id": number, "notes": "", "default_tester": user, **values, "started_ms": started_ms}


def _insert_once(connection: Connection, table: Table, row: dict[str, Any]) -> None:
    """Insert, unless a row with the same unique key is there."""
    statement = sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)
    connection.execute(statement.values(row).on_conflict_do_nothing())


def _next_sortkey(connection: Connection, table: Table, owner: str, number: int) -> int:
    last = connection.execute(select(func.max(table.c.sortkey)).where(table.c[owner] == number)).scalar()
    return SORTKEY_STEP if last is None else min(int(last) + SORTKEY_STEP, LARGEST_ID)


def add_case_to_plan(connection: Connection, plan: int, case: int) -> dict[str, Any]:
    """The case with its sort key in that plan; adding it again changes nothing."""
    _there(connection, s.plans, plan, "plan")
    found = _row(connection, s.cases, case, "case")
    pairs = s.plan_cases
    row = {"plan_id": plan, "case_id": case, "sortkey": _next_sortkey(connection, pairs, "plan_id", plan)}
    _insert_once(connection, pairs, row)
    where = (pairs.c.plan_id == plan, pairs.c.case_id == case)
    sortkey = connection.execute(select(pairs.c.sortkey).where(*where)).scalar()
    return {"id": case, **case_answer(found._mapping), "sortkey": sortkey}


def add_case_to_run(connection: Connection, run: int, case: int, fixed: Fixed) -> list[dict[str, Any]]:
    """The execution of that case in that run, in a list as Kiwi TCMS answers; adding it again changes nothing."""
    owner = _row(connection, s.runs, run, "run")
    found = _row(connection, s.cases, case, "case")
    if found.status_id not in fixed.confirmed_statuses:
        raise CallError(CONFLICT, f"Case {case} is not confirmed. Confirm it first.")
    table = s.executions
    row = {
        "run_id": run,
        "case_id": case,
        "build_id": owner.build_id,
        "status_id": fixed.idle_status,
        "assignee_id": owner.default_tester_id,
        "tested_by_id": None,
        "sortkey": _next_sortkey(connection, table, "run_id", run),
        "started_ms": None,
        "stopped_ms": None,
    }
    _insert_once(connection, table, row)
    where = (table.c.run_id == run, table.c.case_id == case)
    execution = connection.execute(select(table).where(*where)).first()
    if execution is None:
        raise CallError(CONFLICT, f"Case {case} was removed from run {run} meanwhile. Add it again.")
    return [execution_answer(dict(execution._mapping))]


def execution_answer(row: Mapping[str, Any]) -> dict[str, Any]:
    """An execution's columns under the names of the calls."""
    return {
        "id": row["id"],
        "run": row["run_id"],
        "case": row["case_id"],
        "build": row["build_id"],
        "status": row["status_id"],
        "assignee": row["assignee_id"],
        "tested_by": row["tested_by_id"],
        "sortkey": row["sortkey"],
        "started_ms": row["started_ms"],
        "stopped_ms": row["stopped_ms"],
        "properties": [],
    }


def update_execution(
    connection: Connection, number: int, values: dict[str, Any], user: int, fixed: Fixed, recount: bool = False
) -> dict[str, Any]:
    """Write a result and its history; a run whose last result is in is complete, and has its stop time."""
    table = s.executions
    before = _row(connection, table, number, "execution")
    changes: dict[str, Any] = {}
    for name, column, owner in (("build", "build_id", s.builds), ("assignee", "assignee_id", s.users)):
        if name in values:
            _there(connection, owner, values[name], name)
            changes[column] = values[name]
    if "sortkey" in values:
        changes["sortkey"] = values["sortkey"]
    changed_ms = now_ms()
    if "status" in values:
        weight = fixed.weights.get(values["status"])
        if weight is None:
            raise CallError(NOT_FOUND, f"There is no execution status {values['status']}.")
        done = weight != 0
        changes |= {"status_id": values["status"], "tested_by_id": user, "stopped_ms": changed_ms if done else None}
    if changes and not connection.execute(update(table).where(table.c.id == number).values(changes)).rowcount:
        raise CallError(NOT_FOUND, f"There is no execution {number}: it was removed meanwhile.")
    if "status" in values:
        entry = {"execution_id": number, "status_id": values["status"], "user_id": user, "changed_ms": changed_ms}
        connection.execute(insert(s.execution_history).values(entry))
        _complete(connection, before.run_id, changed_ms, fixed, recount)
    return execution_answer({**before._mapping, **changes})


def _complete(connection: Connection, run: int, changed_ms: int, fixed: Fixed, recount: bool) -> None:
    """Set or clear the run's stop time. Two last results at once must see each other, so the run is locked."""
    connection.execute(select(s.runs.c.id).where(s.runs.c.id == run).with_for_update(key_share=True))
    of_run = s.executions.c.run_id == run
    undone_statuses = [status for status, weight in fixed.weights.items() if weight == 0]
    if recount:
        numbers = connection.execute(select(s.executions.c.id).where(of_run)).scalars().all()
        with_case = select(s.executions, s.cases.c.summary).join(s.cases, s.executions.c.case_id == s.cases.c.id)
        results = [connection.execute(with_case.where(s.executions.c.id == number)).first() for number in numbers]
        undone = any(row is not None and fixed.weights[row.status_id] == 0 for row in results)
    else:
        waiting = select(exists().where(of_run, s.executions.c.status_id.in_(undone_statuses)))
        undone = bool(connection.execute(waiting).scalar())
    stopped_ms = None if undone else changed_ms
    where = (s.runs.c.id == run, s.runs.c.stopped_ms.is_not(None) if undone else s.runs.c.stopped_ms.is_(None))
    connection.execute(update(s.runs).where(*where).values(stopped_ms=stopped_ms))


def execution_history(connection: Connection, number: int) -> list[dict[str, Any]]:
    """Who set which status when, the latest first."""
    _there(connection, s.executions, number, "execution")
    history = s.execution_history
    statement = (
        select(history.c.id, history.c.changed_ms, s.users.c.username, s.execution_statuses.c.name)
        .join(s.users, history.c.user_id == s.users.c.id)
        .join(s.execution_statuses, history.c.status_id == s.execution_statuses.c.id)
        .where(history.c.execution_id == number)
        .order_by(history.c.id.desc())
    )
    return [
        {"id": row.id, "changed_ms": row.changed_ms, "history_user__username": row.username, "status__name": row.name}
        for row in connection.execute(statement)
    ]


def remove_case_from_run(connection: Connection, run: int, case: int) -> int:
    """How many executions went; the run and the case stay."""
    where = (s.executions.c.run_id == run, s.executions.c.case_id == case)
    return int(connection.execute(delete(s.executions).where(*where)).rowcount)


def remove_case_from_plan(connection: Connection, plan: int, case: int) -> int:
    where = (s.plan_cases.c.plan_id == plan, s.plan_cases.c.case_id == case)
    return int(connection.execute(delete(s.plan_cases).where(*where)).rowcount)


def remove_case(connection: Connection, case: int) -> int:
    """Remove a case with its executions and its places in plans; 0 if it was gone."""
    return int(connection.execute(delete(s.cases).where(s.cases.c.id == case)).rowcount)


def counts(connection: Connection) -> dict[str, int]:
    """How many cases, runs and executions there are."""
    tables = (s.cases, s.runs, s.executions)
    row = connection.execute(
        select(*(select(func.count()).select_from(table).scalar_subquery().label(table.name) for table in tables))
    ).one()
    return {name: int(value) for name, value in row._mapping.items()}
