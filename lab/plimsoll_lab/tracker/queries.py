"""Every statement of the tracker. Functions take an open connection first; `Database.run` makes each a transaction.

Rules kept throughout, so that no request but the recount costs more as data grows:
- a list is one page, newest first, and goes on after a key (`before`), never after an offset;
- a filter has an index that yields that order (schema.py); text matches come out of FTS5 in that order as well;
- counts by state and priority are kept, other counts stop at COUNT_LIMIT;
- one statement fetches a page's issues; people are few, fixed, and kept in memory (`People`).

With `recount`, creating an issue counts the whole table again instead of adding one: the known defect that makes
creates slow down in proportion to the data, as they did in the YouTrack report.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    TextClause,
    column,
    delete,
    func,
    insert,
    literal_column,
    select,
    table,
    text,
    update,
)

from plimsoll_lab.tracker.schema import FIRST_PRIORITY, FIRST_STATE, RESOLVED_STATES, comments, drafts, issues, users
from plimsoll_lab.tracker.schema import issue_counts as counts
from plimsoll_lab.tracker.search_syntax import UNASSIGNED, Command, Search, SyntaxMistake

AnyRow: TypeAlias = Row[*tuple[Any, ...]]

PAGE = 100
PAGE_LIMIT = 500
COUNT_LIMIT = 10_000
COMMENTS_SHOWN = 50
DRAFTS_SHOWN = 20
SUGGESTIONS = 10

_matches = table("issues_text", column("rowid"))
_listed = (
    issues.c.id,
    issues.c.summary,
    issues.c.reporter_id,
    issues.c.assignee_id,
    issues.c.state,
    issues.c.priority,
    issues.c.created_ms,
    issues.c.updated_ms,
    issues.c.comments_count,
)

# Rows are locked in the order of the key, so that concurrent changes in PostgreSQL cannot deadlock.
_ADD_TO_COUNT = text(
    """INSERT INTO issue_counts (state, priority, count) VALUES (:state, :priority, :change)
       ON CONFLICT (state, priority) DO UPDATE SET count = issue_counts.count + excluded.count"""
)
_RECOUNT = text(
    """INSERT INTO issue_counts (state, priority, count)
       SELECT state, priority, count(*) FROM issues WHERE true GROUP BY state, priority ORDER BY state, priority
       ON CONFLICT (state, priority) DO UPDATE SET count = excluded.count"""
)


@dataclass(frozen=True)
class Person:
    """A user as others see them."""

    id: int
    login: str
    name: str
    email: str


class People:
    """All users; they are fixed while the tracker runs, so each request is spared a statement."""

    def __init__(self, people: Iterable[tuple[Person, str]]) -> None:
        pairs = tuple(people)
        self.all = tuple(person for person, _ in pairs)
        self.by_token_sha256 = {digest: person for person, digest in pairs}
        self.by_id = {person.id: person for person in self.all}
        self._by_login = {person.login.lower(): person for person in self.all}

    def named(self, login: str, myself: Person) -> Person:
        """The person of that login, or the one who asks for `me`. Raises SyntaxMistake."""
        found = myself if login.lower() == "me" else self._by_login.get(login.lower())
        if found is None:
            raise SyntaxMistake(f"There is no user '{login}'. Look logins up at /api/users.")
        return found


@dataclass(frozen=True)
class Filter:
    """A search whose logins have become ids; `text` is "" when there are no words."""

    text: str = ""
    state: str | None = None
    priority: str | None = None
    assignee_id: int | None = None
    reporter_id: int | None = None
    resolved: bool | None = None
    unassigned: bool = False

    @staticmethod
    def of(search: Search, people: People, myself: Person) -> Filter:
        """Resolve the logins of `search`. Raises SyntaxMistake for an unknown one."""
        tags = search.tags
        nobody = "Unassigned" in tags or (search.assignee or "").lower() == UNASSIGNED.lower()
        assignee = None if nobody or search.assignee is None else people.named(search.assignee, myself).id
        reporter = None if search.reporter is None else people.named(search.reporter, myself).id
        resolved = True if "Resolved" in tags else False if "Unresolved" in tags else None
        return Filter(" ".join(search.words), search.state, search.priority, assignee, reporter, resolved, nobody)

    @property
    def counted(self) -> bool:
        """Whether `issue_counts` holds the answer to "how many"."""
        return not self.text and self.assignee_id is None and self.reporter_id is None and not self.unassigned


@dataclass(frozen=True)
class Change:
    """A command whose assignee has become an id; `assign` tells "nobody" from "leave alone"."""

    state: str | None = None
    priority: str | None = None
    assign: bool = False
    assignee_id: int | None = None
    comment: str | None = None

    @staticmethod
    def of(command: Command, people: People, myself: Person) -> Change:
        """Resolve the login of `command`. Raises SyntaxMistake for an unknown one."""
        login = command.assignee
        nobody = login is None or login.lower() == UNASSIGNED.lower()
        assignee_id = None if nobody else people.named(str(login), myself).id
        return Change(command.state, command.priority, login is not None, assignee_id, command.comment)


def load_people(connection: Connection) -> People:
    """All users, by login."""
    rows = connection.execute(select(users).order_by(users.c.login))
    return People((Person(row.id, row.login, row.name, row.email), row.token_sha256) for row in rows)


# --- finding -------------------------------------------------------------------------------------------------------


def find_ids(connection: Connection, wanted: Filter, limit: int = PAGE, before: int | None = None) -> list[int]:
    """Ids of the newest `limit` issues that match, older than the issue `before`."""
    statement, key = _matching(connection.dialect.name, wanted)
    if before is not None:
        statement = statement.where(key < before)
    return [row[0] for row in connection.execute(statement.order_by(key.desc()).limit(limit))]


def count_matching(connection: Connection, wanted: Filter) -> int:
    """How many issues match; a search by text or person stops at COUNT_LIMIT + 1, which means "more"."""
    if wanted.counted:
        total = select(func.coalesce(func.sum(counts.c.count), 0)).where(*_counted_conditions(wanted))
        return int(connection.execute(total).scalar_one())
    statement, _ = _matching(connection.dialect.name, wanted)
    limited = statement.limit(COUNT_LIMIT + 1).subquery()
    return int(connection.execute(select(func.count()).select_from(limited)).scalar_one())


def count_all(connection: Connection) -> int:
    """How many issues there are, from the counts that every change keeps."""
    return int(connection.execute(select(func.sum(counts.c.count))).scalar_one() or 0)


def find_any(connection: Connection, words: Sequence[str], limit: int) -> list[int]:
    """Ids of the newest issues that have one of these words."""
    if connection.dialect.name == "sqlite":
        among = text("issues_text MATCH :words").bindparams(words=" OR ".join(f'"{word}"' for word in words))
        newest = select(_matches.c.rowid).select_from(_matches).where(among).order_by(_matches.c.rowid.desc())
    else:
        match = text("issues.document @@ to_tsquery('simple', :words)")
        match = match.bindparams(words=" | ".join(f"'{word}'" for word in words))
        newest = select(issues.c.id).where(match).order_by(issues.c.id.desc())
    return list(connection.execute(newest.limit(limit)).scalars())


def suggest_summaries(connection: Connection, prefix: str) -> list[str]:
    """Summaries of the newest issues that have a word beginning with `prefix`, a single word."""
    newest = select(issues.c.summary).order_by(issues.c.id.desc()).limit(SUGGESTIONS)
    if connection.dialect.name == "sqlite":
        match = text("issues_text MATCH :words").bindparams(words=f'"{prefix}"*')
        key = _matches.c.rowid
        statement = (
            select(issues.c.summary)
            .select_from(_matches.join(issues, issues.c.id == key))
            .where(match)
            .order_by(key.desc())
            .limit(SUGGESTIONS)
        )
    else:
        match = text("issues.document @@ to_tsquery('simple', :words)").bindparams(words=f"'{prefix}':*")
        statement = newest.where(match)
    return list(connection.execute(statement).scalars())


def get_issues(connection: Connection, ids: Sequence[int]) -> list[AnyRow]:
    """The issues of these ids in this order, without descriptions; unknown ids are left out."""
    rows: dict[int, AnyRow] = {row.id: row for row in connection.execute(select(*_listed).where(issues.c.id.in_(ids)))}
    return [rows[number] for number in ids if number in rows]


def get_issue(connection: Connection, number: int) -> tuple[AnyRow, list[AnyRow]] | None:
    """One issue and its first comments, or None."""
    statement = select(*_listed, issues.c.description).where(issues.c.id == number)
    row: AnyRow | None = connection.execute(statement).first()
    if row is None:
        return None
    if not row.comments_count:
        return row, []
    said = select(comments).where(comments.c.issue_id == number).order_by(comments.c.id).limit(COMMENTS_SHOWN)
    return row, list(connection.execute(said))


def sum_up(connection: Connection, first: int, chunk: int) -> int:
    """Read the `chunk` issues from id `first` on and sum them up by reporter, as the background job does; where to go
    on, 1 after the last."""
    within = issues.c.id.between(first, first + chunk - 1)
    written = func.sum(func.length(issues.c.summary) + func.length(issues.c.description))
    summed = select(issues.c.reporter_id, func.count(), written).where(within).group_by(issues.c.reporter_id)
    found = list(connection.execute(summed))
    return first + chunk if found else 1


# --- changing ------------------------------------------------------------------------------------------------------


def list_drafts(connection: Connection, person: Person) -> list[AnyRow]:
    """The newest drafts of a user."""
    own = select(drafts).where(drafts.c.user_id == person.id).order_by(drafts.c.id.desc()).limit(DRAFTS_SHOWN)
    return list(connection.execute(own))


def create_draft(connection: Connection, person: Person, summary: str, description: str) -> int:
    """A new draft; returns its id."""
    values = {"user_id": person.id, "summary": summary, "description": description, "created_ms": now_ms()}
    return _new_id(connection, drafts, values)


def update_draft(connection: Connection, person: Person, number: int, changes: dict[str, str]) -> AnyRow | None:
    """Change the draft's summary or description; None if the user has no such draft."""
    own = (drafts.c.id == number, drafts.c.user_id == person.id)
    if changes:
        connection.execute(update(drafts).where(*own).values(changes))
    return connection.execute(select(drafts).where(*own)).first()


def create_issue(
    connection: Connection, person: Person, summary: str, description: str, recount: bool = False
) -> AnyRow:
    """A new issue, reported by `person`."""
    created_ms = now_ms()
    values = {
        "summary": summary,
        "description": description,
        "reporter_id": person.id,
        "state": FIRST_STATE,
        "priority": FIRST_PRIORITY,
        "created_ms": created_ms,
        "updated_ms": created_ms,
    }
    number = _new_id(connection, issues, values)
    if recount:
        connection.execute(_RECOUNT)
    else:
        connection.execute(_ADD_TO_COUNT, {"state": FIRST_STATE, "priority": FIRST_PRIORITY, "change": 1})
    created: AnyRow = connection.execute(select(*_listed, issues.c.description).where(issues.c.id == number)).one()
    return created


def publish_draft(connection: Connection, person: Person, number: int, recount: bool = False) -> AnyRow | None:
    """Make an issue of a draft and remove the draft; None if the user has no such draft."""
    own = (drafts.c.id == number, drafts.c.user_id == person.id)
    taken = delete(drafts).where(*own).returning(drafts.c.summary, drafts.c.description)
    draft = connection.execute(taken).first()  # one statement: of several at once only one has it, as it was last
    if draft is None:
        return None
    return create_issue(connection, person, draft.summary, draft.description, recount)


def apply_change(connection: Connection, person: Person, ids: Sequence[int], change: Change) -> list[int]:
    """Apply a command to issues; returns the ids that exist, ascending."""
    chosen = select(issues.c.id, issues.c.state, issues.c.priority).where(issues.c.id.in_(ids)).order_by(issues.c.id)
    if connection.dialect.name != "sqlite":
        chosen = chosen.with_for_update()
    before: list[AnyRow] = list(connection.execute(chosen))
    found = [row.id for row in before]
    if not found:
        return []
    changed_ms = now_ms()
    values: dict[str, Any] = {"updated_ms": changed_ms}
    if change.state is not None:
        values["state"] = change.state
    if change.priority is not None:
        values["priority"] = change.priority
    if change.assign:
        values["assignee_id"] = change.assignee_id
    if change.comment is not None:
        values["comments_count"] = issues.c.comments_count + 1
        said = {"author_id": person.id, "text": change.comment, "created_ms": changed_ms}
        connection.execute(insert(comments), [{"issue_id": number, **said} for number in found])
    connection.execute(update(issues).where(issues.c.id.in_(found)).values(values))
    _move_counts(connection, before, change)
    return found


def now_ms() -> int:
    """Milliseconds since 1970 in UTC."""
    return time.time_ns() // 1_000_000


def _new_id(connection: Connection, into: Table, values: dict[str, Any]) -> int:
    key = connection.execute(insert(into).values(values)).inserted_primary_key
    assert key is not None  # a single row was inserted
    return int(key[0])


def _move_counts(connection: Connection, before: Sequence[AnyRow], change: Change) -> None:
    moves: Counter[tuple[str, str]] = Counter()
    for row in before:
        moves[row.state, row.priority] -= 1
        moves[change.state or row.state, change.priority or row.priority] += 1
    for (state, priority), number in sorted(moves.items()):
        if number:
            connection.execute(_ADD_TO_COUNT, {"state": state, "priority": priority, "change": number})


def _matching(dialect: str, wanted: Filter) -> tuple[Select[int], ColumnElement[int]]:
    """The statement that yields matching ids, unsorted, and the key to sort and go on by."""
    conditions = _conditions(wanted)
    if not wanted.text:
        return select(issues.c.id).where(*conditions), issues.c.id
    if dialect != "sqlite":
        match: ColumnElement[bool] = literal_column("issues.document").op("@@")(
            func.plainto_tsquery("simple", wanted.text)
        )
        return select(issues.c.id).where(match, *conditions), issues.c.id
    # In the order of FTS5's own rowid the matches come newest first, so that a page stops after its last row.
    words = " ".join(f'"{word}"' for word in wanted.text.split())
    among: TextClause = text("issues_text MATCH :words").bindparams(words=words)
    key = _matches.c.rowid
    if not conditions:
        return select(key).select_from(_matches).where(among), key
    return select(key).select_from(_matches.join(issues, issues.c.id == key)).where(among, *conditions), key


def _conditions(wanted: Filter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.state is not None:
        found.append(issues.c.state == wanted.state)
    if wanted.priority is not None:
        found.append(issues.c.priority == wanted.priority)
    if wanted.assignee_id is not None:
        found.append(issues.c.assignee_id == wanted.assignee_id)
    if wanted.unassigned:
        found.append(issues.c.assignee_id.is_(None))
    if wanted.reporter_id is not None:
        found.append(issues.c.reporter_id == wanted.reporter_id)
    if wanted.resolved is not None:
        among = issues.c.state.in_(RESOLVED_STATES)
        found.append(among if wanted.resolved else ~among)
    return found


def _counted_conditions(wanted: Filter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.state is not None:
        found.append(counts.c.state == wanted.state)
    if wanted.priority is not None:
        found.append(counts.c.priority == wanted.priority)
    if wanted.resolved is not None:
        among = counts.c.state.in_(RESOLVED_STATES)
        found.append(among if wanted.resolved else ~among)
    return found
