"""The OpenAPI documents of the services, made of the same rules that the handlers check. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll_lab import openapi
from plimsoll_lab.configurations import rules
from plimsoll_lab.configurations.answers import LIMIT_AT_MOST, LIMIT_DEFAULT, OFFSET_AT_MOST, QUERY_LETTERS
from plimsoll_lab.configurations.global_queries import KINDS
from plimsoll_lab.configurations.rules import ID_AT_MOST, URI_PATTERN, Fields, Many, Number, OneOf, Rule, Text
from plimsoll_lab.json_input import VISIBLE_LETTER

Json = openapi.Json
parameter = openapi.parameter

# Texts without control characters. Surrogates are refused too, but no JSON in UTF-8 has them, and tools drop a pattern
# that names them.
_LETTERS = r"[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*"
_PRINTABLE = f"^{_LETTERS}$"
_NOT_BLANK = f"^{_LETTERS}{VISIBLE_LETTER}{_LETTERS}$"
_NUMBER: Json = {"type": "integer", "minimum": 1, "maximum": ID_AT_MOST}
_ID: Json = {"name": "id", "in": "path", "required": True, "schema": _NUMBER}
_BODY = (400, 413, 415, 422)
_TROUBLE = (502, 503, 504)
TITLES = {
    "gc": "Plimsoll's global configurations",
    "rm": "Plimsoll's requirements, a tool of its global configurations",
    "qm": "Plimsoll's tests, a tool of its global configurations",
    "cm": "Plimsoll's defects, a tool of its global configurations",
    "jts": "Plimsoll's user service",
    "ldx": "Plimsoll's link index",
    "whole": "Plimsoll's configurations as a whole",
}


def document(service: str) -> Json:
    """OpenAPI 3.1 of gc, rm, qm, cm or jts, as its /openapi.json serves it."""
    paths = {"gc": _global_paths, "jts": _user_paths}.get(service)
    return whole_document(service, paths() if paths else _tool_paths(service))


def whole_document(service: str, paths: Json) -> Json:
    """The paths with what every service has."""
    return {
        "openapi": "3.1.0",
        "info": {"title": TITLES[service], "version": "1"},
        "paths": paths,
        "security": [{"bearer": []}],
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _error()},
        },
    }


def front_document(services: Iterable[str]) -> Json:
    """OpenAPI 3.1 of the address of the whole: nothing of it wants a token."""
    text, count = {"type": "string"}, {"type": "integer", "minimum": 0}
    health = openapi.operation("health", 200, openapi.record({"status": {"const": "ok"}}), (), free=True)
    starting = openapi.record({"status": {"const": "starting"}})
    health["responses"]["503"] = {
        "description": "A service is not up.", "content": {openapi.JSON_TYPE: {"schema": starting}}
    }  # fmt: skip
    flat = {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean", "null"]}}
    counted = openapi.record(dict.fromkeys(("versions", "links", "changes"), count))
    told = {
        "/rootservices": ("rootServices", openapi.record(dict.fromkeys(services, text))),
        "/volume": ("volume", counted),
        "/admin/telemetry": ("telemetry", flat),
    }
    paths = {
        path: {"get": openapi.operation(name, 200, answer, (), free=True)} for path, (name, answer) in told.items()
    }
    return whole_document("whole", {**paths, "/healthz": {"get": health}})


def _global_paths() -> Json:
    configuration = {**_object_answer("id", "component", "kind", "title", "contributions")}
    searched = [_query(), *_page()]
    return {
        "/gc/components": {
            "get": operation("findComponents", 200, _members("id", "title"), (400,), searched),
            "post": operation("createComponent", 201, _object_answer("id", "title"), _BODY, body=rules.NEW_COMPONENT),
        },
        "/gc/components/{id}": {
            "get": operation("showComponent", 200, _object_answer("id", "title", "counts"), (400, 404), [_ID])
        },
        "/gc/configurations": {
            "get": operation(
                "findConfigurations", 200, _members("id", "title", "kind", "component"), (400,),
                [*searched, parameter("kind", {"enum": list(KINDS)}), parameter("component", _NUMBER)],
            ),
            "post": operation("createConfiguration", 201, configuration, (*_BODY, 404, 409), body=rules.NEW_GLOBAL),
        },
        "/gc/configuration/{id}": {
            "get": operation("resolveConfiguration", 200, _object_answer("id", "resolved"), (400, 404), [_ID]),
            "delete": operation("deleteStaging", 204, None, (400, 404, 409), [_ID]),
        },
        "/gc/configuration/{id}/contributions/{position}": {
            "put": operation(
                "setContribution", 200, configuration, (*_BODY, 404, 409),
                [_ID, {**_ID, "name": "position"}], body=rules.CONTRIBUTION,
            )
        },
        "/gc/configuration/{id}/commit": {
            "post": operation("commitBaseline", 200, configuration, (400, 404, 409), [_ID])
        },
        **_feed_paths("gc"),
    }  # fmt: skip


def _tool_paths(name: str) -> Json:
    local = _object_answer("id", "project", "kind", "title", "lineage")
    artifact = _object_answer("id", "version", "title", "stream", "links")
    where = [parameter("context", _NUMBER), parameter("configuration", _NUMBER)]
    project = parameter("project", _NUMBER)
    root = f"/{name}"
    paths = {
        f"{root}/projects": {"get": operation("listProjects", 200, _members("id", "title"), (400,), _page())},
        f"{root}/configurations": {
            "get": operation(
                "listLocalConfigurations", 200, _members("id", "kind"), (400,),
                [project, parameter("kind", {"enum": ["stream", "baseline"]}), *_page()],
            ),
            "post": operation("createLocalConfiguration", 201, local, (*_BODY, 404, 409), body=rules.NEW_LOCAL),
        },
        f"{root}/configurations/{{id}}": {
            "get": operation("showLocalConfiguration", 200, local, (400, 404), [_ID])
        },
        f"{root}/artifacts": {
            "get": operation(
                "listArtifacts", 200, _members("id", "links"), (400, 404), [*where, project, *_page()]
            ),
            "post": operation(
                "createArtifact", 201, artifact, (*_BODY, 404, 409), where, body=rules.NEW_ARTIFACT
            ),
        },
        f"{root}/artifacts/{{id}}": {
            "get": operation("showArtifact", 200, artifact, (400, 404), [_ID, *where, project]),
            "put": operation(
                "changeArtifact", 200, artifact, (*_BODY, 404, 409), [_ID, *where], body=rules.CHANGED_ARTIFACT
            ),
            "delete": operation("deleteArtifact", 204, None, (400, 404, 409), [_ID, *where, project]),
        },
        f"{root}/proxy/gc/configuration/{{id}}": {
            "get": operation("resolveThroughProxy", 200, _object_answer("id", "resolved"), (400, 404), [_ID])
        },
        f"{root}/proxy/gc/configurations": {
            "get": operation("findThroughProxy", 200, _members("id", "kind"), (400,), [_query(), *_page()])
        },
        **_feed_paths(name),
    }  # fmt: skip
    if name != "cm":
        shown = operation("showVersion", 200, _object_answer("id", "version", "born"), (400, 404), [_ID])
        paths[f"{root}/versions/{{id}}"] = {"get": shown}
    return paths


def _user_paths() -> Json:
    return {
        "/jts/login": {
            "post": operation("logIn", 201, _object_answer("token"), (*_BODY, 401), body=rules.CREDENTIALS, free=True)
        },
        "/jts/check": {"get": operation("checkToken", 200, _object_answer("username"), (400,))},
        "/jts/users": {"get": operation("listUsers", 200, _members("username", "name"), (400,), _page())},
    }


def _feed_paths(name: str) -> Json:
    order = {"type": "integer", "minimum": 0, "maximum": ID_AT_MOST}
    text = {
        "description": "Turtle or JSON-LD.",
        "content": {kind: {} for kind in ("text/turtle", "application/ld+json")},
    }
    found = {
        f"/{name}/trs": {"get": operation("trackedResourceSet", 200, None, (400,), free=True)},
        f"/{name}/trs/base": {
            "get": operation(
                "baseOfSet", 200, None, (400, 404), [parameter("cutoff", order), parameter("after", order)], free=True
            )
        },
        f"/{name}/trs/changes/{{page}}": {
            "get": operation(
                "changesOfSet", 200, None, (400, 404), [{**_ID, "name": "page", "schema": order}], free=True
            )
        },
    }
    for methods in found.values():
        methods["get"]["responses"]["200"] = text
    return found


# --- pieces --------------------------------------------------------------------------------------------------------


def operation(
    name: str,
    status: int,
    answer: Json | None,
    errors: tuple[int, ...],
    parameters: list[Json] | None = None,
    body: Fields | None = None,
    free: bool = False,
) -> Json:
    """One method of a path; `free`: it needs no token."""
    codes = (*errors, *_TROUBLE, *(() if free else (401,)))
    schema = None if body is None else schema_of(body)
    return openapi.operation(name, status, answer, codes, parameters, schema, free=free)


def schema_of(fields: Fields) -> Json:
    """The JSON Schema of an object of these fields."""
    return {
        "type": "object",
        "required": [name.rstrip("!") for name in fields if name.endswith("!")],
        "properties": {name.rstrip("!"): _schema(rule) for name, rule in fields.items()},
        "additionalProperties": False,
    }


def _schema(rule: Rule) -> Json:
    match rule:
        case Text():
            pattern = f"^{URI_PATTERN}$" if rule.uri else _NOT_BLANK if rule.least else _PRINTABLE
            return {"type": "string", "minLength": rule.least, "maxLength": rule.most, "pattern": pattern}
        case Number():
            return {"type": "integer", "minimum": rule.least, "maximum": rule.most}
        case OneOf():
            return {"enum": list(rule.values)}
        case Many():
            return {"type": "array", "maxItems": rule.most, "items": schema_of(dict(rule.of))}


def _query() -> Json:
    return parameter("query", {"type": "string", "maxLength": QUERY_LETTERS, "pattern": _PRINTABLE})


def _page() -> list[Json]:
    offset = {"type": "integer", "minimum": 0, "maximum": OFFSET_AT_MOST, "default": 0}
    limit = {"type": "integer", "minimum": 1, "maximum": LIMIT_AT_MOST, "default": LIMIT_DEFAULT}
    return [parameter("offset", offset), parameter("limit", limit)]


def _members(*keys: str) -> Json:
    count = {"type": "integer", "minimum": 0}
    return {
        "type": "object",
        "required": ["members", "total", "offset"],
        "properties": {
            "members": {"type": "array", "maxItems": LIMIT_AT_MOST, "items": _object_answer(*keys)},
            "total": count,
            "offset": count,
        },
    }


def _object_answer(*keys: str) -> Json:
    return {"type": "object", "required": list(keys)}


def _error() -> Json:
    text = {"type": "string"}
    mistake = {"type": "object", "required": ["field", "what"], "properties": {"field": text, "what": text}}
    inner = {
        "type": "object",
        "required": ["status", "message", "mistakes"],
        "properties": {
            "status": {"type": "integer"},
            "message": {"type": "string", "minLength": 1},
            "mistakes": {"type": "array", "items": mistake},
        },
    }
    return {"type": "object", "required": ["error"], "properties": {"error": inner}}
