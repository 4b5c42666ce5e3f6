"""The script's own caps: what they allow, and when they and not the target were the limit."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.declared_caps import declared_caps, fixed_iterations, line_of, seconds_of
from plimsoll.runs.readings.script_caps import BindingCap, LoadSeconds, binding_cap
from plimsoll.runs.snapshot import Series, Snapshot

ARRIVALS = {"executor": "constant-arrival-rate", "rate": 100, "preAllocatedVUs": 10, "maxVUs": 50}
ONE = {"scenarios": {"a": ARRIVALS}}


def load(
    per_s: float, iteration_ms: float, request_ms: float, planned: float | None = None, scenario: str = "a", requests=1
) -> LoadSeconds:
    """Ten seconds in which so many iterations ended, each with requests that took so long together."""
    found, asked = LoadSeconds(), per_s if planned is None else planned
    for second in range(10):
        rows = series(scenario, per_s, iteration_ms, request_ms, asked, requests)
        counts = {"planned": round(asked), "done": round(per_s), "late": round(asked - per_s)}
        found.add(Snapshot(second, vus_max=50, series=rows, **counts))
    return found


def series(name: str, per_s: float, iteration_ms: float, request_ms: float, asked: float, requests: int) -> Any:
    tags, count = {"scenario": name}, round(per_s)
    return (
        Series.of_trend("iteration_duration", tags, Histogram.from_values([iteration_ms] * count)),
        Series.of_trend("http_req_duration", tags, Histogram.from_values([request_ms] * count)),
        Series("http_reqs", "counter", tags, value=float(requests * count)),
        Series("late_iterations", "counter", tags, value=float(round(asked - per_s))),
    )


def found(options: dict[str, Any], high: LoadSeconds, low: LoadSeconds | None = None, script: str = "") -> BindingCap:
    cap = binding_cap(declared_caps(options, script), high, low)
    assert cap is not None
    return cap


def test_what_the_vus_of_the_script_allow_is_named_with_its_line_and_what_to_set() -> None:
    """Seen: maxVUs 50 and sleep(0.1), "Carries 466/s, what stops it: cannot tell", valid, exit code 0."""
    script = "import { sleep } from 'k6';\n// maxVUs: 9\nconst a = {\n  maxVUs: 50 };\n\nfunction f() { sleep(0.1); }\n"
    cap = found(ONE, load(490, 102, 2, 700), load(100, 101, 1), script)
    assert cap.words == (
        "The script cannot send more: maxVUs of 50 (scenario a, line 4) allows about 495 iterations/s. An iteration "
        "takes 101 ms, of which 100 ms are the script's own waiting (line 6). The target was not the limit."
    )
    assert cap.remedy == "Raise maxVUs to 200 for up to 1,980 iterations/s (and preAllocatedVUs)."


@pytest.mark.parametrize(
    ("per_s", "iteration_ms", "request_ms"),
    [(200, 250, 150), (400, 125, 25), (300, 102, 2)],
    ids=["slow and far below", "slow behind a sleep that hides it", "VUs are free"],
)
def test_a_target_that_gets_slow_or_carries_less_is_the_limit_itself(
    per_s: float, iteration_ms: float, request_ms: float
) -> None:
    caps = declared_caps(ONE)
    assert binding_cap(caps, load(per_s, iteration_ms, request_ms, 700), load(100, 101, 1)) is None


def test_a_target_of_constant_latency_is_not_the_limit_where_vus_are_short() -> None:
    cap = found(ONE, load(480, 104, 104, 700), load(100, 100, 100))
    assert "An iteration takes 100 ms. The target" in cap.words


def test_without_a_calm_load_the_shortest_iteration_tells() -> None:
    assert found(ONE, load(495, 101, 1, 700)).allows_per_s == pytest.approx(495, rel=0.01)


def test_arrivals_that_all_found_a_vu_are_no_cap() -> None:
    assert binding_cap(declared_caps(ONE), load(480, 104, 2), load(100, 101, 1)) is None


def test_min_iteration_duration_and_batches_explain_what_an_iteration_takes() -> None:
    slow = {"minIterationDuration": "1s", **ONE}
    cap = found(slow, load(49, 5, 5, 80), load(20, 5, 5))
    assert "allows about 50 iterations/s, as minIterationDuration keeps a VU for 1 s" in cap.words
    assert cap.remedy.endswith("or lower minIterationDuration.")
    batches = {"batchPerHost": 4, **ONE}
    cap = found(batches, load(480, 104, 400, 700, requests=12), load(100, 100, 390, requests=12))
    assert "it sends 4 requests at a time (batchPerHost)" in cap.words and "raise batchPerHost" in cap.remedy


def test_the_rate_of_rps_is_a_cap_unless_requests_became_slow() -> None:
    options = {"rps": 100, "scenarios": {"a": {**ARRIVALS, "maxVUs": 5000}}}
    assert found(options, load(100, 900, 1, 200), load(20, 1, 1)).cap.option == "rps"
    assert binding_cap(declared_caps(options), load(97, 900, 900, 200), load(20, 1, 1)) is None
    assert binding_cap(declared_caps(options), load(97, 1, 1), load(20, 1, 1)) is None, "no more was asked for"
    assert binding_cap(declared_caps(options), load(97, 1, 1), load(20, 1, 1), presses=True) is not None


def test_a_scenario_is_judged_by_its_own_iterations() -> None:
    other = {"executor": "constant-arrival-rate", "rate": 20, "preAllocatedVUs": 2, "maxVUs": 500}
    high, low = load(100, 5, 5, scenario="b"), load(50, 5, 5, scenario="b")
    for whole, part in ((high, load(490, 102, 2, 700)), (low, load(100, 101, 1))):
        whole.merge(part)
        whole.seconds = 10
    cap = found({"scenarios": {"a": ARRIVALS, "b": other}}, high, low)
    assert (cap.cap.scenario, round(cap.reached_per_s)) == ("a", 490)


def test_a_script_without_max_vus_is_bound_by_those_that_the_machine_allows() -> None:
    open_ended = {"scenarios": {"a": {"executor": "ramping-arrival-rate", "preAllocatedVUs": 10}}}
    cap = found(open_ended, load(490, 102, 2, 700), load(100, 101, 1))
    assert "the 50 VUs that this machine allows allow about 495 iterations/s" in cap.words


def test_closed_loads_have_no_cap_of_vus() -> None:
    """Their VUs are the level; iterations and maxDuration are replaced where an experiment holds one."""
    for executor in ("constant-vus", "shared-iterations", "per-vu-iterations"):
        each = {"executor": executor, "vus": 4, "iterations": 600, "maxDuration": "1m"}
        assert declared_caps({"minIterationDuration": "1s", "scenarios": {"a": each}}) == ()
    assert declared_caps({}) == ()


def test_lines_and_durations() -> None:
    script = "a: {\n maxVUs: 1 },\n'b': {\n 'maxVUs': 2 }"
    assert (line_of(script, "maxVUs", "b"), line_of(script, "maxVUs"), line_of(script, "rps")) == (4, None, None)
    assert (seconds_of("1m30s"), seconds_of("500ms"), seconds_of(2000), seconds_of(None)) == (90.0, 0.5, 2.0, None)


def test_fixed_iterations_are_known_with_what_ends_them() -> None:
    each = {"executor": "per-vu-iterations", "vus": 4, "iterations": 5, "maxDuration": "1m"}
    assert fixed_iterations({"scenarios": {"a": each, "b": ARRIVALS}}) == {"a": (20, "maxDuration of 1m")}
    assert fixed_iterations({"iterations": 9, "vus": 3}) == {"default": (9, "duration of 10m")}
    assert fixed_iterations({"vus": 3, "duration": "5s"}) == {}
