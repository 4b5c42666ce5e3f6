"""Statements of what the tracker's pages ask beside their main request. Each runs in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sqlalchemy import Connection, delete, insert, select

from plimsoll_lab.tracker.json_forms import LARGEST_ID
from plimsoll_lab.tracker.queries import (
    COMMENTS_SHOWN,
    AnyRow,
    Change,
    Filter,
    Person,
    apply_change,
    count_matching,
    find_any,
    get_issue,
    get_issues,
    now_ms,
)
from plimsoll_lab.tracker.schema import comment_drafts, comments, drafts, recent_issues
from plimsoll_lab.tracker.search_syntax import words_of

RECENT_KEPT = 20
SIMILAR_LOOKED_AT = 100
SIMILAR_WORDS = 5


def similar(connection: Connection, person: Person, number: int, limit: int) -> list[AnyRow] | None:
    """Issues with words of the draft's summary, those that share the most first, then the newest; of the newest
    SIMILAR_LOOKED_AT that share one. None if the user has no such draft."""
    own = (drafts.c.id == number, drafts.c.user_id == person.id)
    summary = connection.execute(select(drafts.c.summary).where(*own)).scalar()
    if summary is None:
        return None
    # Longest first: short words are those that every text has.
    words = sorted(words_of(summary), key=lambda word: (-len(word), word))[:SIMILAR_WORDS]
    found = get_issues(connection, find_any(connection, words, SIMILAR_LOOKED_AT)) if words else []
    return sorted(found, key=lambda row: (-len(words_of(row.summary).intersection(words)), -row.id))[:limit]


def comment_draft(connection: Connection, person: Person, number: int) -> str | None:
    """The text that the user has begun to write on an issue; None if there is none."""
    own = (comment_drafts.c.issue_id == number, comment_drafts.c.user_id == person.id)
    return connection.execute(select(comment_drafts.c.text).where(*own)).scalar()


def keep_comment_draft(connection: Connection, person: Person, number: int, text: str) -> bool:
    """Keep that text instead of what was there; an empty one removes it. False if there is no such issue."""
    if get_issue(connection, number) is None:
        return False
    own = (comment_drafts.c.issue_id == number, comment_drafts.c.user_id == person.id)
    connection.execute(delete(comment_drafts).where(*own))
    if text:
        connection.execute(insert(comment_drafts).values(issue_id=number, user_id=person.id, text=text))
    return True


def add_comment(connection: Connection, person: Person, number: int, text: str) -> AnyRow | Literal[False] | None:
    """A new comment of that text, or of the user's draft, which is gone then: taken in one statement, so that of
    several at once only one has it. False without a text, None if there is no such issue."""
    own = (comment_drafts.c.issue_id == number, comment_drafts.c.user_id == person.id)
    draft = connection.execute(delete(comment_drafts).where(*own).returning(comment_drafts.c.text)).scalar()
    said = text or draft
    if not said:
        return False
    if not apply_change(connection, person, [number], Change(comment=said)):
        return None
    # The change has locked the issue, so that nobody else's comment is newer.
    newest = select(comments).where(comments.c.issue_id == number).order_by(comments.c.id.desc()).limit(1)
    added: AnyRow = connection.execute(newest).one()
    return added


def newest_comments(connection: Connection, number: int) -> tuple[AnyRow, list[AnyRow]] | None:
    """An issue and its newest comments, newest first; None without such an issue."""
    found = get_issue(connection, number)
    if found is None:
        return None
    said = select(comments).where(comments.c.issue_id == number).order_by(comments.c.id.desc()).limit(COMMENTS_SHOWN)
    return found[0], list(connection.execute(said))


def watchers(connection: Connection, number: int) -> list[int] | None:
    """Ids of who reported, has and commented on an issue; None without such an issue."""
    found = get_issue(connection, number)
    if found is None:
        return None
    row = found[0]
    said = connection.execute(select(comments.c.author_id).where(comments.c.issue_id == number).distinct()).scalars()
    first = [row.reporter_id, *([row.assignee_id] if row.assignee_id is not None else [])]
    return list(dict.fromkeys([*first, *sorted(said)]))


def neighbours(connection: Connection, number: int) -> list[AnyRow] | None:
    """The issues before and after an issue, which it is linked to; None without such an issue."""
    found = get_issues(connection, [one for one in (number, number - 1, number + 1) if one <= LARGEST_ID])
    return [row for row in found if row.id != number] if any(row.id == number for row in found) else None


def see_issue(connection: Connection, person: Person, number: int) -> bool:
    """Note that the user has seen an issue; the latest RECENT_KEPT stay. False if there is no such issue."""
    if get_issue(connection, number) is None:
        return False
    own = recent_issues.c.user_id == person.id
    connection.execute(delete(recent_issues).where(own, recent_issues.c.issue_id == number))
    connection.execute(insert(recent_issues).values(user_id=person.id, issue_id=number, seen_ms=now_ms()))
    kept = select(recent_issues.c.seen_ms).where(own).order_by(recent_issues.c.seen_ms.desc())
    oldest = connection.execute(kept.offset(RECENT_KEPT).limit(1)).scalar()
    if oldest is not None:
        connection.execute(delete(recent_issues).where(own, recent_issues.c.seen_ms <= oldest))
    return True


def recent(connection: Connection, person: Person) -> list[AnyRow]:
    """The issues that the user has seen, latest first."""
    wanted = select(recent_issues.c.issue_id).where(recent_issues.c.user_id == person.id)
    latest = wanted.order_by(recent_issues.c.seen_ms.desc(), recent_issues.c.issue_id.desc()).limit(RECENT_KEPT)
    return get_issues(connection, list(connection.execute(latest).scalars()))


def count_each(connection: Connection, wanted: Sequence[Filter]) -> list[int]:
    """How many issues match each search."""
    return [count_matching(connection, one) for one in wanted]
