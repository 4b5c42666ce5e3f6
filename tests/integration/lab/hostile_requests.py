"""Requests as no library sends them, for every operation of a target's OpenAPI document, over a socket."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

VALUES = (
    "%ff", "%00", "%", "%zz", "%ed%a0%80", "..%2f..%2f", ".", "1e999", "NaN", "-1", "0", "9" * 30, "x" * 3000,
    "%F0%9F%90%8C", "'%20OR%20'1'='1", "%22)%20or%20(%22", "%3Cscript%3E", "%0d%0aX-Injected:%201",
)  # fmt: skip
BODIES = (
    b"{", b"[]", b"7", b'"x"', b"null", b"", b'{"a": 1e999}', b'{"a": NaN}', b'{"a": "\\ud800"}', b'{"a": "\\u0000"}',
    b'{"a": "\xff\xfe"}', b"\xef\xbb\xbf{}", b"[" * 20_000, b'{"a":' * 5_000, b'{"a": ' + b"9" * 5_000 + b"}",
    b'{"a": 1, "a": 2}', b'{"__proto__": {"x": 1}}', b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
)  # fmt: skip
EACH = ("1e999", "null", "-1", "[]", "{}", '"\\ud83d"', '"\\u0000"', "true", "9" * 400, '"' + "x" * 5_000 + '"')
LATER = re.compile("reset|reindex", re.IGNORECASE)  # operations that are let alone: they undo what others are asked
PARAMETER = re.compile(r"\{[^}]*\}")


@dataclass(frozen=True)
class Answered:
    """What was asked, and how it was answered."""

    method: str
    target: str
    body: bytes
    status: int
    text: bytes

    def __str__(self) -> str:
        return f"{self.method} {self.target[:120]} {self.body[:60]!r}: {self.status} {self.text[:200]!r}"


def answers(url: str, headers: Mapping[str, str]) -> Iterator[Answered]:
    """To every hostile request that the document of the server at `url` gives rise to."""
    document = json.loads(_ask(url, "GET", "/openapi.json", b"", {}).text)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method == "parameters" or LATER.search(path):
                continue
            shared = [*operations.get("parameters", ()), *operation.get("parameters", ())]
            for target, body in _requests(document, method.upper(), path, shared, operation):
                yield _ask(url, method.upper(), target, body, headers)


def _requests(
    document: Mapping[str, Any], method: str, path: str, parameters: list[Any], operation: Mapping[str, Any]
) -> Iterator[tuple[str, bytes]]:
    plain = PARAMETER.sub("1", path)
    named = [_resolved(document, one) for one in parameters]
    queries = [one["name"] for one in named if one["in"] == "query"]
    for value in VALUES:
        if PARAMETER.search(path):
            yield PARAMETER.sub(lambda _, value=value: value, path), b"{}"  # type: ignore[misc]
        for name in queries:
            yield f"{plain}?{name}={value}", b""
        yield f"{plain}?{value}={value}", b""
    if method in ("POST", "PUT", "PATCH"):
        for body in BODIES:
            yield plain, body
        for name in _fields(document, operation):
            for value in EACH:
                yield plain, f'{{"{name}": {value}}}'.encode()


def _resolved(document: Mapping[str, Any], part: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in part:
        found: Any = document
        for key in part["$ref"].removeprefix("#/").split("/"):
            found = found[key]
        part = found
    return part


def _fields(document: Mapping[str, Any], operation: Mapping[str, Any]) -> list[str]:
    """The fields of a JSON body, of all the forms that it may have."""
    body = _resolved(document, operation.get("requestBody", {}))
    names: dict[str, None] = {}
    waiting = [content.get("schema", {}) for content in body.get("content", {}).values()]
    while waiting:
        schema = _resolved(document, waiting.pop())
        names |= dict.fromkeys(schema.get("properties", {}))
        waiting += [one for key in ("oneOf", "anyOf", "allOf") for one in schema.get(key, ())]
    return list(names)


def _ask(url: str, method: str, target: str, body: bytes, headers: Mapping[str, str]) -> Answered:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    try:
        connection.putrequest(method, target)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return Answered(method, target, body, answer.status, answer.read())
    finally:
        connection.close()
