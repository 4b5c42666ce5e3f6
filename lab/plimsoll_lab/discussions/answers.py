"""The JSON of answers, in the form of Open edX's discussion API. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from plimsoll_lab.discussions.forms import id_text
from plimsoll_lab.discussions.people import Viewer
from plimsoll_lab.discussions.queries import AnyRow, Page, Seen

ROOT = "/api/discussion/v1"
Images = Mapping[str, dict[str, Any]] | None


def thread_answer(row: AnyRow, viewer: Viewer, seen: Seen, images: Images) -> dict[str, Any]:
    """A thread as `viewer` sees it; with `images`, its author's."""
    may_edit = row.author_id == viewer.id or viewer.is_moderator
    text_fields = ["raw_body", "title", "topic_id", "type"] if may_edit else []
    return {
        "id": id_text(row.id),
        "course_id": row.course_id,
        "topic_id": row.topic_id,
        "type": row.kind,
        "title": row.title,
        "raw_body": row.body,
        "author": row.username,
        "created_at": _time(row.created_ms),
        "updated_at": _time(row.updated_ms),
        "last_activity_at": _time(row.last_activity_ms),
        "comment_count": row.comment_count,
        "unread_comment_count": seen.unread.get(row.id, 0),
        "read": row.id in seen.read,
        "voted": row.id in seen.voted,
        "vote_count": row.vote_count,
        "editable_fields": sorted(["read", "voted", *text_fields]),
        "comment_list_url": f"{ROOT}/comments/?thread_id={id_text(row.id)}",
        **_users(row, images),
    }


def comment_answer(row: AnyRow, viewer: Viewer, voted: set[int], images: Images) -> dict[str, Any]:
    """A response or comment as `viewer` sees it; with `images`, its author's."""
    may_edit = row.author_id == viewer.id or viewer.is_moderator
    return {
        "id": id_text(row.id),
        "thread_id": id_text(row.thread_id),
        "parent_id": None if row.parent_id is None else id_text(row.parent_id),
        "raw_body": row.body,
        "author": row.username,
        "created_at": _time(row.created_ms),
        "updated_at": _time(row.updated_ms),
        "endorsed": bool(row.endorsed),
        "child_count": row.child_count,
        "voted": row.id in voted,
        "vote_count": row.vote_count,
        "editable_fields": sorted(["voted", *(["raw_body"] if may_edit else [])]),
        **_users(row, images),
    }


def page_answer(
    found: Page, results: list[dict[str, Any]], path: str, query: Mapping[str, str], page: int, size: int
) -> dict[str, Any]:
    """A page of results with the addresses of the next and the previous one."""
    pages = max(1, -(-found.count // size))

    def address(number: int) -> str | None:
        return f"{path}?{urlencode({**query, 'page': number})}" if 1 <= number <= pages else None

    about = {"count": found.count, "num_pages": pages, "next": address(page + 1), "previous": address(page - 1)}
    return {"results": results, "pagination": about}


def viewer_answer(viewer: Viewer) -> dict[str, Any]:
    """The user who is logged in."""
    return {"username": viewer.username, "email": viewer.email, "user_id": viewer.id, "role": viewer.role}


def _users(row: AnyRow, images: Images) -> dict[str, Any]:
    return {} if images is None else {"users": {row.username: {"profile": {"image": images[row.username]}}}}


def _time(unix_ms: int) -> str:
    return datetime.fromtimestamp(unix_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
