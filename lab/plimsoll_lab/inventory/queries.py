"""Every statement of the storage module. Functions take an open connection first.

As it should be, a search reads one page of documents, and an export reads ids only, EXPORT_ROWS at a time, so that
memory does not grow with the result. The functions that end in `_loading_all` are the known defect of `--load-all`:
they take every document of the result out of the database and decode it, whatever the answer needs, as FOLIO's
storage did in 2020.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from plimsoll_lab.inventory.cql import Everything, Query
from plimsoll_lab.inventory.documents import columns_of
from plimsoll_lab.inventory.schema import instances, references
from plimsoll_lab.inventory.statements import Dialect, condition, order

EXPORT_ROWS = 1000


class Conflict(Exception):
    """A change that what is stored does not allow; the message says why."""


@dataclass(frozen=True)
class Page:
    """One page of a search: documents as they are stored, and how many there are in all."""

    documents: list[str]
    total: int


def count_all(connection: Connection) -> int:
    """How many instances there are."""
    return int(connection.execute(select(func.count()).select_from(instances)).scalar_one())


def list_references(connection: Connection) -> dict[str, list[dict[str, str]]]:
    """The reference data by kind."""
    found: dict[str, list[dict[str, str]]] = {}
    for row in connection.execute(select(references).order_by(references.c.kind, references.c.position)):
        found.setdefault(row.kind, []).append({"id": row.id, "name": row.name, "code": row.code})
    return found


# --- finding -------------------------------------------------------------------------------------------------------


def find_page(connection: Connection, query: Query, dialect: Dialect, offset: int, limit: int) -> Page:
    """A page of the documents that match, and their number."""
    total = count_matching(connection, query, dialect)
    if limit == 0 or offset >= total:
        return Page([], total)
    # Numbers first: what is sorted must not carry its document along.
    chosen = _matching(query, dialect, instances.c.number).order_by(*order(query)).offset(offset).limit(limit)
    numbers = list(connection.execute(chosen).scalars())
    rows = connection.execute(select(instances.c.number, instances.c.document).where(instances.c.number.in_(numbers)))
    documents = {row.number: row.document for row in rows}
    # One that was deleted between the two statements is not there any more.
    return Page([documents[number] for number in numbers if number in documents], total)


def count_matching(connection: Connection, query: Query, dialect: Dialect) -> int:
    """How many instances match."""
    return int(connection.execute(_matching(query, dialect, func.count())).scalar_one())


def export_ids(connection: Connection, query: Query, dialect: Dialect) -> Iterator[bytes]:
    """The JSON of all ids that match, piece by piece: {"ids": [{"id": …}, …], "totalRecords": N}."""
    statement = _matching(query, dialect, instances.c.id).order_by(*order(query))
    rows = connection.execution_options(stream_results=True, max_row_buffer=EXPORT_ROWS).execute(statement)
    total, separator = 0, ""
    piece = '{"ids":['
    for part in rows.scalars().partitions(EXPORT_ROWS):
        total += len(part)
        yield (piece + separator + ",".join([f'{{"id":"{one}"}}' for one in part])).encode()
        piece, separator = "", ","
    yield f'{piece}],"totalRecords":{total}}}'.encode()


def find_page_loading_all(connection: Connection, query: Query, dialect: Dialect, offset: int, limit: int) -> Page:
    """The same answer as `find_page`, by way of every document of the result."""
    documents = _decoded_documents(connection, query, dialect)
    page = documents[offset : offset + limit]
    return Page([json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in page], len(documents))


def export_ids_loading_all(connection: Connection, query: Query, dialect: Dialect) -> Iterator[bytes]:
    """The same answer as `export_ids`, by way of every document of the result."""
    documents = _decoded_documents(connection, query, dialect)
    ids = [{"id": document["id"]} for document in documents]
    yield json.dumps({"ids": ids, "totalRecords": len(ids)}, separators=(",", ":")).encode()


def _decoded_documents(connection: Connection, query: Query, dialect: Dialect) -> list[dict[str, Any]]:
    rows = connection.execute(_matching(query, dialect, instances.c.document).order_by(*order(query))).all()
    return [json.loads(row.document) for row in rows]


def _matching(query: Query, dialect: Dialect, what: Any) -> Select[Any]:
    wanted = select(what).select_from(instances)
    return wanted if isinstance(query.clause, Everything) else wanted.where(condition(query.clause, dialect))


# --- one instance --------------------------------------------------------------------------------------------------


def get_instance(connection: Connection, identity: str) -> str | None:
    """The document as it is stored, or None."""
    found: str | None = connection.execute(
        select(instances.c.document).where(instances.c.id == identity)
    ).scalar_one_or_none()
    return found


def create_instance(connection: Connection, document: dict[str, Any], now: str) -> dict[str, Any]:
    """Store a new instance; ids and numbers that it lacks are given out. Raises Conflict: its id or hrid is taken."""
    identity = document.get("id") or str(uuid.uuid4())
    stored = {
        **document,
        "id": identity,
        "hrid": document.get("hrid") or f"ui-{identity}",
        "metadata": {"createdDate": now, "updatedDate": now},
        "_version": 1,
    }
    try:
        connection.execute(insert(instances).values(columns_of(stored)))
    except IntegrityError:
        raise Conflict("There is an instance with this id or hrid already. Leave both out, or send others.") from None
    return stored


def replace_instance(
    connection: Connection, identity: str, document: dict[str, Any], now: str
) -> dict[str, Any] | None:
    """Store the document in place of the one there; None if there is none.

    Raises Conflict: the `_version` it carries is not the current one, or its hrid is another's.
    """
    chosen = select(instances.c.version, instances.c.document).where(instances.c.id == identity)
    if connection.dialect.name != "sqlite":
        chosen = chosen.with_for_update()
    row = connection.execute(chosen).first()
    if row is None:
        return None
    version = document.get("_version", row.version)
    if version != row.version:
        raise Conflict(f"The instance is at version {row.version}, not {version}. Read it again, then change it.")
    before = json.loads(row.document)
    stored = {
        **document,
        "id": identity,
        "hrid": document.get("hrid") or before["hrid"],
        "metadata": {**before.get("metadata", {}), "updatedDate": now},
        "_version": row.version + 1,
    }
    try:
        connection.execute(update(instances).where(instances.c.id == identity).values(columns_of(stored)))
    except IntegrityError:
        raise Conflict("Another instance has this hrid. Send the instance's own, or none.") from None
    return stored


def delete_instance(connection: Connection, identity: str) -> bool:
    """Remove it; False if there is none, so that of concurrent deletes one alone is told that it did it."""
    return connection.execute(delete(instances).where(instances.c.id == identity)).rowcount == 1
