"""The full summary: what each scenario and group did, against values that are known one by one."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from plimsoll.report.k6.summary import summary_text
from plimsoll.runs.clean_summary import clean_summary
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.summary_parts import SummaryParts
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.study.secrets.redactor import Redactor

STATISTICS = ("avg", "min", "med", "max", "count", "p(90)", "p(95)", "p(99.9)")
SECONDS = 4
PLACES = (("buyers", ""), ("buyers", "::cart"), ("buyers", "::cart::pay"), ("readers", "::cart"), ("default", "::cart"))


def of_trend(metric: str, values: list[float], **tags: str) -> Series:
    return Series.of_trend(metric, tags, Histogram.from_values(values))


def of_rate(metric: str, passes: int, total: int, **tags: str) -> Series:
    return Series(metric, "rate", tags, passes=passes, total=total)


def summary(*groups: dict[str, Any], **metrics: dict[str, Any]) -> dict[str, Any]:
    """As the engine has it, without the values of the totals."""
    trend = {"type": "trend", "contains": "time", "values": dict.fromkeys(STATISTICS, 1.0)}
    known = {
        "http_req_duration": trend,
        "orders": {"type": "counter", "contains": "default", "values": {"count": 1, "rate": 1}},
        "stock": {"type": "gauge", "contains": "default", "values": {"value": 1, "min": 1, "max": 1}},
        "data_sent": {"type": "counter", "contains": "data", "values": {"count": 1, "rate": 1}},
        "data_received": {"type": "counter", "contains": "data", "values": {"count": 1, "rate": 1}},
    }
    root = {"name": "", "path": "", "groups": list(groups), "checks": []}
    state = {"testRunDurationMs": SECONDS * 1000}
    return {"metrics": {**known, **metrics}, "root_group": root, "state": state}


def group(path: str, *groups: dict[str, Any], **checks: tuple[int, int, int]) -> dict[str, Any]:
    """Checks as (order, passes, fails)."""
    rows = [
        {"name": name, "path": f"{path}::{name}", "order": order, "passes": passes, "fails": fails}
        for name, (order, passes, fails) in checks.items()
    ]
    return {"name": path.rpartition("::")[2], "path": path, "groups": list(groups), "checks": rows}


def parts_of(*seconds: list[Series], **about: Any) -> dict[str, Any]:
    parts = SummaryParts()
    for second, series in enumerate(seconds):
        parts.add(Snapshot(second, series=tuple(series)))
    return parts.of(about.get("summary") or summary())


def places(parts: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every scenario and group by its place, as "buyers::cart"."""
    for scenario in parts["scenarios"]:
        yield scenario["name"], scenario
        yield from _inside(scenario["name"], scenario)
    yield from _inside("", parts)


def _inside(scenario: str, part: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for one in part["groups"]:
        yield f"{scenario}{one['path']}", one
        yield from _inside(scenario, one)


def truth(values: list[float]) -> dict[str, float]:
    """The statistics of values by their order: the smallest that reaches the share."""
    ordered = sorted(values)
    rank = {name: math.ceil(share * len(ordered) - 1e-9) for name, share in SHARES.items()}
    named = {name: ordered[max(1, place) - 1] for name, place in rank.items()}
    return named | {
        "avg": math.fsum(values) / len(values), "min": ordered[0], "max": ordered[-1], "count": len(values)
    }  # fmt: skip


SHARES = {"med": 0.5, "p(90)": 0.9, "p(95)": 0.95, "p(99.9)": 0.999}


@pytest.fixture(scope="module")
def recorded() -> tuple[dict[tuple[str, str], list[float]], list[list[Series]]]:
    """Times by place, and the seconds that hold them, each place's with two statuses."""
    choose = random.Random(7)
    values: dict[tuple[str, str], list[float]] = {place: [] for place in PLACES}
    seconds: list[list[Series]] = []
    for _ in range(SECONDS):
        series = []
        for number, (scenario, path) in enumerate(PLACES):
            for status in ("200", "500"):
                found = [choose.lognormvariate(number, 1) for _ in range(choose.randrange(1, 60))]
                values[scenario, path] += found
                tags = {"scenario": scenario, "status": status, **({"group": path} if path else {})}
                series.append(of_trend("http_req_duration", found, **tags))
                series.append(Series("orders", "counter", tags, value=float(len(found))))
        seconds.append(series)
    return values, seconds


def test_every_scenario_and_group_has_the_values_of_its_own_samples(recorded) -> None:
    values, seconds = recorded
    found = dict(places(parts_of(*seconds)))
    assert set(found) == {"buyers", "buyers::cart", "buyers::cart::pay", "readers", "readers::cart", "::cart"}
    for place, part in found.items():
        scenario, separator, rest = place.partition("::")
        mine = [
            value
            for (name, path), times in values.items()
            if name == (scenario or "default") and (not separator or path == f"::{rest}")
            for value in times
        ]
        times = part["metrics"]["http_req_duration"]
        assert (times["type"], times["contains"]) == ("trend", "time")
        assert list(times["values"]) == list(STATISTICS), "those of the totals, in their order"
        assert times["values"] == pytest.approx(truth(mine), rel=0.0005)
        assert times["values"]["avg"] == pytest.approx(math.fsum(mine) / len(mine), rel=1e-12)
        assert (times["values"]["min"], times["values"]["max"]) == (min(mine), max(mine))
        assert part["metrics"]["orders"]["values"] == {"count": len(mine), "rate": len(mine) / SECONDS}


def test_no_sample_is_counted_twice_and_none_is_lost(recorded) -> None:
    values, seconds = recorded
    found = parts_of(*seconds)
    count = lambda part: part["metrics"]["orders"]["values"]["count"]  # noqa: E731
    all_of_them = sum(map(len, values.values()))
    assert sum(map(count, [*found["scenarios"], *found["groups"]])) == all_of_them


def test_a_percentile_is_that_of_the_totals_also_where_arithmetic_is_not_exact() -> None:
    """The engine's rank of p(7) among 100 is 8, as 0.07 × 100 is more than 7."""
    known = {"type": "trend", "contains": "time", "values": {"p(7)": 1, "p(0)": 1, "p(100)": 1}}
    series = [of_trend("own", [float(value) for value in range(1, 101)], scenario="a")]
    [scenario] = parts_of(series, summary=summary(own=known))["scenarios"]
    assert scenario["metrics"]["own"]["values"] == pytest.approx({"p(7)": 8, "p(0)": 1, "p(100)": 100}, rel=0.0005)


def test_a_gauge_has_its_last_value_and_a_rate_its_shares() -> None:
    first = [Series("stock", "gauge", {"scenario": "a"}, value=9.0, min=2.0, max=9.0)]
    later = [Series("stock", "gauge", {"scenario": "a", "group": "::g"}, value=4.0, min=3.0, max=5.0)]
    happy = [of_rate("happy", 1, 4, scenario="a"), of_rate("happy", 3, 4, scenario="a", group="::g")]
    [scenario] = parts_of([*first, *happy], later)["scenarios"]
    assert scenario["metrics"]["stock"]["values"] == {"value": 4.0, "min": 2.0, "max": 9.0}
    assert scenario["metrics"]["happy"]["values"] == {"rate": 0.5, "passes": 4, "fails": 4}
    assert scenario["groups"][0]["metrics"]["happy"]["values"] == {"rate": 0.75, "passes": 3, "fails": 1}


def test_groups_stand_in_the_order_of_the_script_and_scenarios_in_that_of_their_names() -> None:
    tree = [group("::z", group("::z::y", second=(2, 1, 0), first=(1, 1, 0))), group("::a")]
    seconds = [
        of_rate("checks", 1, 1, scenario="zeta", group="::a", check="x"),
        of_rate("checks", 1, 1, scenario="zeta", group="::z::y", check="second"),
        of_rate("checks", 1, 1, scenario="zeta", group="::z::y", check="first"),
        of_rate("checks", 1, 1, scenario="zeta", group="::unknown", check="cut off"),
        of_rate("checks", 0, 1, scenario="alpha", check="alone"),
    ]
    alpha, zeta = parts_of(seconds, summary=summary(*tree))["scenarios"]
    assert (alpha["name"], zeta["name"]) == ("alpha", "zeta")
    assert [one["name"] for one in zeta["groups"]] == ["z", "a", "unknown"]
    [inner] = zeta["groups"][0]["groups"]
    assert [(one["name"], one["passes"], one["fails"]) for one in inner["checks"]] == [
        ("first", 1, 0), ("second", 1, 0)
    ]  # fmt: skip
    assert alpha["checks"] == [{"name": "alone", "passes": 0, "fails": 1, "order": 2}]


def test_groups_of_setup_have_the_checks_that_no_second_has() -> None:
    """As in k6, the checks of setup() itself are in no group."""
    prep = group("::setup::prep", ready=(1, 3, 1))
    tree = [group("::setup", prep, own=(0, 1, 0)), group("::cart", ok=(2, 5, 0)), group("::teardown", clean=(3, 1, 0))]
    seconds = [of_rate("checks", 5, 5, scenario="buyers", group="::cart", check="ok")]
    found = parts_of(seconds, summary=summary(*tree))
    [setup] = found["groups"]
    assert (setup["name"], setup["is_partial"], setup["checks"]) == ("setup", True, [])
    [inner] = setup["groups"]
    assert inner["checks"] == [{"name": "ready", "passes": 3, "fails": 1, "order": 1}]
    assert found["scenarios"][0]["groups"][0]["is_partial"] is False


def test_a_group_of_a_script_that_is_called_setup_is_one_like_others() -> None:
    """k6 leaves it out."""
    tree = [group("::setup", group("::setup::prep", ready=(0, 3, 0)), mine=(1, 2, 0))]
    seconds = [
        of_rate("checks", 2, 2, scenario="default", group="::setup", check="mine"),
        of_rate("checks", 1, 1, scenario="default", group="::setup::prep", check="ready"),
    ]
    [setup] = parts_of(seconds, summary=summary(*tree))["groups"]
    assert [(one["name"], one["passes"]) for one in setup["checks"]] == [("mine", 2)] and setup["is_partial"]
    assert setup["groups"][0]["checks"][0]["passes"] == 3, "one in an iteration, two in setup()"


def test_a_scenario_without_an_answer_has_no_response_times() -> None:
    failed = [
        of_rate("http_req_failed", 3, 3, scenario="dead", status="0"),
        of_trend("http_req_duration", [0.0, 0.0, 0.0], scenario="dead", status="0"),
        of_rate("http_req_failed", 0, 1, scenario="live", status="200"),
        of_trend("http_req_duration", [5.0], scenario="live", status="200"),
    ]
    whole = summary()
    text = summary_text({**whole, "parts": parts_of(failed, summary=whole)}, "full")
    dead, live = text.partition("SCENARIO: dead")[2].split("SCENARIO: live")
    assert "http_req_duration...: no request was answered\n" in dead and "avg=5ms" in live


def test_what_the_engine_put_into_no_group_is_said() -> None:
    beyond = {"scenario": "a", "method": "GET", "name": "other", "status": "200", "expected_response": "true"}
    named = {**beyond, "proto": "HTTP/1.1"}
    assert parts_of([of_trend("http_req_duration", [1.0], **named)])["is_incomplete"] is False
    found = parts_of([of_trend("http_req_duration", [1.0], **beyond)])
    assert found["is_incomplete"] is True
    assert "  (over 1,000 distinct series: " in summary_text({**summary(), "parts": found}, "full")


def test_secrets_are_in_no_name_of_a_part() -> None:
    secret = "hunter2-hunter2"
    series = [
        of_rate("checks", 1, 1, scenario=f"s {secret}", group=f"::g {secret}", check=f"c {secret}"),
        of_trend(f"m_{secret}", [1.0], scenario=f"s {secret}"),
    ]
    whole = {**summary(), "parts": parts_of(series)}
    assert secret in str(whole["parts"])
    cleaned = clean_summary(whole, Redactor([secret]))
    text = summary_text(cleaned, "full")
    assert secret not in str(cleaned) and "GROUP: g ***" in text and "SCENARIO: s ***" in text and "m_***" in text


def test_an_empty_run_has_no_parts() -> None:
    whole = {"metrics": {}}
    assert summary_text({**whole, "parts": SummaryParts().of({})}, "full") == summary_text(whole)


def test_the_full_summary_has_scenarios_with_their_groups_inside_after_the_totals() -> None:
    trend = {"type": "trend", "contains": "time", "values": {"avg": 1.0, "max": 2.0}}
    tree = [group("::cart", group("::cart::pay", paid=(1, 1, 1)), seen=(0, 4, 0)), group("::empty")]
    whole = summary(*tree, http_req_duration=trend, http_req_waiting=trend, group_duration=trend)
    tags = {"scenario": "buyers", "group": "::cart"}
    seconds = [
        of_trend("http_req_duration", [1.0, 3.0], **tags),
        of_trend("http_req_waiting", [1.0, 2.0], **tags),
        of_trend("group_duration", [4.0, 5.0], **tags),
        of_trend("group_duration", [4.0], scenario="default", group="::empty"),
        of_rate("checks", 4, 4, check="seen", **tags),
        of_rate("checks", 1, 2, scenario="buyers", group="::cart::pay", check="paid"),
        Series("data_sent", "counter", tags, value=2_000.0),
    ]
    text = summary_text({**whole, "parts": parts_of(seconds, summary=whole)}, "full")
    head, _, rest = text.partition("  █ GROUP: empty\n")
    assert "http_req_waiting" in head and "group_duration" not in text
    assert rest.splitlines() == [
        "",
        "  █ SCENARIO: buyers",
        "",
        "    checks_total.......: 6      1.5/s",
        "    checks_succeeded...: 83.33% 5 out of 6",
        "    checks_failed......: 16.66% 1 out of 6",
        "",
        "    ✓ seen",
        "    ✗ paid",
        "      ↳  50% — ✓ 1 / ✗ 1",
        "",
        "    HTTP",
        "    http_req_duration...: avg=2ms   max=3ms",
        "    http_req_waiting....: avg=1.5ms max=2ms",
        "",
        "    NETWORK",
        "    data_received.......: 0 B    0 B/s",
        "    data_sent...........: 2.0 kB 500 B/s",
        "",
        "    ↳ GROUP: cart",
        "",
        "      checks_total.......: 4       1/s",
        "      checks_succeeded...: 100.00% 4 out of 4",
        "      checks_failed......: 0.00%   0 out of 4",
        "",
        "      ✓ seen",
        "",
        "      HTTP",
        "      http_req_duration...: avg=2ms   max=3ms",
        "      http_req_waiting....: avg=1.5ms max=2ms",
        "",
        "      ↳ GROUP: pay",
        "",
        "        checks_total.......: 2      0.5/s",
        "        checks_succeeded...: 50.00% 1 out of 2",
        "        checks_failed......: 50.00% 1 out of 2",
        "",
        "        ✗ paid",
        "          ↳  50% — ✓ 1 / ✗ 1",
    ]
