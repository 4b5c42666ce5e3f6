"""A Prometheus server over loopback, as its API answers; its clock may be off and its scrapes late."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import pytest
from changing_server import ChangingServer, page, says

from plimsoll.probes import ProbeUnavailable
from plimsoll.probes.prometheus.making import prometheus_probe
from plimsoll.probes.prometheus.server import ServerProbe
from plimsoll.study.prometheus import PrometheusOptions


class Clock:
    """Goes by ten seconds with each look, so that it is always time to ask."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 10.0
        return self.now


@pytest.fixture
def probe_of(closed) -> Callable[..., ServerProbe]:
    def make(server: ChangingServer, **options: object) -> ServerProbe:
        given = PrometheusOptions.model_validate({"label": "prom", "url": f"{server.url}/base/", **options})
        probe = closed(prometheus_probe(given, key="probes.prometheus[0]"))
        probe._clock = Clock()
        return probe

    return make


def api(results: dict[str, Any], ahead_s: float = 0.0):
    """Answers by the query's text, a function of the server's time; the time itself always."""

    def make(request: bytes) -> str:
        form = {name: values[0] for name, values in parse_qs(request.partition(b"\r\n\r\n")[2].decode()).items()}
        now = time.time() + ahead_s
        if form["query"] == "time()":
            data: Any = {"resultType": "scalar", "result": [now, str(now)]}
        else:
            found = next(result for start, result in results.items() if form["query"].startswith(start))
            data = found(now, form) if callable(found) else found
        return json.dumps({"status": "success", "data": data})

    return says(make, clock_ahead_s=ahead_s)


def vector(*series: tuple[dict[str, str], float]):
    return lambda now, form: {
        "resultType": "vector",
        "result": [{"metric": labels, "value": [now, str(value)]} for labels, value in series],
    }


def test_a_query_with_one_series_is_a_value_and_one_with_many_a_source_each(server: ChangingServer, probe_of) -> None:
    many = vector(({"instance": "a"}, 1.5), ({"instance": "b"}, 2.5), ({"instance": "c"}, float("nan")))
    server.answer = api({"sum": vector(({}, 42.0)), "each": many})
    probe = probe_of(server, queries={"requests_per_s": "sum(rate(x[1m]))", "load": "each"})
    found = {one.source: dict(one.values) for one in probe.observe()}
    assert found == {
        "metrics:prom": {"requests_per_s": 42.0},
        "metrics:prom instance=a": {"load": 1.5},
        "metrics:prom instance=b": {"load": 2.5},
    }
    assert all(request.startswith(b"POST /base/api/v1/query HTTP") for request in server.requests)


def test_a_clock_that_is_off_is_measured_to_the_round_trip_and_corrected(server: ChangingServer, probe_of) -> None:
    server.answer = api({"x": vector(({}, 1.0))}, ahead_s=300.0)
    probe = probe_of(server, queries={"x": "x"})
    found = {one.source: one for one in probe.observe()}
    assert abs(probe.clock_offset.seconds - 300) <= probe.clock_offset.error_s + 0.002
    assert abs(found["metrics:prom"].at_unix - time.time()) < 5
    assert f"the clock of prom is {probe.clock_offset.seconds:.1f} s ahead" in probe.take_notes()[0]
    assert found["clock:prom"].values["offset_s"] == pytest.approx(300, abs=1)


def test_a_range_query_covers_the_time_since_the_last_answer(server: ChangingServer, probe_of) -> None:
    asked: list[tuple[float, float]] = []

    def matrix(now: float, form: dict[str, str]) -> dict[str, Any]:
        start, end, step = (float(form[key]) for key in ("start", "end", "step"))
        asked.append((start, end))
        times = [start + step * n for n in range(int((end - start) / step) + 1)]
        values = [[at, str(at)] for at in times]
        return {"resultType": "matrix", "result": [{"metric": {}, "values": values}]}

    server.answer = api({"x": matrix})
    probe = probe_of(server, queries={"x": "x"}, step_s=1)
    first = list(probe.observe())
    time.sleep(1.2)
    second = list(probe.observe())
    times = [one.at_unix for one in (*first, *second)]
    assert len(times) >= 2
    assert times == sorted(set(times))
    assert asked[1][0] == pytest.approx(asked[0][0] + len(first), abs=0.01)


def test_selected_series_are_taken_at_their_own_scrapes(server: ChangingServer, probe_of) -> None:
    """A scrape every 15 s: rates are between scrapes, each is told once and at its own time."""
    began = time.time() - 40

    def matrix(now: float, form: dict[str, str]) -> dict[str, Any]:
        assert form["query"].endswith("s]")
        times = [began + 15 * n for n in range(3)]
        result = [
            {
                "metric": {"__name__": "node_cpu_seconds_total", "cpu": "0", "mode": mode, "instance": "db1:9100"},
                "values": [[at, str(n * share * 15)] for n, at in enumerate(times)],
            }
            for mode, share in (("idle", 0.25), ("user", 0.75))
        ]
        return {"resultType": "matrix", "result": result}

    server.answer = api({"{__name__": matrix})
    probe = probe_of(server, select='instance="db1:9100"')
    found = [one for one in probe.observe() if "cpu_share" in one.values]
    assert [one.source for one in found] == ["host:db1", "host:db1"]
    assert [one.values["cpu_share"] for one in found] == pytest.approx([0.75, 0.75])
    assert [one.at_unix for one in found] == pytest.approx([began + 15, began + 30], abs=0.05)
    assert probe.observe() == []


def test_two_jobs_of_one_instance_are_scraped_at_their_own_times(server: ChangingServer, probe_of) -> None:
    """A kubelet and its cAdvisor: neither takes the other's last scrape for its own."""
    began = time.time() - 40

    def matrix(now: float, form: dict[str, str]) -> dict[str, Any]:
        def series(job: str, name: str, late: float, labels: dict[str, str]) -> dict[str, Any]:
            values = [[began + late + 10 * n, str(5 * n)] for n in range(3)]
            metric = {"__name__": name, "instance": "n1:1", "job": job} | labels
            return {"metric": metric, "values": values}

        result = [
            series("kubelet", "process_cpu_seconds_total", 0.0, {}),
            series("cadvisor", "container_cpu_usage_seconds_total", 4.0, {"name": "web"}),
        ]
        return {"resultType": "matrix", "result": result}

    server.answer = api({"{__name__": matrix})
    rates = [
        (one.source, one.values["cpu_cores_used"])
        for one in probe_of(server, select='instance="n1:1"').observe()
        if "cpu_cores_used" in one.values
    ]
    assert sorted(rates) == [("cgroup:web", 0.5)] * 2 + [("process:prom@n1", 0.5)] * 2


def test_a_wrong_query_a_page_that_is_no_server_and_an_empty_result_say_what_to_do(
    server: ChangingServer, probe_of
) -> None:
    probe = probe_of(server, queries={"x": "x"})
    server.answer = page("<html>Grafana</html>")
    with pytest.raises(ProbeUnavailable, match="did not answer as a Prometheus server"):
        probe.observe()
    error = {"status": "error", "errorType": "bad_data", "error": 'parse error: password="hunter2" unexpected'}
    server.answer = page(json.dumps(error), status=400)
    with pytest.raises(ProbeUnavailable, match="parse error") as raised:
        probe.observe()
    assert "hunter2" not in str(raised.value)
    server.answer = api({"x": vector()})
    assert probe.observe() == []
    assert probe.take_notes() == ["the query x has no result. Correct it, or check the scrapes."]


def test_a_failure_lasts_until_it_is_asked_again(server: ChangingServer, probe_of) -> None:
    probe = probe_of(server, queries={"x": "x"}, every_s=60)
    server.go()
    for _ in range(2):
        with pytest.raises(ProbeUnavailable, match="cannot be read"):
            probe.observe()
    server.come()
    server.answer = api({"x": vector(({}, 1.0))})
    for _ in range(6):
        try:
            found = probe.observe()
        except ProbeUnavailable:
            continue
        break
    assert found[0].values == {"x": 1.0}
