"""The document of /openapi.json (OpenAPI 3.0.3), from the limits that `forms.py` enforces. Pure."""

from __future__ import annotations

from typing import Any

from plimsoll_lab.discussions.forms import (
    BODY_LETTERS,
    LARGEST_PAGE,
    LARGEST_PAGE_SIZE,
    PAGE_SIZE,
    PROFILE_IMAGE,
    THREAD_ORDERS,
    TITLE_LETTERS,
)
from plimsoll_lab.discussions.schema import THREAD_KINDS
from plimsoll_lab.json_input import VISIBLE_LETTER

Json = dict[str, Any]
_TEXT = rf"^[^\x00]*{VISIBLE_LETTER}[^\x00]*$"
_ID: Json = {"type": "string", "pattern": "^[0-9a-f]{24}$"}
_FLAG: Json = {"type": "boolean"}
_COUNT: Json = {"type": "integer", "minimum": 0}


def document(auto_auth: bool = False) -> Json:
    """The whole document; `auto_auth` adds the path that logs in without a password."""
    return {
        "openapi": "3.0.3",
        "info": {
            "title": "Discussions",
            "version": "1",
            "description": "Threads, responses, comments and votes. Paths below /api/discussion/v1 want the cookie "
            "sessionid; what changes something wants the cookie csrftoken and the same value as X-CSRFToken.",
        },
        "paths": _paths(auto_auth),
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {
                "session": {"type": "apiKey", "in": "cookie", "name": "sessionid"},
                "csrf_cookie": {"type": "apiKey", "in": "cookie", "name": "csrftoken"},
                "csrf_header": {"type": "apiKey", "in": "header", "name": "X-CSRFToken"},
            },
        },
    }


def _paths(auto_auth: bool) -> Json:
    root = "/api/discussion/v1"
    thread, comment = _body("Thread"), _body("Comment")
    course = {"name": "course_id", "in": "query", "required": True, "schema": _text(100)}
    of_thread = {"name": "thread_id", "in": "query", "required": True, "schema": _ID}
    filters = [
        _optional("topic_id", _text(50)),
        _optional("author", _text(32)),
        _optional("order_by", _enum(THREAD_ORDERS)),
    ]
    paths: Json = {
        f"{root}/threads/": {
            "get": _operation("listThreads", 200, _body("ThreadPage"), [course, *filters, *_paging()], absent=False),
            "post": _change("createThread", 201, thread, "NewThread", absent=False),
        },
        f"{root}/threads/{{id}}/": {
            "parameters": [_path_id()],
            "get": _operation("readThread", 200, thread, [_requested_fields()]),
            "patch": _change("changeThread", 200, thread, "ThreadChange"),
            "delete": _change("deleteThread", 204, None),
        },
        f"{root}/comments/": {
            "get": _operation("listResponses", 200, _body("CommentPage"), [of_thread, *_paging()]),
            "post": _change("createComment", 201, comment, "NewComment"),
        },
        f"{root}/comments/{{id}}/": {
            "parameters": [_path_id()],
            "get": _operation("listComments", 200, _body("CommentPage"), _paging()),
            "patch": _change("changeComment", 200, comment, "CommentChange"),
            "delete": _change("deleteComment", 204, None),
        },
        "/api/user/v1/me": {"get": _operation("me", 200, _body("Viewer"), [], absent=False)},
        "/csrf/api/v1/token": {"get": {**_open("csrfToken", _body("Token"))}},
        "/api/user/v1/account/login_session/": {"post": _login()},
        "/healthz": {"get": _open("health", _any())},
        "/volume": {"get": _open("volume", _any())},
        "/status": {"get": _open("status", _any())},
    }
    if auto_auth:
        answer = _open("autoAuth", _body("Viewer"))
        answer["responses"]["400"] = _response("a mistake", _body("Error"))
        paths["/auto_auth"] = {"get": {**answer, "parameters": [_optional("username", _username())]}}
    return paths


def _schemas() -> Json:
    viewer = {"username": _string(), "email": _string(), "user_id": _COUNT, "role": _string()}
    title, body, course, topic = _text(TITLE_LETTERS), _text(BODY_LETTERS), _text(100), _text(50)
    kind = _enum(THREAD_KINDS)
    common = {
        "id": _ID, "raw_body": _string(), "author": _string(), "created_at": _string(), "updated_at": _string(),
        "voted": _FLAG, "vote_count": _COUNT, "editable_fields": {"type": "array", "items": _string()},
    }  # fmt: skip
    thread = {
        **common, "course_id": _string(), "topic_id": _string(), "type": kind, "title": _string(),
        "last_activity_at": _string(), "comment_count": _COUNT, "unread_comment_count": _COUNT, "read": _FLAG,
        "comment_list_url": _string(),
    }  # fmt: skip
    comment = {
        **common, "thread_id": _ID, "parent_id": {**_ID, "nullable": True}, "endorsed": _FLAG, "child_count": _COUNT,
    }  # fmt: skip
    users = {"type": "object", "description": "with requested_fields=profile_image: the author's image"}
    pagination = {
        "count": _COUNT, "num_pages": _COUNT, "next": {"type": "string", "nullable": True},
        "previous": {"type": "string", "nullable": True},
    }  # fmt: skip
    return {
        "NewThread": _object({"course_id": course, "topic_id": topic, "type": kind, "title": title, "raw_body": body},
                             ["course_id", "topic_id", "title", "raw_body"], closed=True),
        "ThreadChange": _object({"topic_id": topic, "type": kind, "title": title, "raw_body": body, "voted": _FLAG,
                                 "read": _FLAG}, closed=True),
        "NewComment": _object({"thread_id": _ID, "parent_id": {**_ID, "nullable": True}, "raw_body": body},
                              ["thread_id", "raw_body"], closed=True),
        "CommentChange": _object({"raw_body": body, "voted": _FLAG, "endorsed": _FLAG}, closed=True),
        "Thread": _object({**thread, "users": users}, list(thread)),
        "Comment": _object({**comment, "users": users}, list(comment)),
        "ThreadPage": _page("Thread", pagination),
        "CommentPage": _page("Comment", pagination),
        "Viewer": _object(viewer, list(viewer)),
        "Token": _object({"csrfToken": _string()}, ["csrfToken"]),
        "Error": _object({"developer_message": _string(), "field_errors": {"type": "object"}}, ["developer_message"]),
    }  # fmt: skip


def _page(of: str, pagination: Json) -> Json:
    results = {"type": "array", "items": {"$ref": f"#/components/schemas/{of}"}, "maxItems": LARGEST_PAGE_SIZE}
    about = _object(pagination, list(pagination))
    return _object({"results": results, "pagination": about}, ["results", "pagination"])


def _object(properties: Json, required: list[str] | None = None, *, closed: bool = False) -> Json:
    found: Json = {"type": "object", "properties": properties}
    if required:
        found["required"] = required
    return {**found, "additionalProperties": False} if closed else found


def _string() -> Json:
    return {"type": "string"}


def _text(most: int) -> Json:
    return {"type": "string", "minLength": 1, "maxLength": most, "pattern": _TEXT}


def _username() -> Json:
    """Of those who are seeded: user001 to user099."""
    return {"type": "string", "pattern": "^user0(0[1-9]|[1-9][0-9])$"}


def _enum(values: tuple[str, ...]) -> Json:
    return {"type": "string", "enum": list(values)}


def _optional(name: str, schema: Json) -> Json:
    return {"name": name, "in": "query", "required": False, "schema": schema}


def _requested_fields() -> Json:
    return _optional("requested_fields", _enum((PROFILE_IMAGE,)))


def _paging() -> list[Json]:
    page = {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": 1}
    size = {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE_SIZE, "default": PAGE_SIZE}
    return [_optional("page", page), _optional("page_size", size), _requested_fields()]


def _path_id() -> Json:
    return {"name": "id", "in": "path", "required": True, "schema": _ID}


def _body(schema: str) -> Json:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


def _any() -> Json:
    return {"application/json": {"schema": {"type": "object"}}}


def _response(description: str, content: Json | None) -> Json:
    headers = {name: {"schema": _COUNT} for name in ("X-Transactions", "X-Accounts-Calls")}
    return {"description": description, "headers": headers, **({"content": content} if content else {})}


def _operation(
    name: str, status: int, content: Json | None, parameters: list[Json], *, absent: bool = True, changes: bool = False
) -> Json:
    refused = {"400": "mistakes, by field", "401": "not logged in"}
    refused |= {"403": "no CSRF token, or not yours"} if changes else {}
    refused |= {"404": "it is not there"} if absent else {}
    responses = {str(status): _response("done", content)}
    responses |= {code: _response(words, _body("Error")) for code, words in refused.items()}
    needs: Json = {"session": [], **({"csrf_cookie": [], "csrf_header": []} if changes else {})}
    found: Json = {"operationId": name, "security": [needs], "responses": responses}
    return {**found, "parameters": parameters} if parameters else found


def _change(name: str, status: int, content: Json | None, body: str | None = None, *, absent: bool = True) -> Json:
    found = _operation(name, status, content, [], absent=absent, changes=True)
    if body is not None:
        found["requestBody"] = {"required": True, "content": _body(body)}
        for code, words in (("413", "the body is too large"), ("415", "the body is not application/json")):
            found["responses"][code] = _response(words, _body("Error"))
    return found


def _open(name: str, content: Json) -> Json:
    return {"operationId": name, "security": [], "responses": {"200": _response("done", content)}}


def _login() -> Json:
    found = _open("login", _body("Viewer"))
    fields = _object({"email": _text(100), "password": _text(100)}, ["email", "password"], closed=True)
    content = {"application/x-www-form-urlencoded": {"schema": fields}}
    refused = {
        "400": "mistakes, by field",
        "403": "no CSRF token, or a wrong password",
        "413": "too large",
        "415": "no form",
    }
    found["responses"] |= {code: _response(words, _body("Error")) for code, words in refused.items()}
    security: Json = {"csrf_cookie": [], "csrf_header": []}
    return {**found, "security": [security], "requestBody": {"required": True, "content": content}}
