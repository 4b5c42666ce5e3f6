"""Numbers of the printed summary, however large they are."""

from __future__ import annotations

import sys
from typing import Any, Literal

import pytest

from plimsoll.report.k6.export import summary_export
from plimsoll.report.k6.summary import summary_text
from plimsoll.report.k6.values import bytes_text, duration_text, share_text
from plimsoll.runs.readings.thresholds import settled

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


NEVER = {"p(95)<9": {"verdict": "undecided", "ok": False, "observed": None}}


@pytest.mark.parametrize("mode", ["compact", "legacy"])
@pytest.mark.parametrize(
    ("nothing_answered", "strict", "sign", "why"),
    [
        (False, False, "?", "no data"),
        (False, True, "✗", "no data"),
        (True, False, "✗", "no request was answered"),
        (True, True, "✗", "no request was answered"),
    ],
)
def test_a_threshold_without_data_has_the_mark_that_the_exit_code_gives_it(
    mode: Literal["compact", "legacy"], nothing_answered: bool, strict: bool, sign: str, why: str
) -> None:
    """Seen: a run on a refused port ended with 99, and showed "?" and no "✗" anywhere."""
    trend = {"type": "trend", "contains": "time", "values": TREND, "thresholds": NEVER}
    metrics = settled({"m": trend}, nothing_answered=nothing_answered, strict=strict)
    text = summary_text({"metrics": metrics}, mode)
    assert f"{sign} 'p(95)<9' {why}\n" in text or (mode == "legacy" and f"   {sign} m" in text)
    assert f": {why}\n" in f"{text}\n" and "avg=" not in text
    assert ("? undecided, because no sample was seen: m" in text) is (sign == "?")
    [row] = metrics["m"]["thresholds"].values()
    assert summary_export({"metrics": metrics})["metrics"]["m"]["thresholds"] == {"p(95)<9": sign == "✗"}
    assert row["ok"] is False


def test_a_threshold_that_ended_the_run_failed_even_if_its_value_at_the_end_is_within_its_limit() -> None:
    rows = {"count<5": {"verdict": "passed", "ok": True, "observed": 3}, "rate<5": {"verdict": "passed", "observed": 1}}
    counter = {"type": "counter", "contains": "default", "values": {"count": 3, "rate": 1}, "thresholds": rows}
    told = "threshold m: count<5 failed"
    text = summary_text({"metrics": settled({"m": counter}, nothing_answered=False, strict=False, stopped_by=told)})
    assert "    ✗ 'count<5' count=3 at the end; it ended the run before\n    ✓ 'rate<5' rate=1" in text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (718, "718 B"),
        (4_900, "4.9 kB"),
        (1_988, "2.0 kB"),
        (9_970, "10 kB"),
        (519_400, "519 kB"),
        (12e6, "12 MB"),
        (3e15, "3000 TB"),
    ],
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


@pytest.mark.parametrize(
    ("value_ms", "text"),
    [
        (0.0005, "500ns"), (0.0015, "1.5µs"), (0.99999, "999.99µs"), (0.5555, "555.5µs"), (12.999, "12.99ms"),
        (999.999, "999.99ms"), (1005.999, "1s"), (59_999.9, "59.99s"), (60_000, "1m0s"), (61_500, "1m1s"),
        (125_999, "2m5s"), (3_599_999.9, "59m59s"), (3_600_000, "1h0m0s"), (7_265_000.7, "2h1m5s"),
    ],
)  # fmt: skip
def test_times_are_cut_off_as_k6_cuts_them(value_ms: float, text: str) -> None:
    """What k6 2.2 printed of these; it said "1000ms" and "59m60s" here."""
    assert duration_text(value_ms) == text


def test_a_share_is_not_cut_below_what_it_is() -> None:
    assert share_text(29 / 100) == "29.00%" and share_text(2 / 3) == "66.66%"  # 100 * 0.29 is 28.999999999999996


@pytest.mark.parametrize(
    ("value_ms", "unit", "text"),
    [
        (0.5555, "s", "0.00s"),
        (12.999, "ms", "13.00ms"),
        (1005.999, "us", "1005999.00µs"),
        (3.6e6, "ms", "3600000.00ms"),
    ],
)
def test_times_in_a_unit_have_two_decimals(value_ms: float, unit: str, text: str) -> None:
    assert duration_text(value_ms, unit) == text


def test_a_share_of_which_one_failed_is_never_all() -> None:
    rate = {"type": "rate", "contains": "default", "values": {"rate": 0.99999, "passes": 99_999, "fails": 1}}
    assert "99.99% 99999 out of 100000" in of(rate) and "99.99%" in summary_text({"metrics": {"m": rate}}, "legacy")


@pytest.mark.parametrize(
    ("value", "text"), [(96.34692, "96.34692/s"), (1005.999, "1005.999/s"), (3599999.9, "3599999.9/s"), (0.0, "0/s")]
)
def test_numbers_have_six_decimals_as_in_k6(value: float, text: str) -> None:
    assert text in of({"type": "counter", "values": {"count": 1, "rate": value}})


def test_thresholds_on_a_part_of_a_metric_are_below_those_of_the_metric() -> None:
    row = {"rate>0.9": {"verdict": "passed", "ok": True, "observed": 1.0}}
    rate = {"type": "rate", "contains": "default", "values": {"rate": 1, "passes": 1, "fails": 0}, "thresholds": row}
    names = ("checks{kind:x}", "checks_of_mine", "checks", "mine{a:b}")
    lines = summary_text({"metrics": dict.fromkeys(names, rate)}).splitlines()
    assert lines[: lines.index("  █ TOTAL RESULTS")] == [
        "",
        "  █ THRESHOLDS",
        *("", "    checks", "    ✓ 'rate>0.9' rate=100.00%"),
        *("", "      {kind:x}", "      ✓ 'rate>0.9' rate=100.00%"),
        *("", "    checks_of_mine", "    ✓ 'rate>0.9' rate=100.00%"),
        *("", "    mine{a:b}", "    ✓ 'rate>0.9' rate=100.00%"),
        "",
    ]
