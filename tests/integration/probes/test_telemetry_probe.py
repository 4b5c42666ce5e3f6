"""A JSON document of a server over loopback: units in its texts, keys that go and come, and what is no JSON."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from changing_server import ChangingServer, page, says

from plimsoll.probes import ProbeUnavailable
from plimsoll.probes.http.telemetry import TelemetryProbe, telemetry_probe
from plimsoll.study.probes.telemetry import TelemetryOptions

YOUTRACK = {
    "textIndexSize": "130.5 MB",
    "blobStringsCacheHitRate": "78.64%",
    "usedMemory": "980.1 MB",
    "usedMemoryBytes": 980117504,
    "uptime": "1d 2h",
    "pendingAsyncJobs": 0,
    "requestsPerSecond": "12.25",
    "databaseEngine": "xodus",
    "isHealthy": True,
    "apiToken": 123456,
    "notificationQueue": {"length": "3", "oldest": "350 ms"},
    "$type": "Telemetry",
}


@pytest.fixture
def probe_of(closed) -> Callable[..., TelemetryProbe]:
    def make(server: ChangingServer, **options: object) -> TelemetryProbe:
        given = TelemetryOptions.model_validate({"url": f"{server.url}/api/admin/telemetry", **options})
        probe = closed(telemetry_probe(given, key="probes.telemetry[0]"))
        probe._clock = iter(range(0, 10**6, 100)).__next__
        return probe

    return make


def test_every_number_has_the_unit_in_its_name_and_secrets_are_left_out(server: ChangingServer, probe_of) -> None:
    server.answer = page(json.dumps(YOUTRACK))
    [one] = probe_of(server).observe()
    assert one.source == "telemetry:target"
    assert one.values == {
        "text_index_size_bytes": 130.5e6,
        "blob_strings_cache_hit_rate_share": pytest.approx(0.7864),
        "used_memory_bytes": 980117504.0,
        "uptime_s": 93_600.0,
        "pending_async_jobs": 0.0,
        "requests_per_second": 12.25,
        "notification_queue_length": 3.0,
        "notification_queue_oldest_s": pytest.approx(0.35),
    }


def test_named_values_come_from_their_places_and_counters_become_rates(server: ChangingServer, probe_of) -> None:
    numbers = iter([100, 150])
    server.answer = says(lambda request: json.dumps({"a": {"b": [{"c": "2 kB"}]}, "requests": next(numbers)}))
    probe = probe_of(server, values={"index_bytes": "a.b.0.c"}, rates=["requests"])
    assert probe.observe()[0].values == {"index_bytes": 2000.0}
    second = probe.observe()[0].values
    assert set(second) == {"index_bytes", "requests_per_s"}
    assert second["requests_per_s"] > 0


def test_a_zero_without_a_unit_takes_the_unit_that_comes_later(server: ChangingServer, probe_of) -> None:
    probe = probe_of(server)
    found = []
    for size in ("0", 0, "1.2 MB", "0", "2 MB"):
        server.answer = page(json.dumps({"indexSize": size, "jobs": 0, "files": "0"}))
        found.append(dict(probe.observe()[0].values))
    rest = {"jobs": 0.0, "files": 0.0}
    assert found == [
        *[{"index_size": 0.0} | rest] * 2,
        {"index_size_bytes": 1.2e6} | rest,
        {"index_size_bytes": 0.0} | rest,
        {"index_size_bytes": 2e6} | rest,
    ]
    assert probe.take_notes() == ["index_size is index_size_bytes from now on: it has a unit now."]


def test_no_name_has_values_of_two_units(server: ChangingServer, probe_of) -> None:
    probe = probe_of(server)
    found = []
    for size in ("512", "1.2 MB", "900", "35%", "900", "1 MB"):
        server.answer = page(json.dumps({"size": size, "a": 1}))
        found.append(dict(probe.observe()[0].values))
    assert [{name: value for name, value in one.items() if name != "a"} for one in found] == [
        {"size": 512.0}, {"size_bytes": 1.2e6}, {}, {"size_share": pytest.approx(0.35)}, {}, {"size_bytes": 1e6},
    ]  # fmt: skip
    assert probe.take_notes() == [
        "size is size_bytes from now on: it has a unit now.",
        "size has no unit at times, as in 900; then it is left out.",
        "size_bytes is size_share from now on: its unit changed.",  # and is back, which is told already
    ]


def test_a_counter_that_is_not_there_is_noted_once_and_its_return(server: ChangingServer, probe_of) -> None:
    probe = probe_of(server, values={"a": "a"}, rates=["requests"])
    notes = []
    for document in ({"a": 1}, {"a": 1}, {"a": 1, "requests": 5}, {"a": 1}):
        server.answer = page(json.dumps(document))
        probe.observe()
        notes.append(probe.take_notes())
    missing = "the document has no number at requests, of which `rates` asks for the rate. Correct the place."
    assert notes == [[missing], [], ["the document has a number at requests again, for `rates`."], [missing]]


def test_keys_that_vanish_are_renamed_or_come_back_are_noted_once(server: ChangingServer, probe_of) -> None:
    probe = probe_of(server)
    notes = []
    for document in ({"used": 1, "a": 1}, {"usedHeap": 1, "a": 1}, {"usedHeap": 2, "a": "n/a"}, {"used": 3, "a": 1}):
        server.answer = page(json.dumps(document))
        probe.observe()
        notes.append(probe.take_notes())
    assert notes == [
        [],
        ["the document no longer has a number at used; new are usedHeap."],
        ["the document no longer has a number at a."],
        [
            "the document no longer has a number at usedHeap.",
            "the document has a number at a, used again.",
        ],
    ]


def test_keys_that_change_each_second_are_bounded_and_noted_a_few_times(server: ChangingServer, probe_of) -> None:
    probe = probe_of(server)
    notes = []
    for second in range(60):
        sessions = {f"{second}-{number}": {"age": 5} for number in range(10)}
        server.answer = page(json.dumps({"users": 3, "sessions": sessions}))
        assert probe.observe()[0].values["users"] == 3.0
        notes += probe.take_notes()
    assert len(probe._names) == 500
    assert len(probe._gone) < 500
    assert len(notes) == 12
    assert notes[-2] == "the document's keys change often; further changes are not noted."
    assert notes[-1] == (
        "the document's keys change: 500 had numbers so far, further ones are left out. Name those you want."
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<html>", "gave no JSON"),
        ("[1, 2]", "no object of keys"),
        ('{"a": ' * 100_000, "gave no JSON"),
        ("", "gave no JSON"),
    ],
)
def test_what_is_no_document_is_unavailable_until_it_is_one(server: ChangingServer, probe_of, body, words) -> None:
    probe = probe_of(server)
    server.answer = page(body)
    with pytest.raises(ProbeUnavailable, match=words):
        probe.observe()
    server.answer = page('{"a": 1}')
    assert probe.observe()[0].values == {"a": 1.0}


def test_a_document_with_very_many_numbers_is_cut_and_says_so(server: ChangingServer, probe_of) -> None:
    probe = probe_of(server)
    server.answer = page(json.dumps({f"k{number}": number for number in range(5_000)}))
    assert len(probe.observe()[0].values) == 200
    assert probe.take_notes() == ["the document has 5,000 numbers; 200 are kept. Name those you want."]


def test_the_clock_of_its_host_is_told_by_the_date(server: ChangingServer, probe_of) -> None:
    server.answer = page('{"a": 1}', clock_ahead_s=-300.0)
    probe = probe_of(server, host="app1")
    assert [one.source for one in probe.observe()] == ["telemetry:target", "clock:app1"]
    assert "behind this machine's" in probe.take_notes()[0]
