"""Parts of the inventory that need no server: documents, seed, tokens, profiler, load files, command line."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import uvicorn
import yaml

from plimsoll.study import load_study
from plimsoll_lab.__main__ import parser
from plimsoll_lab.inventory import documents, seed
from plimsoll_lab.inventory.gateway import Gateway
from plimsoll_lab.inventory.load_files import LOAD, OURS, write_load_files
from plimsoll_lab.inventory.openapi import openapi_document
from plimsoll_lab.inventory.users import TOKEN_LIFETIME_S, Tokens
from plimsoll_lab.seeding import word_pool
from plimsoll_lab.serving import bound_socket, server_config

KNOWN = {entry.id for entry in seed.reference_data()}
TYPE = next(entry.id for entry in seed.reference_data() if entry.kind == "instance-types")
FOLIO = Path(__file__).parents[3] / "lab" / "studies" / "folio"


def told(document: dict[str, object]) -> dict[str, str]:
    return {mistake.field: mistake.what for mistake in documents.mistakes_of(document, KNOWN)}


def test_invented_instances_are_without_mistakes_and_the_first_of_many_are_those_of_few() -> None:
    pool = word_pool(1)
    many = list(seed.invented_instances(200, 1, pool))
    assert many[:50] == list(seed.invented_instances(50, 1, pool))
    assert not any(documents.mistakes_of(document, KNOWN) for document in many)
    assert many != list(seed.invented_instances(200, 2, pool))
    assert len({document["id"] for document in many}) == 200


def test_topics_are_in_the_share_of_instances_that_is_planted() -> None:
    found = list(seed.invented_instances(2000, 1, word_pool(1)))
    for topic, share in seed.TOPICS.items():
        hits = sum(f" {topic} " in documents.columns_of(document)["subjects_words"] for document in found)
        assert abs(hits - 2000 * share) < 5 * (2000 * share * (1 - share)) ** 0.5, topic


def test_all_mistakes_of_a_document_are_told_at_once() -> None:
    assert told({}) == {"source": "is missing", "title": "is missing", "instanceTypeId": "is missing"}
    wrong = {
        "source": 1,
        "title": "",
        "instanceTypeId": "x",
        "colour": "red",
        "contributors": [{"name": "A", "x": 1}, 2],
        "languages": ["e"],
        "subjects": "law",
        "notes": [{"note": "a\0", "staffOnly": "no"}],
        "_version": 0,
    }
    assert set(told(wrong)) == {
        "source",
        "title",
        "instanceTypeId",
        "colour",
        "contributors[0].x",
        "contributors[1]",
        "languages[0]",
        "subjects",
        "notes[0].note",
        "notes[0].staffOnly",
        "_version",
    }
    unknown = {"source": "x", "title": "y", "instanceTypeId": "00000000-0000-4000-8000-000000000000"}
    assert told(unknown) == {"instanceTypeId": "is no id of the reference data"}
    assert told({**unknown, "instanceTypeId": TYPE}) == {}
    assert "half of a surrogate pair" in told({**unknown, "title": "\ud800"})["title"]


def test_a_token_is_good_until_it_expires_and_for_its_secret_alone() -> None:
    now = [1000.0]
    tokens = Tokens("secret", lambda: now[0])
    token = tokens.new("librarian01", "id-1")
    holder = tokens.holder(token)
    assert holder is not None and (holder["sub"], holder["user_id"]) == ("librarian01", "id-1")
    assert Tokens("other", lambda: now[0]).holder(token) is None
    for damaged in ("", ".", "a.b", token[:-2], token + "é", "x" * 5000, token.replace(".", "")):
        assert tokens.holder(damaged) is None
    now[0] += TOKEN_LIFETIME_S
    assert tokens.holder(token) is None


PROFILED = """
import json, time
from plimsoll_lab.inventory.profiler import Profiler
profiler = Profiler()
profiler.start()
text = json.dumps([{"a": list(range(20))}] * 2000)
until = time.monotonic() + 1
while time.monotonic() < until:
    json.loads(text)
print(json.dumps(profiler.report()))
profiler.stop()
"""


def test_the_profiler_names_the_function_that_runs() -> None:
    """In a process of its own: threads that other tests left waiting were the first three names."""
    done = subprocess.run([sys.executable, "-c", PROFILED], capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    assert any("JSONDecoder" in entry["function"] for entry in report["functions"][:3]), report
    assert report["peak_mb"] > 0.1 and report["samples"] > 3


def test_load_files_name_the_inventory_that_serves_and_leave_the_users_own_study_alone(tmp_path: Path) -> None:
    ports = {"storage": 20002, "search": 20003, "users": 20004}
    study = load_study(write_load_files(tmp_path, "http://127.0.0.1:20001", ports, 1000))
    assert study.target.url == "http://127.0.0.1:20001"
    assert {one.label: one.port for one in study.target.processes} == ports
    sweep = study.experiments[0].sweep
    assert sweep is not None and sweep.over["SIZE"] == [25, 100, 400]
    path = tmp_path / "study.yaml"
    own = path.read_text().removeprefix(OURS)
    path.write_text(own)
    write_load_files(tmp_path, "http://127.0.0.1:9", ports, 1000)
    assert path.read_text() == own


@pytest.mark.parametrize("folder", [LOAD, FOLIO])
def test_studies_name_functions_requests_and_values_that_the_script_has(folder: Path) -> None:
    study = yaml.safe_load((folder / "study.yaml").read_text())
    script = (folder / study["workload"]["script"]).read_text()
    exported = set(re.findall(r"export function (\w+)", script))
    assert {group["exec"] for group in study["workload"]["groups"]} <= exported
    for objective in study.get("objectives", ()):
        assert f"'{objective['request']}'" in script
    load_study(folder / "study.yaml")


def test_the_study_of_the_report_uses_the_labs_script_users_and_topics() -> None:
    study = load_study(FOLIO / "study.yaml")
    assert study.script_path == (LOAD / "inventory.js").resolve() == FOLIO / "inventory.js"
    opened = re.findall(r"open\(__ENV\.\w+_JSON \|\| '\./(\w+\.json)'\)", study.script_path.read_text())
    assert opened == ["users.json", "keywords.json"]  # beside the script, where the study names no others
    assert not {"USERS_JSON", "KEYWORDS_JSON"} & set(study.workload.env)
    users = [{"username": one.username, "password": one.password} for one in seed.invented_users(1)]
    assert json.loads((FOLIO / "users.json").read_text()) == users
    keywords = json.loads((FOLIO / "keywords.json").read_text())
    assert {one["keyword"] for one in keywords} == set(seed.TOPICS)
    # Words of the pool may be topics too, which adds a few hits.
    for one in keywords:
        planted = 10_000 * seed.TOPICS[one["keyword"]]
        assert planted - 5 * planted**0.5 < one["hits"] < 1.3 * planted + 5 * planted**0.5, one


def test_known_defects_are_off_unless_asked_for() -> None:
    plain = parser().parse_args(["inventory"])
    assert not any((plain.load_all, plain.missing_index, plain.profiler, plain.memory_limit))
    wanted = parser().parse_args(["inventory", "--load-all", "--missing-index", "--profiler", "--memory-limit", "256"])
    assert (wanted.load_all, wanted.missing_index, wanted.profiler, wanted.memory_limit) == (True, True, True, 256)
    with pytest.raises(SystemExit):
        parser().parse_args(["inventory", "--memory-limit", "0"])


def test_every_reference_of_the_openapi_document_is_there() -> None:
    document = openapi_document()
    schemas = document["components"]["schemas"]
    named = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert named <= set(schemas)
    operations = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    assert len(operations) == len(set(operations)) == 17


def test_what_comes_while_the_gateway_is_being_ended_is_told_so() -> None:
    async def told() -> httpx.Response:
        gateway = Gateway({"users": "http://127.0.0.1:1", "storage": "http://127.0.0.1:1"}, dict)
        await gateway.aclose()
        async with httpx.AsyncClient(transport=httpx.ASGITransport(gateway), base_url="http://inventory") as client:
            return await client.get("/instance-types", headers={"X-Okapi-Token": "x"})

    answer = asyncio.run(told())
    assert answer.status_code == 503 and "being ended" in answer.text


def test_an_answer_that_its_module_broke_off_is_not_taken_for_a_whole_one(capfd: pytest.CaptureFixture[str]) -> None:
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b"x" * 10)
        await writer.drain()
        writer.close()

    async def ask() -> None:
        module = await asyncio.start_server(break_off, "127.0.0.1", 0)
        gateway = Gateway({"storage": f"http://127.0.0.1:{module.sockets[0].getsockname()[1]}"}, dict)
        listener = bound_socket("127.0.0.1", 0)
        server = uvicorn.Server(server_config(gateway))
        serving = asyncio.create_task(server.serve([listener]))
        async with module, httpx.AsyncClient(trust_env=False) as client:
            while not server.started:
                await asyncio.sleep(0.01)
            with pytest.raises(httpx.RemoteProtocolError):
                await client.get(f"http://127.0.0.1:{listener.getsockname()[1]}/volume")
            server.should_exit = True
            await serving
            await gateway.aclose()

    asyncio.run(ask())
    assert "storage broke off in the middle of an answer" in capfd.readouterr().err
