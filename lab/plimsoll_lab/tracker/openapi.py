"""The OpenAPI document of the tracker, from the limits that `json_forms.py` and `calls.py` enforce. Pure.

Bodies may hold keys that are not named here, as those of YouTrack's pages do; they are ignored.
"""

from __future__ import annotations

from plimsoll_lab.openapi import JSON_TYPE, Json, listed, operation, parameter, path_parameter, record, ref
from plimsoll_lab.tracker.json_forms import DESCRIPTION_LETTERS, ID, QUERY_LETTERS, SUMMARY_LETTERS
from plimsoll_lab.tracker.page_calls import FIELDS, MOST_QUERIES, SIMILAR_SHOWN
from plimsoll_lab.tracker.queries import COMMENTS_SHOWN, DRAFTS_SHOWN, PAGE, PAGE_LIMIT
from plimsoll_lab.tracker.schema import PRIORITIES, STATES

_ERRORS = (400, 401, 409, 503)
_STORABLE = "^[^\\u0000]*$"
_TEXT: Json = {"type": "string"}
_FLAG: Json = {"type": "boolean"}
_COUNT: Json = {"type": "integer", "minimum": 0}
_ID: Json = {"type": "string", "pattern": f"^{ID.pattern}$"}
_OF_ISSUE = path_parameter("id", _ID)
_SEARCH = (
    "Words, attribute: value and #tag, all of which must hold, for example: crash state: {In Progress} for: me "
    "#Unresolved. What is none of these is refused with 400."
)
_COMMAND = "For example: state Fixed priority Critical assignee me comment Mended"


def document(indexing: bool = False) -> Json:
    """OpenAPI 3.1, as /openapi.json serves it; `indexing` adds the path of a tracker with an indexer."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Plimsoll's issue tracker, a reference target", "version": "1"},
        "paths": {**_issue_paths(), **_paths_around_an_issue(), **_frame_paths(), **_open_paths(indexing)},
        "security": [{"bearer": []}],
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(),
        },
    }


# --- paths ---------------------------------------------------------------------------------------------------------


def _issue_paths() -> Json:
    search = parameter("query", {**_query(), "type": "string", "description": _SEARCH})
    before = parameter("before", {**_ID, "description": "goes on after the page that ends with this issue"})
    query = record({"query": {**_query(), "description": _SEARCH}}, ())
    issues = listed(ref("IssueReference"), 1, PAGE_LIMIT)
    command = {**_text(DESCRIPTION_LETTERS), "description": _COMMAND}
    texts = record({"summary": _text(SUMMARY_LETTERS), "description": _text(DESCRIPTION_LETTERS)}, ())
    draft = parameter(
        "draftId", {**_ID, "description": "makes the issue of this draft; without it the body must have a summary"}
    )
    found = listed(ref("Issue"), most=PAGE_LIMIT)
    similar_top = parameter("$top", _size(SIMILAR_SHOWN, PAGE))
    typed = {"caret": {"type": ["integer", "null"]}}
    suggested = {"suggestions": listed(record({"option": _TEXT, "description": _TEXT}))}
    return {
        "/api/sortedIssues": {
            "get": _get("sortedIssues", record({"tree": listed(record({"id": _ID}), most=PAGE_LIMIT)}),
                        [search, parameter("topRoot", _size()), before], absent=True)},
        "/api/issuesGetter": {"post": _post("getIssues", found, issues, absent=True)},
        "/api/issuesGetter/count": {
            "post": _post("countIssues", record({"count": _COUNT, "exact": _FLAG}), query, may_lack=True)},
        "/api/issuesGetter/counts": {
            "post": _post("countEach", listed(record({"query": _TEXT, "count": _COUNT}), 1, MOST_QUERIES),
                          record({"queries": listed({**_query(), "type": "string"}, 1, MOST_QUERIES)}))},
        "/api/issues": {
            "post": _post("createIssue", ref("IssueInFull"), texts, [draft], absent=True, may_lack=True)},
        "/api/issues/{id}": {"get": _get("viewIssue", ref("IssueInFull"), [_OF_ISSUE], absent=True)},
        "/api/users/me/drafts": {
            "get": _get("listDrafts", listed(ref("Draft"), most=DRAFTS_SHOWN)),
            "post": _post("createDraft", record({"id": _ID, "summary": _TEXT, "description": _TEXT}), texts,
                          may_lack=True)},
        "/api/users/me/drafts/{id}": {
            "post": _post("updateDraft", ref("Draft"), texts, [_OF_ISSUE], absent=True, may_lack=True)},
        "/api/users/me/drafts/{id}/similar": {
            "post": _post("listSimilar", listed(ref("Issue"), most=PAGE), record({}, ()), [_OF_ISSUE, similar_top],
                          absent=True, may_lack=True)},
        "/api/commands": {
            "post": _post("applyCommand", record({"issues": listed(record({"id": _ID, "idReadable": _ID}), 1)}),
                          record({"query": command, "comment": _text(DESCRIPTION_LETTERS), "issues": issues},
                                 ["issues"]), absent=True)},
        "/api/commands/assist": {
            "post": _post("assistCommand",
                          record({"commands": listed(record({"description": _TEXT, "error": _FLAG})), **suggested}),
                          record({"query": command, "issues": issues, **typed}, ["issues"]), absent=True)},
        "/api/search/assist": {
            "post": _post("assistSearch", record({"query": _TEXT, **suggested}), record({"query": _query(), **typed},
                          ()), may_lack=True)},
    }  # fmt: skip


def _paths_around_an_issue() -> Json:
    text = record({"text": _text(DESCRIPTION_LETTERS)}, ())
    root, of_issue = "/api/issues/{id}", [_OF_ISSUE]
    comments = listed(ref("Comment"), most=COMMENTS_SHOWN)
    activity = record({"category": _TEXT, "timestamp": _COUNT, "author": ref("User")})
    draft = record({"text": _TEXT})
    link = record({"direction": _TEXT, "issues": listed(ref("Issue"), most=2)})
    watchers = record({"hasStar": _FLAG, "issueWatchers": listed(record({"user": ref("User")}))})
    sprint = record({"id": _TEXT, "name": _TEXT})

    def keep(name: str) -> Json:
        return _post(name, draft, text, of_issue, absent=True, may_lack=True)

    return {
        f"{root}/comments": {
            "get": _get("listComments", comments, of_issue, absent=True),
            "post": _post("addComment", ref("Comment"), text, of_issue, absent=True, may_lack=True)},
        f"{root}/draftComment": {
            "get": _get("showCommentDraft", draft, of_issue, absent=True),
            "put": keep("putCommentDraft"),
            "post": keep("keepCommentDraft")},
        f"{root}/activitiesPage": {
            "get": _get("listActivities", record({"activities": listed(activity, 1, COMMENTS_SHOWN + 1)}), of_issue,
                        absent=True)},
        f"{root}/issueWatchers": {"get": _get("listWatchers", watchers, of_issue, absent=True)},
        f"{root}/links": {"get": _get("listLinks", listed(link), of_issue, absent=True)},
        f"{root}/sprints": {"get": _get("listSprints", listed(sprint, 1), of_issue, absent=True)},
        "/api/users/me/recent/issues": {
            "get": _get("listRecent", listed(ref("Issue"))),
            "post": _post("seeIssue", record({"issue": record({"id": _ID})}),
                          record({"issue": ref("IssueReference")}), absent=True)},
    }  # fmt: skip


def _frame_paths() -> Json:
    paging = [parameter("query", _TEXT), parameter("$skip", {**_COUNT, "default": 0}), parameter("$top", _size())]
    named = record({"id": _TEXT, "presentation": _TEXT, "query": _TEXT})
    field = path_parameter("field", {"type": "string", "enum": list(FIELDS)})
    flat = {"type": ["string", "number", "boolean"]}
    return {
        "/api/users": {"get": _get("listUsers", listed(ref("User"), most=PAGE_LIMIT), paging)},
        "/api/users/me": {"get": _get("showMyself", ref("User"))},
        "/api/config": {
            "get": _get("showConfig", record({"name": _TEXT, "version": _TEXT, "project": _TEXT, "locale": _TEXT,
                                              "timeZone": _TEXT, "guestLogin": _FLAG, "users": _COUNT}))},
        "/api/inbox/folders": {"get": _get("listFolders", listed(record({"id": _TEXT, "enabled": _FLAG})))},
        "/api/permissions/cache": {
            "get": _get("showPermissions", listed(record({"permission": record({"key": _TEXT}), "global": _FLAG})))},
        "/api/filterFields/{field}/values": {"get": _get("listFilterValues", listed(named), [field], absent=True)},
        "/api/admin/widgets/general": {"get": _get("listWidgets", listed(record({"key": _TEXT, "name": _TEXT})))},
        "/api/admin/telemetry": {
            "get": _get("showTelemetry", {**record({"issues": _COUNT}), "additionalProperties": flat})},
        "/api/admin/reset": {"post": operation("reset", 200, record({"status": _TEXT}), _ERRORS)},
    }  # fmt: skip


def _open_paths(indexing: bool) -> Json:
    found = {
        "/healthz": {"get": operation("health", 200, record({"status": _TEXT}), (), free=True)},
        "/volume": {"get": operation("volume", 200, record({"issues": _COUNT}), (), free=True)},
    }
    if indexing:
        waiting = record({"issuesToIndex": _COUNT, "issuesIndexed": _COUNT})
        found["/indexing"] = {"get": operation("indexing", 200, waiting, (), free=True)}
    return found


# --- pieces --------------------------------------------------------------------------------------------------------


def _get(name: str, answer: Json, parameters: list[Json] | None = None, *, absent: bool = False) -> Json:
    return operation(name, 200, answer, (*_ERRORS, *((404,) if absent else ())), parameters)


def _post(
    name: str,
    answer: Json,
    body: Json,
    parameters: list[Json] | None = None,
    *,
    absent: bool = False,
    may_lack: bool = False,
) -> Json:
    """`may_lack`: without a body it is as with an empty object."""
    found = operation(name, 200, answer, (*_ERRORS, 413, *((404,) if absent else ())), parameters, body)
    if may_lack:
        found["requestBody"] = {"required": False, "content": {JSON_TYPE: {"schema": body}}}
    return found


def _text(most: int) -> Json:
    return {"type": ["string", "null"], "maxLength": most, "pattern": _STORABLE}


def _query() -> Json:
    return _text(QUERY_LETTERS)


def _size(usual: int = PAGE, largest: int = PAGE_LIMIT) -> Json:
    larger = f"What is larger than {largest} becomes that."
    return {"type": "integer", "minimum": 1, "default": usual, "description": larger}


def _schemas() -> Json:
    user = record({"id": _ID, "login": _TEXT, "fullName": _TEXT})
    issue = {
        "id": _ID, "idReadable": _ID, "summary": _TEXT, "state": {"enum": list(STATES)},
        "priority": {"enum": list(PRIORITIES)}, "reporter": ref("User"),
        "assignee": {"anyOf": [ref("User"), {"type": "null"}]}, "created": _COUNT, "updated": _COUNT,
        "commentsCount": _COUNT,
    }  # fmt: skip
    comments = {"comments": listed(ref("Comment"), most=COMMENTS_SHOWN)}
    return {
        "IssueReference": {
            "anyOf": [record({"id": _ID}), {**record({"idReadable": _ID}), "not": {"required": ["id"]}}],
            "type": "object",
        },
        "Issue": record(issue),
        "IssueInFull": record({**issue, "description": _TEXT, **comments}, [*issue, "description"]),
        "Draft": record({"id": _ID, "summary": _TEXT, "description": _TEXT, "created": _COUNT}),
        "Comment": record({"id": _ID, "text": _TEXT, "created": _COUNT, "author": ref("User")}),
        "User": user,
        "Error": record({"error": _TEXT, "error_description": {"type": "string", "minLength": 1}}),
    }
