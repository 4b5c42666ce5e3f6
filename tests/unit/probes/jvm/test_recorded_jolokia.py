"""What Jolokia's agents answered, beside what the process was seen to do (recorded/README.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plimsoll.probes.http.page import Fetched, HttpPage
from plimsoll.probes.jvm.jolokia import REQUEST, JolokiaProbe
from plimsoll.probes.probe import Observation
from plimsoll.study.probes.jvm import JvmOptions

RECORDED = Path(__file__).parents[1] / "recorded"
VERSIONS = ("1.7.2", "2.1.2")
M = 1 << 20


def recorded(version: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((RECORDED / f"jolokia-{version}.json").read_text())
    return document


def observed(version: str) -> tuple[list[Observation], list[str]]:
    """What the probe tells of each of the two answers, and its notes."""
    answers = iter(recorded(version)["answers"])

    def fetch() -> Fetched:
        one = next(answers)
        body = json.dumps(one["body"]).encode()
        return Fetched(body, {"date": one["date"]}, one["sent"], one["received"])

    url = "http://127.0.0.1:8778/jolokia/"
    options = JvmOptions(url=url, label="search", host="search1")
    probe = JolokiaProbe(HttpPage(url, {}), options, fetch)
    found = [probe.observe()[0] for _ in range(2)]
    return found, probe.take_notes()


@pytest.mark.parametrize("version", VERSIONS)
def test_an_agent_tells_the_heap_threads_and_files_of_its_machine(version: str) -> None:
    (first, second), notes = observed(version)
    assert first.source == second.source == "process:search@search1"
    for one, seen in zip((first, second), recorded(version)["process"], strict=True):
        assert one.values["heap_limit_bytes"] == 128 * M
        assert one.values["heap_used_bytes"] < one.values["heap_committed_bytes"] <= 128 * M
        assert one.values["heap_share"] == one.values["heap_used_bytes"] / (128 * M)
        assert one.values["open_files"] == seen["open_files"] < one.values["open_files_limit"]
    assert second.values["heap_used_bytes"] > first.values["heap_used_bytes"] + 30 * M
    assert second.values["threads"] == first.values["threads"] + 10
    assert notes == []


@pytest.mark.parametrize("version", VERSIONS)
def test_an_agent_tells_cpu_and_collections_between_two_answers(version: str) -> None:
    (first, second), _ = observed(version)
    assert not {"cpu_cores_used", "gc_share", "gc_per_s"} & set(first.values)
    seconds = second.at_unix - first.at_unix
    before, after = (one["cpu_s"] for one in recorded(version)["process"])
    assert second.values["cpu_cores_used"] * seconds == pytest.approx(after - before, abs=0.1)
    assert second.values["gc_per_s"] * seconds > 5 - 1e-9  # it was told to collect five times
    assert second.values["gc_per_s"] * seconds == pytest.approx(round(second.values["gc_per_s"] * seconds))
    assert 0 < second.values["gc_share"] < second.values["cpu_cores_used"]


@pytest.mark.parametrize("version", VERSIONS)
def test_an_agent_was_asked_what_is_asked_today_in_that_order(version: str) -> None:
    """Its answer names a pattern with its parts in another order: the probe must not go by the name it asked for."""
    for answer in recorded(version)["answers"]:
        asked = [(one["request"]["mbean"], one["request"]["attribute"]) for one in answer["body"]]
        today = [(one["mbean"], one["attribute"]) for one in json.loads(REQUEST)]
        assert [(_parts(bean), _many(names)) for bean, names in asked] == [
            (_parts(bean), _many(names)) for bean, names in today
        ]


def _parts(bean: str) -> tuple[str, set[str]]:
    domain, _, parts = bean.partition(":")
    return domain, set(parts.split(","))


def _many(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names
