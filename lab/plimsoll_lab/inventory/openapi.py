"""The OpenAPI document of the inventory, made of the same rules that the handlers check."""

from __future__ import annotations

from plimsoll_lab.inventory.answers import LIMIT_AT_MOST, LIMIT_DEFAULT, OFFSET_AT_MOST, TOKEN_HEADER
from plimsoll_lab.inventory.cql import QUERY_LETTERS
from plimsoll_lab.inventory.documents import ID_PATTERN, INSTANCE_FIELDS, VERSION_AT_MOST, Fields, Listed, Text
from plimsoll_lab.inventory.seed import REFERENCE_KINDS, reference_data
from plimsoll_lab.inventory.storage import reference_key
from plimsoll_lab.inventory.users import CREDENTIAL_LETTERS
from plimsoll_lab.openapi import Json, operation, ref

# Texts without control characters. Surrogates are refused too, but no JSON in UTF-8 has them, and tools drop a pattern
# that names them.
_PRINTABLE = "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f]*$"
_QUERY = {
    "name": "query",
    "in": "query",
    "description": 'CQL, for example: keyword all "water music" and not subjects any "poetry law" sortby title',
    "schema": {"type": "string", "maxLength": QUERY_LETTERS},
    "examples": {"words": {"value": 'keyword all "history"'}, "sorted": {"value": "title = wat* sortby title"}},
}
_PAGE = [
    {"name": "offset", "in": "query",
     "schema": {"type": "integer", "minimum": 0, "maximum": OFFSET_AT_MOST, "default": 0}},
    {"name": "limit", "in": "query",
     "schema": {"type": "integer", "minimum": 0, "maximum": LIMIT_AT_MOST, "default": LIMIT_DEFAULT}},
]  # fmt: skip
_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "pattern": ID_PATTERN}}
_REFERENCE_IDS = [entry.id for entry in reference_data()]
_TROUBLE = (502, 503, 504)


def openapi_document() -> Json:
    """OpenAPI 3.1, as /openapi.json serves it."""
    paths: Json = {
        "/authn/login": {"post": _operation("log_in", 201, ref("Login"), (400, 401, 413, 415, 422), body="Credentials",
                                            free=True)},
        "/users": {"get": _operation("list_users", 200, _many("users", {"type": "object"}), (400, 401), [*_PAGE])},
        "/inventory/instances": {
            "get": _operation("find_instances", 200, _many("instances", ref("Instance")), (400, 401, 414),
                              [_QUERY, *_PAGE])},
        "/inventory/instances/{id}": {
            "get": _operation("show_instance", 200, ref("Instance"), (400, 401, 404), [_ID])},
        "/instance-storage/instances": {
            "get": _operation("search_storage", 200, _many("instances", ref("Instance")), (400, 401, 414),
                              [_QUERY, *_PAGE]),
            "post": _operation("create_instance", 201, ref("Instance"), (400, 401, 409, 413, 415, 422),
                               body="NewInstance")},
        "/instance-storage/instances/{id}": {
            "get": _operation("get_instance", 200, ref("Instance"), (400, 401, 404), [_ID]),
            "put": _operation("replace_instance", 204, None, (400, 401, 404, 409, 413, 415, 422), [_ID],
                              body="NewInstance"),
            "delete": _operation("delete_instance", 204, None, (400, 401, 404), [_ID])},
        "/instance-bulk/ids": {
            "get": _operation("export_ids", 200, _many("ids", {
                "type": "object", "required": ["id"], "properties": {"id": {"type": "string", "pattern": ID_PATTERN}},
            }), (400, 401, 414), [_QUERY])},
    }  # fmt: skip
    for kind in REFERENCE_KINDS:
        answer = _many(reference_key(kind), ref("Reference"))
        paths[f"/{kind}"] = {"get": _operation(f"list_{kind.replace('-', '_')}", 200, answer, (400, 401), [*_PAGE])}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Plimsoll's inventory, a reference target", "version": "1"},
        "paths": paths,
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": TOKEN_HEADER}},
            "schemas": _schemas(),
        },
    }


def _schemas() -> Json:
    new = _object(INSTANCE_FIELDS)
    new["properties"] |= {
        "_version": {"type": "integer", "minimum": 1, "maximum": VERSION_AT_MOST},
        "metadata": {"description": "ignored: the server's own"},
    }
    stored = {**new, "additionalProperties": True}
    credential = {"type": "string", "minLength": 1, "maxLength": CREDENTIAL_LETTERS}
    text = {"type": "string"}
    parameter = {"type": "object", "properties": {"key": text, "value": text}}
    error = {
        "type": "object",
        "required": ["message", "code", "parameters"],
        "properties": {"message": text, "code": text, "parameters": {"type": "array", "items": parameter}},
    }
    return {
        "NewInstance": new,
        "Instance": {**stored, "required": [*new["required"], "id", "hrid", "_version"]},
        "Credentials": {
            "type": "object",
            "required": ["username", "password"],
            "properties": {"username": credential, "password": credential},
            "additionalProperties": False,
        },
        "Login": {"type": "object", "required": ["okapiToken"], "properties": {"okapiToken": text}},
        "Reference": {
            "type": "object",
            "required": ["id", "name", "code"],
            "properties": {"id": text, "name": text, "code": text},
        },
        "Errors": {
            "type": "object",
            "required": ["errors"],
            "properties": {"errors": {"type": "array", "minItems": 1, "items": error}},
        },
    }


def _object(fields: Fields) -> Json:
    return {
        "type": "object",
        "required": [name.rstrip("!") for name in fields if name.endswith("!")],
        "properties": {name.rstrip("!"): _schema(rule) for name, rule in fields.items()},
        "additionalProperties": False,
    }


def _schema(rule: Text | Listed | bool) -> Json:
    if isinstance(rule, bool):
        return {"type": "boolean"}
    if isinstance(rule, Listed):
        items = _schema(rule.of) if isinstance(rule.of, Text) else _object(rule.of)
        return {"type": "array", "maxItems": rule.most, "items": items}
    if rule.identity:
        return (
            {"type": "string", "enum": _REFERENCE_IDS} if rule.reference else {"type": "string", "pattern": ID_PATTERN}
        )
    return {"type": "string", "minLength": rule.least, "maxLength": rule.most, "pattern": _PRINTABLE}


def _operation(
    name: str,
    status: int,
    answer: Json | None,
    errors: tuple[int, ...],
    parameters: list[Json] | None = None,
    body: str | None = None,
    free: bool = False,
) -> Json:
    codes = (*errors, *_TROUBLE)
    schema = None if body is None else ref(body)
    return operation(name, status, answer, codes, parameters, schema, error="Errors", free=free)


def _many(name: str, items: Json) -> Json:
    total = {"type": "integer", "minimum": 0}
    return {
        "type": "object",
        "required": [name, "totalRecords"],
        "properties": {name: {"type": "array", "items": items}, "totalRecords": total},
    }
