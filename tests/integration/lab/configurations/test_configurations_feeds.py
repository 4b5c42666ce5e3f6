"""The tracked resource sets: read by Plimsoll's own probe, and complete."""

from __future__ import annotations

import httpx
import pytest
from configurations_client import COMPONENTS, Answering

from plimsoll.probes.consumer.tracked_resources import BaseMembers, ChangeEvents


def feed(whole: Answering, service: str) -> str:
    return f"{whole.urls[service]}/{service}/trs"


def test_the_probe_counts_members_and_changes(whole: Answering) -> None:
    for tool in ("rm", "qm", "cm"):
        members = BaseMembers(feed(whole, tool))
        changes = ChangeEvents(feed(whole, tool))
        before = members()
        assert changes() == 0
        for _ in range(3):
            whole.new(tool, 1)
        assert changes() == 3 and members() - before == 3
    assert BaseMembers(feed(whole, "gc"))() == 3 * COMPONENTS


def test_a_test_case_saved_twice_has_three_changes_and_a_defect_two(whole: Answering) -> None:
    """The report: creation, creation of the second version, deletion of the first; a defect has one update."""
    for tool, wanted in (("qm", 3), ("cm", 2)):
        changes = ChangeEvents(feed(whole, tool))
        changes()
        made = whole.new(tool, 1)
        link = {"type": "validates", "target": whole.address("rm", 1)}
        whole.put(f"/{tool}/artifacts/{made['id']}", {"links": [link]}, context=1)
        assert changes() == wanted


def test_a_version_that_a_baseline_holds_is_not_forgotten(whole: Answering) -> None:
    made = whole.post("/qm/artifacts", {"title": "Held"}, configuration=1)
    whole.post("/qm/configurations", {"kind": "baseline", "from": 1, "title": "Holds it"})
    whole.put(f"/qm/artifacts/{made['id']}", {"title": "Newer"}, configuration=1)
    newest = log(whole, "qm", f"{feed(whole, 'qm')}")[:2]
    resource = f"{whole.urls['qm']}/qm/versions/{made['version']}"
    assert ("trs:Modification", resource) in newest and ("trs:Deletion", resource) not in newest
    assert resource in base(whole, "qm")


def test_the_log_has_every_change_once_across_its_pages(whole: Answering) -> None:
    clock = whole.client.get(f"{whole.ready['url']}/volume").json()["rm"]["changes"]
    for number in range(450 - clock):
        whole.new("rm", 1 + 3 * (number % 3))
    orders: list[int] = []
    url, pages = feed(whole, "rm"), 0
    while not url.endswith("#nil"):
        page = whole.client.get(url, headers={"Accept": "application/ld+json"}).json()
        page = page.get("trs:changeLog", page)
        orders += [one["trs:order"] for one in page["trs:change"]]
        url, pages = page["trs:previous"]["@id"], pages + 1
    assert orders == list(range(450, 0, -1)) and pages == 3


def test_base_and_changes_after_its_cutoff_make_the_whole(whole: Answering) -> None:
    made = whole.new("qm", 1)
    before = base(whole, "qm")
    cutoff = base_page(whole, "qm")["trs:cutoffEvent"]["@id"].rsplit(":", 1)[1]
    whole.put(f"/qm/artifacts/{made['id']}", {"title": "Again"}, context=1)
    whole.send("DELETE", f"/qm/artifacts/{made['id']}", 204, params={"context": 1})
    assert set(base(whole, "qm", f"?cutoff={cutoff}")) == set(before), "the base of a cutoff does not change"
    held = set(before)
    for kind, resource in reversed(log(whole, "qm", feed(whole, "qm"), after=int(cutoff))):
        (held.discard if kind == "trs:Deletion" else held.add)(resource)
    assert held == set(base(whole, "qm"))


@pytest.mark.parametrize(
    ("accept", "kind"),
    [("", "text/turtle"), ("*/*", "text/turtle"), ("text/html", "text/turtle"),
     ("application/ld+json", "application/ld+json"), ("application/ld+json, text/turtle", "application/ld+json"),
     ("text/turtle, application/ld+json;q=0.5", "text/turtle")],
)  # fmt: skip
def test_the_form_is_the_one_asked_for(whole: Answering, accept: str, kind: str) -> None:
    answer = httpx.get(feed(whole, "gc"), headers={"Accept": accept}, trust_env=False)
    assert answer.headers["content-type"] == kind


def test_creating_streams_and_baselines_is_logged_by_gc(whole: Answering) -> None:
    changes = ChangeEvents(feed(whole, "gc"))
    changes()
    made = whole.post("/gc/configurations", {"kind": "staging", "from": 1, "title": "Logged"})
    whole.put(f"/gc/configuration/{made['id']}/contributions/1", {"service": "rm", "configuration": 2})
    assert changes() == 2


def log(whole: Answering, _service: str, url: str, after: int = 0) -> list[tuple[str, str]]:
    """(kind, resource) of the newest page, the newest first."""
    page = whole.client.get(url, headers={"Accept": "application/ld+json"}).json()["trs:changeLog"]
    return [(one["@type"], one["trs:changed"]["@id"]) for one in page["trs:change"] if one["trs:order"] > after]


def base_page(whole: Answering, service: str) -> dict[str, dict[str, str]]:
    answer = whole.client.get(f"{feed(whole, service)}/base", headers={"Accept": "application/ld+json"})
    return answer.json()  # type: ignore[no-any-return]


def base(whole: Answering, service: str, query: str = "") -> list[str]:
    url, found = f"{feed(whole, service)}/base{query}", []
    while not url.endswith("#nil"):
        page = whole.client.get(url, headers={"Accept": "application/ld+json"}).json()
        found += [one["@id"] for one in page["ldp:member"]]
        url = page["ldp:nextPage"]["@id"]
    return found
