"""The same work in less: without RPC (orm), and without the database (static).

`plimsoll decompose` takes the shares from the three: whole, orm, static. The orm variant runs the statements of the
whole in the same transactions, but from one plain request and without permissions, checks and RPC. The static variant
answers each call through the same RPC with the session looked up, from memory.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from plimsoll_lab.testcases import entities, queries
from plimsoll_lab.testcases.queries import Fixed, case_answer, execution_answer
from plimsoll_lab.testcases.values import moment

Run = Callable[..., Awaitable[Any]]

MOST_CASES = 100
_PASSED = 4
_PERFORMANCE = 7

_TIME = moment(1_735_689_600_000)
_CASE = case_answer(
    {
        "summary": "Case created at 2025-01-01T00:00:00.000",
        "text": "",
        "notes": "",
        "is_automated": False,
        "status_id": 2,
        "category_id": 10_000,
        "priority_id": 1,
        "author_id": 1,
        "created_ms": _TIME,
    }
)
_EXECUTION = execution_answer(
    {
        "id": 1_000_000,
        "run_id": 100_000,
        "case_id": 100_000,
        "build_id": 10_000,
        "status_id": 1,
        "assignee_id": 1,
        "tested_by_id": 1,
        "sortkey": 1000,
        "started_ms": None,
        "stopped_ms": _TIME,
    }
)
_NAME = "2025-01-01T00:00:00.000-000000"
STATIC_ANSWERS: dict[str, Any] = {
    "User.filter": [{"id": 1, "username": "tester1", "email": "tester1@example.com"}] * 5,
    "Classification.filter": [{"id": 1, "name": "Lab"}],
    "Priority.filter": [{"id": 1, "value": "P1"}] * 5,
    "Category.filter": [{"id": 10_000, "name": "--default--", "product": 10_000}],
    "TestCaseStatus.filter": [{"id": 2, "name": "CONFIRMED", "is_confirmed": True}],
    "TestExecutionStatus.filter": [{"id": 4, "name": "PASSED", "weight": 20}] * 2,
    "Product.create": {"id": 10_000, "name": _NAME, "description": "", "classification": 1},
    "Version.create": {"id": 10_000, "value": _NAME, "product": 10_000},
    "Build.create": {"id": 10_000, "name": _NAME, "version": 10_000, "is_active": True},
    "TestPlan.create": {
        "id": 10_000,
        "name": _NAME,
        "text": "Created by a load script",
        "type": 7,
        "product": 10_000,
        "product_version": 10_000,
        "is_active": True,
        "author": 1,
        "create_date": _TIME,
    },
    "TestCase.create": {"id": 100_000, **_CASE},
    "TestPlan.add_case": {"id": 100_000, **_CASE, "sortkey": 1000},
    "TestRun.create": {
        "id": 100_000,
        "notes": "",
        "default_tester": 1,
        "summary": _NAME,
        "manager": 1,
        "plan": 10_000,
        "build": 10_000,
        "start_date": _TIME,
    },
    "TestRun.add_case": [_EXECUTION],
    "TestExecution.update": _EXECUTION,
}


def static_answer(method: str) -> Any:
    """An answer as that method of STATIC_ANSWERS gives it, of the same size, from memory."""
    return STATIC_ANSWERS[method]


async def work_without_rpc(run: Run, fixed: Fixed, size: int, recount: bool = False) -> int:
    """A plan of `size` cases, `size` runs with all of them, a result for each: the statements of the whole, one
    transaction a call. Returns the number of calls that it stands for, 10 + 3R + 2R²."""
    name, user = uuid.uuid4().hex, 1
    await run(entities.find, entities.USER, {})
    classification = (await run(entities.find, entities.CLASSIFICATION, {}))[0]["id"]
    product = (await run(queries.create_product, {"name": name, "classification": classification}))["id"]
    version = (await run(queries.create_version, {"value": name, "product": product}))["id"]
    planned = {"name": name, "type": _PERFORMANCE, "product": product, "product_version": version}
    plan = (await run(queries.create_plan, planned, user))["id"]
    priority = (await run(entities.find, entities.PRIORITY, {}))[0]["id"]
    category = (await run(entities.find, entities.CATEGORY, {"product": product}))[0]["id"]
    confirmed = (await run(entities.find, entities.CASE_STATUS, {"is_confirmed": True}))[0]["id"]
    shared = {"category": category, "priority": priority, "case_status": confirmed}
    cases = []
    for number in range(size):
        created = await run(queries.create_case, {"summary": f"Case {number} of {name}", **shared}, user)
        cases.append(created["id"])
        await run(queries.add_case_to_plan, plan, created["id"])
    await run(entities.find, entities.EXECUTION_STATUS, {"weight__gt": 0})
    build = (await run(queries.create_build, {"name": name, "version": version}))["id"]
    for number in range(size):
        started = {"summary": f"Run {number} of {name}", "manager": user, "plan": plan, "build": build}
        test_run = (await run(queries.create_run, started, user))["id"]
        for case in cases:
            for execution in await run(queries.add_case_to_run, test_run, case, fixed):
                result = {"status": _PASSED}
                await run(queries.update_execution, execution["id"], result, user, fixed, recount)
    return 10 + 3 * size + 2 * size * size
