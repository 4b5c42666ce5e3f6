"""The link index follows the configurations: what it answers, and what its administration page says."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from configurations_client import Answering, configurations, eventually, link_index


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answering]:
    with configurations(tmp_path_factory.mktemp("configurations")) as ready:
        yield ready


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def ldx(
    request: pytest.FixtureRequest, whole: Answering, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Answering]:
    options = ["--dsn", request.getfixturevalue("links_dsn")] if request.param == "postgresql" else []
    with link_index(tmp_path_factory.mktemp("links"), whole, *options) as ready:
        followed(whole, ready)
        yield ready
        assert "Traceback" not in ready.errors.read_text()


def status(ldx: Answering) -> dict[str, Any]:
    return ldx.get("/ldx/status")  # type: ignore[no-any-return]


def held(ldx: Answering) -> dict[str, int]:
    """How much is in the index."""
    told = status(ldx)
    return {key: told[key] for key in ("links", "tracked", "configurations")}


def followed(whole: Answering, ldx: Answering) -> None:
    """Wait until every source has been followed to its last change."""
    volume = whole.client.get(f"{whole.ready['url']}/volume").json()

    def done() -> bool:
        sources = status(ldx)["sources"]
        for name, one in sources.items():
            newest = ldx.get(f"/ldx/sources/{name}/history", limit=1)["members"]
            if not newest or one["state"] != "idle" or one["waiting"]:
                return False
        return seen_changes(ldx, volume)

    eventually(done)


def seen_changes(ldx: Answering, volume: dict[str, Any]) -> bool:
    before = status(ldx)["sources"]
    polls = {name: one["polls"] for name, one in before.items()}
    eventually(lambda: all(one["polls"] > polls[name] + 1 for name, one in status(ldx)["sources"].items()))
    return bool(volume)


def pointing(ldx: Answering, target: str, **parameters: Any) -> list[tuple[str, str]]:
    """(type, address of the artifact) of what points at the target."""
    found = ldx.get("/ldx/backlinks", target=target, **parameters)
    return [(one["type"], one["artifact"]) for one in found["members"]]


def test_the_seeded_links_are_found_from_their_targets(whole: Answering, ldx: Answering) -> None:
    """Every link of every test and defect, and nothing else."""
    wanted: dict[str, list[tuple[str, str]]] = {}
    for tool in ("cm", "qm"):
        for stream in range(1, 66, 3):
            for one in whole.get(f"/{tool}/artifacts", context=stream, limit=200, project=(stream + 2) // 3)["members"]:
                for link in one["links"]:
                    wanted.setdefault(link["target"], []).append((link["type"], whole.address(tool, one["id"])))
    assert len(wanted) > 10
    assert {target: sorted(pointing(ldx, target)) for target in wanted} == {k: sorted(v) for k, v in wanted.items()}
    assert status(ldx)["links"] >= sum(map(len, wanted.values()))


def test_a_new_link_is_answered_in_its_configuration_and_no_other(whole: Answering, ldx: Answering) -> None:
    target = whole.new("rm", 4, title="Pointed at")
    address = whole.address("rm", target["id"])
    test = whole.new("qm", 4, ("validates", address))
    defect = whole.new("cm", 4, ("implements", address))
    followed(whole, ldx)
    both = [("implements", whole.address("cm", defect["id"])), ("validates", whole.address("qm", test["id"]))]
    assert pointing(ldx, address) == both == pointing(ldx, address, context=4)
    assert pointing(ldx, address, context=1) == [] == pointing(ldx, address, context=5), "a baseline of before"
    product = 3 * 10 - 2
    inside = whole.new("qm", 34, ("validates", address))  # component 12, which contributes to the product 10
    followed(whole, ldx)
    assert pointing(ldx, address, context=product) == [("validates", whole.address("qm", inside["id"]))]


def test_a_baseline_answers_what_it_holds_and_a_stream_from_it_what_it_changed(
    whole: Answering, ldx: Answering
) -> None:
    address = whole.address("rm", 3)
    made = whole.new("qm", 7, ("validates", address))
    base = whole.post("/qm/configurations", {"kind": "baseline", "from": 7, "title": "Base"})
    whole.put(f"/qm/artifacts/{made['id']}", {"links": []}, context=7)
    second = whole.post("/qm/configurations", {"kind": "stream", "from": base["id"], "title": "Second"})
    held = whole.post("/gc/configurations", {"kind": "stream", "from": 8, "title": "Holds the base"})["id"]
    whole.put(f"/gc/configuration/{held}/contributions/2", {"service": "qm", "configuration": base["id"]})
    branch = whole.post("/gc/configurations", {"kind": "stream", "from": 8, "title": "Holds the second"})["id"]
    whole.put(f"/gc/configuration/{branch}/contributions/2", {"service": "qm", "configuration": second["id"]})
    followed(whole, ldx)
    mine = ("validates", whole.address("qm", made["id"]))
    assert mine in pointing(ldx, address, context=held) and mine in pointing(ldx, address, context=branch)
    assert mine not in pointing(ldx, address, context=7)
    whole.put(f"/qm/artifacts/{made['id']}", {"links": []}, configuration=second["id"])
    followed(whole, ldx)
    assert mine in pointing(ldx, address, context=held) and mine not in pointing(ldx, address, context=branch)


def test_what_is_deleted_or_saved_without_its_link_points_no_more(whole: Answering, ldx: Answering) -> None:
    for tool in ("qm", "cm"):
        address = whole.address("rm", whole.new("rm", 1)["id"])
        gone, changed = (whole.new(tool, 1, ("related", address)) for _ in range(2))
        followed(whole, ldx)
        assert len(pointing(ldx, address)) == 2
        whole.send("DELETE", f"/{tool}/artifacts/{gone['id']}", 204, params={"context": 1})
        whole.put(f"/{tool}/artifacts/{changed['id']}", {"links": []}, context=1)
        followed(whole, ldx)
        assert pointing(ldx, address) == []


def test_the_history_counts_items_and_change_records_apart(whole: Answering, ldx: Answering) -> None:
    """A test case that is created and saved with a link: three records, two items, as one of them is gone; a defect:
    two records of one item, if one poll sees both."""
    before = {name: status(ldx)["sources"][name] for name in ("qm", "cm")}
    for tool in ("qm", "cm"):
        made = whole.new(tool, 1)
        link = {"type": "related", "target": whole.address("rm", 1)}
        whole.put(f"/{tool}/artifacts/{made['id']}", {"links": [link]}, context=1)
    followed(whole, ldx)
    after = status(ldx)["sources"]
    assert after["qm"]["changes"] - before["qm"]["changes"] == 3
    assert after["qm"]["retrieved"] - before["qm"]["retrieved"] in (2, 3)
    assert after["cm"]["changes"] - before["cm"]["changes"] == 2
    assert after["cm"]["retrieved"] - before["cm"]["retrieved"] in (1, 2)
    newest = ldx.get("/ldx/sources/qm/history", limit=1)["members"][0]
    assert newest["kind"] == "changes" and newest["indexBytes"] > 0 and newest["problem"] is None
    assert newest["durationSeconds"] == (newest["durationMs"] + 500) // 1000
    [first] = ldx.get("/ldx/sources/qm/history", offset=ldx.get("/ldx/sources/qm/history")["total"] - 1)["members"]
    assert first["kind"] == "initial" and first["retrieved"] >= 44 and first["changes"] == 0


def test_the_administration_page_shows_retrieved_and_duration(ldx: Answering) -> None:
    page = ldx.raw("GET", "/ldx/web")
    assert page.headers["content-type"].startswith("text/html")
    assert all(word in page.text for word in ("Retrieved", "Duration (s)", "Change log of qm", "initial"))


def test_reindexing_gives_the_same_index(ldx: Answering, whole: Answering) -> None:
    before = held(ldx)
    polls = status(ldx)["sources"]["qm"]["polls"]
    assert ldx.send("POST", "/ldx/reindex", 202)["status"] == "begun"
    eventually(lambda: status(ldx)["sources"]["qm"]["polls"] > polls)
    followed(whole, ldx)
    eventually(lambda: held(ldx) == before)


@pytest.mark.parametrize(
    ("path", "code"),
    [("/ldx/backlinks", 400), ("/ldx/backlinks?target=", 400), ("/ldx/backlinks?target=http://" + "x" * 501, 400),
     ("/ldx/backlinks?target=x", 400), ("/ldx/backlinks?target=http://a%20b", 400),
     ("/ldx/backlinks?target=http://a&context=x", 400), ("/ldx/backlinks?target=http://a&context=99999", 404),
     ("/ldx/backlinks?target=http://a&target=http://b", 400), ("/ldx/backlinks?target=%00", 400),
     ("/ldx/backlinks?target=http://a&limit=0", 400), ("/ldx/sources/xx/history", 404),
     ("/ldx/sources/qm/history?offset=-1", 400), ("/ldx/nothing", 404)],
)  # fmt: skip
def test_wrong_questions_are_refused_with_a_message(ldx: Answering, path: str, code: int) -> None:
    assert ldx.send("GET", path, code)["error"]["message"]


@pytest.mark.parametrize("token", [None, "", "Bearer", "Bearer x", "Basic Zm9v", "Bearer ' OR '1'='1"])
def test_without_a_token_nothing_is_told_of_links(ldx: Answering, token: str | None) -> None:
    before = held(ldx)
    headers = {} if token is None else {"Authorization": token}
    for method, path in (("GET", "/ldx/backlinks?target=http://a"), ("POST", "/ldx/reindex")):
        answer = httpx.request(method, ldx.urls["ldx"] + path, headers=headers, trust_env=False)
        assert answer.status_code == 401 and answer.json()["error"]["message"]
    assert held(ldx) == before


INJECTIONS = (
    "http://x/';DROP/**/TABLE/**/entries;--",
    "http://x/'/**/OR/**/'1'='1",
    "http://x/')/**/UNION/**/SELECT/**/1,2,3,4--",
    "http://x/%' OR 1=1; DELETE FROM tracked; --",
    "http://x/\\';SELECT/**/pg_sleep(9);--",
)


@pytest.mark.parametrize("text", INJECTIONS)
def test_what_is_like_a_statement_finds_nothing_and_breaks_nothing(ldx: Answering, text: str) -> None:
    before = held(ldx)
    for parameters in (
        {"target": text},
        {"target": "http://a", "context": text},
        {"target": "http://a", "limit": text},
    ):
        answer = ldx.raw("GET", "/ldx/backlinks", params=parameters)
        if answer.status_code == 200:
            assert answer.json()["members"] == [] and parameters == {"target": text}
        else:
            assert answer.status_code == 400 and answer.json()["error"]["message"]
    assert ldx.raw("GET", f"/ldx/sources/{quote(text, safe='')}/history").status_code == 404
    assert held(ldx) == before


def test_of_reindexings_at_once_all_are_answered_and_the_index_is_the_same(ldx: Answering, whole: Answering) -> None:
    before = held(ldx)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ldx.raw("POST", "/ldx/reindex"), range(8)))
    assert {(answer.status_code, answer.json()["status"]) for answer in answers} == {(202, "begun")}
    eventually(lambda: held(ldx) == before)
    followed(whole, ldx)
    assert held(ldx) == before and all(one["problem"] is None for one in status(ldx)["sources"].values())


def test_what_is_deleted_at_once_while_the_index_reads_it_is_gone_from_it(whole: Answering, ldx: Answering) -> None:
    """Of twelve some are fetched, some written and some waiting while they are deleted, each by two at once."""
    address = whole.address("rm", whole.new("rm", 1)["id"])
    followed(whole, ldx)
    links = held(ldx)["links"]
    made = [(tool, whole.new(tool, 1, ("related", address))["id"]) for tool in ("qm", "cm") for _ in range(6)]
    ldx.send("POST", "/ldx/reindex", 202)

    def delete(one: tuple[str, int]) -> int:
        return whole.raw("DELETE", f"/{one[0]}/artifacts/{one[1]}", params={"context": 1}).status_code

    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(delete, made * 2))
    assert sorted(codes) == [204] * 12 + [404] * 12
    followed(whole, ldx)
    eventually(lambda: held(ldx)["links"] == links)
    assert pointing(ldx, address) == [] == pointing(ldx, address, context=1)
    assert all(one["problem"] is None for one in status(ldx)["sources"].values())
