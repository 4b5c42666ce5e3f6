"""The RPC methods: check what came, then one transaction. The names, arguments and answers are Kiwi TCMS's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy.exc import DBAPIError, IntegrityError

from plimsoll_lab.database import Database, raise_mistake
from plimsoll_lab.testcases import entities, queries
from plimsoll_lab.testcases.entities import Entity
from plimsoll_lab.testcases.queries import Fixed
from plimsoll_lab.testcases.sessions import Person, Sessions, known_person
from plimsoll_lab.testcases.values import (
    CONFLICT,
    INVALID_PARAMS,
    NOT_ALLOWED,
    NOT_LOGGED_IN,
    UNAVAILABLE,
    UNKNOWN_METHOD,
    CallError,
    Field,
    checked,
    moment,
    value_of,
)
from plimsoll_lab.testcases.variants import STATIC_ANSWERS, static_answer

VERSION = "12.4-lab"
TRIES = 5
Argument = Field | Mapping[str, Field] | Entity
Values = dict[str, Any]
_RETRIED = {"40001", "40P01"}  # PostgreSQL: serialization failure, deadlock


@dataclass(frozen=True)
class Store:
    """What the methods work with."""

    database: Database
    sessions: Sessions
    fixed: Fixed
    recount: bool = False

    async def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """One transaction. What the database refuses becomes a CallError, deadlocks are tried again."""
        return await self._tried(self.database.run, work, *arguments)

    async def run_alone(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """As `run`, with no other transaction beside it."""
        return await self._tried(self.database.run_alone, work, *arguments)

    async def _tried(self, run: Callable[..., Awaitable[Any]], work: Callable[..., Any], *arguments: Any) -> Any:
        for attempt in range(TRIES):
            try:
                return await run(work, *arguments)
            except IntegrityError as error:
                raise CallError(CONFLICT, _conflict(error)) from None
            except DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) in _RETRIED and attempt + 1 < TRIES:
                    continue
                raise_mistake(error)
                raise CallError(UNAVAILABLE, "The database does not do this now. Try again later.") from error
        raise AssertionError("the last try returns or raises")


def _conflict(error: IntegrityError) -> str:
    if "unique" in str(error.orig).lower():
        return "There is one with this name already. Choose another name."
    return "Something that this needs was removed meanwhile, or is still in use. Read it again."


@dataclass(frozen=True)
class Caller:
    """Who calls, and with which session."""

    store: Store
    session: str | None
    person: Person | None

    @property
    def user(self) -> int:
        if self.person is None:
            raise CallError(
                NOT_LOGGED_IN, "Log in first: Auth.login(username, password), then send the cookie sessionid."
            )
        return self.person.id


@dataclass(frozen=True)
class Method:
    """One method: what runs, who may call it ("anyone", "reader", "writer"), and what it takes.

    An argument is a field, an object of fields, or the lookups of an entity, which may be left out; the function gets
    them checked, but for the lookups, which are when they become conditions.
    """

    function: Callable[..., Awaitable[Any]]
    caller: str
    takes: Mapping[str, Argument] = field(default_factory=dict)

    def arguments(self, name: str, given: list[Any] | dict[str, Any]) -> dict[str, Any]:
        """What is given, by name. Raises CallError."""
        named = given if isinstance(given, dict) else dict(zip(self.takes, given, strict=False))
        needed = {key for key, rule in self.takes.items() if not isinstance(rule, Entity)}
        if len(named) < len(given) or not needed <= set(named) <= set(self.takes):
            raise CallError(INVALID_PARAMS, f"{name} takes ({', '.join(self.takes)}).")
        return {key: _checked_argument(key, value, self.takes[key]) for key, value in named.items()}


def _checked_argument(name: str, value: Any, rule: Argument) -> Any:
    match rule:
        case Field():
            return value_of(value, name, rule)
        case Entity():
            return value
        case _:
            return checked(value, rule, name)


async def call(caller: Caller, name: str, arguments: list[Any] | dict[str, Any]) -> Any:
    """The answer of that method: numbers, text, lists and objects. Raises CallError."""
    method = METHODS.get(name)
    if method is None:
        raise CallError(UNKNOWN_METHOD, f"There is no method {ascii(name)[:80]}. system.listMethods() lists all.")
    if method.caller != "anyone":
        _ = caller.user
    if method.caller == "writer" and caller.person is not None and not caller.person.may_write:
        raise CallError(NOT_ALLOWED, f"{caller.person.username} may not call {name}. Log in as a tester.")
    return await method.function(caller, **method.arguments(name, arguments))


# --- login ---------------------------------------------------------------------------------------------------------


async def log_in(caller: Caller, username: str, password: str) -> str:
    person = await caller.store.run(known_person, username, password)
    if person is None:
        raise CallError(NOT_ALLOWED, "Wrong username or password. They are in users.json.")
    return caller.store.sessions.open(person)


async def log_out(caller: Caller) -> None:
    caller.store.sessions.close(caller.session)


async def version(caller: Caller) -> str:
    return VERSION


async def list_methods(caller: Caller) -> list[str]:
    return sorted(METHODS)


async def answer_statically(caller: Caller, method: str) -> Any:
    return static_answer(method)


# --- creating ------------------------------------------------------------------------------------------------------

_PRODUCT = {
    "name": Field("text", required=True, most=64),
    "classification": Field("id", required=True),
    "description": Field("text", blank=True),
}
_VERSION = {"value": Field("text", required=True, most=192), "product": Field("id", required=True)}
_BUILD = {
    "name": Field("text", required=True, most=255),
    "version": Field("id", required=True),
    "is_active": Field("flag"),
    "description": Field("text", blank=True),  # taken and not kept: scripts for older versions send it
}
_PLAN = {
    "name": Field("text", required=True, most=255),
    "text": Field("text", blank=True),
    "type": Field("id", required=True),
    "product": Field("id", required=True),
    "product_version": Field("id", required=True),
    "is_active": Field("flag"),
}
_CASE = {
    "summary": Field("text", required=True, most=255),
    "text": Field("text", blank=True),
    "notes": Field("text", blank=True),
    "product": Field("id"),
    "category": Field("id", required=True),
    "priority": Field("id", required=True),
    "case_status": Field("id", required=True),
    "is_automated": Field("flag"),
}
_RUN = {
    "summary": Field("text", required=True),
    "notes": Field("text", blank=True),
    "manager": Field("id", required=True),
    "default_tester": Field("id"),
    "plan": Field("id", required=True),
    "build": Field("id", required=True),
}
_EXECUTION = {"status": Field("id"), "build": Field("id"), "assignee": Field("id"), "sortkey": Field("number")}


async def create_product(caller: Caller, values: Values) -> Any:
    return await caller.store.run(queries.create_product, values)


async def create_version(caller: Caller, values: Values) -> Any:
    return await caller.store.run(queries.create_version, values)


async def create_build(caller: Caller, values: Values) -> Any:
    return await caller.store.run(queries.create_build, values)


async def create_plan(caller: Caller, values: Values) -> Any:
    return _dated(await caller.store.run(queries.create_plan, values, caller.user))


async def create_case(caller: Caller, values: Values) -> Any:
    return _dated(await caller.store.run(queries.create_case, values, caller.user))


async def create_run(caller: Caller, values: Values) -> Any:
    return _dated(await caller.store.run(queries.create_run, values, caller.user))


# --- cases in plans and runs ---------------------------------------------------------------------------------------


async def add_case_to_plan(caller: Caller, plan_id: int, case_id: int) -> Any:
    return _dated(await caller.store.run(queries.add_case_to_plan, plan_id, case_id))


async def add_case_to_run(caller: Caller, run_id: int, case_id: int) -> Any:
    found = await caller.store.run(queries.add_case_to_run, run_id, case_id, caller.store.fixed)
    return [_dated(execution) for execution in found]


async def update_execution(caller: Caller, execution_id: int, values: Values) -> Any:
    store = caller.store
    work = queries.update_execution
    return _dated(await store.run(work, execution_id, values, caller.user, store.fixed, store.recount))


async def execution_history(caller: Caller, execution_id: int) -> Any:
    return [_dated(entry) for entry in await caller.store.run(queries.execution_history, execution_id)]


async def remove_case_from_plan(caller: Caller, plan_id: int, case_id: int) -> int:
    return int(await caller.store.run(queries.remove_case_from_plan, plan_id, case_id))


async def remove_case_from_run(caller: Caller, run_id: int, case_id: int) -> int:
    return int(await caller.store.run(queries.remove_case_from_run, run_id, case_id))


async def remove_case(caller: Caller, query: Values) -> int:
    """`TestCase.remove({"pk": N})`: only one case at a time, so that a mistyped query removes no more."""
    return int(await caller.store.run(queries.remove_case, query["pk"]))


def _dated(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with its times as text, under the names of Kiwi TCMS."""
    names = {"created_ms": "create_date", "started_ms": "start_date", "stopped_ms": "stop_date"}
    names["changed_ms"] = "history_date"
    return {names.get(key, key): moment(value) if key in names else value for key, value in answer.items()}


# --- finding -------------------------------------------------------------------------------------------------------


async def _filter(entity: Entity, caller: Caller, query: Any = None) -> Any:
    return await caller.store.run(entities.find, entity, query)


def _filtering(entity: Entity) -> Method:
    return Method(partial(_filter, entity), "reader", {"query": entity})


_LOGIN = {"username": Field("text", most=150, blank=True), "password": Field("text", most=1000, blank=True)}
_CASE_IN_A_PLAN = {"plan_id": Field("id"), "case_id": Field("id")}
_CASE_IN_A_RUN = {"run_id": Field("id"), "case_id": Field("id")}


METHODS: dict[str, Method] = {
    "Auth.login": Method(log_in, "anyone", _LOGIN),
    "Auth.logout": Method(log_out, "anyone"),
    "KiwiTCMS.version": Method(version, "reader"),
    "system.listMethods": Method(list_methods, "anyone"),
    "Static.answer": Method(
        answer_statically, "reader", {"method": Field("text", most=100, among=tuple(STATIC_ANSWERS))}
    ),
    "Product.create": Method(create_product, "writer", {"values": _PRODUCT}),
    "Version.create": Method(create_version, "writer", {"values": _VERSION}),
    "Build.create": Method(create_build, "writer", {"values": _BUILD}),
    "TestPlan.create": Method(create_plan, "writer", {"values": _PLAN}),
    "TestCase.create": Method(create_case, "writer", {"values": _CASE}),
    "TestRun.create": Method(create_run, "writer", {"values": _RUN}),
    "TestPlan.add_case": Method(add_case_to_plan, "writer", _CASE_IN_A_PLAN),
    "TestPlan.remove_case": Method(remove_case_from_plan, "writer", _CASE_IN_A_PLAN),
    "TestRun.add_case": Method(add_case_to_run, "writer", _CASE_IN_A_RUN),
    "TestRun.remove_case": Method(remove_case_from_run, "writer", _CASE_IN_A_RUN),
    "TestCase.remove": Method(remove_case, "writer", {"query": {"pk": Field("id", required=True)}}),
    "TestExecution.update": Method(update_execution, "writer", {"execution_id": Field("id"), "values": _EXECUTION}),
    "TestExecution.history": Method(execution_history, "reader", {"execution_id": Field("id")}),
    "User.filter": _filtering(entities.USER),
    "Classification.filter": _filtering(entities.CLASSIFICATION),
    "Product.filter": _filtering(entities.PRODUCT),
    "Version.filter": _filtering(entities.VERSION),
    "Build.filter": _filtering(entities.BUILD),
    "Category.filter": _filtering(entities.CATEGORY),
    "Priority.filter": _filtering(entities.PRIORITY),
    "PlanType.filter": _filtering(entities.PLAN_TYPE),
    "TestCaseStatus.filter": _filtering(entities.CASE_STATUS),
    "TestExecutionStatus.filter": _filtering(entities.EXECUTION_STATUS),
    "TestPlan.filter": _filtering(entities.PLAN),
    "TestCase.filter": _filtering(entities.CASE),
    "TestRun.filter": _filtering(entities.RUN),
    "TestExecution.filter": _filtering(entities.EXECUTION),
}
