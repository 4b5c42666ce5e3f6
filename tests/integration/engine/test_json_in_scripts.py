"""JSON and Response in scripts: what Plimsoll does itself says what the JavaScript engine's own functions say.

`JSON.stringify` with a replacer and `JSON.parse` with a reviver are the engine's own, so that each case is judged
against them in the same script.
"""

from __future__ import annotations

from collections.abc import Callable

from script_checks import failures_of

Server = Callable[..., str]


def test_stringify_says_what_the_engine_says() -> None:
    assert failures_of("stringify.js") == []


def test_parse_says_what_the_engine_says() -> None:
    assert failures_of("parse.js") == []


def test_response_is_a_plain_object_to_scripts(known_server: Server) -> None:
    assert failures_of("response.js", known_server()) == []


def test_check_records_each_test() -> None:
    assert failures_of("checks.js") == ["falsy", "nothing", "throws"]
