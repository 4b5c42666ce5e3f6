"""What a Prometheus 2.42.0 that scraped a node_exporter answered to the probe (recorded/README.md)."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from plimsoll.probes.http.page import Fetched, HttpPage
from plimsoll.probes.probe import Observation
from plimsoll.probes.prometheus.server import ServerProbe
from plimsoll.study.probes.prometheus import PrometheusOptions

RECORDED = Path(__file__).parent / "recorded"
SERVERS: dict[str, Any] = json.loads(gzip.decompress((RECORDED / "prometheus.json.gz").read_bytes()))
HOST = "host:db1"


class Recorded(HttpPage):
    """Gives the answers one after the other, to the questions that they were of."""

    def __init__(self, url: str, answers: list[dict[str, Any]]) -> None:
        super().__init__(url, {})
        self.left = answers

    def fetch(self, path: str | None = None, accept: str = "", *, form: str = "", **_: Any) -> Fetched:
        one = self.left.pop(0)
        asked = dict(parse_qsl(form))
        asked["query"] = re.sub(r'\{__name__=~"[^"]*",', '{__name__=~"…",', asked["query"])  # grows with the mapping
        assert (path, asked) == (one["path"], one["form"])
        return Fetched(one["body"].encode(), {"date": one["date"]}, one["sent"], one["received"])


def answers_of(what: str) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = SERVERS[what]["answers"]
    return answers


def observed_twice(what: str) -> tuple[list[list[Observation]], list[list[str]]]:
    """What each of the two times was told, but for clocks, and noted."""
    options = PrometheusOptions.model_validate(SERVERS[what]["options"])
    seconds: Iterator[float] = iter(range(0, 100, 10))
    page = Recorded(options.url, [dict(one) for one in answers_of(what)])
    probe = ServerProbe(page, options, clock=lambda: next(seconds))
    found, notes = [], []
    for _ in range(2):
        found.append([one for one in probe.observe() if not one.source.startswith("clock:")])
        notes.append(probe.take_notes())
    assert page.left == []
    return found, notes


def test_queries_are_values_series_and_notes_of_what_is_none() -> None:
    found, (first_notes, later_notes) = observed_twice("queries")
    told = [{one.source: dict(one.values) for one in many} for many in found]
    modes = ("iowait", "irq", "nice", "softirq", "steal", "system", "user")
    for one, load in zip(told, (0.92, 0.94), strict=True):
        assert one.pop("metrics:prom") == {"load_one": load, "one_number": 1.0}
        assert list(one) == [f"metrics:prom mode={mode}" for mode in modes]
        assert all(0 <= values["busy"] <= 2 for values in one.values())
    assert told[1]["metrics:prom mode=user"]["busy"] == pytest.approx(0.797, abs=0.001)
    assert sorted(note.split(".")[0].split(":")[0] for note in first_notes) == [
        "the query not_a_number has no number", "the query nothing has no result", "the query wrong failed"
    ]  # fmt: skip
    assert any('invalid parameter "query"' in note and "parse error" in note for note in first_notes)
    assert later_notes == []  # the same again is told once


def test_values_have_the_time_of_the_server_which_is_this_machines_here() -> None:
    found, _ = observed_twice("queries")
    asked_at = [one["sent"] for one in answers_of("queries") if one["form"] == {"query": "time()"}]
    for many, at in zip(found, asked_at, strict=True):
        for one in many:
            assert one.at_unix == pytest.approx(at, abs=0.05)


def test_a_range_goes_on_where_the_last_one_ended() -> None:
    found, notes = observed_twice("range")
    stamps = {
        name: [one.at_unix for many in found for one in many if name in one.values] for name in ("load_one", "sent")
    }
    for times in stamps.values():
        assert len(times) == 3
        assert [later - earlier for earlier, later in pairwise(times)] == pytest.approx([2, 2])
    assert [one.values["load_one"] for many in found for one in many if "load_one" in one.values] == [0.94] * 3
    assert {one.source for many in found for one in many} == {"metrics:prom"}
    assert notes == [[], []]


def test_selected_series_are_a_host_for_each_scrape() -> None:
    found, notes = observed_twice("select")
    assert [len(many) for many in found] == [13, 1]  # a minute of scrapes each five seconds, then what is new
    rows = [one for many in found for one in many]
    assert {one.source for one in rows} == {HOST}
    assert [later.at_unix - before.at_unix for before, later in pairwise(rows)] == pytest.approx([5.0] * 13, abs=0.01)
    assert notes == [[], []]


def test_the_rates_of_selected_counters_add_up_to_what_these_grew() -> None:
    rows = observed_twice("select")[0][0]
    raw = series("node_cpu_seconds_total")
    grown_s = sum(
        float(one["values"][-1][1]) - float(one["values"][0][1])
        for one in raw
        if one["metric"]["mode"] not in ("idle", "iowait", "steal")
    )
    assert len(raw) == 2 * 8 and grown_s > 5
    assert sum(5 * one.values["cpu_cores_used"] for one in rows[1:]) == pytest.approx(grown_s, rel=0.01)
    for metric, name in (
        ("node_disk_written_bytes_total", "disk_write_bytes_per_s"),
        ("node_network_transmit_bytes_total", "loopback_bytes_per_s"),
        ("node_context_switches_total", "context_switches_per_s"),
    ):
        grown = sum(
            float(one["values"][-1][1]) - float(one["values"][0][1])
            for one in series(metric)
            if one["metric"].get("device", "lo") in ("lo", "vda")
        )
        assert grown > 0
        assert sum(5 * one.values[name] for one in rows[1:]) == pytest.approx(grown)


def test_selected_gauges_are_those_of_the_last_scrape() -> None:
    last = observed_twice("select")[0][0][-1].values

    def at_last(metric: str) -> float:
        [one] = series(metric)
        return float(one["values"][-1][1])

    assert last["memory_available_bytes"] == at_last("node_memory_MemAvailable_bytes")
    assert last["memory_used_bytes"] == at_last("node_memory_MemTotal_bytes") - last["memory_available_bytes"]
    assert last["load_1m"] == at_last("node_load1")


def series(metric: str) -> list[dict[str, Any]]:
    """The raw samples of the first answer."""
    body = next(one["body"] for one in answers_of("select") if "__name__" in one["form"]["query"])
    return [one for one in json.loads(body)["data"]["result"] if one["metric"]["__name__"] == metric]
