"""Pieces of the OpenAPI documents that the lab's services serve. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]

JSON_TYPE = "application/json"
_MEANINGS = {
    400: "A parameter or the body is wrong.",
    401: "The token, or the login, is missing or wrong.",
    403: "You have not logged in, or may not.",
    404: "There is none.",
    409: "What is stored does not allow it.",
    413: "The body is too large.",
    414: "The address is too long.",
    415: "The body is not said to be JSON.",
    422: "A field is wrong.",
    502: "Another process broke off.",
    503: "Another process or the database does not answer.",
    504: "Another process did not answer in time.",
}


def operation(
    name: str,
    status: int,
    answer: Json | None,
    errors: Iterable[int],
    parameters: list[Json] | None = None,
    body: Json | None = None,
    *,
    error: str = "Error",
    free: bool = False,
) -> Json:
    """One method of a path. `answer` and `body` are schemas of JSON, `error` the name of that of its errors; `free`: it
    needs no login."""
    good: Json = {"description": "Done."}
    if answer is not None:
        good["content"] = {JSON_TYPE: {"schema": answer}}
    wrong = {
        str(code): {"description": _MEANINGS[code], "content": {JSON_TYPE: {"schema": ref(error)}}}
        for code in sorted(set(errors))
    }
    found: Json = {"operationId": name, "responses": {str(status): good, **wrong}}
    if parameters:
        found["parameters"] = parameters
    if body is not None:
        found["requestBody"] = {"required": True, "content": {JSON_TYPE: {"schema": body}}}
    if free:
        found["security"] = []
    return found


def parameter(name: str, schema: Json, required: bool = False) -> Json:
    """A query parameter."""
    return {"name": name, "in": "query", "required": required, "schema": schema}


def path_parameter(name: str, schema: Json) -> Json:
    """A part of the path."""
    return {"name": name, "in": "path", "required": True, "schema": schema}


def ref(name: str) -> Json:
    """A schema of the document's components."""
    return {"$ref": f"#/components/schemas/{name}"}


def record(properties: Json, required: Iterable[str] | None = None, *, closed: bool = False) -> Json:
    """An object with these properties, all of them required unless `required` names them; `closed`: and no others."""
    wanted = list(properties if required is None else required)
    found: Json = {"type": "object", "properties": properties}
    if wanted:
        found["required"] = wanted
    return {**found, "additionalProperties": False} if closed else found


def listed(items: Json, least: int | None = None, most: int | None = None) -> Json:
    """A list of such items."""
    found: Json = {"type": "array", "items": items}
    found |= {} if least is None else {"minItems": least}
    return found | ({} if most is None else {"maxItems": most})
