"""Numbers of the printed summary, however large they are."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from plimsoll.report.k6_summary import summary_text
from plimsoll.report.k6_values import bytes_text, duration_text

LARGEST = sys.float_info.max


def of(metric: dict[str, Any]) -> str:
    return summary_text({"metrics": {"m": {"contains": "default", **metric}}})


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ({"type": "gauge", "values": {"value": LARGEST, "min": -LARGEST, "max": LARGEST}}, "1.79769e+308 min=-1.79"),
        ({"type": "counter", "values": {"count": LARGEST, "rate": 1e20}}, "1.79769e+308 100000000000000000000/s"),
        ({"type": "gauge", "values": {"value": float("inf"), "min": 0, "max": 3.25}}, "inf min=0 max=3.25"),
    ],
)
def test_a_large_number_is_written_with_an_exponent(metric: dict[str, Any], words: str) -> None:
    assert words in of(metric)


def test_a_large_time_is_written_with_an_exponent() -> None:
    assert duration_text(LARGEST) == "2.99616e+303m" and duration_text(90_000) == "1m30s"


def test_a_threshold_says_why_it_is_undecided() -> None:
    row = {"verdict": "undecided", "ok": False}
    counter = {"type": "counter", "values": {"count": 3, "rate": 1}}
    assert "because no sample was seen: m" in of({**counter, "thresholds": {"count>1": {**row, "observed": None}}})
    assert "because no request was answered: m" in of({**counter, "thresholds": {"count>1": {**row, "observed": 3}}})


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (718, "718 B"), (4_900, "4.9 kB"), (519_400, "519 kB"), (12e6, "12 MB"), (3e15, "3000 TB")],
)
def test_bytes_are_written_as_k6_does(count: float, text: str) -> None:
    assert bytes_text(count) == text


TREND = {"avg": 20.5, "min": 1.0, "med": 20.0, "max": 140.25, "p(90)": 90.0, "p(95)": 120.0}
DATA = {
    "metrics": {
        "http_req_duration": {
            "type": "trend", "contains": "time", "values": TREND,
            "thresholds": {"p(95)<500": {"verdict": "passed", "ok": True, "observed": 120.0}},
        },
        "http_req_duration{expected_response:true}": {"type": "trend", "contains": "time", "values": TREND},
        "http_req_waiting": {"type": "trend", "contains": "time", "values": TREND},
        "http_req_failed": {
            "type": "rate", "contains": "default", "values": {"rate": 0.25, "passes": 5, "fails": 15},
            "thresholds": {"rate<0.01": {"verdict": "failed", "ok": False, "observed": 0.25}},
        },
        "http_reqs": {"type": "counter", "contains": "default", "values": {"count": 20, "rate": 2}},
        "data_received": {"type": "counter", "contains": "data", "values": {"count": 519_000, "rate": 51_900}},
        "checks": {"type": "rate", "contains": "default", "values": {"rate": 0.5, "passes": 4, "fails": 4}},
        "vus": {"type": "gauge", "contains": "default", "values": {"value": 1, "min": 1, "max": 12}},
        "orders": {"type": "counter", "contains": "default", "values": {"count": 7, "rate": 0.7}},
    },
    "root_group": {
        "checks": [{"name": "status is 200", "passes": 3, "fails": 0}],
        "groups": [{"name": "cart", "checks": [{"name": "has items", "passes": 1, "fails": 4}], "groups": []}],
    },
    "state": {"testRunDurationMs": 4000},
}  # fmt: skip


def test_the_summary_has_thresholds_first_then_checks_then_metrics_by_what_they_are_of() -> None:
    assert summary_text(DATA).splitlines() == [
        "",
        "  █ THRESHOLDS",
        "",
        "    http_req_duration",
        "    ✓ 'p(95)<500' p(95)=120ms",
        "",
        "    http_req_failed",
        "    ✗ 'rate<0.01' rate=25.00%",
        "",
        "  █ TOTAL RESULTS",
        "",
        "    checks_total.......: 8      2/s",
        "    checks_succeeded...: 50.00% 4 out of 8",
        "    checks_failed......: 50.00% 4 out of 8",
        "",
        "    ✓ status is 200",
        "    ✗ has items",
        "      ↳  20% — ✓ 1 / ✗ 4",
        "",
        "    CUSTOM",
        "    orders.........................: 7      0.7/s",
        "",
        "    HTTP",
        "    http_req_duration..............: avg=20.5ms min=1ms med=20ms max=140.25ms p(90)=90ms p(95)=120ms",
        "      { expected_response:true }...: avg=20.5ms min=1ms med=20ms max=140.25ms p(90)=90ms p(95)=120ms",
        "    http_req_failed................: 25.00% 5 out of 20",
        "    http_reqs......................: 20     2/s",
        "",
        "    EXECUTION",
        "    vus............................: 1      min=1       max=12",
        "",
        "    NETWORK",
        "    data_received..................: 519 kB 52 kB/s",
    ]


def test_parts_of_a_request_are_shown_where_a_threshold_is_on_them() -> None:
    assert "http_req_waiting" not in summary_text(DATA)
    threshold = {"med<1": {"verdict": "failed", "ok": False, "observed": 20.0}}
    metrics = {**DATA["metrics"], "http_req_waiting": {**DATA["metrics"]["http_req_waiting"], "thresholds": threshold}}
    text = summary_text({**DATA, "metrics": metrics})
    assert text.index("    HTTP\n") < text.index("    http_req_waiting....") < text.index("    EXECUTION\n")
    assert "    ✗ 'med<1' med=20ms" in text and "    http_req_waiting...............: avg" in text


@pytest.mark.parametrize(
    ("name", "section"),
    [("http_req_response_time", "HTTP"), ("arrival_lag", "EXECUTION"), ("iteration_response_time", "EXECUTION"),
     ("http_requests_of_mine", "CUSTOM"), ("my_time{name:a}", "CUSTOM")],
)  # fmt: skip
def test_every_metric_has_its_section(name: str, section: str) -> None:
    """Our own times, which count from the planned moment, were left out as parts of a request's time."""
    trend = {"type": "trend", "contains": "time", "values": TREND}
    [title, row] = [line.split() for line in summary_text({"metrics": {name: trend}}).splitlines()[3:]]
    assert title == [section] and row[0].startswith(name)


def test_the_legacy_summary_is_one_list() -> None:
    text = summary_text(DATA, "legacy")
    assert "   ✓ http_req_duration.................: avg=20.5ms" in text and "█ TOTAL" not in text
