"""Every statement of a tool (requirements, tests, defects). Functions take an open connection first.

Versioned tools write a new version at each save; the one before dies, and is forgotten (a deletion in the change log)
unless a baseline holds it. The tool of defects changes a defect in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, and_, delete, exists, func, insert, or_, select, update

from plimsoll_lab.configurations import change_log
from plimsoll_lab.configurations.schema import NOW, lineage, links, local_configurations, projects, versions

ARTIFACTS = "artifacts"
DEEPEST = 100


class Conflict(Exception):
    """A change that what is stored does not allow; the message says why."""


class NotThere(Exception):
    """What is asked for is not there; the message names it."""


@dataclass(frozen=True)
class Draft:
    """What a save writes: None keeps what there was (an artifact that is new has all of them)."""

    title: str | None
    description: str | None
    links: list[tuple[str, str]] | None
    author: str
    context: int | None = None
    expected_version: int | None = None


# --- configurations ------------------------------------------------------------------------------------------------


def list_projects(connection: Connection, offset: int, limit: int) -> tuple[list[dict[str, Any]], int]:
    """A page of the projects, and how many there are."""
    total = _count(connection, projects)
    chosen = select(projects).order_by(projects.c.id).offset(offset).limit(limit)
    return [dict(row._mapping) for row in connection.execute(chosen)], total


def list_configurations(
    connection: Connection, project: int | None, kind: str | None, offset: int, limit: int
) -> tuple[list[dict[str, Any]], int]:
    """A page of the streams and baselines, of a project and kind if given, and how many there are."""
    columns = local_configurations.c
    wanted = select(columns.id, columns.project_id, columns.kind, columns.title)
    if project is not None:
        wanted = wanted.where(columns.project_id == project)
    if kind is not None:
        wanted = wanted.where(columns.kind == kind)
    total = int(connection.execute(select(func.count()).select_from(wanted.subquery())).scalar_one())
    rows = connection.execute(wanted.order_by(columns.id).offset(offset).limit(limit))
    return [
        {"id": row.id, "project": row.project_id, "kind": row.kind, "title": row.title} for row in rows
    ], total  # fmt: skip


def get_configuration(connection: Connection, identity: int) -> dict[str, Any] | None:
    """A stream or baseline with its lineage (nearest first): stream, and up to which change it is seen (None: now)."""
    row = connection.execute(select(local_configurations).where(local_configurations.c.id == identity)).first()
    if row is None:
        return None
    chosen = select(lineage).where(lineage.c.configuration_id == identity).order_by(lineage.c.depth)
    seen = [
        {"stream": one.stream_id, "upto": None if one.upto == NOW else one.upto} for one in connection.execute(chosen)
    ]
    return {
        "id": row.id, "project": row.project_id, "kind": row.kind, "title": row.title, "from": row.from_id,
        "lineage": seen,
    }  # fmt: skip


def create_configuration(connection: Connection, kind: str, origin: int, title: str) -> dict[str, Any]:
    """A baseline of a stream, or a stream that starts with the content of a baseline.

    Raises NotThere; Conflict: the origin is of the wrong kind, or too far from the first stream.
    """
    row = connection.execute(select(local_configurations).where(local_configurations.c.id == origin)).first()
    if row is None:
        raise NotThere(f"There is no configuration {origin}.")
    wanted = "baseline" if kind == "stream" else "stream"
    if row.kind != wanted:
        raise Conflict(f"A {kind} is made from a {wanted}; the configuration {origin} is a {row.kind}.")
    # Nothing changes while the clock is held, so a baseline is what there is at one moment.
    now = change_log.advance(connection, change_log.LOCAL, by=0)
    chosen = select(lineage).where(lineage.c.configuration_id == origin).order_by(lineage.c.depth)
    behind = [(one.stream_id, one.upto) for one in connection.execute(chosen)]
    if len(behind) >= DEEPEST:
        raise Conflict(f"The configuration {origin} is the {DEEPEST}th from the first stream. Start from another one.")
    values = {
        "project_id": row.project_id, "kind": kind, "title": title, "from_id": origin,
        "created_ms": change_log.now_ms(),
    }  # fmt: skip
    table = local_configurations
    identity = connection.execute(insert(table).values(values).returning(table.c.id)).scalar_one()
    seen = [(behind[0][0], now), *behind[1:]] if kind == "baseline" else [(identity, NOW), *behind]
    connection.execute(
        insert(lineage),
        [
            {"configuration_id": identity, "depth": depth, "stream_id": stream, "upto": upto}
            for depth, (stream, upto) in enumerate(seen)
        ],
    )
    made = get_configuration(connection, identity)
    assert made is not None
    return made


# --- artifacts -----------------------------------------------------------------------------------------------------


def list_artifacts(
    connection: Connection, configuration: int, offset: int, limit: int
) -> tuple[list[dict[str, Any]], int]:
    """A page of what a configuration shows, by artifact, and how many there are. Raises NotThere."""
    _check_configuration(connection, configuration)
    wanted = _visible(configuration)
    total = int(connection.execute(select(func.count()).select_from(wanted.subquery())).scalar_one())
    rows = connection.execute(wanted.order_by(versions.c.artifact).offset(offset).limit(limit)).all()
    targets = _links_of(connection, [row.id for row in rows])
    return [_shown(row, targets.get(row.id, [])) for row in rows], total


def get_artifact(connection: Connection, configuration: int, artifact: int) -> dict[str, Any] | None:
    """An artifact as a configuration shows it. Raises NotThere: there is no such configuration."""
    _check_configuration(connection, configuration)
    row = connection.execute(_visible(configuration).where(versions.c.artifact == artifact)).first()
    return None if row is None else _shown(row, _links_of(connection, [row.id]).get(row.id, []))


def get_version(connection: Connection, identity: int) -> dict[str, Any] | None:
    """One version, with where and how long it lived; `removed` is one that says that its artifact is gone."""
    row = connection.execute(select(versions).where(versions.c.id == identity)).first()
    return None if row is None else _tracked(connection, row)


def get_unversioned(connection: Connection, artifact: int) -> dict[str, Any] | None:
    """An artifact of a tool without versions, likewise."""
    chosen = select(versions).where(versions.c.artifact == artifact, versions.c.died.is_(None))
    row = connection.execute(chosen).first()
    return None if row is None else _tracked(connection, row)


def create_artifact(
    connection: Connection, stream: int, draft: Draft, versioned: bool, recount: bool = False
) -> dict[str, Any]:
    """A new artifact in a stream. Raises NotThere; Conflict: it is a baseline.

    `recount` is the known defect of --recount-artifacts: the artifact gets its number by counting all there are.
    """
    _check_stream(connection, stream)
    born = change_log.advance(connection, change_log.LOCAL)
    artifact = change_log.advance(connection, change_log.LOCAL, ARTIFACTS)
    if recount:
        counted = connection.execute(select(func.count(func.distinct(versions.c.artifact)))).scalar_one()
        assert counted < artifact
    identity = _write(connection, artifact, stream, born, draft, draft.title or "", draft.description or "")
    _write_links(connection, identity, draft.links or [])
    resource = f"/versions/{identity}" if versioned else f"/artifacts/{artifact}"
    change_log.record(connection, change_log.LOCAL, born, [("creation", resource)])
    row = connection.execute(select(versions).where(versions.c.id == identity)).one()
    return _shown(row, draft.links or [])


def change_artifact(
    connection: Connection, stream: int, artifact: int, draft: Draft, versioned: bool
) -> dict[str, Any]:
    """Save an artifact in a stream: a new version, or the same defect changed.

    Raises NotThere; Conflict: the stream is a baseline, or the version that was read is not the newest any more.
    """
    _check_stream(connection, stream)
    number = change_log.advance(connection, change_log.LOCAL, by=1)
    before = connection.execute(_visible(stream).where(versions.c.artifact == artifact)).first()
    if before is None:
        raise NotThere(f"There is no artifact {artifact} in the stream {stream}.")
    if draft.expected_version not in (None, before.id):
        raise Conflict(
            f"The artifact is at version {before.id}, not {draft.expected_version}. Read it again, then change it."
        )
    title = before.title if draft.title is None else draft.title
    description = before.description if draft.description is None else draft.description
    wanted = draft.links
    if wanted is None:
        wanted = _links_of(connection, [before.id]).get(before.id, [])
    if not versioned:
        connection.execute(
            update(versions).where(versions.c.id == before.id).values(title=title, description=description)
        )
        connection.execute(delete(links).where(links.c.version_id == before.id))
        _write_links(connection, before.id, wanted)
        change_log.record(connection, change_log.LOCAL, number, [("modification", f"/artifacts/{artifact}")])
        identity = before.id
    else:
        identity = _write(connection, artifact, stream, number, draft, title, description)
        _write_links(connection, identity, wanted)
        change_log.record(connection, change_log.LOCAL, number, [("creation", f"/versions/{identity}")])
        if before.stream_id == stream:
            _let_die(connection, before)
    row = connection.execute(select(versions).where(versions.c.id == identity)).one()
    return _shown(row, wanted)


def delete_artifact(connection: Connection, stream: int, artifact: int, author: str, versioned: bool) -> None:
    """Take an artifact out of a stream; baselines keep it. Raises NotThere, so that of several deletes at the same time
    one alone is told that it did it; Conflict."""
    _check_stream(connection, stream)
    number = change_log.advance(connection, change_log.LOCAL, by=0)
    before = connection.execute(_visible(stream).where(versions.c.artifact == artifact)).first()
    if before is None:
        raise NotThere(f"There is no artifact {artifact} in the stream {stream}.")
    if not versioned:
        number = change_log.advance(connection, change_log.LOCAL)
        connection.execute(update(versions).where(versions.c.id == before.id).values(died=number))
        change_log.record(connection, change_log.LOCAL, number, [("deletion", f"/artifacts/{artifact}")])
        return
    if before.stream_id == stream:
        _let_die(connection, before)
        if not _lives_behind(connection, stream, artifact):
            return
    number = change_log.advance(connection, change_log.LOCAL)
    hidden = Draft(None, None, None, author)
    identity = _write(connection, artifact, stream, number, hidden, "", "", removed=True)
    change_log.record(connection, change_log.LOCAL, number, [("creation", f"/versions/{identity}")])


def _let_die(connection: Connection, version: Any) -> None:
    """End a version in its stream: forgotten, unless a baseline of that stream holds it."""
    number = change_log.advance(connection, change_log.LOCAL)
    connection.execute(update(versions).where(versions.c.id == version.id).values(died=number))
    held = connection.execute(
        select(
            exists().where(
                lineage.c.stream_id == version.stream_id, lineage.c.upto >= version.born, lineage.c.upto < number
            )
        )
    ).scalar_one()
    kind = "modification" if held else "deletion"
    change_log.record(connection, change_log.LOCAL, number, [(kind, f"/versions/{version.id}")])


def _lives_behind(connection: Connection, stream: int, artifact: int) -> bool:
    return connection.execute(_visible(stream).where(versions.c.artifact == artifact)).first() is not None


def _visible(configuration: int) -> Select[Any]:
    """Versions that a configuration shows: of each artifact the one in the nearest stream that has any."""
    near = versions.alias("near")
    nearer = lineage.alias("nearer")
    hidden = exists().where(
        nearer.c.configuration_id == configuration,
        nearer.c.depth < lineage.c.depth,
        near.c.stream_id == nearer.c.stream_id,
        near.c.artifact == versions.c.artifact,
        _lives(near, nearer.c.upto),
    )
    return (
        select(versions)
        .join(lineage, and_(lineage.c.configuration_id == configuration, lineage.c.stream_id == versions.c.stream_id))
        .where(_lives(versions, lineage.c.upto), ~versions.c.removed, ~hidden)
    )


def _lives(table: Any, upto: Any) -> Any:
    return and_(table.c.born <= upto, or_(table.c.died.is_(None), table.c.died > upto))


def _check_configuration(connection: Connection, identity: int) -> Any:
    row = connection.execute(select(local_configurations).where(local_configurations.c.id == identity)).first()
    if row is None:
        raise NotThere(f"There is no configuration {identity}.")
    return row


def _check_stream(connection: Connection, identity: int) -> None:
    if _check_configuration(connection, identity).kind != "stream":
        raise Conflict(f"The configuration {identity} is a baseline and does not change. Work in a stream.")


def _write(
    connection: Connection,
    artifact: int,
    stream: int,
    born: int,
    draft: Draft,
    title: str,
    description: str,
    removed: bool = False,
) -> int:
    values = {
        "artifact": artifact, "stream_id": stream, "title": title, "description": description,
        "context": draft.context, "born": born, "died": None, "removed": removed, "author": draft.author,
    }  # fmt: skip
    return int(connection.execute(insert(versions).values(values).returning(versions.c.id)).scalar_one())


def _write_links(connection: Connection, version: int, wanted: Sequence[tuple[str, str]]) -> None:
    rows = [
        {"version_id": version, "position": position, "type": kind, "target": target}
        for position, (kind, target) in enumerate(wanted, start=1)
    ]
    if rows:
        connection.execute(insert(links), rows)


def _links_of(connection: Connection, identities: Sequence[int]) -> dict[int, list[tuple[str, str]]]:
    found: dict[int, list[tuple[str, str]]] = {}
    if not identities:
        return found
    chosen = select(links).where(links.c.version_id.in_(identities)).order_by(links.c.version_id, links.c.position)
    for row in connection.execute(chosen):
        found.setdefault(row.version_id, []).append((row.type, row.target))
    return found


def _shown(row: Any, targets: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return {
        "id": row.artifact, "version": row.id, "title": row.title, "description": row.description,
        "stream": row.stream_id, "context": row.context, "author": row.author,
        "links": [{"type": kind, "target": target} for kind, target in targets],
    }  # fmt: skip


def _tracked(connection: Connection, row: Any) -> dict[str, Any]:
    targets = _links_of(connection, [row.id]).get(row.id, [])
    return {**_shown(row, targets), "born": row.born, "died": row.died, "removed": row.removed}


def _count(connection: Connection, table: Any) -> int:
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


# --- tracked resources ---------------------------------------------------------------------------------------------


def members(connection: Connection, versioned: bool, cutoff: int, after: int, limit: int) -> list[tuple[int, str]]:
    """What there was at the change `cutoff`, by number, from above `after` on: (number, path). Of versions those that
    lived, and those that a baseline holds."""
    lived = or_(versions.c.died.is_(None), versions.c.died > cutoff)
    if not versioned:
        chosen = select(versions.c.artifact).where(versions.c.artifact > after, versions.c.born <= cutoff, lived)
        chosen = chosen.order_by(versions.c.artifact).limit(limit)
        return [(number, f"/artifacts/{number}") for number in connection.execute(chosen).scalars()]
    held = exists().where(
        lineage.c.stream_id == versions.c.stream_id,
        lineage.c.upto >= versions.c.born,
        lineage.c.upto < versions.c.died,
        lineage.c.upto <= cutoff,
    )
    chosen = select(versions.c.id).where(versions.c.id > after, versions.c.born <= cutoff, or_(lived, held))
    chosen = chosen.order_by(versions.c.id).limit(limit)
    return [(number, f"/versions/{number}") for number in connection.execute(chosen).scalars()]


def volume(connection: Connection) -> dict[str, int]:
    """How much there is."""
    return {
        "versions": _count(connection, versions),
        "links": _count(connection, links),
        "changes": change_log.clock(connection, change_log.LOCAL),
    }
