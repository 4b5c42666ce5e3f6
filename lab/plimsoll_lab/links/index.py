"""Every statement of the link index. Functions take an open connection first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, inspect, select, tuple_, update

from plimsoll_lab.links.schema import (
    INDEX,
    SCHEMA_VERSION,
    about,
    contributions,
    entries,
    known_configurations,
    polls,
    progress,
    tracked,
)

DEEPEST = 20
POLLS_KEPT = 5_000


@dataclass(frozen=True)
class Item:
    """One tracked resource as its source shows it; `content` None: it is gone."""

    source: str
    resource: str
    content: dict[str, Any] | None


@dataclass(frozen=True)
class Poll:
    """What one look at a source did; `problem` says why it was broken off."""

    kind: str
    started_ms: int
    changes: int
    retrieved: int
    duration_ms: int
    problem: str | None = None


@dataclass(frozen=True)
class Sight:
    """What a local configuration shows of a stream of a source: up to which change, and how near it is."""

    source: str
    project: int
    stream: int
    upto: int | None
    depth: int


def prepare(connection: Connection, sources: Iterable[str], reset: bool) -> str | None:
    """Make the tables if they are not there, or anew; returns what is wrong with those that are, in words."""
    if inspect(connection).has_table(about.name) and not reset:
        there = connection.execute(select(about.c.value).where(about.c.key == "schema")).scalar_one_or_none()
        if there != SCHEMA_VERSION:
            return f"an index of version {there}, not {SCHEMA_VERSION}"
    else:
        INDEX.drop_all(connection)
        INDEX.create_all(connection)
        connection.execute(insert(about).values(key="schema", value=SCHEMA_VERSION))
    known = set(connection.execute(select(progress.c.source)).scalars())
    for source in sources:
        if source not in known:
            connection.execute(insert(progress).values(source=source, last_change=None))
    return None


def forget(connection: Connection) -> None:
    """Empty the index; every source is read from its base again. The history stays."""
    for table in (entries, tracked, contributions, known_configurations):
        connection.execute(delete(table))
    connection.execute(update(progress).values(last_change=None))


def forget_source(connection: Connection, source: str) -> None:
    """Forget what is known of one source."""
    if source == "gc":
        connection.execute(delete(contributions))
        connection.execute(delete(known_configurations))
    resources = select(tracked.c.resource).where(tracked.c.source == source)
    connection.execute(delete(entries).where(entries.c.resource.in_(resources)))
    connection.execute(delete(tracked).where(tracked.c.source == source))
    connection.execute(update(progress).where(progress.c.source == source).values(last_change=None))


# --- writing -------------------------------------------------------------------------------------------------------


def put(connection: Connection, items: Sequence[Item], keep_versions: bool = False) -> None:
    """Write what there is now of each item in place of what there was.

    `keep_versions` is the known defect of --keep-versions: what is gone at its source stays in the index.
    """
    global_ones = [item for item in items if item.source == "gc"]
    local = [item for item in items if item.source != "gc"]
    if keep_versions:
        local = [item for item in local if item.content is not None]
    _forget_resources(connection, [item.resource for item in local])
    rows, targets = [], []
    for item in local:
        if item.content is not None:
            rows.append(_tracked_row(item, item.content))
            targets += _entry_rows(item, item.content)
    if rows:
        connection.execute(insert(tracked), rows)
    if targets:
        connection.execute(insert(entries), targets)
    _put_configurations(connection, global_ones)


def _forget_resources(connection: Connection, resources: Sequence[str]) -> None:
    if resources:
        connection.execute(delete(entries).where(entries.c.resource.in_(resources)))
        connection.execute(delete(tracked).where(tracked.c.resource.in_(resources)))


def _tracked_row(item: Item, content: dict[str, Any]) -> dict[str, Any]:
    return {
        "resource": item.resource, "source": item.source, "artifact": content["id"], "stream_id": content["stream"],
        "born": content["born"], "died": content["died"], "removed": content["removed"], "title": content["title"],
    }  # fmt: skip


def _entry_rows(item: Item, content: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"target": one["target"], "resource": item.resource, "position": position, "type": one["type"]}
        for position, one in enumerate(content["links"], start=1)
    ]


def _put_configurations(connection: Connection, items: Sequence[Item]) -> None:
    if not items:
        return
    numbers = [int(item.resource.rsplit("/", 1)[1]) for item in items]
    connection.execute(delete(contributions).where(contributions.c.configuration_id.in_(numbers)))
    connection.execute(delete(known_configurations).where(known_configurations.c.configuration_id.in_(numbers)))
    known, rows = [], []
    for number, item in zip(numbers, items, strict=True):
        if item.content is None:
            continue
        known.append({"configuration_id": number})
        rows += [
            {
                "configuration_id": number, "position": one["position"], "service": one.get("service"),
                "project": one.get("project"), "local_id": one.get("configuration"), "child_id": one.get("child"),
            }
            for one in item.content["contributions"]
        ]  # fmt: skip
    if known:
        connection.execute(insert(known_configurations), known)
    if rows:
        connection.execute(insert(contributions), rows)


def last_change(connection: Connection, source: str) -> int | None:
    """How far the source has been followed; None before its base was read."""
    found: int | None = connection.execute(
        select(progress.c.last_change).where(progress.c.source == source)
    ).scalar_one()
    return found


def keep_poll(connection: Connection, source: str, poll: Poll, reached: int | None, index_bytes: int) -> None:
    """Write a line of the history, and how far the source has been followed (`reached` None: no further)."""
    if reached is not None:
        connection.execute(update(progress).where(progress.c.source == source).values(last_change=reached))
    last = connection.execute(select(func.max(polls.c.number)).where(polls.c.source == source)).scalar_one() or 0
    connection.execute(
        insert(polls).values(
            source=source, number=last + 1, kind=poll.kind, started_ms=poll.started_ms, changes=poll.changes,
            retrieved=poll.retrieved, duration_ms=poll.duration_ms, index_bytes=index_bytes, problem=poll.problem,
        )
    )  # fmt: skip
    connection.execute(delete(polls).where(polls.c.source == source, polls.c.number <= last + 1 - POLLS_KEPT))


# --- asking --------------------------------------------------------------------------------------------------------


def history(connection: Connection, source: str, offset: int, limit: int) -> tuple[list[dict[str, Any]], int]:
    """Polls of a source, the newest first, and how many there are. `durationSeconds` is rounded, as the page of the
    product shows it."""
    total = int(
        connection.execute(select(func.count()).select_from(polls).where(polls.c.source == source)).scalar_one()
    )
    chosen = select(polls).where(polls.c.source == source).order_by(polls.c.number.desc()).offset(offset).limit(limit)
    return [
        {
            "poll": row.number, "kind": row.kind, "startedMs": row.started_ms, "changes": row.changes,
            "retrieved": row.retrieved, "durationSeconds": (row.duration_ms + 500) // 1000,
            "durationMs": row.duration_ms, "indexBytes": row.index_bytes, "problem": row.problem,
        }
        for row in connection.execute(chosen)
    ], total  # fmt: skip


def counts(connection: Connection) -> dict[str, int]:
    """How much the index holds."""
    return {
        "links": int(connection.execute(select(func.count()).select_from(entries)).scalar_one()),
        "tracked": int(connection.execute(select(func.count()).select_from(tracked)).scalar_one()),
        "configurations": int(connection.execute(select(func.count()).select_from(known_configurations)).scalar_one()),
    }


def size_bytes(connection: Connection) -> int:
    """What the index takes on disk: the pages of the SQLite file, or its tables and indexes in PostgreSQL."""
    if connection.dialect.name == "sqlite":
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        return int(pages) * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())
    names = ", ".join(f"'{table.name}'" for table in INDEX.sorted_tables)
    statement = f"SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(ARRAY[{names}]) AS name"
    return int(connection.exec_driver_sql(statement).scalar_one() or 0)


def resolve(connection: Connection, configuration: int) -> list[tuple[str, int, int]] | None:
    """(service, project, local configuration) of a global one's hierarchy, depth first, the first of each project of a
    service; None if the index does not know it."""
    known = connection.execute(
        select(known_configurations).where(known_configurations.c.configuration_id == configuration)
    ).first()
    if known is None:
        return None
    found: dict[tuple[str, int], int] = {}
    seen: set[int] = set()

    def walk(number: int, depth: int) -> None:
        if number in seen or depth > DEEPEST:
            return
        seen.add(number)
        chosen = select(contributions).where(contributions.c.configuration_id == number)
        for row in connection.execute(chosen.order_by(contributions.c.position)).all():
            if row.child_id is not None:
                walk(row.child_id, depth + 1)
            else:
                found.setdefault((row.service, row.project), row.local_id)

    walk(configuration, 0)
    return [(service, project, local) for (service, project), local in found.items()]


def pointing_at(connection: Connection, target: str, sights: Sequence[Sight] | None) -> list[dict[str, Any]]:
    """What points at the target, in the streams that are seen; everything that lives now if `sights` is None."""
    chosen = (
        select(entries.c.type, tracked)
        .join(tracked, tracked.c.resource == entries.c.resource)
        .where(entries.c.target == target, ~tracked.c.removed)
        .order_by(tracked.c.source, tracked.c.artifact, entries.c.position)
    )
    rows = connection.execute(chosen).all()
    if sights is None:
        return [_backlink(row) for row in rows if row.died is None]
    by_stream: dict[tuple[str, int], list[Sight]] = {}
    for sight in sights:
        by_stream.setdefault((sight.source, sight.stream), []).append(sight)
    candidates = [
        (row, sight)
        for row in rows
        for sight in by_stream.get((row.source, row.stream_id), ())
        if _lived(row, sight.upto)
    ]
    hidden = _hidden(connection, candidates, sights)
    return [_backlink(row) for place, (row, _) in enumerate(candidates) if place not in hidden]


def _hidden(connection: Connection, candidates: Sequence[tuple[Any, Sight]], sights: Sequence[Sight]) -> set[int]:
    """Places of candidates that another version of the artifact hides, in a nearer stream of the same project."""
    behind = [(place, row, sight) for place, (row, sight) in enumerate(candidates) if sight.depth > 0]
    if not behind:
        return set()
    wanted = {(row.source, row.artifact) for _, row, _ in behind}
    others: dict[tuple[str, int], list[Any]] = {}
    chosen = select(tracked).where(tuple_(tracked.c.source, tracked.c.artifact).in_(list(wanted)))
    for row in connection.execute(chosen):
        others.setdefault((row.source, row.artifact), []).append(row)
    found = set()
    for place, row, sight in behind:
        nearer = {
            one.stream: one.upto
            for one in sights
            if one.source == sight.source and one.project == sight.project and one.depth < sight.depth
        }
        if any(
            other.stream_id in nearer and _lived(other, nearer[other.stream_id])
            for other in others.get((row.source, row.artifact), ())  # none: removed between the two
        ):
            found.add(place)
    return found


def _lived(row: Any, upto: int | None) -> bool:
    if upto is None:
        return row.died is None
    return row.born <= upto and (row.died is None or row.died > upto)


def _backlink(row: Any) -> dict[str, Any]:
    return {
        "type": row.type, "source": row.source, "artifact": f"/{row.source}/artifacts/{row.artifact}",
        "resource": row.resource, "stream": row.stream_id, "title": row.title,
    }  # fmt: skip
