"""OpenTelemetry metrics sent to the receiver on loopback, as exporters do and as they should not."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from plimsoll.errors import InputError
from plimsoll.probes.otlp import receiver as receiver_module
from plimsoll.probes.otlp.receiver import MOST_BYTES, MOST_CONNECTIONS, OtlpProbe
from plimsoll.study.probes.otlp import OtlpOptions

T0 = int(time.time()) - 3_600


@pytest.fixture
def receiver() -> Iterator[OtlpProbe]:
    probe = OtlpProbe(OtlpOptions(port=None))
    probe.open()
    yield probe
    probe.close()


def send(
    probe: OtlpProbe, body: bytes, kind: str = "application/json", path: str = "/v1/metrics", **headers: str
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", int(probe.url.split(":")[2].split("/")[0]), timeout=30)
    try:
        connection.request("POST", path, body, {"Content-Type": kind, **headers})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def export(*metrics: dict[str, Any], at: float | None = None, **attributes: str) -> dict[str, Any]:
    """An export of metrics with one data point each, at `at` (now)."""
    nanoseconds = str(int(1e9 * (time.time() if at is None else at)))
    for metric in metrics:
        body = next(value for value in metric.values() if isinstance(value, dict))
        for point in body["dataPoints"]:
            point.setdefault("timeUnixNano", nanoseconds)
    named = {"service.name": "shop"} | {name.replace("_", "."): text for name, text in attributes.items()}
    pairs = [{"key": key, "value": {"stringValue": text}} for key, text in named.items()]
    return {"resourceMetrics": [{"resource": {"attributes": pairs}, "scopeMetrics": [{"metrics": [*metrics]}]}]}


def gauge(name: str, value: float, unit: str = "") -> dict[str, Any]:
    return {"name": name, "unit": unit, "gauge": {"dataPoints": [{"asDouble": value}]}}


def total(name: str, value: int, unit: str = "", delta: bool = False, **point: str) -> dict[str, Any]:
    temporality = 1 if delta else 2
    points = [{"asInt": str(value), **point}]
    body = {"dataPoints": points, "aggregationTemporality": temporality, "isMonotonic": True}
    return {"name": name, "unit": unit, "sum": body}


def histogram(name: str, count: int, sum_: float, unit: str = "s") -> dict[str, Any]:
    points = [{"count": str(count), "sum": sum_}]
    return {"name": name, "unit": unit, "histogram": {"dataPoints": points, "aggregationTemporality": 2}}


def taken(probe: OtlpProbe, document: dict[str, Any]) -> dict[str, dict[str, float]]:
    assert send(probe, json.dumps(document).encode()) == (200, b"{}")
    return rows(probe)


def rows(probe: OtlpProbe) -> dict[str, dict[str, float]]:
    """What came, without what its times, which are invented, say of the clock."""
    return {one.source: dict(one.values) for one in probe.observe() if not one.source.startswith("clock:")}


def connected_to(probe: OtlpProbe) -> socket.socket:
    """A connection to where it listens, to write what no client would."""
    return socket.create_connection(("127.0.0.1", urlsplit(probe.url).port), timeout=30)


def test_where_to_send_is_told_and_a_taken_port_is_a_mistake(receiver: OtlpProbe) -> None:
    [note] = receiver.take_notes()
    assert f"OTEL_EXPORTER_OTLP_ENDPOINT={receiver.url.removesuffix('/v1/metrics')}" in note
    port = int(receiver.url.split(":")[2].split("/")[0])
    with pytest.raises(InputError, match=rf"probes\.otlp\.port: port {port} cannot be listened on"):
        OtlpProbe(OtlpOptions(port=port)).open()


def test_of_whoever_lacks_the_token_nothing_is_taken_and_that_is_noted_once() -> None:
    probe = OtlpProbe(OtlpOptions(listen="0.0.0.0", port=None, token="${OTLP_TOKEN}"), token="pl4nted-token")
    told = probe.open()
    try:
        assert f"http://{socket.gethostname()}:" in told and "Authorization=Bearer%20" in told
        body = json.dumps(export(gauge("x", 1))).encode()
        given = ("", "Bearer", "Bearer wrong", "Basic pl4nted-token", "Bearer pl4nted-token2", "Bearer pl\xe4nted")
        for authorization in given:
            status, answer = send(probe, body, Authorization=authorization)
            assert status == 401 and b"bearer token" in answer, authorization
        assert send(probe, body)[0] == 401 and rows(probe) == {}
        notes = [note for note in probe.take_notes() if "refused" in note]
        assert len(notes) == 1 and "OTEL_EXPORTER_OTLP_HEADERS" in notes[0]
        assert send(probe, body, Authorization="bearer pl4nted-token")[0] == 200
        assert rows(probe) == {"otlp:shop": {"x": 1.0}}
        assert "pl4nted" not in told + "".join(notes)
    finally:
        probe.close()


def test_a_refused_sender_is_told_where_it_sends_before_its_body_is_read() -> None:
    probe = OtlpProbe(OtlpOptions(port=None, token="${OTLP_TOKEN}"), token="pl4nted-token")
    probe.open()
    try:
        with connected_to(probe) as sender:
            sender.sendall(b"POST /v1/metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n")
            answer = sender.recv(4_000)
        assert b" 401 " in answer and b"WWW-Authenticate: Bearer" in answer and b"Connection: close" in answer
    finally:
        probe.close()


@pytest.mark.parametrize(
    ("length", "authorization", "status"),
    [(6_000_000, "Bearer wrong", b" 401 "), (MOST_BYTES + 1_000_000, "Bearer pl4nted-token", b" 413 ")],
)
def test_a_refused_sender_that_writes_its_whole_body_first_gets_the_answer_and_no_reset(
    length: int, authorization: str, status: bytes
) -> None:
    probe = OtlpProbe(OtlpOptions(port=None, token="${OTLP_TOKEN}"), token="pl4nted-token")
    probe.open()
    try:
        with connected_to(probe) as sender:
            head = f"POST /v1/metrics HTTP/1.1\r\nHost: x\r\nAuthorization: {authorization}\r\n"
            sender.sendall(f"{head}Content-Length: {length}\r\n\r\n".encode())
            for _ in range(length // 1_000_000):
                sender.sendall(bytes(1_000_000))
                time.sleep(0.02)
            answer = b"".join(iter(lambda: sender.recv(4_000), b""))
        assert status in answer
    finally:
        probe.close()


def test_a_refused_sender_that_writes_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiver_module, "UNREAD_BYTES", 1_000_000)
    probe = OtlpProbe(OtlpOptions(port=None, token="${OTLP_TOKEN}"), token="pl4nted-token")
    probe.open()
    try:
        with connected_to(probe) as sender:
            sender.sendall(b"POST /v1/metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")
            with pytest.raises(ConnectionError):
                for _ in range(200):
                    sender.sendall(bytes(1_000_000))
    finally:
        probe.close()


def test_a_refused_sender_that_falls_silent_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiver_module, "UNREAD_S", 0.2)
    probe = OtlpProbe(OtlpOptions(port=None, token="${OTLP_TOKEN}"), token="pl4nted-token")
    probe.open()
    try:
        with connected_to(probe) as sender:
            sender.sendall(b"POST /v1/metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n")
            until = time.monotonic() + 20
            while probe.cpu_s == 0 and time.monotonic() < until:  # it is counted once the connection is done with
                time.sleep(0.01)
            assert probe.cpu_s > 0
    finally:
        probe.close()


@pytest.mark.parametrize("token", [None, "pl4nted-token"])
@pytest.mark.parametrize("begun", [b"", b"POST /v1/metrics HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_idle_connections_keep_no_exporter_out(token: str | None, begun: bytes) -> None:
    """Slowloris: as many connections as there may be, which begin a request and never end it."""
    probe = OtlpProbe(OtlpOptions(port=None, token="${OTLP_TOKEN}" if token else None), token=token)
    probe.open()
    idle = [connected_to(probe) for _ in range(MOST_CONNECTIONS + 4)]
    try:
        for connection in idle[-MOST_CONNECTIONS:]:
            connection.sendall(begun)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        for value in range(MOST_CONNECTIONS + 4):
            body = json.dumps(export(gauge("x", value))).encode()
            assert send(probe, body, **headers)[0] == 200
            assert rows(probe) == {"otlp:shop": {"x": float(value)}}
        notes = [note for note in probe.take_notes() if "made room for the next" in note]
        assert len(notes) == 1
    finally:
        for connection in idle:
            connection.close()
        probe.close()


def test_exporters_that_have_sent_keep_their_connections(receiver: OtlpProbe) -> None:
    port = urlsplit(receiver.url).port
    exporters = [http.client.HTTPConnection("127.0.0.1", port, timeout=30) for _ in range(MOST_CONNECTIONS - 1)]
    body = json.dumps(export(gauge("x", 1))).encode()

    def all_send() -> list[int]:
        statuses = []
        for exporter in exporters:
            exporter.request("POST", "/v1/metrics", body, {"Content-Type": "application/json"})
            response = exporter.getresponse()
            response.read()
            statuses.append(response.status)
        return statuses

    idle = []
    try:
        assert set(all_send()) == {200}
        sockets = [exporter.sock for exporter in exporters]
        for _ in range(5):
            idle.append(connected_to(receiver))
            idle[-1].settimeout(30)
        assert all(connection.recv(1) == b"" for connection in idle[:-1]), "each made room for the next"
        assert set(all_send()) == {200} and [exporter.sock for exporter in exporters] == sockets
    finally:
        for connection in (*exporters, *idle):
            connection.close()


def test_a_connection_that_asks_for_nothing_is_ended(monkeypatch: pytest.MonkeyPatch, receiver: OtlpProbe) -> None:
    monkeypatch.setattr(receiver_module, "UNPROVEN_S", 0.5)
    with connected_to(receiver) as silent:
        assert silent.recv(1) == b""


def test_listening_asks_no_dns(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(name: str = "") -> str:
        raise AssertionError(f"DNS was asked for {name!r}")

    monkeypatch.setattr(socket, "getfqdn", never)
    probe = OtlpProbe(OtlpOptions(listen="0.0.0.0", port=None, token="${OTLP_TOKEN}"), token="pl4nted-token")
    try:
        assert f"http://{socket.gethostname()}:" in probe.open()
    finally:
        probe.close()


def test_an_address_that_this_machine_lacks_is_a_mistake() -> None:
    with pytest.raises(InputError, match=r"probes\.otlp\.listen: this machine has no address 192\.0\.2\.1"):
        OtlpProbe(OtlpOptions(listen="192.0.2.1", port=None)).open()


@pytest.mark.skipif(not socket.has_ipv6, reason="this system has no IPv6")
def test_it_listens_on_ipv6_too() -> None:
    probe = OtlpProbe(OtlpOptions(listen="::1", port=None))
    try:
        probe.open()
    except InputError:
        pytest.skip("this machine has no ::1")
    try:
        assert probe.url.startswith("http://[::1]:")
    finally:
        probe.close()


def test_gauges_are_values_with_their_unit_and_the_resource_is_the_source(receiver: OtlpProbe) -> None:
    document = export(gauge("queue.length", 3), gauge("heap.used", 5e6, "By"), gauge("cpu.utilization", 0.4, "1"))
    assert taken(receiver, document) == {
        "otlp:shop": {"queue_length": 3.0, "heap_used_bytes": 5e6, "cpu_utilization_share": 0.4}
    }


def test_cumulative_sums_become_rates_and_a_restart_has_none_once(receiver: OtlpProbe) -> None:
    found = [
        taken(receiver, export(total("requests", value), at=T0 + 10 * n)) for n, value in enumerate((100, 150, 5, 25))
    ]
    assert found == [{}, {"otlp:shop": {"requests_per_s": 5.0}}, {}, {"otlp:shop": {"requests_per_s": 2.0}}]


def test_deltas_are_rates_over_their_own_time(receiver: OtlpProbe) -> None:
    start = str((T0 - 20) * 10**9)
    document = export(total("bytes.sent", 4_000, "By", delta=True, startTimeUnixNano=start), at=T0)
    assert taken(receiver, document) == {"otlp:shop": {"bytes_sent_bytes_per_s": 200.0}}


def test_histograms_are_the_mean_of_what_came_and_how_much(receiver: OtlpProbe) -> None:
    for n, (count, sum_) in enumerate(((10, 5.0), (30, 25.0))):
        found = taken(receiver, export(histogram("http.server.request.duration", count, sum_), at=T0 + 10 * n))
    assert found == {
        "otlp:shop": {"http_server_request_duration_mean_s": 1.0, "http_server_request_duration_count_per_s": 2.0}
    }


def test_series_are_summed_after_their_rates(receiver: OtlpProbe) -> None:
    def document(first: int, second: int, at: float) -> dict[str, Any]:
        metric = total("requests", first)
        other = {"asInt": str(second), "attributes": [{"key": "code", "value": {"intValue": "500"}}]}
        metric["sum"]["dataPoints"].append(other)
        return export(metric, at=at)

    taken(receiver, document(10, 1_000, T0))
    assert taken(receiver, document(20, 1_010, T0 + 10)) == {"otlp:shop": {"requests_per_s": 2.0}}


def series(name: str, values: dict[tuple[str, ...], float], keys: tuple[str, ...], unit: str = "1") -> dict[str, Any]:
    """A gauge with a series for each value, of the labels `keys`."""
    points = [
        {"asDouble": value, "attributes": [
            {"key": key, "value": {"stringValue": text}} for key, text in zip(keys, texts, strict=True)]}
        for texts, value in values.items()
    ]  # fmt: skip
    return {"name": name, "unit": unit, "gauge": {"dataPoints": points}}


@pytest.mark.parametrize("state", ["state", "cpu.mode", "system.cpu.state"])
def test_the_share_of_cpus_is_what_is_not_idle_on_average(receiver: OtlpProbe, state: str) -> None:
    values = {(str(cpu), "idle"): 0.1 * cpu for cpu in range(4)}
    values |= {(str(cpu), "user"): 1 - 0.1 * cpu for cpu in range(4)}
    metric = series("system.cpu.utilization", values, ("cpu", state))
    [found] = taken(receiver, export(metric)).values()
    assert found == {"system_cpu_utilization_share": pytest.approx(0.85)}


@pytest.mark.parametrize(
    ("metric", "share"),
    [
        (series("process.cpu.utilization", {("user",): 0.2, ("system",): 0.1}, ("cpu.mode",)), 0.3),
        (series("system.memory.utilization", {("used",): 0.2, ("free",): 0.8}, ("state",)), 0.2),
        (series("system.filesystem.utilization", {("used", "a"): 0.2, ("free", "a"): 0.8, ("used", "b"): 0.6},
                ("system.filesystem.state", "system.device")), 0.6),
        (series("gpu.utilization", {("0",): 0.3, ("1",): 0.7}, ("gpu",)), 0.7),
        (series("disk.busy", {("sda",): 30.0, ("sdb",): 50.0}, ("device",), "%"), 0.5),
    ],
)  # fmt: skip
def test_a_share_is_never_a_sum(receiver: OtlpProbe, metric: dict[str, Any], share: float) -> None:
    [found] = taken(receiver, export(metric)).values()
    assert list(found.values()) == [pytest.approx(share)]


@pytest.mark.parametrize(
    ("idle", "user", "share"),
    [(0.0, 0.0, None), (0.1, 0.1, 0.5), (0.0, 0.2, 1.0), (0.0, None, 1.0), (0.25, 0.75, 0.75)],
)
def test_states_of_cpus_that_do_not_add_up_are_shares_of_what_was_seen(
    receiver: OtlpProbe, idle: float, user: float | None, share: float | None
) -> None:
    """psutil's shares are of a second at least: a shorter look adds up to less than 1, one without a tick to 0."""
    values = {("idle",): idle} | ({} if user is None else {("user",): user})
    found = taken(receiver, export(series("system.cpu.utilization", values, ("state",))))
    assert found == ({} if share is None else {"otlp:shop": {"system_cpu_utilization_share": pytest.approx(share)}})


@pytest.mark.parametrize(
    ("name", "value"), [("system.memory.usage", 3e9), ("db.client.connection.count", 8e9), ("heap.usage", 8e9)]
)
def test_of_a_usage_by_state_it_is_the_used_part(receiver: OtlpProbe, name: str, value: float) -> None:
    parts = {("free" if name != "heap.usage" else "eden",): 5e9, ("used" if name != "heap.usage" else "old",): 3e9}
    [found] = taken(receiver, export(series(name, parts, ("state",)))).values()
    assert list(found.values()) == [value]


def test_process_metrics_by_the_conventions_are_a_process_of_ours(receiver: OtlpProbe) -> None:
    def document(cpu_s: float, at: float) -> dict[str, Any]:
        cpu = {"name": "process.cpu.time", "unit": "s", "sum": {
            "dataPoints": [{"asDouble": cpu_s}], "aggregationTemporality": "AGGREGATION_TEMPORALITY_CUMULATIVE",
            "isMonotonic": True}}  # fmt: skip
        memory = {"name": "process.memory.usage", "unit": "By", "sum": {
            "dataPoints": [{"asInt": "5000000"}], "aggregationTemporality": 2}}  # fmt: skip
        return export(cpu, memory, at=at, host_name="app1.example")

    taken(receiver, document(10.0, T0))
    found = taken(receiver, document(17.5, T0 + 10))
    assert found["process:shop@app1.example"] == {"cpu_cores_used": 0.75, "rss_bytes": 5e6}


def container_export(cpu_s: float, at: float, **attributes: str) -> dict[str, Any]:
    cpu = {"name": "container.cpu.time", "unit": "s", "sum": {
        "dataPoints": [{"asDouble": cpu_s}], "aggregationTemporality": 2, "isMonotonic": True}}  # fmt: skip
    return export(
        cpu,
        gauge("container.memory.usage", 9e8, "By"),
        gauge("container.memory.working_set", 5e8, "By"),
        at=at,
        **attributes,
    )


@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        ({"container_name": "web", "container_id": "0123456789abcdef"}, "web"),
        ({"container_id": "0123456789abcdef"}, "0123456789ab"),
        ({"k8s.namespace.name": "shop", "k8s.pod.name": "db-0", "k8s.container.name": "db"}, "shop/db-0/db"),
    ],
)
@pytest.mark.parametrize("kind", ["application/json", "application/x-protobuf"])
def test_container_metrics_by_the_conventions_are_a_control_group_of_ours(
    receiver: OtlpProbe, attributes: dict[str, str], name: str, kind: str
) -> None:
    found = {}
    for n, cpu_s in enumerate((10.0, 17.5)):
        document = container_export(cpu_s, T0 + 10 * n, **attributes)
        assert send(receiver, encoded(document, kind), kind)[0] == 200
        found = rows(receiver)
    assert found[f"cgroup:{name}"] == {"cpu_cores_used": 0.75, "memory_used_bytes": 5e8}


def encoded(document: dict[str, Any], kind: str) -> bytes:
    """The export in the form that the content type says."""
    if kind == "application/json":
        return json.dumps(document).encode()
    service = pytest.importorskip("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
    json_format = pytest.importorskip("google.protobuf.json_format")
    return json_format.ParseDict(document, service.ExportMetricsServiceRequest()).SerializeToString()


def test_dockers_containers_of_a_collector_are_told_in_seconds_and_with_their_limit(receiver: OtlpProbe) -> None:
    for n, cpu_ns in enumerate((10**9, 6 * 10**9)):
        metrics = (total("container.cpu.usage.total", cpu_ns, "ns"), gauge("container.memory.usage.total", 4e8, "By"),
                   gauge("container.memory.usage.limit", 8e8, "By"))  # fmt: skip
        found = taken(receiver, export(*metrics, at=T0 + 10 * n, container_name="web"))
    assert found["cgroup:web"] == {
        "cpu_cores_used": 0.5, "memory_used_bytes": 4e8, "memory_limit_bytes": 8e8, "memory_share": 0.5,
    }  # fmt: skip


def test_a_sender_of_its_host_and_its_process_tells_of_both(receiver: OtlpProbe) -> None:
    """As Python's system metrics are sent: the process on it is no exporter's."""
    for n, value in enumerate((10, 20)):
        cpu = total("system.cpu.time", value, "s")
        labels = {"cpu": "0", "state": "user"}
        cpu["sum"]["dataPoints"][0]["attributes"] = [
            {"key": key, "value": {"stringValue": text}} for key, text in labels.items()
        ]
        document = export(cpu, total("process.cpu.time", value, "s"), at=T0 + 20 * n, host_name="app1")
        found = taken(receiver, document)
    assert found["process:shop@app1"] == {"cpu_cores_used": 0.5}
    assert found["host:app1"]["cores"] == 1


def test_a_histogram_without_a_sum_has_no_mean(receiver: OtlpProbe) -> None:
    for n, count in enumerate((10, 30)):
        metric = histogram("temperature.change", count, 0.0)
        del metric["histogram"]["dataPoints"][0]["sum"]
        found = taken(receiver, export(metric, at=T0 + 10 * n))
    assert found == {"otlp:shop": {"temperature_change_count_per_s": 2.0}}


def test_a_sender_that_was_restarted_is_noted(receiver: OtlpProbe) -> None:
    receiver.take_notes()

    def started(at: int) -> str:
        return str(at * 10**9)

    for n, (value, start) in enumerate(((500, T0 - 9), (600, T0 - 9), (3, T0 + 15), (9, T0 + 15))):
        many = [total(name, number, startTimeUnixNano=started(start)) for name, number in (("a", value), ("zero", 0))]
        taken(receiver, export(*many, at=T0 + 10 * n))
    taken(receiver, export(total("a", 2, startTimeUnixNano=started(T0 + 15)), at=T0 + 40))  # a counter that is wrong
    assert [note for note in receiver.take_notes() if "clock" not in note] == [
        "shop was restarted: its sums began anew."
    ]


@pytest.fixture
def timed() -> Iterator[tuple[OtlpProbe, list[float]]]:
    """A receiver that listens, and its time, which is set; where it listens is told already."""
    now = [0.0]
    probe = OtlpProbe(OtlpOptions(port=None), clock=lambda: now[0])
    probe.open()
    probe.take_notes()
    yield probe, now
    probe.close()


def until(probe: OtlpProbe, now: list[float], end_s: int, sends: range | tuple[()] = ()) -> list[tuple[float, str]]:
    """Its notes with their seconds until `end_s`; a sender sends at some of them."""
    notes = []
    for second in range(int(now[0]) + 1, end_s + 1):
        now[0] = float(second)
        if second in sends:
            probe.take(json.dumps(export(gauge("x", 1))).encode(), "application/json", time.time())
        probe.observe()
        notes += [(second, note) for note in probe.take_notes()]
    return notes


def test_a_sender_that_stops_and_comes_back_is_noted_once_each(timed) -> None:
    probe, now = timed
    assert until(probe, now, 40, range(1, 41, 10)) == []  # at 1, 11, 21, 31
    words = "shop has sent nothing for 31 s; before, every 10 s. It ended, or cannot reach this address any more."
    assert until(probe, now, 120) == [(62, words)]
    assert until(probe, now, 160, range(121, 161, 10)) == [(121, "shop sends again.")]
    assert until(probe, now, 300)[0][0] == 182  # the silence is none of its intervals


def test_that_nobody_sends_is_noted_with_what_to_set_and_that_somebody_does_then(timed) -> None:
    probe, now = timed
    base = probe.url.removesuffix("/v1/metrics")
    [(second, note)] = until(probe, now, 200)
    assert (second, note) == (
        76,
        f"no export was taken for 76 s. Set OTEL_EXPORTER_OTLP_ENDPOINT={base} at the target, "
        "and OTEL_METRIC_EXPORT_INTERVAL=1000 (ms).",
    )
    assert until(probe, now, 210, range(205, 206)) == [(205, "the first export has come.")]


def test_the_end_of_a_short_run_says_that_nothing_came_or_only_once(timed) -> None:
    probe, now = timed
    until(probe, now, 20)
    probe.close()
    [note] = probe.take_notes()
    assert note.startswith("no export was taken in the 20 s of the run. Set OTEL_EXPORTER_OTLP_ENDPOINT=")
    probe.open()
    until(probe, now, 40, range(25, 26))
    probe.take_notes()
    probe.close()
    words = "It has no rates. Let it send more often (OTEL_METRIC_EXPORT_INTERVAL=1000, in ms)."
    assert probe.take_notes() == [f"shop sent only once in 20 s. {words}"]


def test_how_often_exporters_send_can_be_stated() -> None:
    now = [0.0]
    probe = OtlpProbe(OtlpOptions(port=None, every_s=2), clock=lambda: now[0])
    notes = until(probe, now, 20, range(1, 2))
    assert [second for second, _ in notes] == [8]


def test_a_second_instance_is_kept_apart(receiver: OtlpProbe) -> None:
    taken(receiver, export(gauge("x", 1), service_instance_id="a"))
    assert taken(receiver, export(gauge("x", 2), service_instance_id="b")) == {"otlp:shop#2": {"x": 2.0}}
    assert "shop#2 is a further instance of shop, or shop after a restart." in receiver.take_notes()


def test_only_the_metrics_that_are_asked_for_are_kept() -> None:
    probe = OtlpProbe(OtlpOptions(port=None, metrics=["http.*"]))
    probe.take(json.dumps(export(gauge("http.x", 1), gauge("jvm.x", 2))).encode(), "application/json", time.time())
    assert [dict(one.values) for one in probe.observe()] == [{"http_x": 1.0}]


def test_a_clock_that_is_five_minutes_ahead_is_told_and_corrected(receiver: OtlpProbe) -> None:
    receiver.take_notes()
    body = json.dumps(export(gauge("x", 1), at=time.time() + 300, host_name="app1")).encode()
    send(receiver, body)
    found = {one.source: one for one in receiver.observe()}
    assert abs(found["otlp:shop"].at_unix - time.time()) < 30
    assert found["clock:app1"].values["offset_s"] == pytest.approx(300, abs=30)
    assert "ahead of this machine's" in receiver.take_notes()[0]


@pytest.mark.parametrize("at", [0, T0 - 10 * 86_400, T0 + 2 * 86_400], ids=["no time", "ten days ago", "in two days"])
def test_points_of_another_day_are_left_out_with_a_note(receiver: OtlpProbe, at: int) -> None:
    receiver.take_notes()
    for _ in range(2):
        assert taken(receiver, export(gauge("x", 1), at=at)) == {}
    assert receiver.take_notes() == [
        "shop sends points without a time or more than a day from now; they are left out. Set its clock."
    ]
    send(receiver, json.dumps(export(gauge("x", 1))).encode())
    [row] = receiver.observe()
    assert abs(row.at_unix - time.time()) < 30


def time_of(text: bytes) -> bytes:
    point = b'{"asInt": 1, "timeUnixNano": %s}' % text
    metric = b'{"name": "x", "gauge": {"dataPoints": [%s]}}' % point
    return b'{"resourceMetrics": [{"scopeMetrics": [{"metrics": [%s]}]}]}' % metric


@pytest.mark.parametrize(
    ("body", "kind", "status", "words"),
    [
        (b"{", "application/json", 400, "the body is no JSON"),
        (b"[]", "application/json", 400, "no resourceMetrics"),
        (b'{"resourceMetrics": [{"scopeMetrics": [{"metrics": [{}]}]}]}', "application/json", 400, "no export"),
        (b'{"resourceMetrics": [null]}', "application/json", 400, "a field of resourceMetrics is missing"),
        (b'{"resourceMetrics": ["x"]}', "application/json", 400, "no export of metrics"),
        (time_of(b"1e999"), "application/json", 400, "a field of resourceMetrics is missing or of another kind"),
        (time_of(b"1" * 400), "application/json", 400, "a field of resourceMetrics is missing or of another kind"),
        (b"hello", "text/plain", 400, "Content-Type is text/plain"),
        (b"not gzip", "application/json", 400, "no gzip"),
    ],
)
def test_what_is_no_export_is_refused_with_a_reason(receiver: OtlpProbe, body, kind, status, words) -> None:
    headers = {"Content-Encoding": "gzip"} if words == "no gzip" else {}
    code, _ = send(receiver, body, kind, **headers)
    assert code == status
    notes = receiver.take_notes()
    assert any(words in note for note in notes) and "Error" not in " ".join(notes)
    assert taken(receiver, export(gauge("x", 1))) == {"otlp:shop": {"x": 1.0}}


def test_too_much_is_refused_packed_or_not_and_another_path_too(receiver: OtlpProbe) -> None:
    assert send(receiver, b"{}", path="/v1/traces")[0] == 404
    packed = gzip.compress(b" " * (2 * MOST_BYTES))
    assert send(receiver, packed, **{"Content-Encoding": "gzip"})[0] == 413
    port = int(receiver.url.split(":")[2].split("/")[0])
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(b"POST /v1/metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n")
        assert b" 413 " in connection.recv(4096)
    assert taken(receiver, export(gauge("x", 1))) == {"otlp:shop": {"x": 1.0}}


def test_packed_and_chunked_bodies_are_taken(receiver: OtlpProbe) -> None:
    body = json.dumps(export(gauge("x", 1))).encode()
    assert send(receiver, gzip.compress(body), **{"Content-Encoding": "gzip"})[0] == 200
    port = int(receiver.url.split(":")[2].split("/")[0])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    pieces = (body[:50], body[50:])
    connection.request("POST", "/v1/metrics", iter(pieces), {"Content-Type": "application/json"}, encode_chunked=True)
    assert connection.getresponse().status == 200
    connection.close()
    assert len(receiver.observe()) == 2


def test_protobuf_is_read_where_the_package_is(receiver: OtlpProbe) -> None:
    service = pytest.importorskip("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
    json_format = pytest.importorskip("google.protobuf.json_format")
    body = json_format.ParseDict(
        export(gauge("x", 2.5), total("n", 3), at=T0), service.ExportMetricsServiceRequest()
    ).SerializeToString()
    assert send(receiver, body, "application/x-protobuf") == (200, b"")
    assert rows(receiver) == {"otlp:shop": {"x": 2.5}}
    assert send(receiver, b"\xff\xff\xff", "application/x-protobuf")[0] == 400


def test_without_the_package_protobuf_is_refused_with_what_to_do(
    receiver: OtlpProbe, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "opentelemetry.proto.collector.metrics.v1.metrics_service_pb2", None)
    status, answer = send(receiver, b"\x0a\x00", "application/x-protobuf")
    assert status == 415
    assert b"http/json" in answer
    assert any("reads JSON only" in note for note in receiver.take_notes())


def test_the_cpu_time_of_exports_is_counted(receiver: OtlpProbe) -> None:
    taken(receiver, export(*(gauge(f"x{n}", n) for n in range(150))))
    until = time.monotonic() + 10
    while receiver.cpu_s == 0 and time.monotonic() < until:  # it is counted after the answer has gone out
        time.sleep(0.01)
    assert receiver.cpu_s > 0
