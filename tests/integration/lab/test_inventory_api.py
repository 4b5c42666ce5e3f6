"""The REST paths of the inventory, through the gateway: on SQLite and PostgreSQL, with and without indexes."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from inventory_client import Inventory, serving

from plimsoll_lab.inventory import documents, seed
from plimsoll_lab.seeding import word_pool

INSTANCES = 300
SEEDED = list(seed.invented_instances(INSTANCES, 1, word_pool(1)))
COLUMNS = {document["id"]: documents.columns_of(document) for document in SEEDED}
FIELDS = ("title", "contributors", "identifiers", "subjects")
TYPE = next(entry.id for entry in seed.reference_data() if entry.kind == "instance-types")


@pytest.fixture(scope="module", params=["sqlite", "postgresql", "sqlite with defects", "postgresql with defects"])
def inventory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inventory]:
    options = ["--reset"]
    if "postgresql" in request.param:
        options += ["--dsn", request.getfixturevalue("inventory_dsn")]
    if "defects" in request.param:
        options += ["--missing-index", "--load-all"]
    with serving(tmp_path_factory.mktemp("inventory"), *options, instances=INSTANCES) as ready:
        yield ready


def new(**fields: Any) -> dict[str, Any]:
    return {"source": "FOLIO", "title": "A new one", "instanceTypeId": TYPE, **fields}


def has(*words: str, fields: tuple[str, ...] = FIELDS, each: Callable[..., bool] = all) -> Callable[[Any], bool]:
    return lambda columns: each(any(f" {word}" in columns[f"{field}_words"] for field in fields) for word in words)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("cql.allRecords=1", lambda columns: True),
        ("keyword all history", has("history ")),
        ('keyword all "History LAW"', has("history ", "law ")),
        ('subjects any "law botany"', has("law ", "botany ", fields=("subjects",), each=any)),
        ("subjects = hist*", has("hist", fields=("subjects",))),
        ("title = a*", has("a", fields=("title",))),
        ("identifiers = 978*", has("978", fields=("identifiers",))),
        ("identifiers = ocm00000007", has("ocm00000007 ", fields=("identifiers",))),
        ("history not law", lambda columns: has("history ")(columns) and not has("law ")(columns)),
        ("law or (botany and history)", lambda columns: has("law ")(columns) or has("botany ", "history ")(columns)),
        ("subjects <> history", lambda columns: not has("history ", fields=("subjects",))(columns)),
        ("source == MARC", lambda columns: columns["source"] == "MARC"),
        ("hrid == in00000000009", lambda columns: columns["hrid"] == "in00000000009"),
        (f"id == {SEEDED[3]['id']}", lambda columns: columns["id"] == SEEDED[3]["id"]),
        (f'title == "{SEEDED[5]["title"]}"', lambda columns: columns["id"] == SEEDED[5]["id"]),
        (
            f'title adj "{" ".join(SEEDED[5]["title"].split()[:3])}"',
            lambda columns: f" {' '.join(SEEDED[5]['title'].lower().split()[:3])} " in columns["title_words"],
        ),
        ("subjects = *", lambda columns: columns["subjects_words"] != ""),
        ("title = zyzzyva", lambda columns: False),
    ],
)
def test_a_search_finds_what_a_plain_reading_of_the_documents_finds(
    inventory: Inventory, query: str, expected: Callable[[Any], bool]
) -> None:
    wanted = {identity for identity, columns in COLUMNS.items() if expected(columns)}
    found = inventory.ids(query)
    assert set(found) == wanted and len(found) == len(wanted)
    page = inventory.get("/inventory/instances", query=query, limit=1000)
    assert [one["id"] for one in page["instances"]] == found
    assert page["totalRecords"] == len(found)


def test_results_are_sorted_and_pages_neither_overlap_nor_leave_out(inventory: Inventory) -> None:
    for query, reverse in (("history sortby title", False), ("history sortby title/descending", True)):
        ids = inventory.ids(query)
        titles = [COLUMNS[one]["title_sort"].encode() for one in ids]
        assert titles == sorted(titles, reverse=reverse) and len(titles) > 100
        paged: list[str] = []
        for offset in range(0, len(ids) + 40, 40):
            page = inventory.get("/inventory/instances", query=query, offset=offset, limit=40)
            assert page["totalRecords"] == len(ids)
            paged += [one["id"] for one in page["instances"]]
        assert paged == ids


def test_an_instance_is_created_found_changed_and_deleted(inventory: Inventory) -> None:
    sent = new(title="Zyzzyvas of Łódź and Köln", subjects=["Weevils"], metadata={"x": 1})
    made = inventory.send("POST", "/instance-storage/instances", 201, json=sent)
    path = f"/instance-storage/instances/{made['id']}"
    try:
        assert (made["_version"], made["title"]) == (1, sent["title"]) and "x" not in made["metadata"]
        assert inventory.ids('title all "ZYZZYVAS koln"') == inventory.ids("subjects = weevil*") == [made["id"]]
        assert inventory.get(f"/inventory/instances/{made['id']}")["links"]["self"].endswith(made["id"])
        inventory.send("PUT", path, 204, json={**made, "title": "Beetles"})
        assert inventory.get(path)["_version"] == 2
        assert inventory.ids("title = zyzzyvas") == [] and inventory.ids("title = beetles") == [made["id"]]
        told = inventory.send("PUT", path, 409, json={**made, "title": "Late"})
        assert "at version 2, not 1" in told["errors"][0]["message"]
        inventory.send("PUT", path, 409, json={**new(), "hrid": SEEDED[0]["hrid"]})
        inventory.send("POST", "/instance-storage/instances", 409, json={**new(), "id": made["id"]})
    finally:
        inventory.send("DELETE", path, 204)
    assert inventory.get(path, status=404)["errors"]
    assert inventory.ids("title = beetles") == []
    assert inventory.get("/volume") == {"instances": INSTANCES}


def test_of_concurrent_changes_and_deletes_one_alone_succeeds(inventory: Inventory) -> None:
    made = inventory.send("POST", "/instance-storage/instances", 201, json=new(title="Contended"))
    path = f"/instance-storage/instances/{made['id']}"

    def status(method: str, **options: Any) -> int:
        return inventory.client.request(method, path, **options).status_code

    with ThreadPoolExecutor(8) as pool:
        puts = list(pool.map(lambda n: status("PUT", json={**made, "title": f"Change {n}"}), range(8)))
        assert sorted(puts) == [204] + [409] * 7
        deletes = list(pool.map(lambda _: status("DELETE"), range(8)))
        assert sorted(deletes) == [204] + [404] * 7
    creates = [new(title=f"At once {n}") for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        made_many = list(
            pool.map(lambda one: inventory.send("POST", "/instance-storage/instances", 201, json=one), creates)
        )
    assert inventory.get("/volume") == {"instances": INSTANCES + 8}
    for one in made_many:
        inventory.send("DELETE", f"/instance-storage/instances/{one['id']}", 204)


def test_a_search_beside_deletes_finds_what_is_there(inventory: Inventory) -> None:
    made = [inventory.send("POST", "/instance-storage/instances", 201, json=new(title=f"Gone {n}")) for n in range(60)]
    ended = threading.Event()

    def search(_: int) -> set[int]:
        found = set()
        while not ended.is_set():
            path = "/inventory/instances?limit=1000&query=" + quote('title all "gone"')
            found.add(inventory.client.get(path).status_code)
        return found

    with ThreadPoolExecutor(3) as pool:
        searches = [pool.submit(search, n) for n in range(3)]
        for one in made:
            inventory.send("DELETE", f"/instance-storage/instances/{one['id']}", 204)
        ended.set()
    assert set.union(*(one.result() for one in searches)) == {200}
    assert inventory.get("/volume") == {"instances": INSTANCES}


def test_without_a_good_token_nothing_is_told(inventory: Inventory) -> None:
    paths = ("/inventory/instances", "/instance-bulk/ids", "/instance-types", "/users", "/admin/profile")
    for headers in ({"X-Okapi-Token": ""}, {"X-Okapi-Token": "a.b"}, {"X-Okapi-Token": "x" * 3000}):
        for path in paths:
            assert inventory.send("GET", path, 401, headers=headers)["errors"][0]["code"] == "token"
        path = f"/instance-storage/instances/{SEEDED[0]['id']}"
        inventory.send("DELETE", path, 401, headers=headers)
    assert inventory.get("/volume") == {"instances": INSTANCES}
    wrong = {"username": "librarian01", "password": "wrong"}
    assert inventory.send("POST", "/authn/login", 401, json=wrong)["errors"][0]["code"] == "login"
    inventory.send("POST", "/authn/login", 401, json={"username": "' OR 1=1 --", "password": "x"})
    assert inventory.client.get("/authn/check").status_code == 404, "the modules' own paths are not passed on"


INJECTIONS = [
    '" OR 1=1 --',
    "'; DROP TABLE instances; --",
    '") OR 1=1',
    "title = \"a' OR 'b'='b\"",
    "x' UNION SELECT 1 --",
    'title all "a" sortby (SELECT 1)',
    "id == \"' OR '1'='1\"",
    "instances_text MATCH 'a'",
    "NEAR(a b)",
    "a -- b",
    "\\",
    "%",
    "title = %25",
    "🐞",
    "käse 漢字",
    '"' * 99,
    "(" * 500,
    "a:b",
    "{title} : x",
    "^a",
    "a + b",
]


@pytest.mark.parametrize("query", INJECTIONS)
def test_an_injected_query_is_words_or_a_mistake_and_changes_nothing(inventory: Inventory, query: str) -> None:
    for path in ("/inventory/instances", "/instance-storage/instances", "/instance-bulk/ids"):
        answer = inventory.client.get(path, params={"query": query})
        assert answer.status_code in (200, 400), answer.text
        if answer.status_code == 200:
            assert answer.json()["totalRecords"] < INSTANCES
        else:
            assert answer.json()["errors"][0]["message"]
    assert inventory.get("/volume") == {"instances": INSTANCES}


@pytest.mark.parametrize(
    ("method", "path", "options", "status"),
    [
        ("GET", "/nothing", {}, 404),
        ("DELETE", "/instance-types", {}, 405),
        ("PATCH", "/instance-storage/instances", {}, 405),
        ("POST", "/openapi.json", {}, 405),
        ("GET", "/inventory/instances?limit=-1", {}, 400),
        ("GET", "/inventory/instances?limit=1e3", {}, 400),
        ("GET", "/inventory/instances?limit=99999999999999999999", {}, 400),
        ("GET", "/inventory/instances?offset=²", {}, 400),
        ("GET", "/inventory/instances?limit=1&limit=2", {}, 400),
        ("GET", "/inventory/instances?colour=red", {}, 400),
        ("GET", "/instance-bulk/ids?limit=1", {}, 400),
        ("GET", f"/instance-bulk/ids?query={'x' * 60000}", {}, 414),
        ("GET", "/instance-bulk/ids?query=%ff%fe", {}, 400),
        ("GET", "/instance-bulk/ids?query=a%00b", {}, 400),
        ("GET", "/instance-storage/instances/1", {}, 400),
        ("GET", "/inventory/instances/..%2f..%2fetc", {}, 404),
        ("GET", "/instance-storage/instances/%00", {}, 400),
        ("GET", f"/instance-storage/instances/{uuid.UUID(int=0, version=4)}", {}, 404),
        (
            "POST",
            "/instance-storage/instances",
            {"content": b"{", "headers": {"content-type": "application/json"}},
            400,
        ),
        (
            "POST",
            "/instance-storage/instances",
            {"content": b"[" * 50000, "headers": {"content-type": "application/json"}},
            400,
        ),
        (
            "POST",
            "/instance-storage/instances",
            {"content": b"\xff\xfe", "headers": {"content-type": "application/json"}},
            400,
        ),
        (
            "POST",
            "/instance-storage/instances",
            {"content": b'{"a": NaN}', "headers": {"content-type": "application/json"}},
            400,
        ),
        ("POST", "/instance-storage/instances", {"content": b"a=b"}, 415),
        ("POST", "/instance-storage/instances", {"json": []}, 400),
        ("POST", "/instance-storage/instances", {"json": {}}, 422),
        ("POST", "/instance-storage/instances", {"json": new(title=7)}, 422),
        ("POST", "/instance-storage/instances", {"json": new(title="a\0")}, 422),
        ("POST", "/instance-storage/instances", {"json": new(title="x" * 2001)}, 422),
        ("POST", "/instance-storage/instances", {"json": new(notes=[{"note": "x" * 5000}] * 30)}, 413),
        (
            "POST",
            "/instance-storage/instances",
            {"content": json.dumps(new(title="\ud800")), "headers": {"content-type": "application/json"}},
            422,
        ),
        (
            "POST",
            "/instance-storage/instances",
            {"content": json.dumps({"\ud800": 1}), "headers": {"content-type": "application/json"}},
            422,
        ),
        ("PUT", f"/instance-storage/instances/{uuid.UUID(int=0, version=4)}", {"json": new()}, 404),
        ("PUT", f"/instance-storage/instances/{SEEDED[0]['id']}", {"json": {**new(), "id": SEEDED[1]["id"]}}, 422),
        ("POST", "/authn/login", {"json": {"username": 1}}, 422),
        ("POST", "/authn/login", {"json": {"username": "a", "password": "b" * 101}}, 422),
        (
            "POST",
            "/authn/login",
            {
                "content": json.dumps({"username": "a", "password": "\ud800"}),
                "headers": {"content-type": "application/json"},
            },
            401,
        ),
    ],
)
def test_a_wrong_request_is_told_what_is_wrong(
    inventory: Inventory, method: str, path: str, options: dict[str, Any], status: int
) -> None:
    told = inventory.send(method, path, status, **options)
    assert told["errors"] and all(one["message"] and one["code"] for one in told["errors"])


def test_reference_data_and_users_are_paged(inventory: Inventory) -> None:
    kinds = seed.REFERENCE_KINDS
    for kind, names in kinds.items():
        answer = inventory.get(f"/{kind}", limit=1000)
        [entries] = [value for key, value in answer.items() if key != "totalRecords"]
        assert [one["name"] for one in entries] == list(names) and answer["totalRecords"] == len(names)
    assert len(inventory.get("/users", offset=15, limit=10)["users"]) == 5


def test_a_document_keeps_every_letter(inventory: Inventory) -> None:
    title = 'Tabs\tand "quotes" \\ \u2028 \x7f 漢字 🐞 </script>'
    made = inventory.send("POST", "/instance-storage/instances", 201, json=new(title=title))
    assert inventory.get(f"/inventory/instances/{made['id']}")["title"] == title
    inventory.send("DELETE", f"/instance-storage/instances/{made['id']}", 204)


def test_the_profile_says_that_the_profiler_is_off(inventory: Inventory) -> None:
    assert "--profiler" in inventory.get("/admin/profile", status=404)["errors"][0]["message"]


def test_other_data_than_wanted_is_told(tmp_path: Path) -> None:
    with serving(tmp_path, instances=5):
        pass
    with pytest.raises(AssertionError, match="holds 5 seeded instances, not 6"), serving(tmp_path, instances=6):
        pass
