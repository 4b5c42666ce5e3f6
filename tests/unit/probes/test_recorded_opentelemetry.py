"""Two exports of OpenTelemetry's Python SDK in protobuf, beside what psutil told then (recorded/README.md)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from plimsoll.probes.otlp.decoding import Resource, decode
from plimsoll.probes.otlp.points import Senders

RECORDED = Path(__file__).parent / "recorded"
BESIDE: list[dict[str, Any]] = json.loads((RECORDED / "opentelemetry.json").read_text())
Told = dict[str, tuple[dict[str, float], float]]


def sent(number: int) -> Resource:
    body = gzip.decompress((RECORDED / f"opentelemetry-{number}.bin.gz").read_bytes())
    [resource] = decode(body, "application/x-protobuf")
    return resource


def both() -> tuple[Told, Told]:
    """(values, time) by source of each of the two."""
    senders, notes = Senders(["*"]), []
    told = []
    for number in (1, 2):
        resource = sent(number)
        sender = senders.of(resource, notes)
        assert sender is not None
        told.append({source: (values, at) for source, values, at in sender.take(resource.points, notes)})
    assert notes == []
    return told[0], told[1]


def test_a_python_service_is_a_process_and_a_host_of_ours() -> None:
    first, second = both()
    assert list(first) == list(second) == ["otlp:shop", "host:app1", "process:shop@app1"]
    assert set(first["host:app1"][0]) == {"cores"}
    assert set(second["process:shop@app1"][0]) == {"cpu_cores_used", "rss_bytes", "open_files", "threads"}
    assert set(second["host:app1"][0]) == {
        "cores", "cpu_cores_used", "cpu_share", "cpu_user_share", "cpu_system_share", "cpu_busiest_core_share",
        "core_1_share", "core_2_share",
    }  # fmt: skip


def test_its_process_used_what_psutil_says_of_it() -> None:
    (first, before), (second, after) = (told["process:shop@app1"] for told in both())
    used_s = BESIDE[1]["process_cpu_s"] - BESIDE[0]["process_cpu_s"]
    assert second["cpu_cores_used"] * (after - before) == pytest.approx(used_s, abs=0.05)
    for values, beside in zip((first, second), BESIDE, strict=True):
        assert values["rss_bytes"] == pytest.approx(beside["rss"], rel=0.01)
        assert values["threads"] == beside["threads"]
        assert abs(values["open_files"] - beside["open_files"]) <= 1  # the connection to the receiver


def test_its_host_was_as_busy_as_psutil_says() -> None:
    host = both()[1]["host:app1"][0]
    grown = {state: BESIDE[1]["cpu"][state] - BESIDE[0]["cpu"][state] for state in BESIDE[0]["cpu"]}
    busy_s = grown["user"] + grown["nice"] + grown["system"] + grown["irq"] + grown["softirq"]
    assert host["cores"] == 2
    assert host["cpu_share"] == pytest.approx(busy_s / sum(grown.values()), abs=0.02)
    assert host["cpu_cores_used"] == pytest.approx(2 * host["cpu_share"])


def test_its_metrics_have_the_names_of_the_conventions_with_their_units() -> None:
    (first, _), (second, _) = (told["otlp:shop"] for told in both())
    assert second["shop_queue"] == 7
    host = both()[1]["host:app1"][0]
    assert second["system_cpu_utilization_share"] == pytest.approx(host["cpu_share"], abs=0.02)
    assert first["system_cpu_utilization_share"] == 1.0  # neither CPU idle in a look of a seventh of a second
    memory = BESIDE[1]["memory"]
    assert second["system_memory_utilization_share"] == pytest.approx(memory["used"] / memory["total"], rel=0.02)
    assert second["system_memory_usage_bytes"] == pytest.approx(memory["used"], rel=0.02)
    process_s = second["process_cpu_time_s_per_s"]
    assert second["process_cpu_utilization_share"] == pytest.approx(process_s / 2, rel=0.02)  # of two cores
    for name in ("process_memory_usage_bytes", "system_network_io_bytes_per_s", "process_thread_count"):
        assert second[name] > 0


def test_sums_and_histograms_that_are_new_in_an_export_have_no_rate_yet() -> None:
    names = {point.name for point in sent(2).points} - {point.name for point in sent(1).points}
    assert {"shop.orders", "http.server.request.duration"} <= names
    assert [(point.value, point.count) for point in sent(2).points if point.name == "shop.orders"] == [(30, 0)]
    durations = [point for point in sent(2).points if point.name == "http.server.request.duration"]
    assert [(point.value, point.count) for point in durations] == [(7.5, 30)]
    told = both()[1]["otlp:shop"][0]
    assert not any(name.startswith(("shop_orders", "http_server_request_duration")) for name in told)
