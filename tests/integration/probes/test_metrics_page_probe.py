"""A page of metrics over loopback, beside a clock that is off, restarts, and pages that change."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from changing_server import ChangingServer, page, says

from plimsoll.probes import ProbeUnavailable
from plimsoll.probes.prometheus.making import prometheus_probe
from plimsoll.probes.prometheus.page import PageProbe
from plimsoll.study.probes.prometheus import PrometheusOptions
from plimsoll.words import number

AHEAD_S = 300.0


@pytest.fixture
def probe_of(closed) -> Callable[..., PageProbe]:
    """Makes the probe of a server."""

    def make(server: ChangingServer, **options: object) -> PageProbe:
        given = PrometheusOptions.model_validate({"label": "shop", "url": f"{server.url}/metrics", **options})
        return closed(prometheus_probe(given, key="probes.prometheus[0]"))

    return make


def counting(text: str) -> Callable[[bytes], str]:
    """The page with {n}, which grows by 10 with each request."""
    number = iter(range(0, 10**6, 10))
    return lambda request: text.replace("{n}", str(next(number)))


def test_a_local_page_tells_of_a_process_of_this_host_and_of_selected_values(server: ChangingServer, probe_of) -> None:
    server.answer = says(counting('process_cpu_seconds_total {n}\nprocess_open_fds 7\nhttp_total{code="500"} {n}\n'))
    probe = probe_of(server, values={"errors_per_s": 'http_total{code=~"5.."}'})
    assert [(one.source, dict(one.values)) for one in probe.observe()] == [("process:shop", {"open_files": 7.0})]
    found = {one.source: one.values for one in probe.observe()}
    assert found["process:shop"]["cpu_cores_used"] > 0
    assert found["metrics:shop"]["errors_per_s"] == pytest.approx(found["process:shop"]["cpu_cores_used"])
    assert probe.take_notes() == []


def test_rates_are_over_the_time_between_the_scrapes(server: ChangingServer, probe_of) -> None:
    server.answer = says(counting("process_cpu_seconds_total {n}\n"))
    probe = probe_of(server)
    first = probe.observe()
    began = time.time()
    time.sleep(0.2)
    (one,) = probe.observe()
    assert first == []
    assert one.values["cpu_cores_used"] <= 10 / 0.2
    assert began <= one.at_unix <= time.time()


def test_a_restart_is_noted_and_gives_no_rate_once(server: ChangingServer, probe_of) -> None:
    texts = iter([(1000, 5), (1000, 6), (2000, 9), (2000, 10)])
    server.answer = says(
        lambda request: "process_start_time_seconds {}\nprocess_cpu_seconds_total {}\n".format(*next(texts))
    )
    probe = probe_of(server)
    rates = [["cpu_cores_used" in one.values for one in probe.observe()] for _ in range(4)]
    assert rates == [[], [True], [], [True]]
    assert probe.take_notes() == ["shop: the process was restarted; its counters began anew."]


def test_metrics_that_vanish_and_come_back_are_noted_once_each(server: ChangingServer, probe_of) -> None:
    probe = probe_of(server, values={"queue": "queue_length"})
    notes = []
    for text in ("queue_length 3\n", "queue_size 3\n", "queue_size 4\n", "queue_length 5\n"):
        server.answer = page(text + "process_open_fds 1\n")
        probe.observe()
        notes.append(probe.take_notes())
    assert notes == [
        [],
        ["shop: the page has no metric queue_length (for queue). Correct its name in the study, if it was renamed."],
        [],
        ["shop: the metric queue_length is there again."],
    ]


def test_a_page_without_known_metrics_says_what_to_do(server: ChangingServer, probe_of) -> None:
    probe = probe_of(server)
    for text in ("<html><body>Log in</body></html>\n", "", "\x00\x01\x02"):
        server.answer = page(text)
        with pytest.raises(ProbeUnavailable, match="is no page of metrics"):
            probe.observe()
    server.answer = page("my_own_metric 1\n")
    probe.observe()
    assert probe.take_notes() == [
        "the page has no metric of a known exporter. Name what you want of it under `values`."
    ]
    server.answer = page("process_open_fds 1\n}}}\n")
    assert probe.observe()[0].values == {"open_files": 1.0}
    assert probe.take_notes() == ["1 line of the page is none of metrics, and left out."]
    server.answer = page("process_open_fds 1\nprocess_open_fds 2\n")
    assert probe.observe()[0].values == {"open_files": 1.0}
    [note] = probe.take_notes()
    assert note == "the page has series several times; the first line of each is taken: process_open_fds{}."


def test_a_clock_five_minutes_ahead_is_told_by_the_date_header(server: ChangingServer, probe_of) -> None:
    server.answer = page("process_open_fds 1\n", clock_ahead_s=AHEAD_S)
    probe = probe_of(server, host="app1")
    observed = probe.observe()
    [note] = probe.take_notes()
    clock = next(one for one in observed if one.source == "clock:app1")
    assert note.startswith(f"the clock of app1 is {number(clock.values['offset_s'], 4)} s ahead of this machine's (± 1")
    assert abs(clock.values["offset_s"] - AHEAD_S) <= clock.values["offset_error_s"] + 0.001
    probe.observe()
    assert probe.take_notes() == []


def test_the_time_on_the_page_bounds_the_clock_to_the_round_trip(server: ChangingServer, probe_of) -> None:
    server.answer = says(lambda request: f"node_time_seconds {time.time() - AHEAD_S}\n", clock_ahead_s=-AHEAD_S)
    probe = probe_of(server, host="db1")
    probe.observe()
    assert probe.clock_offset.error_s < 0.5
    assert abs(probe.clock_offset.seconds + AHEAD_S) <= probe.clock_offset.error_s + 0.001
    assert f"{number(-probe.clock_offset.seconds, 4)} s behind this machine's" in probe.take_notes()[0]


def test_samples_with_times_of_a_clock_that_is_off_are_put_right(server: ChangingServer, probe_of) -> None:
    """cAdvisor writes its own time on each line."""
    growing = counting('container_cpu_usage_seconds_total{name="web"} {n} {t}\n')
    server.answer = says(
        lambda request: growing(request).replace("{t}", str(int(1000 * (time.time() + AHEAD_S)))),
        clock_ahead_s=AHEAD_S,
    )
    probe = probe_of(server, host="node1")
    probe.observe()
    time.sleep(0.05)
    found = {one.source: one for one in probe.observe()}
    assert abs(found["cgroup:web"].at_unix - time.time()) < 2.1  # the Date header's error is 1 s, and a cached second
    shortest_s = 0.05 - 0.001  # the page's times are cut to milliseconds
    assert found["cgroup:web"].values["cpu_cores_used"] < 10 / shortest_s


def test_a_database_that_its_exporter_cannot_reach_is_noted(server: ChangingServer, probe_of) -> None:
    probe = probe_of(server)
    server.answer = page("pg_up 0\n")
    probe.observe()
    probe.observe()
    assert probe.take_notes() == ["shop: the exporter says that PostgreSQL does not answer."]
    server.answer = page("pg_up 1\n")
    probe.observe()
    assert probe.take_notes() == ["shop: the exporter says that the database answers again."]
