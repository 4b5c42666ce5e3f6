"""The parts of the lab's configurations and links that need no server: feeds, addresses, tokens, titles, seeds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from rdflib import Graph, URIRef
from sqlalchemy import create_engine, func, select

from plimsoll.study import load_study
from plimsoll_lab.configurations import feed, schema, tokens
from plimsoll_lab.configurations.addresses import Addresses
from plimsoll_lab.configurations.answers import Refusal
from plimsoll_lab.configurations.change_log import Change
from plimsoll_lab.configurations.contexts import KEPT_S, Contexts
from plimsoll_lab.configurations.load_files import LOAD, write_load_files
from plimsoll_lab.configurations.seed import children_of, component_titles, fill_global, fill_tool
from plimsoll_lab.configurations.titles import words_of
from plimsoll_lab.links.page import administration_page
from plimsoll_lab.links.source import Change as SourceChange
from plimsoll_lab.links.source import coalesced
from plimsoll_lab.load_files import first_line

ROOT = "http://127.0.0.1:1/qm"
CHANGES = [
    Change(3, "deletion", "/versions/1"),
    Change(2, "creation", "/versions/2"),
    Change(1, "creation", "/versions/1"),
]


def graph(text: str, form: str) -> Graph:
    return Graph().parse(data=text, format="turtle" if form == feed.TURTLE else "json-ld")


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph")  # of rdflib's own reader of JSON-LD
@pytest.mark.parametrize(("page", "members"), [(feed.LogPage(0, CHANGES), ()), (feed.LogPage(3, []), ("/versions/5",))])
def test_both_forms_of_a_feed_say_the_same(page: feed.LogPage, members: tuple[str, ...]) -> None:
    base = feed.BasePage(members, 7, 2, 5)
    for write, what in ((feed.set_text, page), (feed.log_text, page), (feed.base_text, base)):
        turtle, json_ld = (
            graph(write(ROOT, "qm", what, form), form)
            for form in (feed.TURTLE, feed.JSON_LD)  # type: ignore[operator]
        )
        properties = {
            one: {(s, o) for s, o in found.subject_objects(URIRef(feed.TRS + one))}
            for one in ("order", "changed", "change", "previous", "base", "cutoffEvent")
            for found in (turtle,)
        }
        for one, wanted in properties.items():
            assert set(json_ld.subject_objects(URIRef(feed.TRS + one))) == wanted, one
        named = URIRef(f"{feed.LDP}member")
        assert set(turtle.objects(None, named)) == set(json_ld.objects(None, named))


def test_pages_of_the_log_are_full_but_for_the_newest() -> None:
    assert [feed.newest_page(clock) for clock in (0, 1, 200, 201, 400, 401)] == [0, 0, 0, 1, 1, 2]
    assert feed.bounds_of(0) == (0, 200) and feed.bounds_of(2) == (400, 600)


def test_a_resource_that_changed_often_is_done_once_for_its_newest_change() -> None:
    """The three changes of a test case that is saved twice: two items, one of them gone."""
    newest_first = [SourceChange(3, True, "v1"), SourceChange(2, False, "v2"), SourceChange(1, False, "v1")]
    assert [(one.resource, one.deleted, one.changes) for one in coalesced(newest_first)] == [
        ("v2", False, 1),
        ("v1", True, 2),
    ]
    assert coalesced([]) == []


def test_addresses_are_kept_without_what_depends_on_a_port() -> None:
    here = Addresses({"rm": "http://h:1", "qm": "http://h:12"})
    for address in ("http://h:1/rm/artifacts/5", "http://h:12/qm/versions/7"):
        assert here.absolute(here.inward(address)) == address and here.inward(address).startswith("/")
    for other in ("http://h:1/qm/artifacts/5", "http://h:12x/qm/a", "https://h:1/rm/a", "http://elsewhere/rm/a"):
        assert here.inward(other) == other == here.absolute(other)
    assert here.absolute("/xx/artifacts/5") == "/xx/artifacts/5"


def test_tokens_are_good_for_a_time_and_not_once_changed() -> None:
    now = [1000.0]
    made = tokens.Tokens("secret", lambda: now[0])
    token = made.new("engineer01")
    assert made.holder(token) == "engineer01" and tokens.Tokens("other", lambda: now[0]).holder(token) is None
    body, _, signature = token.partition(".")
    bad = (token[:-1], body, f".{signature}", token + "x", "", "a.b", "é.é", token.replace(".", ".."), "x" * 2000)
    assert [made.holder(one) for one in bad] == [None] * len(bad)
    now[0] += tokens.LIFETIME_S
    assert made.holder(token) is None


def test_words_of_titles_are_compared_without_case_and_accents() -> None:
    assert words_of("Über-Druck  Ventil №7 ﬁn") == ["uber", "druck", "ventil", "no7", "fin"]
    assert words_of("%_' OR 1=1;--") == ["_", "or", "1", "1"] and words_of("") == []


class Clock:
    """The others of a tool, which answer with one configuration, and a clock."""

    def __init__(self) -> None:
        self.now, self.asked = 0.0, 0

    async def found(self, *_: str) -> dict[str, Any] | None:
        self.asked += 1
        here = {"service": "rm", "project": 3, "configuration": 7, "kind": "stream"}
        return {"resolved": [{**here, "service": "qm"}, here]}


@pytest.mark.parametrize(("resolve_each", "asked"), [(False, 2), (True, 4)])
def test_what_a_global_configuration_means_is_kept_for_a_minute_unless_told_not_to(
    resolve_each: bool, asked: int
) -> None:
    import asyncio

    others = Clock()
    contexts = Contexts("rm", others, resolve_each, lambda: others.now)  # type: ignore[arg-type]

    async def use() -> None:
        for later in (0.0, KEPT_S - 1, KEPT_S + 1, KEPT_S + 2):
            others.now = later
            assert (await contexts.local_of(1, None, "t")).configuration == 7
        with pytest.raises(Refusal, match="project 4"):
            await contexts.local_of(1, 4, "t")

    asyncio.run(use())
    assert others.asked == contexts.asked == asked + (1 if resolve_each else 0)


def test_the_same_seed_gives_the_same_data_and_fewer_components_its_beginning() -> None:
    assert component_titles(40, 1)[:20] == component_titles(20, 1) != component_titles(20, 2)
    assert list(children_of(10, 131)) == list(range(11, 20)) and list(children_of(100, 131)) == [110, 120, 130]
    assert list(children_of(10, 12)) == [11, 12] and list(children_of(7, 131)) == []
    contents = []
    for _ in range(2):
        engine = create_engine("sqlite://")
        with engine.begin() as connection:
            fill_tool(connection, "qm", 5, 60, 1)
            contents.append([tuple(row) for row in connection.execute(select(schema.versions))])
            linked = connection.execute(select(func.count()).select_from(schema.links)).scalar_one()
            targets = set(connection.execute(select(schema.links.c.target)).scalars())
    assert contents[0] == contents[1] and len(contents[0]) == 60
    assert 20 <= linked <= 40 and all(re.fullmatch(r"/rm/artifacts/([1-9]|[1-5]\d|60)", one) for one in targets)
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        fill_global(connection, 20, 1)
        counted = connection.execute(select(func.count()).select_from(schema.contributions)).scalar_one()
    assert counted == 3 * (20 * 3 + 9)


def test_the_study_that_is_written_has_the_ports_of_its_start_and_one_of_the_users_own_is_left_alone(
    tmp_path: Path,
) -> None:
    ports = {"gc": 21, "rm": 22, "qm": 23, "cm": 24, "jts": 25}
    path = write_load_files(tmp_path, "http://127.0.0.1:20", ports)
    study = load_study(path)
    assert study.target.url == "http://127.0.0.1:20"
    assert {one.label: one.port for one in study.target.processes} == ports
    assert (tmp_path / "configurations.js").read_text() == (LOAD / "configurations.js").read_text()
    path.write_text(path.read_text().removeprefix(first_line("configurations")))
    own = path.read_text()
    assert write_load_files(tmp_path, "http://127.0.0.1:99", ports).read_text() == own


def test_the_administration_page_escapes_what_it_shows() -> None:
    source = {"state": "idle", "polls": 1, "retrieved": 5, "changes": 7, "problem": "<script>"}
    row = {"startedMs": 0, "kind": "initial", "retrieved": 5, "changes": 7, "durationSeconds": 1, "indexBytes": 2**21,
           "problem": None}  # fmt: skip
    status = {
        "indexBytes": 2**20,
        "links": 1234,
        "pollEverySeconds": 60.0,
        "threadsPerSource": 2,
        "sources": {"qm": source},
    }
    page = administration_page(status, {"q<m": [row]})
    assert "<script>" not in page and "&lt;script&gt;" in page and "q&lt;m" in page
    assert "1,234 links, 1.0 MiB" in page and "<td>2.0</td>" in page and "1970-01-01 00:00:00" in page


def test_json_ld_of_a_feed_is_plain_json() -> None:
    told = json.loads(feed.set_text(ROOT, "qm", feed.LogPage(1, CHANGES), feed.JSON_LD))
    assert [one["trs:order"] for one in told["trs:changeLog"]["trs:change"]] == [3, 2, 1]
    assert told["trs:changeLog"]["trs:previous"]["@id"] == f"{ROOT}/trs/changes/0"
