"""OpenAPI 2.0 and 3, JSON and YAML: operations, references, values of parameters; and what is no description."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import plimsoll
from plimsoll.drafts.services.asking import does_something
from plimsoll.drafts.services.descriptions import read_description
from plimsoll.drafts.services.found_ids import ids_in
from plimsoll.errors import InputError

PETS = """openapi: 3.0.3
info: {title: Pets, version: "1"}
servers: [{url: "https://pets.example.org/{stage}/v1/", variables: {stage: {default: live}}}]
paths:
  /pets:
    parameters: [{$ref: "#/components/parameters/Limit"}]
    get: {operationId: listPets, responses: {}}
    post: {operationId: addPet, responses: {}}
  /pets/{petId}:
    parameters: [{name: petId, in: path, required: true, schema: {$ref: "#/components/schemas/Id"}}]
    get: {responses: {}}
  /days/{day}:
    get:
      parameters:
        - name: day
          in: path
          required: true
          schema: {type: string}
          examples: {one: {value: 2026-11-28}, two: {$ref: "#/components/examples/Two"}}
        - {name: kind, in: query, required: true, schema: {anyOf: [{type: string, enum: [a, b c]}, {type: "null"}]}}
  /loop/{id}:
    get: {parameters: [{$ref: "#/components/parameters/Loop"}]}
components:
  schemas: {Id: {type: integer, example: 7}}
  examples: {Two: {value: 2026-11-29}}
  parameters:
    Limit: {name: limit, in: query, schema: {type: integer, default: 20}}
    Loop: {$ref: "#/components/parameters/Loop"}
"""
SWAGGER = {
    "swagger": "2.0",
    "basePath": "/v2",
    "paths": {
        "/store/{id}": {"get": {"parameters": [{"name": "id", "in": "path", "type": "string", "x-example": "s1"}]}},
        "/pet/findByStatus": {
            "get": {
                "parameters": [
                    {
                        "name": "status",
                        "in": "query",
                        "required": True,
                        "type": "array",
                        "items": {"type": "string", "enum": ["sold", "free"]},
                    }
                ]
            }
        },
        "/flag": {"get": {"parameters": [{"name": "on", "in": "query", "required": True, "type": "boolean"}]}},
        "/user/logout": {"get": {}},
        "/old": {"get": {"deprecated": True}},
        "/signed": {"get": {"parameters": [{"name": "api_key", "in": "query", "required": True, "default": "k"}]}},
        "/x/{unknown}": {"get": {}},
    },
}


def test_references_examples_and_servers_are_followed() -> None:
    found = read_description(PETS, "pets.yaml")
    assert (found.title, found.version, found.base) == ("Pets", "3.0.3", "/live/v1")
    operations = {f"{one.method} {one.path}": one for one in found.operations}
    assert list(operations) == ["GET /pets", "POST /pets", "GET /pets/{petId}", "GET /days/{day}", "GET /loop/{id}"]
    values = {part.name: part.values for part in operations["GET /days/{day}"].parameters}
    assert values == {"day": ("2026-11-28", "2026-11-29"), "kind": ("a", "b c")}
    assert operations["GET /pets/{petId}"].in_path()[0].values == ("7",)
    assert operations["GET /pets"].parameters[0].values == ("20",)
    assert operations["GET /loop/{id}"].in_path()[0].values == ()


def test_a_description_without_a_service_gives_what_it_knows_values_for(tmp_path: Path) -> None:
    (tmp_path / "swagger.json").write_text(json.dumps(SWAGGER))
    draft = plimsoll.new(openapi=tmp_path / "swagger.json", output=tmp_path / "load")
    assert {one.request: (one.rows, one.fixed_query) for one in draft.operations} == {
        "GET /v2/store/{id}": (({"id": "s1"},), ""),
        "GET /v2/pet/findByStatus": (({"query": "?status=sold"}, {"query": "?status=free"}), ""),
        "GET /v2/flag": (({"query": "?on=true"}, {"query": "?on=false"}), ""),
    }
    assert {one.request: one.reason for one in draft.left_out} == {
        "GET /v2/user/logout": "its name says that it does something",
        "GET /v2/old": "it is deprecated",
        "GET /v2/signed": "it needs a secret in its query",
        "GET /v2/x/{unknown}": "no value is known for unknown",
    }
    assert draft.url is None and draft.asked == ()
    assert "put the address of the service under test into study.yaml" in str(draft)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "neither JSON nor YAML"),
        ("a: [", "neither JSON nor YAML"),
        ("[" * 100_000, "neither JSON nor YAML"),
        ("[]", "no OpenAPI description"),
        ("", "no OpenAPI description"),
        ("name: x", "neither `openapi:` nor `swagger:`"),
        ("swagger: '1.2'\npaths: {}", "says version 1.2"),
        ("openapi: 3.0.0", "no paths"),
        ("openapi: 3.0.0\npaths: [1]", "no paths"),
    ],
)
def test_what_is_no_description_is_said(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_description(text, "file.yaml")


def test_a_description_of_strange_parts_is_read_as_far_as_it_can_be() -> None:
    paths = "{/a: 1, /b: {get: 2}, c: {get: {}}, /d: {get: {parameters: [1, {in: path}, {name: x}]}}}"
    text = f"openapi: 3.1.0\npaths: {paths}"
    assert [one.path for one in read_description(text, "x").operations] == ["/d"]


def test_without_any_usable_operation_the_reasons_are_said(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("openapi: 3.0.0\npaths: {/a: {post: {}}, '/b/{id}': {get: {}}}")
    with pytest.raises(InputError, match=r"POST /a: it may write; GET /b/\{id\}: no value is known for id"):
        plimsoll.new(openapi=tmp_path / "a.yaml", output=tmp_path / "load")
    assert not (tmp_path / "load").exists()


@pytest.mark.parametrize(
    ("path", "operation_id"),
    [
        ("/user/logout", ""),
        ("/reports/{id}/send", ""),
        ("/x", "sendReport"),
        ("/admin/re-index", ""),
        ("/a/deleteAll", ""),
    ],
)
def test_a_get_whose_name_says_that_it_does_something(path: str, operation_id: str) -> None:
    assert does_something(path, operation_id)


@pytest.mark.parametrize(
    ("path", "operation_id"),
    [
        ("/users/{loginName}", "getUserByLogin"),
        ("/runs", "listRuns"),
        ("/addresses", ""),
        ("/issues/{id}", "showIssue"),
    ],
)
def test_a_get_that_reads(path: str, operation_id: str) -> None:
    assert not does_something(path, operation_id)


@pytest.mark.parametrize(
    ("document", "place", "ids"),
    [
        ([{"id": 7}, {"id": 8}], "petId", ["7", "8"]),
        ({"total": 2, "items": [{"pet_id": "a", "id": 1}]}, "petId", ["a"]),
        ({"_embedded": {"pets": [{"uuid": "u"}]}}, "id", ["u"]),
        ({"data": {"pets": [{"slug": "s"}]}}, "id", ["s"]),
        (["x", "y", "x"], "name", ["x", "y"]),
        ({"p1": {"size": 1}, "p2": {"size": 2}}, "id", ["p1", "p2"]),
        ([{"id": True}, {"id": None}, {"id": ""}, 1.5, None], "id", []),
        ({}, "id", []),
        ("text", "id", []),
        ({"petId": [{"x": 1}]}, "id", []),
    ],
)
def test_ids_are_found_in_the_answer_of_a_list(document: object, place: str, ids: list[str]) -> None:
    assert ids_in(json.dumps(document).encode(), place, "pets") == ids


def test_what_is_no_json_has_no_ids() -> None:
    assert ids_in(b"<html>", "id", "pets") == [] and ids_in(b"[" * 100_000, "id", "pets") == []
