"""Every statement of the global configuration service. Functions take an open connection first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Column, Connection, Select, cast, delete, func, insert, literal, select, update

from plimsoll_lab.configurations import change_log
from plimsoll_lab.configurations.schema import (
    WORD_LETTERS,
    components,
    configurations,
    contributions,
    words,
)
from plimsoll_lab.configurations.titles import words_of

KINDS = ("stream", "staging", "baseline")
MOST_CONTRIBUTIONS = 200
DEEPEST = 20
_AFTER_ALL = "\U0010ffff"


class Conflict(Exception):
    """A change that what is stored does not allow; the message says why."""


class NotThere(Exception):
    """What a change refers to is not there; the message names it."""


@dataclass(frozen=True)
class Found:
    """One page of a search and how many there are in all."""

    rows: list[dict[str, Any]]
    total: int


@dataclass(frozen=True)
class Contribution:
    """What is to contribute: a local configuration of a tool, or another global one (`child`)."""

    service: str | None = None
    project: int | None = None
    local: int | None = None
    local_kind: str | None = None
    child: int | None = None


# --- finding -------------------------------------------------------------------------------------------------------


def find_components(connection: Connection, query: str, offset: int, limit: int) -> Found:
    """Components whose titles have every word of the query (each may be the beginning of one), by title."""
    wanted = _with_words(select(components.c.id, components.c.title), components.c.id, query, ("component",))
    return _page(connection, wanted.order_by(components.c.id), offset, limit)


def find_configurations(
    connection: Connection, query: str, kind: str | None, component: int | None, offset: int, limit: int
) -> Found:
    """Global configurations, likewise, of a kind and component if given."""
    columns = configurations.c
    chosen: Select[Any] = select(columns.id, columns.title, columns.kind, columns.component_id)
    wanted = _with_words(chosen, columns.id, query, (kind,) if kind else KINDS)
    if kind:
        wanted = wanted.where(columns.kind == kind)
    if component is not None:
        wanted = wanted.where(columns.component_id == component)
    return _page(connection, wanted.order_by(columns.id), offset, limit)


def _with_words(wanted: Select[Any], subject: Any, query: str, kinds: Sequence[str]) -> Select[Any]:
    for word in words_of(query)[:8]:
        beginning = word[:WORD_LETTERS]
        matching = select(words.c.subject_id).where(
            words.c.word >= beginning, words.c.word < beginning + _AFTER_ALL, words.c.kind.in_(kinds)
        )
        wanted = wanted.where(subject.in_(matching))
    return wanted


def _page(connection: Connection, wanted: Select[Any], offset: int, limit: int) -> Found:
    total = int(connection.execute(select(func.count()).select_from(wanted.order_by(None).subquery())).scalar_one())
    if offset >= total:
        return Found([], total)
    rows = connection.execute(wanted.offset(offset).limit(limit))
    return Found([dict(row._mapping) for row in rows], total)


def get_component(connection: Connection, identity: int) -> dict[str, Any] | None:
    """A component with how many configurations it has of each kind."""
    row = connection.execute(select(components).where(components.c.id == identity)).first()
    if row is None:
        return None
    columns = configurations.c
    counted = connection.execute(
        select(columns.kind, func.count()).where(columns.component_id == identity).group_by(columns.kind)
    )
    counts: dict[str, int] = dict(counted.tuples().all())
    return {"id": row.id, "title": row.title, "counts": {kind: counts.get(kind, 0) for kind in KINDS}}


def get_configuration(connection: Connection, identity: int) -> dict[str, Any] | None:
    """A global configuration with what contributes to it directly, in its order."""
    row = connection.execute(select(configurations).where(configurations.c.id == identity)).first()
    if row is None:
        return None
    return {
        "id": row.id,
        "component": row.component_id,
        "kind": row.kind,
        "title": row.title,
        "from": row.from_id,
        "contributions": _direct(connection, [identity]).get(identity, []),
    }


def resolve(connection: Connection, identity: int) -> list[dict[str, Any]]:
    """The local configurations of the whole hierarchy below a global one, depth first; of several for one project of a
    tool the first counts."""
    known = _descendants(connection, identity)
    found: dict[tuple[str, int], dict[str, Any]] = {}
    seen: set[int] = set()

    def walk(configuration: int) -> None:
        if configuration in seen:
            return
        seen.add(configuration)
        for one in known.get(configuration, ()):
            if "child" in one:
                walk(one["child"])
            else:
                found.setdefault((one["service"], one["project"]), {k: v for k, v in one.items() if k != "position"})

    walk(identity)
    return list(found.values())


def _descendants(connection: Connection, identity: int) -> dict[int, list[dict[str, Any]]]:
    """What contributes directly to the configuration and to each below it: one statement, as deep as it goes."""
    tree = select(cast(identity, BigInteger).label("id"), literal(0).label("depth")).cte("tree", recursive=True)
    below = (
        select(contributions.c.child_id, tree.c.depth + 1)
        .join(tree, contributions.c.configuration_id == tree.c.id)
        .where(contributions.c.child_id.is_not(None), tree.c.depth < DEEPEST)
    )
    tree = tree.union(below)
    chosen = (
        select(contributions)
        .where(contributions.c.configuration_id.in_(select(tree.c.id)))
        .order_by(contributions.c.configuration_id, contributions.c.position)
    )
    return _grouped(connection.execute(chosen))


def _direct(connection: Connection, identities: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    chosen = (
        select(contributions)
        .where(contributions.c.configuration_id.in_(identities))
        .order_by(contributions.c.configuration_id, contributions.c.position)
    )
    return _grouped(connection.execute(chosen))


def _grouped(rows: Any) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        what: dict[str, Any] = {"position": row.position}
        if row.child_id is not None:
            what["child"] = row.child_id
        else:
            what |= {
                "service": row.service, "project": row.project, "configuration": row.local_id, "kind": row.local_kind,
            }  # fmt: skip
        found.setdefault(row.configuration_id, []).append(what)
    return found


# --- changing ------------------------------------------------------------------------------------------------------


def create_component(connection: Connection, title: str) -> dict[str, Any]:
    """A new component, without configurations."""
    values = {"title": title, "created_ms": change_log.now_ms()}
    identity = connection.execute(insert(components).values(values).returning(components.c.id)).scalar_one()
    _index_words(connection, "component", identity, title)
    return {"id": identity, "title": title, "counts": dict.fromkeys(KINDS, 0)}


def create_configuration(connection: Connection, kind: str, origin: int, title: str) -> dict[str, Any]:
    """A stream made from a baseline, or a staging area for a baseline made from a stream, with the same contributions.

    Raises NotThere: there is no such origin; Conflict: it is of the wrong kind.
    """
    row = connection.execute(select(configurations).where(configurations.c.id == origin)).first()
    if row is None:
        raise NotThere(f"There is no global configuration {origin}.")
    wanted = "baseline" if kind == "stream" else "stream"
    if row.kind != wanted:
        raise Conflict(f"A {kind} is made from a {wanted}; the configuration {origin} is a {row.kind}.")
    number = change_log.advance(connection, change_log.GLOBAL)
    values = {
        "component_id": row.component_id, "kind": kind, "title": title, "from_id": origin, "born": number,
        "created_ms": change_log.now_ms(),
    }  # fmt: skip
    identity = connection.execute(insert(configurations).values(values).returning(configurations.c.id)).scalar_one()
    columns = [column.name for column in contributions.c if column.name != "configuration_id"]
    copied = select(literal(identity), *(contributions.c[name] for name in columns)).where(
        contributions.c.configuration_id == origin
    )
    connection.execute(insert(contributions).from_select(["configuration_id", *columns], copied))
    _index_words(connection, kind, identity, title)
    change_log.record(connection, change_log.GLOBAL, number, [("creation", _path(identity))])
    made = get_configuration(connection, identity)
    assert made is not None
    return made


def set_contribution(connection: Connection, identity: int, position: int, wanted: Contribution) -> dict[str, Any]:
    """Replace the contribution at `position`, or add one at the end.

    Raises NotThere; Conflict: a baseline does not change, a position leaves a gap, or the child contains it already.
    """
    row = _locked(connection, identity)
    if row.kind == "baseline":
        raise Conflict(f"The configuration {identity} is a baseline and does not change. Make a stream from it.")
    there = int(
        connection.execute(
            select(func.count()).select_from(contributions).where(contributions.c.configuration_id == identity)
        ).scalar_one()
    )
    if position > there + 1 or position > MOST_CONTRIBUTIONS:
        raise Conflict(f"The configuration {identity} has {there} contributions; the next position is {there + 1}.")
    number = change_log.advance(connection, change_log.GLOBAL)  # until this ends no other hierarchy changes
    if wanted.child is not None:
        _check_child(connection, identity, wanted.child)
    values = {
        "service": wanted.service, "project": wanted.project, "local_id": wanted.local,
        "local_kind": wanted.local_kind, "child_id": wanted.child,
    }  # fmt: skip
    if position == there + 1:
        connection.execute(insert(contributions).values(configuration_id=identity, position=position, **values))
    else:
        connection.execute(
            update(contributions)
            .where(contributions.c.configuration_id == identity, contributions.c.position == position)
            .values(**values)
        )
    change_log.record(connection, change_log.GLOBAL, number, [("modification", _path(identity))])
    changed = get_configuration(connection, identity)
    assert changed is not None
    return changed


def _check_child(connection: Connection, identity: int, child: int) -> None:
    if connection.execute(select(configurations.c.id).where(configurations.c.id == child)).first() is None:
        raise NotThere(f"There is no global configuration {child}.")
    if child == identity or _reaches(connection, child, identity):
        raise Conflict(f"The configuration {child} contains {identity} already; a hierarchy has no circles.")
    above = _levels(connection, identity, contributions.c.child_id, contributions.c.configuration_id)
    below = _levels(connection, child, contributions.c.configuration_id, contributions.c.child_id)
    levels = above + 1 + below
    if levels > DEEPEST:
        raise Conflict(f"A hierarchy has at most {DEEPEST} levels below its top; this one would have {levels}.")


def _levels(connection: Connection, start: int, here: Column[Any], there: Column[Any]) -> int:
    """How many levels there are from `start` on, each row of contributions leading from `here` to `there`."""
    tree = select(cast(start, BigInteger).label("id"), literal(0).label("depth")).cte("tree", recursive=True)
    further = (
        select(there, tree.c.depth + 1).join(tree, here == tree.c.id).where(there.is_not(None), tree.c.depth <= DEEPEST)
    )
    tree = tree.union(further)
    return int(connection.execute(select(func.max(tree.c.depth))).scalar_one())


def _reaches(connection: Connection, start: int, wanted: int) -> bool:
    known = _descendants(connection, start)
    return any(one.get("child") == wanted for direct in known.values() for one in direct)


def commit(connection: Connection, identity: int) -> dict[str, Any]:
    """Make a staging area the baseline that it is for.

    Raises NotThere; Conflict: it is no staging area, or something that contributes is no baseline.
    """
    row = _locked(connection, identity)
    if row.kind != "staging":
        raise Conflict(f"The configuration {identity} is a {row.kind}; a staging area is committed.")
    moving = []
    for one in _direct(connection, [identity]).get(identity, []):
        if "child" in one:
            kind = connection.execute(
                select(configurations.c.kind).where(configurations.c.id == one["child"])
            ).scalar_one()
        else:
            kind = one["kind"]
        if kind != "baseline":
            moving.append(f"{one['position']} ({kind})")
    if moving:
        raise Conflict(f"Contributions that are no baselines: {', '.join(moving[:20])}. Replace them, then commit.")
    number = change_log.advance(connection, change_log.GLOBAL)
    connection.execute(update(configurations).where(configurations.c.id == identity).values(kind="baseline"))
    connection.execute(
        update(words).where(words.c.kind == "staging", words.c.subject_id == identity).values(kind="baseline")
    )
    change_log.record(connection, change_log.GLOBAL, number, [("modification", _path(identity))])
    made = get_configuration(connection, identity)
    assert made is not None
    return made


def delete_staging(connection: Connection, identity: int) -> None:
    """Throw a staging area away. Raises NotThere; Conflict: it is a stream or baseline, or contributes to something."""
    row = _locked(connection, identity)
    if row.kind != "staging":
        raise Conflict(f"The configuration {identity} is a {row.kind}; only staging areas are thrown away.")
    used = connection.execute(
        select(contributions.c.configuration_id).where(contributions.c.child_id == identity).limit(1)
    ).first()
    if used is not None:
        raise Conflict(f"The configuration {identity} contributes to {used.configuration_id}. Replace it there first.")
    number = change_log.advance(connection, change_log.GLOBAL)
    connection.execute(delete(contributions).where(contributions.c.configuration_id == identity))
    connection.execute(delete(words).where(words.c.subject_id == identity, words.c.kind == "staging"))
    connection.execute(delete(configurations).where(configurations.c.id == identity))
    change_log.record(connection, change_log.GLOBAL, number, [("deletion", _path(identity))])


def _locked(connection: Connection, identity: int) -> Any:
    chosen = select(configurations).where(configurations.c.id == identity)
    if connection.dialect.name != "sqlite":
        chosen = chosen.with_for_update(key_share=True)  # others may refer to it meanwhile
    row = connection.execute(chosen).first()
    if row is None:
        raise NotThere(f"There is no global configuration {identity}.")
    return row


def _index_words(connection: Connection, kind: str, identity: int, title: str) -> None:
    rows = [{"word": word, "kind": kind, "subject_id": identity} for word in dict.fromkeys(words_of(title))]
    if rows:
        connection.execute(insert(words), rows)


def _path(identity: int) -> str:
    return f"/configuration/{identity}"


# --- tracked resources ---------------------------------------------------------------------------------------------


def members(connection: Connection, cutoff: int, after: int, limit: int) -> list[tuple[int, str]]:
    """Configurations that there were at the change `cutoff`, by number, from above `after` on: (number, path)."""
    columns = configurations.c
    chosen = select(columns.id).where(columns.id > after, columns.born <= cutoff).order_by(columns.id).limit(limit)
    return [(identity, _path(identity)) for identity in connection.execute(chosen).scalars()]


def volume(connection: Connection) -> dict[str, int]:
    """How much there is."""

    def counted(table: Any) -> int:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())

    return {
        "components": counted(components),
        "configurations": counted(configurations),
        "changes": change_log.clock(connection, change_log.GLOBAL),
    }
