"""Tables and indexes, for SQLite and PostgreSQL.

Whoever removes a case or a run removes what hangs on it (ON DELETE CASCADE), in the same transaction. A case is in a
run once: a unique index says so, and not the code, so that two clients that add it at once get the same execution.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, MetaData, String, Table, Text

SCHEMA_VERSION = 1

metadata = MetaData()


def _id() -> Column[int]:
    return Column("id", Integer, primary_key=True)


def _to(table: str, name: str, *, removes: bool = False, null: bool = False) -> Column[int]:
    """A reference to a row of `table`; `removes`: this row goes with it."""
    key = ForeignKey(f"{table}.id", ondelete="CASCADE" if removes else None)
    return Column(name, Integer, key, nullable=null)


users = Table(
    "users",
    metadata,
    _id(),
    Column("username", String(150), nullable=False, unique=True),
    Column("email", String(254), nullable=False),
    Column("password", String(200), nullable=False),  # salt and hash, hexadecimal
    Column("may_write", Boolean, nullable=False),
)
classifications = Table("classifications", metadata, _id(), Column("name", String(64), nullable=False, unique=True))
products = Table(
    "products",
    metadata,
    _id(),
    Column("name", String(64), nullable=False, unique=True),
    Column("description", Text, nullable=False),
    _to("classifications", "classification_id"),
)
versions = Table(
    "versions",
    metadata,
    _id(),
    Column("value", String(192), nullable=False),
    _to("products", "product_id"),
    Index("versions_of_a_product", "product_id", "value", unique=True),
)
builds = Table(
    "builds",
    metadata,
    _id(),
    Column("name", String(255), nullable=False),
    _to("versions", "version_id"),
    Column("is_active", Boolean, nullable=False),
    Index("builds_of_a_version", "version_id", "name", unique=True),
)
categories = Table(
    "categories",
    metadata,
    _id(),
    Column("name", String(255), nullable=False),
    _to("products", "product_id"),
    Index("categories_of_a_product", "product_id", "name", unique=True),
)
priorities = Table("priorities", metadata, _id(), Column("value", String(64), nullable=False, unique=True))
plan_types = Table("plan_types", metadata, _id(), Column("name", String(64), nullable=False, unique=True))
case_statuses = Table(
    "case_statuses",
    metadata,
    _id(),
    Column("name", String(255), nullable=False, unique=True),
    Column("is_confirmed", Boolean, nullable=False),
)
execution_statuses = Table(
    "execution_statuses",
    metadata,
    _id(),
    Column("name", String(60), nullable=False, unique=True),
    Column("weight", Integer, nullable=False),  # above 0 it passed, below it failed, 0 it is not done
)
plans = Table(
    "plans",
    metadata,
    _id(),
    Column("name", String(255), nullable=False),
    Column("text", Text, nullable=False),
    _to("products", "product_id"),
    _to("versions", "version_id"),
    _to("plan_types", "type_id"),
    _to("users", "author_id"),
    Column("is_active", Boolean, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Index("plans_of_a_product", "product_id", "id"),
)
cases = Table(
    "cases",
    metadata,
    _id(),
    Column("summary", String(255), nullable=False),
    Column("text", Text, nullable=False),
    Column("notes", Text, nullable=False),
    Column("is_automated", Boolean, nullable=False),
    _to("case_statuses", "status_id"),
    _to("categories", "category_id"),
    _to("priorities", "priority_id"),
    _to("users", "author_id"),
    Column("created_ms", BigInteger, nullable=False),
    Index("cases_of_a_category", "category_id", "id"),
)
plan_cases = Table(
    "plan_cases",
    metadata,
    _id(),
    _to("plans", "plan_id", removes=True),
    _to("cases", "case_id", removes=True),
    Column("sortkey", Integer, nullable=False),
    Index("cases_of_a_plan", "plan_id", "case_id", unique=True),
    Index("sortkeys_of_a_plan", "plan_id", "sortkey"),
    Index("plans_of_a_case", "case_id"),
)
runs = Table(
    "runs",
    metadata,
    _id(),
    Column("summary", Text, nullable=False),
    Column("notes", Text, nullable=False),
    _to("plans", "plan_id"),
    _to("builds", "build_id"),
    _to("users", "manager_id"),
    _to("users", "default_tester_id", null=True),
    Column("started_ms", BigInteger),
    Column("stopped_ms", BigInteger),
    Index("runs_of_a_plan", "plan_id", "id"),
)
executions = Table(
    "executions",
    metadata,
    _id(),
    _to("runs", "run_id", removes=True),
    _to("cases", "case_id", removes=True),
    _to("builds", "build_id"),
    _to("execution_statuses", "status_id"),
    _to("users", "assignee_id", null=True),
    _to("users", "tested_by_id", null=True),
    Column("sortkey", Integer, nullable=False),
    Column("started_ms", BigInteger),
    Column("stopped_ms", BigInteger),
    Index("executions_of_a_run", "run_id", "case_id", unique=True),
    Index("sortkeys_of_a_run", "run_id", "sortkey"),
    Index("executions_of_a_case", "case_id"),
)
# Who changed a result, when, to what. Kept as long as the execution.
execution_history = Table(
    "execution_history",
    metadata,
    _id(),
    _to("executions", "execution_id", removes=True),
    _to("execution_statuses", "status_id"),
    _to("users", "user_id"),
    Column("changed_ms", BigInteger, nullable=False),
    Index("history_of_an_execution", "execution_id", "id"),
)
