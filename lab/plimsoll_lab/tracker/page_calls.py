"""What the tracker's pages ask beside their main request: the rest of the paths that the YouTrack report lists.

Most of them read a few rows; those of the frame around every page (inbox, permissions, values of filters, widgets) read
none. The report asks whether they may be left out of a load model: `lab/studies/youtrack/minor.yaml`.
"""

from __future__ import annotations

from typing import Any

from plimsoll_lab.tracker import page_queries, queries
from plimsoll_lab.tracker.calls import Call, Handler
from plimsoll_lab.tracker.json_forms import (
    Refusal,
    ids_of,
    issue_answer,
    no_draft,
    number_of,
    person_answer,
    query_of,
    text_of,
)
from plimsoll_lab.tracker.queries import AnyRow
from plimsoll_lab.tracker.schema import PRIORITIES, STATES

SIMILAR_SHOWN = 20
SPRINT_ISSUES = 250
MOST_QUERIES = 20
FIELDS = ("project", "state", "priority", "assignee")
FOLDERS = ("direct", "mentions", "reactions", "subscriptions")
PERMISSIONS = ("READ_ISSUE", "CREATE_ISSUE", "UPDATE_ISSUE", "READ_COMMENT", "CREATE_COMMENT", "READ_USER")
WIDGETS = ("Agile board", "Issue list", "Reports", "Time spent", "Workflows")


# --- around a draft ------------------------------------------------------------------------------------------------


async def list_similar(call: Call) -> Any:
    """Issues like the draft, which the page shows before it is published; `$top` of them."""
    number = number_of(call.request.path_params["id"])
    await call.json(dict)  # the page sends the draft, which is kept already
    limit = call.number("$top", SIMILAR_SHOWN, queries.PAGE)
    rows = await call.tracker.database.run(page_queries.similar, call.person, number, limit)
    if rows is None:
        raise no_draft(number)
    return [issue_answer(row, call.tracker.people) for row in rows]


# --- around one issue ----------------------------------------------------------------------------------------------


async def list_comments(call: Call) -> Any:
    """The newest comments, newest first."""
    _, said = _found(await call.tracker.database.run(page_queries.newest_comments, call.issue()), call)
    return [_comment_answer(call, row) for row in said]


async def add_comment(call: Call) -> Any:
    """A comment of the text in the body, or of the draft that is kept; the draft is gone then."""
    number = call.issue()
    text = text_of(await call.json(dict), "text")

    added = await call.tracker.database.run(page_queries.add_comment, call.person, number, text)
    if added is False:
        raise Refusal(400, "bad_request", "A comment needs a text. Send one, or keep a draft before.")
    return _comment_answer(call, _found(added, call))


async def show_comment_draft(call: Call) -> Any:
    """The text kept so far, "" without one."""
    _found(await call.tracker.database.run(queries.get_issue, call.issue()), call)
    text = await call.tracker.database.run(page_queries.comment_draft, call.person, call.issue())
    return {"text": text or "", "$type": "IssueComment"}


async def keep_comment_draft(call: Call) -> Any:
    """Keep the text of the body; an empty one removes the draft."""
    text = text_of(await call.json(dict), "text")
    kept = await call.tracker.database.run(page_queries.keep_comment_draft, call.person, call.issue(), text)
    _found(kept or None, call)
    return {"text": text, "$type": "IssueComment"}


async def list_activities(call: Call) -> Any:
    """What was done to an issue, newest first: its comments and its creation."""
    row, said = _found(await call.tracker.database.run(page_queries.newest_comments, call.issue()), call)
    people = call.tracker.people
    made = {
        "category": "IssueCreated",
        "timestamp": row.created_ms,
        "author": person_answer(people.by_id[row.reporter_id]),
    }
    done = [
        {"category": "Comments", "timestamp": one.created_ms, "author": person_answer(people.by_id[one.author_id]),
         "added": _comment_answer(call, one)}
        for one in said
    ]  # fmt: skip
    return {"activities": [*done, made], "$type": "ActivityCursorPage"}


async def list_watchers(call: Call) -> Any:
    """Who reported, has and commented on an issue."""
    ids = _found(await call.tracker.database.run(page_queries.watchers, call.issue()), call)
    people = call.tracker.people
    return {
        "hasStar": call.person.id in ids,
        "issueWatchers": [{"user": person_answer(people.by_id[one])} for one in ids],
        "$type": "IssueWatchers",
    }


async def list_links(call: Call) -> Any:
    """The issues that an issue relates to: its neighbours."""
    rows = _found(await call.tracker.database.run(page_queries.neighbours, call.issue()), call)
    issues = [issue_answer(row, call.tracker.people) for row in rows]
    return [{"direction": "BOTH", "linkType": {"name": "Relates"}, "issues": issues, "$type": "IssueLink"}]


async def list_sprints(call: Call) -> Any:
    """The sprint of an issue; each has SPRINT_ISSUES of them."""
    number = call.issue()
    _found(await call.tracker.database.run(queries.get_issue, number), call)
    sprint = 1 + (number - 1) // SPRINT_ISSUES
    return [{"id": f"5-{sprint}", "name": f"Sprint {sprint}", "agile": {"name": "DEMO"}, "$type": "Sprint"}]


async def see_issue(call: Call) -> Any:
    """Note that the user has seen an issue: {"issue": {"id": "2-17"}}."""
    [number] = ids_of([(await call.json(dict)).get("issue")])
    if not await call.tracker.database.run(page_queries.see_issue, call.person, number):
        raise Refusal(404, "Not Found", f"There is no issue DEMO-{number}.")
    return {"issue": {"id": f"2-{number}"}, "$type": "RecentIssue"}


async def list_recent(call: Call) -> Any:
    """The issues that the user has seen, latest first."""
    rows = await call.tracker.database.run(page_queries.recent, call.person)
    return [issue_answer(row, call.tracker.people) for row in rows]


# --- around every page ---------------------------------------------------------------------------------------------


async def count_each(call: Call) -> Any:
    """How many issues match each of {"queries": ["", "#Unresolved"]}."""
    given = (await call.json(dict)).get("queries")
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_QUERIES or not all(isinstance(q, str) for q in given):
        raise Refusal(400, "bad_request", f'Send 1 to {MOST_QUERIES} searches as {{"queries": ["", "#Unresolved"]}}.')
    wanted = [call.filter(query_of({"query": query})) for query in given]
    counts = await call.tracker.database.run(page_queries.count_each, wanted)
    return [{"query": query, "count": count} for query, count in zip(given, counts, strict=True)]


async def show_config(call: Call) -> Any:
    """What the pages are told of the server before anything else, once by each new browser."""
    return {
        "name": "Plimsoll's issue tracker", "version": "1", "project": "DEMO", "locale": "en", "timeZone": "UTC",
        "guestLogin": False, "users": len(call.tracker.people.all), "$type": "Config",
    }  # fmt: skip


async def list_folders(call: Call) -> Any:
    """The folders of the user's inbox: all read."""
    return [{"id": name, "enabled": True, "lastNotified": 0, "lastSeen": 0, "$type": "InboxFolder"} for name in FOLDERS]


async def show_permissions(call: Call) -> Any:
    """What the user may do, which is the same for all."""
    return [{"permission": {"key": key}, "global": True, "projects": [{"id": "0-0"}]} for key in PERMISSIONS]


async def list_filter_values(call: Call) -> Any:
    """The values of a field that searches filter by."""
    name = call.request.path_params["field"]
    logins = tuple(person.login for person in call.tracker.people.all)
    fields = dict(zip(FIELDS, (("DEMO",), STATES, PRIORITIES, logins), strict=True))
    if name not in fields:
        raise Refusal(404, "Not Found", f"There is no field '{name[:60]}': {', '.join(fields)}.")
    return [{"id": f"{name}-{value}", "presentation": value, "query": value} for value in fields[name]]


async def list_widgets(call: Call) -> Any:
    """The widgets of the pages."""
    return [{"key": name.lower().replace(" ", "-"), "name": name, "collapsed": False} for name in WIDGETS]


PAGE_CALLS: dict[str, dict[str, Handler]] = {
    "/api/users/me/drafts/{id}/similar": {"POST": list_similar},
    "/api/issues/{id}/comments": {"GET": list_comments, "POST": add_comment},
    "/api/issues/{id}/draftComment": {"GET": show_comment_draft, "PUT": keep_comment_draft, "POST": keep_comment_draft},
    "/api/issues/{id}/activitiesPage": {"GET": list_activities},
    "/api/issues/{id}/issueWatchers": {"GET": list_watchers},
    "/api/issues/{id}/links": {"GET": list_links},
    "/api/issues/{id}/sprints": {"GET": list_sprints},
    "/api/users/me/recent/issues": {"GET": list_recent, "POST": see_issue},
    "/api/issuesGetter/counts": {"POST": count_each},
    "/api/config": {"GET": show_config},
    "/api/inbox/folders": {"GET": list_folders},
    "/api/permissions/cache": {"GET": show_permissions},
    "/api/filterFields/{field}/values": {"GET": list_filter_values},
    "/api/admin/widgets/general": {"GET": list_widgets},
}


def _found(value: Any, call: Call) -> Any:
    """The value, or the refusal that there is no such issue."""
    if value is None:
        raise Refusal(404, "Not Found", f"There is no issue DEMO-{number_of(call.request.path_params['id'])}.")
    return value


def _comment_answer(call: Call, row: AnyRow) -> dict[str, Any]:
    author = person_answer(call.tracker.people.by_id[row.author_id])
    return {"id": f"4-{row.id}", "text": row.text, "created": row.created_ms, "author": author}
