"""Checks of JSON-RPC for schemathesis: a right call is answered, and a wrong one is refused, both with HTTP 200."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import schemathesis
from schemathesis import Case, CheckContext, GenerationMode, HookContext, Response
from schemathesis.specs.openapi.checks import ParameterLocation

from plimsoll_lab.testcases.values import INVALID_PARAMS, INVALID_REQUEST, NOT_LOGGED_IN, PARSE_ERROR, UNKNOWN_METHOD

REFUSED = {PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS, NOT_LOGGED_IN}
# A plan's version must be of its product, and a run's build of its plan's version, which no schema can say.
BETWEEN_ROWS = "is not of"


def calls_of(case: Case) -> list[Any]:
    """The calls of a JSON-RPC body, as far as it has any."""
    body = case.body if case.operation.path == "/json-rpc/" else None
    return body if isinstance(body, list) else [body] if isinstance(body, dict) else []


@schemathesis.hook
def filter_case(_context: HookContext, case: Case) -> bool:
    """Whether to send it: a call that ends the session would have all others refused."""
    return "Auth.logout" not in str(case.body)


def answers_of(response: Response) -> Iterator[dict[str, Any]]:
    found = json.loads(response.content) if response.content else []
    yield from found if isinstance(found, list) else [found]


@schemathesis.check
def calls_are_answered_as_the_document_says(_context: CheckContext, response: Response, case: Case) -> None:
    about = case.meta.components.get(ParameterLocation.BODY) if case.meta is not None else None
    if about is None or not calls_of(case):
        return
    errors = [one["error"] for one in answers_of(response) if "error" in one]
    if about.mode == GenerationMode.POSITIVE:
        for error in errors:
            assert error["code"] not in REFUSED or BETWEEN_ROWS in error["message"], f"refused a right call: {error}"
    elif response.status_code == 200:
        assert errors, "answered a wrong call"
