"""What each filter method searches and answers.

A query is an object of lookups as Kiwi TCMS writes them: `{"run": 7}`, `{"summary__icontains": "lamp"}`,
`{"case__in": [1, 2]}`. Only the fields named here can be searched, and every value is checked and bound.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import BigInteger, Boolean, ColumnElement, Connection, FromClause, Integer, select

from plimsoll_lab.testcases import schema as s
from plimsoll_lab.testcases.values import INVALID_PARAMS, CallError, Field, moment, table_of, value_of

MOST_ROWS = 100_000
MOST_IN_A_LIST = 1_000
MOST_IN_A_PATTERN = 10_000  # letters; of 50,000 bytes SQLite says that a pattern is too complex

_COMPARED = {"exact": operator.eq, "gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le}
_OF_ALL = ("exact", "in", "isnull")
_OF_A_PART = ("icontains", "startswith")
_COMPARISONS = {
    "flag": _OF_ALL,
    "number": (*_OF_ALL, "gt", "gte", "lt", "lte"),
    "text": (*_OF_ALL, "gt", "gte", "lt", "lte", *_OF_A_PART),
}


@dataclass(frozen=True)
class Entity:
    """Rows of one kind: where they come from, the fields of an answer, and fields that are only searched."""

    source: FromClause
    answered: Mapping[str, ColumnElement[Any]]
    searched: Mapping[str, ColumnElement[Any]] = field(default_factory=dict)

    def condition(self, key: str, value: Any) -> ColumnElement[bool]:
        """One lookup as a condition. Raises CallError."""
        name, _, comparison = key.rpartition("__")
        if comparison not in _COMPARISONS["text"] or not name:
            name, comparison = key, "exact"
        column = self._column("id" if name == "pk" else name)
        kind = _kind_of(column)
        if comparison not in _COMPARISONS[kind.kind]:
            known = ", ".join(_COMPARISONS[kind.kind])
            raise CallError(INVALID_PARAMS, f"'{key}': a {kind.kind} cannot be compared so, only by {known}.")
        if comparison == "isnull":
            wanted = value_of(value, key, Field("flag"))
            return column.is_(None) if wanted else column.is_not(None)
        if comparison == "in":
            if not isinstance(value, list) or len(value) > MOST_IN_A_LIST:
                raise CallError(INVALID_PARAMS, f"'{key}' must be a list of at most {MOST_IN_A_LIST} values.")
            return column.in_([value_of(one, key, kind) for one in value])
        if comparison in _OF_A_PART:
            part = value_of(value, key, _compared_with(kind, comparison))
            if comparison == "startswith":
                return column.startswith(part, autoescape=True)
            return column.icontains(part, autoescape=True)
        if value is None and comparison == "exact":
            return column.is_(None)
        condition: ColumnElement[bool] = _COMPARED[comparison](column, value_of(value, key, kind))
        return condition

    def lookups(self) -> Iterator[tuple[str, str, Field]]:
        """All that can be searched: the key, the comparison and the kind of the column."""
        columns = {**self.answered, **self.searched}
        for name, column in {"pk": columns["id"], **columns}.items():
            kind = _kind_of(column)
            yield name, "exact", kind
            for comparison in _COMPARISONS[kind.kind]:
                yield f"{name}__{comparison}", comparison, _compared_with(kind, comparison)

    def _column(self, name: str) -> ColumnElement[Any]:
        column = self.answered.get(name, self.searched.get(name))
        if column is None:
            known = ", ".join(sorted({*self.answered, *self.searched}))
            raise CallError(INVALID_PARAMS, f"There is no field {ascii(name)[:60]} to search. Fields: {known}.")
        return column


def find(connection: Connection, entity: Entity, query: Any) -> list[dict[str, Any]]:
    """Every row that the query matches, by id, as an answer. Raises CallError."""
    lookups = table_of({} if query is None else query, "query")
    conditions = [entity.condition(str(key), value) for key, value in lookups.items()]
    columns = [column.label(name) for name, column in entity.answered.items()]
    statement = select(*columns).select_from(entity.source).where(*conditions).order_by(entity.answered["id"])
    rows = connection.execute(statement.limit(MOST_ROWS + 1)).all()
    if len(rows) > MOST_ROWS:
        raise CallError(INVALID_PARAMS, f"More than {MOST_ROWS} rows match. Narrow the query.")
    times = {index for index, column in enumerate(entity.answered.values()) if isinstance(column.type, BigInteger)}
    names = list(entity.answered)
    if not times:
        return [dict(zip(names, row, strict=True)) for row in rows]
    return [
        {
            name: moment(value) if index in times else value
            for index, (name, value) in enumerate(zip(names, row, strict=True))
        }
        for row in rows
    ]


def _compared_with(kind: Field, comparison: str) -> Field:
    """What a column of that kind is compared with: of a part that is searched in a text, fewer letters."""
    return replace(kind, most=min(kind.most, MOST_IN_A_PATTERN)) if comparison in _OF_A_PART else kind


def _kind_of(column: ColumnElement[Any]) -> Field:
    if isinstance(column.type, Boolean):
        return Field("flag")
    if isinstance(column.type, Integer):
        return Field("number")
    return Field("text", blank=True)


_managers = s.users.alias("managers")
_testers = s.users.alias("testers")

CASE = Entity(
    s.cases.join(s.case_statuses).join(s.categories).join(s.priorities).join(s.users),
    {
        "id": s.cases.c.id,
        "create_date": s.cases.c.created_ms,
        "is_automated": s.cases.c.is_automated,
        "summary": s.cases.c.summary,
        "text": s.cases.c.text,
        "notes": s.cases.c.notes,
        "case_status": s.cases.c.status_id,
        "case_status__name": s.case_statuses.c.name,
        "category": s.cases.c.category_id,
        "category__name": s.categories.c.name,
        "priority": s.cases.c.priority_id,
        "priority__value": s.priorities.c.value,
        "author": s.cases.c.author_id,
        "author__username": s.users.c.username,
    },
    {"category__product": s.categories.c.product_id},
)
RUN = Entity(
    s.runs.join(s.plans, s.runs.c.plan_id == s.plans.c.id)
    .join(s.versions, s.plans.c.version_id == s.versions.c.id)
    .join(s.builds, s.runs.c.build_id == s.builds.c.id)
    .join(_managers, s.runs.c.manager_id == _managers.c.id)
    .outerjoin(_testers, s.runs.c.default_tester_id == _testers.c.id),
    {
        "id": s.runs.c.id,
        "plan__product_version": s.plans.c.version_id,
        "plan__product_version__value": s.versions.c.value,
        "start_date": s.runs.c.started_ms,
        "stop_date": s.runs.c.stopped_ms,
        "summary": s.runs.c.summary,
        "notes": s.runs.c.notes,
        "plan": s.runs.c.plan_id,
        "plan__product": s.plans.c.product_id,
        "plan__name": s.plans.c.name,
        "build": s.runs.c.build_id,
        "build__name": s.builds.c.name,
        "manager": s.runs.c.manager_id,
        "manager__username": _managers.c.username,
        "default_tester": s.runs.c.default_tester_id,
        "default_tester__username": _testers.c.username,
    },
)
EXECUTION = Entity(
    s.executions.join(s.cases, s.executions.c.case_id == s.cases.c.id)
    .join(s.builds, s.executions.c.build_id == s.builds.c.id)
    .join(s.execution_statuses, s.executions.c.status_id == s.execution_statuses.c.id)
    .outerjoin(_managers, s.executions.c.assignee_id == _managers.c.id)
    .outerjoin(_testers, s.executions.c.tested_by_id == _testers.c.id),
    {
        "id": s.executions.c.id,
        "run": s.executions.c.run_id,
        "case": s.executions.c.case_id,
        "case__summary": s.cases.c.summary,
        "build": s.executions.c.build_id,
        "build__name": s.builds.c.name,
        "status": s.executions.c.status_id,
        "status__name": s.execution_statuses.c.name,
        "assignee": s.executions.c.assignee_id,
        "assignee__username": _managers.c.username,
        "tested_by": s.executions.c.tested_by_id,
        "tested_by__username": _testers.c.username,
        "sortkey": s.executions.c.sortkey,
        "start_date": s.executions.c.started_ms,
        "stop_date": s.executions.c.stopped_ms,
    },
)
PLAN = Entity(
    s.plans.join(s.products, s.plans.c.product_id == s.products.c.id)
    .join(s.versions, s.plans.c.version_id == s.versions.c.id)
    .join(s.plan_types, s.plans.c.type_id == s.plan_types.c.id)
    .join(s.users, s.plans.c.author_id == s.users.c.id),
    {
        "id": s.plans.c.id,
        "name": s.plans.c.name,
        "text": s.plans.c.text,
        "create_date": s.plans.c.created_ms,
        "is_active": s.plans.c.is_active,
        "product_version": s.plans.c.version_id,
        "product_version__value": s.versions.c.value,
        "product": s.plans.c.product_id,
        "product__name": s.products.c.name,
        "author": s.plans.c.author_id,
        "author__username": s.users.c.username,
        "type": s.plans.c.type_id,
        "type__name": s.plan_types.c.name,
    },
)
PRODUCT = Entity(
    s.products,
    {
        "id": s.products.c.id,
        "name": s.products.c.name,
        "description": s.products.c.description,
        "classification": s.products.c.classification_id,
    },
)
VERSION = Entity(
    s.versions.join(s.products),
    {
        "id": s.versions.c.id,
        "value": s.versions.c.value,
        "product": s.versions.c.product_id,
        "product__name": s.products.c.name,
    },
)
BUILD = Entity(
    s.builds.join(s.versions),
    {
        "id": s.builds.c.id,
        "name": s.builds.c.name,
        "version": s.builds.c.version_id,
        "version__value": s.versions.c.value,
        "is_active": s.builds.c.is_active,
    },
)
CATEGORY = Entity(
    s.categories, {"id": s.categories.c.id, "name": s.categories.c.name, "product": s.categories.c.product_id}
)
USER = Entity(s.users, {"id": s.users.c.id, "username": s.users.c.username, "email": s.users.c.email})
PRIORITY = Entity(s.priorities, {"id": s.priorities.c.id, "value": s.priorities.c.value})
CLASSIFICATION = Entity(s.classifications, {"id": s.classifications.c.id, "name": s.classifications.c.name})
PLAN_TYPE = Entity(s.plan_types, {"id": s.plan_types.c.id, "name": s.plan_types.c.name})
CASE_STATUS = Entity(
    s.case_statuses,
    {
        "id": s.case_statuses.c.id,
        "name": s.case_statuses.c.name,
        "is_confirmed": s.case_statuses.c.is_confirmed,
    },
)
EXECUTION_STATUS = Entity(
    s.execution_statuses,
    {
        "id": s.execution_statuses.c.id,
        "name": s.execution_statuses.c.name,
        "weight": s.execution_statuses.c.weight,
    },
)
