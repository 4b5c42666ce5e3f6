"""Descriptions and recordings in which any part is anything else: they are read or refused with a message."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import plimsoll
from plimsoll.drafts.services.described import draft_of_description
from plimsoll.drafts.services.found_ids import ids_in
from plimsoll.engine import EngineConfig, inspect
from plimsoll.errors import InputError
from plimsoll.study import load_study

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
PARAMETER = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer", "examples": [1]}, "example": 2}
DESCRIPTION = {
    "openapi": "3.0.0",
    "info": {"title": "x"},
    "servers": [{"url": "/{v}", "variables": {"v": {"default": "1"}}}],
    "paths": {
        "/a/{id}": {"get": {"parameters": [PARAMETER, {"$ref": "#/paths"}]}, "parameters": []},
        "/b": {"get": {}},
    },
}
ENTRY = {
    "startedDateTime": "2026-11-28T10:00:00Z",
    "time": 5,
    "request": {
        "method": "POST",
        "url": "https://a.example/x/17?y=1",
        "headers": [{"name": "a", "value": "b"}],
        "postData": {"mimeType": "application/json", "text": '{"a": 1}', "params": [{"name": "x"}]},
    },
    "response": {
        "status": 200,
        "content": {"mimeType": "application/json", "text": '{"id": 17}', "encoding": "base64"},
    },
}
QUIET = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _places(given: Any) -> list[list[Any]]:
    """The way to each value in a document."""
    items = given.items() if isinstance(given, dict) else enumerate(given) if isinstance(given, list) else ()
    return [way for key, value in items for way in ([key], *([key, *rest] for rest in _places(value)))]


@st.composite
def _changed(draw: st.DrawFn, document: Any) -> Any:
    """The document with one or two values that are anything else."""
    changed = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 2))):
        *way, last = draw(st.sampled_from(_places(changed)))
        inner = changed
        for key in way:
            inner = inner[key]
        inner[last] = draw(ANY)
        if not _places(changed):
            break
    return changed


@QUIET
@given(_changed(DESCRIPTION))
def test_any_description_is_read_or_refused(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "d.json"
    path.write_text(json.dumps(document))
    try:
        draft = draft_of_description(path, None)
    except InputError as error:
        assert error.next_step
    else:
        assert draft.operations and "\x1b" not in str(draft)


@QUIET
@given(_changed({"log": {"entries": [ENTRY, ENTRY]}}))
def test_any_recording_is_made_again_or_refused(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "use.har"
    path.write_text(json.dumps(document))
    try:
        plimsoll.new(har=path, output=tmp_path / "load", force=True)
    except InputError as error:
        assert error.next_step
    else:
        load_study(tmp_path / "load" / "study.yaml")
        assert "session" in inspect(EngineConfig(tmp_path / "load" / "script.js"))["exports"]


@settings(max_examples=200, deadline=None)
@given(ANY, st.text(max_size=5), st.text(max_size=5))
def test_any_answer_has_ids_or_none(document: Any, place: str, list_name: str) -> None:
    assert all(0 < len(one) <= 200 for one in ids_in(json.dumps(document).encode(), place, list_name))
