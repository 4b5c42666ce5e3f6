"""The JSON of the REST paths: what requests may hold, and how answers are worded. Pure.

Ids are written as YouTrack writes them: users 1-N, issues 2-N or DEMO-N, drafts 3-N, comments 4-N.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from plimsoll_lab.json_input import is_storable
from plimsoll_lab.tracker import queries
from plimsoll_lab.tracker.queries import AnyRow, People, Person

SUMMARY_LETTERS = 300
DESCRIPTION_LETTERS = 100_000
QUERY_LETTERS = 500  # of four bytes each, as long as a word may be in a text search of PostgreSQL
BODY_BYTES = 2**21  # a description with every letter escaped, and what is around it
LARGEST_ID = 2**31 - 1  # of a 32-bit integer column

ID = re.compile(r"(?:DEMO-|[0-9]{1,3}-)?([0-9]{1,10})")


class Refusal(Exception):
    """A request that is answered with an error: HTTP status, kind, text."""

    def __init__(self, status: int, kind: str, text: str) -> None:
        super().__init__(text)
        self.status, self.kind, self.text = status, kind, text


# --- requests ------------------------------------------------------------------------------------------------------


def number_of(text: Any) -> int:
    """The number in an id: "2-17", "3-17", "DEMO-17" or "17"."""
    match = ID.fullmatch(text) if isinstance(text, str) else None
    if match is None or int(match[1]) > LARGEST_ID:
        shown = f"'{text[:60]}'" if isinstance(text, str) else "What is no text"
        raise Refusal(404, "Not Found", f"{shown} is no id. Ids look like DEMO-17 or 2-17.")
    return int(match[1])


def ids_of(value: Any) -> list[int]:
    """The numbers of [{"id": "2-17"}, …]; at most PAGE_LIMIT of them."""
    if not isinstance(value, list) or not value or len(value) > queries.PAGE_LIMIT:
        raise Refusal(400, "bad_request", f'Send 1 to {queries.PAGE_LIMIT} issues as [{{"id": "2-17"}}, …].')
    references = [entry if isinstance(entry, dict) else {} for entry in value]
    return [number_of(entry.get("id", entry.get("idReadable"))) for entry in references]


def text_of(body: dict[str, Any], key: str) -> str:
    """The text under `key`; "" where it is null or not given."""
    return _text_under(body, key, DESCRIPTION_LETTERS)


def query_of(body: Mapping[str, Any]) -> str:
    """The text of a search, under `query`; "" where it is null or not given."""
    return _text_under(body, "query", QUERY_LETTERS)


def texts_of(body: dict[str, Any]) -> tuple[str | None, str | None]:
    """Summary and description of the body, None for what is not given."""
    summary, description = body.get("summary"), body.get("description")
    return (
        None if summary is None else _checked_text(summary, "summary", SUMMARY_LETTERS),
        None if description is None else _checked_text(description, "description", DESCRIPTION_LETTERS),
    )


def caret_of(body: dict[str, Any]) -> int | None:
    """Before which letter of the query the user types; None: at its end."""
    caret = body.get("caret")
    if caret is not None and (not isinstance(caret, int) or isinstance(caret, bool)):
        raise Refusal(400, "bad_request", "'caret' must be a whole number.")
    return caret


def no_draft(number: int) -> Refusal:
    return Refusal(404, "Not Found", f"You have no draft 3-{number}. Create one at /api/users/me/drafts.")


def _text_under(body: Mapping[str, Any], key: str, most: int) -> str:
    value = body.get(key)
    return "" if value is None else _checked_text(value, key, most)


def _checked_text(value: Any, name: str, most: int) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise Refusal(400, "bad_request", f"'{name}' must be text of at most {most} letters.")
    if not is_storable(value):
        raise Refusal(400, "bad_request", f"'{name}' holds letters that are none. Send plain Unicode text.")
    return value


# --- answers -------------------------------------------------------------------------------------------------------


def draft_answer(row: AnyRow) -> dict[str, Any]:
    texts = {"summary": row.summary, "description": row.description}
    return {"id": f"3-{row.id}", **texts, "created": row.created_ms, "$type": "Issue"}


def person_answer(person: Person) -> dict[str, Any]:
    return {"id": f"1-{person.id}", "login": person.login, "fullName": person.name, "$type": "User"}


def issue_answer(row: AnyRow, people: People) -> dict[str, Any]:
    assignee = None if row.assignee_id is None else person_answer(people.by_id[row.assignee_id])
    return {
        "id": f"2-{row.id}",
        "idReadable": f"DEMO-{row.id}",
        "summary": row.summary,
        "state": row.state,
        "priority": row.priority,
        "reporter": person_answer(people.by_id[row.reporter_id]),
        "assignee": assignee,
        "created": row.created_ms,
        "updated": row.updated_ms,
        "commentsCount": row.comments_count,
        "$type": "Issue",
    }


def suggestions_answer(words: list[str], people: People, prefix: str, summaries: list[str]) -> list[dict[str, str]]:
    named = [p for p in people.all if prefix and (p.login.startswith(prefix) or p.name.lower().startswith(prefix))]
    found = [{"option": word, "description": "word"} for word in words]
    found += [{"option": person.login, "description": person.name} for person in named[: queries.SUGGESTIONS]]
    return found + [{"option": summary, "description": "issue"} for summary in summaries]
