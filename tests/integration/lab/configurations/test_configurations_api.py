"""What users do with global configurations and artifacts, on SQLite and PostgreSQL."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from configurations_client import COMPONENTS, Answering

from plimsoll_lab.configurations.global_queries import DEEPEST

TOOLS = ("rm", "qm", "cm")


def main_stream(component: int) -> int:
    """The stream that a component is seeded with; its baselines are the next two."""
    return 3 * component - 2


def test_components_come_in_pages_and_are_found_by_the_beginnings_of_their_words(whole: Answering) -> None:
    first = whole.get("/gc/components", limit=5)
    assert [one["id"] for one in first["members"]] == [1, 2, 3, 4, 5] and first["total"] == COMPONENTS
    last = whole.get("/gc/components", offset=20)
    assert [one["id"] for one in last["members"]] == [21, 22]
    title = first["members"][2]["title"]
    beginning = title.split()[0][:4].upper()
    found = whole.get("/gc/components", query=f"{beginning} {title.split()[1]} 3")
    assert [one["id"] for one in found["members"]] == [3]
    assert whole.get("/gc/components", query="%")["total"] == COMPONENTS  # no word, so everything
    assert whole.get("/gc/components", query="x' OR 1=1 --")["total"] == 0


def test_a_new_component_is_found_with_accents_or_without(whole: Answering) -> None:
    made = whole.post("/gc/components", {"title": "Überdruckventil Nº 77"})
    for query in ("uberdruck", "ÜBERDRUCKVENTIL 77"):
        assert [one["id"] for one in whole.get("/gc/components", query=query)["members"]] == [made["id"]]
    assert whole.get(f"/gc/components/{made['id']}")["counts"] == {"stream": 0, "staging": 0, "baseline": 0}


def test_sql_in_titles_and_descriptions_is_text_and_is_found_again_as_it_was_written(whole: Answering) -> None:
    held = {tool: whole.get(f"/{tool}/artifacts", context=4)["total"] for tool in TOOLS}
    for text in (
        "'; DROP TABLE versions; --",
        "1' OR '1'='1",
        '"; DELETE FROM links; --',
        "\\'); SELECT pg_sleep(9) --",
    ):
        component = whole.post("/gc/components", {"title": text})
        assert whole.get(f"/gc/components/{component['id']}")["title"] == text
        stream = whole.post("/gc/configurations", {"kind": "stream", "from": 5, "title": text})
        assert whole.get(f"/gc/configuration/{stream['id']}")["title"] == text
        for tool in TOOLS:
            local = whole.post(f"/{tool}/configurations", {"kind": "baseline", "from": 4, "title": text})
            assert whole.get(f"/{tool}/configurations/{local['id']}")["title"] == text
            made = whole.post(f"/{tool}/artifacts", {"title": text, "description": text}, context=4)
            path = f"/{tool}/artifacts/{made['id']}"
            assert whole.get(path, context=4)["description"] == text
            whole.put(path, {"title": text + text}, context=4)
            seen = whole.get(path, context=4)
            assert (seen["title"], seen["description"]) == (text + text, text)
            whole.send("DELETE", path, 204, params={"context": 4})
    assert whole.get("/gc/components", query="pg_sleep")["total"] == 1
    assert {tool: whole.get(f"/{tool}/artifacts", context=4)["total"] for tool in TOOLS} == held


def test_a_quick_search_tells_streams_from_baselines(whole: Answering) -> None:
    streams = whole.get("/gc/configurations", kind="stream", component=7)
    baselines = whole.get("/gc/configurations", kind="baseline", component=7)
    assert [one["id"] for one in streams["members"]] == [19]
    assert [one["id"] for one in baselines["members"]] == [20, 21]
    word = streams["members"][0]["title"].split()[0]
    assert {one["kind"] for one in whole.get("/gc/configurations", query=word, component=7)["members"]} == {
        "stream", "baseline",
    }  # fmt: skip


def test_a_hierarchy_is_resolved_depth_first_and_of_one_project_the_first_counts(whole: Answering) -> None:
    product = whole.get(f"/gc/configuration/{main_stream(10)}")
    assert [one.get("child") for one in product["contributions"]][3:] == [main_stream(n) for n in range(11, 20)]
    assert [(one["service"], one["project"]) for one in product["resolved"]] == [
        (tool, project) for project in range(10, 20) for tool in TOOLS
    ]
    other = whole.post("/gc/configurations", {"kind": "stream", "from": main_stream(10) + 1, "title": "Product again"})
    changed = whole.put(f"/gc/configuration/{other['id']}/contributions/1", {"child": main_stream(11)})
    resolved = whole.get(f"/gc/configuration/{changed['id']}")["resolved"]
    assert resolved[0] == {"service": "rm", "project": 11, "configuration": main_stream(11), "kind": "stream"}
    of_project = [one for one in resolved if one["project"] == 11]
    assert [one["configuration"] for one in of_project] == [main_stream(11)] * 3, "the child at position 1 comes first"


def test_a_hierarchy_has_no_circles(whole: Answering) -> None:
    top = main_stream(20)
    told = whole.put(f"/gc/configuration/{main_stream(21)}/contributions/4", {"child": top}, 409)
    assert "circles" in told["error"]["message"]
    assert "circles" in whole.put(f"/gc/configuration/{top}/contributions/1", {"child": top}, 409)["error"]["message"]


def test_a_hierarchy_is_as_deep_as_it_is_resolved_and_no_deeper(whole: Answering) -> None:
    origin = main_stream(11) + 1  # to which no other contributes
    chain = [
        whole.post("/gc/configurations", {"kind": "stream", "from": origin, "title": f"Level {n}"})["id"]
        for n in range(DEEPEST + 2)
    ]
    held = whole.get(f"/gc/configuration/{chain[0]}")["contributions"]
    place = len(held) + 1
    for above, below in pairwise(chain[: DEEPEST + 1]):
        whole.put(f"/gc/configuration/{above}/contributions/{place}", {"child": below})
    told = whole.put(f"/gc/configuration/{chain[DEEPEST]}/contributions/{place}", {"child": chain[DEEPEST + 1]}, 409)
    assert f"{DEEPEST} levels" in told["error"]["message"]
    told = whole.put(f"/gc/configuration/{chain[DEEPEST + 1]}/contributions/{place}", {"child": chain[0]}, 409)
    assert f"{DEEPEST} levels" in told["error"]["message"], "nor from above"
    told = whole.put(f"/gc/configuration/{chain[DEEPEST]}/contributions/{place}", {"child": chain[0]}, 409)
    assert "circles" in told["error"]["message"]


def test_of_two_that_would_contain_each_other_one_is_refused(whole: Answering) -> None:
    origin = main_stream(11) + 1
    first, second = (
        whole.post("/gc/configurations", {"kind": "stream", "from": origin, "title": f"Turn {n}"})["id"] for n in "ab"
    )
    place = len(whole.get(f"/gc/configuration/{first}")["contributions"]) + 1

    def put(one: int, child: int) -> int:
        url = f"{whole.urls['gc']}/gc/configuration/{one}/contributions/{place}"
        return whole.client.put(url, json={"child": child}).status_code

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(put, (first, second), (second, first)))
    assert sorted(done) == [200, 409]


def test_a_baseline_is_created_and_committed_when_nothing_in_it_moves(whole: Answering) -> None:
    made = whole.post("/gc/configurations", {"kind": "staging", "from": main_stream(5), "title": "Fifth, release 3"})
    where = f"/gc/configuration/{made['id']}"
    assert made["kind"] == "staging" and made["component"] == 5
    told = whole.post(f"{where}/commit", status=409)["error"]["message"]
    assert "1 (stream), 2 (stream), 3 (stream)" in told
    for place, tool in enumerate(TOOLS, start=1):
        [*_, newest] = whole.get(f"/{tool}/configurations", project=5, kind="baseline")["members"]
        whole.put(f"{where}/contributions/{place}", {"service": tool, "configuration": newest["id"]})
    assert whole.post(f"{where}/commit", status=200)["kind"] == "baseline"
    assert made["id"] in [
        one["id"] for one in whole.get("/gc/configurations", kind="baseline", query="fifth")["members"]
    ]
    assert "does not change" in whole.put(f"{where}/contributions/1", {"child": 1}, 409)["error"]["message"]
    assert "is a baseline" in whole.post(f"{where}/commit", status=409)["error"]["message"]


def test_only_one_of_many_commits_at_the_same_time_does_it(whole: Answering) -> None:
    made = whole.post("/gc/configurations", {"kind": "staging", "from": main_stream(4), "title": "Fourth"})
    where = f"/gc/configuration/{made['id']}"
    for place, tool in enumerate(TOOLS, start=1):
        whole.put(f"{where}/contributions/{place}", {"service": tool, "configuration": main_stream(4) + 1})
    with ThreadPoolExecutor(8) as pool:
        found = sorted(pool.map(lambda _: whole.raw("POST", f"{where}/commit").status_code, range(8)))
    assert found == [200] + [409] * 7


def test_a_staging_area_is_thrown_away_once_and_its_number_is_not_given_again(whole: Answering) -> None:
    body = {"kind": "staging", "from": main_stream(6), "title": "Sixth"}
    made = whole.post("/gc/configurations", body)
    where = f"/gc/configuration/{made['id']}"
    with ThreadPoolExecutor(6) as pool:
        found = sorted(pool.map(lambda _: whole.raw("DELETE", where).status_code, range(6)))
    assert found == [204] + [404] * 5
    assert whole.post("/gc/configurations", body)["id"] > made["id"]
    assert whole.send("DELETE", f"/gc/configuration/{main_stream(6)}", 409)["error"]["message"].endswith("thrown away.")


def test_a_tools_proxy_asks_the_user_service_and_passes_on(whole: Answering) -> None:
    before = whole.telemetry()
    direct = whole.get("/gc/configuration/1")
    assert whole.get("/rm/proxy/gc/configuration/1") == direct
    assert whole.get("/qm/proxy/gc/configurations", kind="stream", limit=1)["total"] >= COMPONENTS
    after = whole.telemetry()
    assert after["jts.checks"] - before["jts.checks"] == 2
    assert (after["rm.proxied"] - before["rm.proxied"], after["qm.proxied"] - before["qm.proxied"]) == (1, 1)
    assert whole.get("/rm/proxy/gc/trs", 404) and whole.get("/rm/proxy/gc/configuration/999999", 404)


def test_an_artifact_is_created_in_the_stream_that_its_global_configuration_means(whole: Answering) -> None:
    made = whole.new("qm", main_stream(3), title="A test of the third")
    assert made["stream"] == main_stream(3) and made["context"] == main_stream(3)
    shown = whole.get(f"/qm/artifacts/{made['id']}", context=main_stream(3))
    assert shown["title"] == "A test of the third" and shown["configuration"] == main_stream(3)
    assert (
        "is a baseline"
        in whole.post("/qm/artifacts", {"title": "x"}, 409, context=main_stream(3) + 1)["error"]["message"]
    )
    assert whole.get(f"/qm/artifacts/{made['id']}", 404, context=main_stream(2))
    in_product = whole.post("/rm/artifacts", {"title": "x", "project": 12}, context=main_stream(10))
    assert in_product["stream"] == main_stream(12)


def test_a_save_makes_a_new_version_of_a_test_and_changes_a_defect_in_place(whole: Answering) -> None:
    for tool, versioned in (("qm", True), ("cm", False)):
        made = whole.new(tool, 1)
        where = f"/{tool}/artifacts/{made['id']}"
        link = {"type": "validates", "target": whole.address("rm", 1)}
        saved = whole.put(where, {"links": [link], "version": made["version"]}, context=1)
        assert saved["links"] == [link] and saved["title"] == made["title"]
        assert (saved["version"] > made["version"]) is versioned
        if versioned:
            told = whole.put(where, {"title": "y", "version": made["version"]}, 409, context=1)
            assert "Read it again" in told["error"]["message"]
            assert whole.get(f"/qm/versions/{made['version']}")["died"] is not None
            assert whole.get(f"/qm/versions/{saved['version']}")["links"] == [link]


def test_a_baseline_keeps_what_there_was_and_a_stream_from_it_starts_there(whole: Answering) -> None:
    stream = whole.get("/rm/configurations", project=2, kind="stream")["members"][0]["id"]
    made = [whole.post("/rm/artifacts", {"title": f"Kept {n}"}, configuration=stream) for n in range(3)]
    base = whole.post("/rm/configurations", {"kind": "baseline", "from": stream, "title": "Base"})
    for one in made[:2]:
        whole.put(f"/rm/artifacts/{one['id']}", {"title": "Changed"}, configuration=stream)
    whole.send("DELETE", f"/rm/artifacts/{made[2]['id']}", 204, params={"configuration": stream})
    titles = {c: titles_in(whole, c, made) for c in (stream, base["id"])}
    assert titles == {stream: ["Changed", "Changed", None], base["id"]: ["Kept 0", "Kept 1", "Kept 2"]}
    second = whole.post("/rm/configurations", {"kind": "stream", "from": base["id"], "title": "Second"})["id"]
    assert titles_in(whole, second, made) == ["Kept 0", "Kept 1", "Kept 2"]
    whole.put(f"/rm/artifacts/{made[0]['id']}", {"title": "Otherwise"}, configuration=second)
    whole.send("DELETE", f"/rm/artifacts/{made[1]['id']}", 204, params={"configuration": second})
    assert titles_in(whole, second, made) == ["Otherwise", None, "Kept 2"]
    assert titles_in(whole, stream, made) == ["Changed", "Changed", None]
    totals = [whole.get("/rm/artifacts", configuration=c)["total"] for c in (stream, base["id"], second)]
    assert totals[1] - totals[0] == 1 and totals[1] - totals[2] == 1


def titles_in(whole: Answering, configuration: int, artifacts: list[dict[str, int]]) -> list[str | None]:
    found = {
        one["id"]: one["title"] for one in whole.get("/rm/artifacts", configuration=configuration, limit=200)["members"]
    }
    return [found.get(one["id"]) for one in artifacts]


def test_of_many_deletes_at_the_same_time_one_is_told_that_it_did_it(whole: Answering) -> None:
    for tool in TOOLS:
        made = whole.new(tool, 1)
        where = f"/{tool}/artifacts/{made['id']}"
        with ThreadPoolExecutor(6) as pool:
            found = sorted(pool.map(lambda _: whole.raw("DELETE", where, params={"context": 1}).status_code, range(6)))  # noqa: B023
        assert found == [204] + [404] * 5


def test_changes_at_the_same_time_lose_nothing(whole: Answering) -> None:
    before = whole.client.get(f"{whole.ready['url']}/volume").json()["rm"]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: whole.new("rm", 1, title=f"At once {n}"), range(40)))
    after = whole.client.get(f"{whole.ready['url']}/volume").json()["rm"]
    assert len({one["id"] for one in made}) == 40
    assert after["versions"] - before["versions"] == 40 == after["changes"] - before["changes"]


def test_a_contribution_must_exist_at_its_tool(whole: Answering) -> None:
    told = whole.put("/gc/configuration/1/contributions/1", {"service": "qm", "configuration": 999_999}, 422)["error"]
    assert told["mistakes"] == [{"field": "configuration", "what": "999999 is none of qm"}]
