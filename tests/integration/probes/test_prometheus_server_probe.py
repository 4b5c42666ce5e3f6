"""A Prometheus server over loopback, as its API answers; its clock may be off and its scrapes late."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import pytest
from changing_server import ChangingServer, page, says

from plimsoll.probes import ProbeUnavailable
from plimsoll.probes.prometheus.making import prometheus_probe
from plimsoll.probes.prometheus.server import ServerProbe
from plimsoll.study.probes.prometheus import PrometheusOptions
from plimsoll.words import number


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


Series = tuple[str, dict[str, str]]


class Prometheus:
    """A server with samples in its store, whose time goes on when it is told to."""

    def __init__(self) -> None:
        self.ahead_s = 0.0
        self.began = time.time()
        self.windows_s: list[float] = []
        self._samples: list[tuple[str, dict[str, str], float, float, float]] = []

    def answer(self, connection: Any, request: bytes) -> None:
        """What the API says of its samples now."""
        api({"{__name__": self._matrix}, self.ahead_s)(connection, request)

    def scraped(self, instance: str, at_s: float, job: str = "node", late_s: float = 0.0, **metrics: float) -> None:
        """A scrape at so many seconds since the beginning; metrics by name, or by name and the container's. Their own
        time is `late_s` earlier."""
        for name, value in metrics.items():
            metric, _, container = name.partition("__")
            labels = {"instance": instance, "job": job} | ({"name": container} if container else {})
            self._samples.append((metric, labels, self.began + at_s, self.began + at_s - late_s, value))

    def _matrix(self, now: float, form: dict[str, str]) -> dict[str, Any]:
        window_s = float(re.search(r"\[(\d+)s\]$", form["query"])[1])
        self.windows_s.append(window_s)
        values: dict[tuple[str, str], list[Any]] = {}
        for metric, labels, scraped_at, at, value in self._samples:
            if scraped_at <= now and now - window_s < at <= now:
                key = json.dumps({"__name__": metric, **labels}, sort_keys=True)
                values.setdefault(key, []).append([at, str(value)])
        return {
            "resultType": "matrix",
            "result": [{"metric": json.loads(key), "values": pairs} for key, pairs in values.items()],
        }


def asked_at(probe: ServerProbe, prometheus: Prometheus, at_s: float) -> tuple[list[str], list[str]]:
    """The sources that it tells of at so many seconds, and its notes, but for those of clocks."""
    prometheus.ahead_s = at_s - (time.time() - prometheus.began)
    sources = sorted({one.source for one in probe.observe() if not one.source.startswith("clock:")})
    return sources, [note for note in probe.take_notes() if not note.startswith("the clock of")]


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
    assert f"the clock of prom is {number(probe.clock_offset.seconds, 4)} s ahead" in probe.take_notes()[0]
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


def test_an_instance_that_is_lost_and_comes_back_is_noted_once_each_and_costs_no_more_samples(
    server: ChangingServer, probe_of
) -> None:
    prometheus = Prometheus()
    server.answer = prometheus.answer
    for at_s in range(-60, 401, 10):
        prometheus.scraped("app1:80", at_s, process_open_fds=1)
        if at_s < 60 or at_s > 300:
            prometheus.scraped("app2:80", at_s, process_open_fds=2)
    probe = probe_of(server, select='job="node"')
    notes = {}
    for at_s in range(1, 400, 5):
        sources, new = asked_at(probe, prometheus, at_s)
        notes |= {at_s: new} if new else {}
        assert set(sources) <= {"process:app1:80@app1", "process:app2:80@app2"}
    assert len(notes) == 2
    (lost_at, [lost]), (back_at, [back]) = notes.items()
    assert lost.startswith("select: app2:80 (job node) has had no new samples for ")
    assert lost.endswith("It is gone, or its scrapes fail.")
    assert back == "select: app2:80 (job node) has new samples again."
    assert 60 < lost_at < 120 and 300 < back_at < 320
    assert max(prometheus.windows_s[lost_at // 5 + 1 : back_at // 5]) <= 30


def test_names_stay_when_a_second_instance_appears_and_when_it_goes(server: ChangingServer, probe_of) -> None:
    prometheus = Prometheus()
    server.answer = prometheus.answer
    for at_s in range(-60, 201, 10):
        prometheus.scraped("db1:9187", at_s, job="pg", pg_settings_max_connections=50, pg_stat_activity_count=5)
        if 50 < at_s < 100:
            prometheus.scraped("db2:9187", at_s, job="pg", pg_settings_max_connections=50, pg_stat_activity_count=5)
    probe = probe_of(server, select='job="pg"')
    told = [asked_at(probe, prometheus, at_s)[0] for at_s in (1, 41, 81, 121, 161)]
    assert told == [
        ["postgresql:prom"], ["postgresql:prom"], ["postgresql:db2:9187", "postgresql:prom"],
        ["postgresql:db2:9187", "postgresql:prom"], ["postgresql:prom"],
    ]  # fmt: skip


def test_names_stay_when_of_two_instances_one_goes(server: ChangingServer, probe_of) -> None:
    prometheus = Prometheus()
    server.answer = prometheus.answer
    for at_s in range(-60, 801, 10):
        prometheus.scraped("app1:80", at_s, process_open_fds=1)
        if at_s < 5:
            prometheus.scraped("app2:80", at_s, process_open_fds=2)
    probe = probe_of(server, select='job="node"')
    assert asked_at(probe, prometheus, 1)[0] == ["process:app1:80@app1", "process:app2:80@app2"]
    assert [asked_at(probe, prometheus, at_s)[0] for at_s in (401, 701)] == [["process:app1:80@app1"]] * 2


def test_restarts_are_noted_and_give_no_rate_once(server: ChangingServer, probe_of) -> None:
    prometheus = Prometheus()
    server.answer = prometheus.answer
    for at_s in range(-60, 41, 10):
        is_new = at_s > 15
        prometheus.scraped(
            "app1:80", at_s, process_start_time_seconds=2000 if is_new else 1000,
            process_cpu_seconds_total=1000 + at_s if is_new else 100 + at_s,
        )  # fmt: skip
        prometheus.scraped(
            "n1:8080", at_s, container_start_time_seconds__web=2000 if is_new else 1000,
            container_cpu_usage_seconds_total__web=100 + at_s / 2, container_memory_working_set_bytes__web=1e8,
        )  # fmt: skip
    probe = probe_of(server, select='job="node"')
    assert asked_at(probe, prometheus, 1)[1] == []
    prometheus.ahead_s = 39 - (time.time() - prometheus.began)
    rates = [
        (one.source, one.values["cpu_cores_used"]) for one in probe.observe() if "cpu_cores_used" in one.values
    ]  # at 10, 20, which was the first of a new one, and 30
    assert rates == [("process:app1:80@app1", pytest.approx(1.0))] * 2 + [("cgroup:web", pytest.approx(0.5))] * 2
    assert [note for note in probe.take_notes() if "clock" not in note] == [
        "app1:80: the process was restarted; its counters began anew.",
        "n1:8080: the container web was restarted; its counters began anew.",
    ]


def test_containers_have_their_rates_though_each_has_times_of_its_own(server: ChangingServer, probe_of) -> None:
    """As cAdvisor tells them, and Prometheus keeps them; limits have the time of the scrape."""
    prometheus = Prometheus()
    server.answer = prometheus.answer
    for at_s in range(-60, 61, 5):
        prometheus.scraped(
            "n1:8080", at_s, container_spec_cpu_quota__web=50_000, container_spec_cpu_period__web=100_000
        )
        if at_s % 10 == 0:
            prometheus.scraped("n1:8080", at_s, late_s=7, container_cpu_usage_seconds_total__web=100 + at_s / 4)
        if at_s % 15 == 0:
            prometheus.scraped("n1:8080", at_s, late_s=11, container_cpu_usage_seconds_total__db=100 + at_s / 2)
    probe = probe_of(server, select='job="node"')
    rates: dict[str, list[float]] = {}
    notes = []
    for at_s in range(1, 52, 5):
        prometheus.ahead_s = at_s - (time.time() - prometheus.began)
        for one in probe.observe():
            if "cpu_cores_used" in one.values:
                rates.setdefault(one.source, []).append(one.values["cpu_cores_used"])
                assert one.source != "cgroup:web" or one.values["cpu_limit_share"] == pytest.approx(0.5)
        notes += [note for note in probe.take_notes() if "clock" not in note]
    assert rates["cgroup:web"] == pytest.approx([0.25] * 10)
    assert rates["cgroup:db"] == pytest.approx([0.5] * 6)
    assert notes == []


def test_a_query_that_loses_its_result_and_one_that_never_had_one_are_told_apart(
    server: ChangingServer, probe_of
) -> None:
    probe = probe_of(server, queries={"x": "x"})
    notes = []
    for series in ((), (), (({}, 1.0),), (), (), (({}, float("nan")),), (({}, 2.0),), (({}, float("nan")),)):
        server.answer = api({"x": vector(*series)})
        probe.observe()
        notes.append(probe.take_notes())
    assert notes == [
        ["the query x has no result. Correct it, or check the scrapes."],
        [],
        ["the query x has a result now."],
        ["the query x has no result any more: what it asks of is gone, or no longer scraped."],
        [],
        [],
        ["the query x has a result again."],
        ["the query x has no number: NaN, as of a share of nothing."],
    ]


def test_a_range_that_is_not_due_yet_is_no_empty_result(server: ChangingServer, probe_of) -> None:
    def matrix(now: float, form: dict[str, str]) -> dict[str, Any]:
        return {"resultType": "matrix", "result": [{"metric": {}, "values": [[float(form["start"]), "1"]]}]}

    server.answer = api({"x": matrix})
    probe = probe_of(server, queries={"x": "x"}, step_s=60)
    assert [len(list(probe.observe())) for _ in range(3)] == [1, 0, 0]
    assert probe.take_notes() == []


def test_series_of_a_query_keep_their_names(server: ChangingServer, probe_of) -> None:
    def sources(*instances: str) -> list[str]:
        server.answer = api({"x": vector(*(({"instance": one}, 1.0) for one in instances))})
        return [one.source for one in probe.observe()]

    probe = probe_of(server, queries={"x": "x"})
    assert sources("a") == ["metrics:prom"]
    assert sources("a", "b") == ["metrics:prom instance=b", "metrics:prom"]
    assert sources("a") == ["metrics:prom"]
    probe = probe_of(server, queries={"x": "x"})
    assert sources("a", "b") == ["metrics:prom instance=a", "metrics:prom instance=b"]
    assert sources("b") == ["metrics:prom instance=b"]


def test_a_query_that_fails_does_not_cost_the_others(server: ChangingServer, probe_of) -> None:
    good = api({"good": vector(({}, 1.0)), "bad": vector(({}, 2.0))})
    error = page(json.dumps({"status": "error", "error": "query timed out"}), status=503)
    probe = probe_of(server, queries={"bad": "bad", "good": "good"})
    server.answer = lambda connection, request: (error if b"query=bad" in request else good)(connection, request)
    for _ in range(2):
        assert [dict(one.values) for one in probe.observe()] == [{"good": 1.0}]
    [note] = probe.take_notes()
    assert note.startswith("the query bad failed: ") and "query timed out" in note
    server.answer = good
    assert [dict(one.values) for one in probe.observe()] == [{"bad": 2.0, "good": 1.0}]
    assert probe.take_notes() == ["the query bad is answered again."]


def test_native_histograms_are_said_to_be_no_numbers(server: ChangingServer, probe_of) -> None:
    histogram = {"count": "5", "sum": "2", "buckets": []}
    data = {"resultType": "vector", "result": [{"metric": {}, "histogram": [1.0, histogram]}]}
    server.answer = api({"x": data})
    probe = probe_of(server, queries={"x": "x"})
    assert probe.observe() == []
    assert probe.take_notes()[0] == (
        "the query x gives native histograms. Ask for a number of them, as histogram_quantile(0.99, …)."
    )
