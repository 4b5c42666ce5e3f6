"""A k6 script's thresholds as objectives, and the names that a budget may have: all before any load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import InputError, InputErrors
from plimsoll.findings.objectives import Wanted
from plimsoll.plans.budgets import check_budgets
from plimsoll.plans.load import Choices, plan_of
from plimsoll.plans.long_runs import alone_config
from plimsoll.plans.thresholds import check_scenarios, objectives_of
from plimsoll.runs.snapshot import Series
from plimsoll.study.experiments import CapacityOptions

SCRIPT = """import http from 'k6/http';
export const options = {
  scenarios: { views: { executor: 'constant-arrival-rate', rate: 60, timeUnit: '1s', duration: '5s',
    preAllocatedVUs: 20 } },
  thresholds: {
    http_req_duration: ['p(95)<500', { threshold: 'avg<=200', abortOnFail: true }],
    'http_req_duration{scenario:views}': ['p(90)<100'],
    http_req_failed: ['rate<0.01'],
    checks: ['rate>0.9'],
  },
};
export default function () { http.get(__ENV.URL); }
"""


def translated(thresholds: dict[str, Any]) -> list[dict[str, Any]]:
    return list(objectives_of(thresholds, is_open=False)[0])


@pytest.mark.parametrize(
    ("key", "condition", "objective"),
    [
        ("http_req_duration", "p(95)<500", {"objective": "p95<500ms"}),
        ("http_req_duration", " p( 99.9 ) <= 1.5e3 ", {"objective": "p99.9<=1500ms"}),
        ("http_req_duration", "p(100)<900", {"objective": "max<900ms"}),
        ("http_req_duration", "med<20", {"objective": "median<20ms"}),
        ("http_req_duration", "avg<20", {"objective": "mean<20ms"}),
        ("http_req_duration", "max<=20", {"objective": "max<=20ms"}),
        ("http_req_duration{name:GET /a,b}", "avg<20", {"request": "GET /a,b", "objective": "mean<20ms"}),
        ('http_req_duration{ "name":"GET /" }', "avg<20", {"request": "GET /", "objective": "mean<20ms"}),
        ("http_req_failed{scenario:shop}", "rate<0.01", {"operation": "shop", "objective": "error_rate<1%"}),
    ],
)
def test_what_is_an_upper_limit_of_times_and_failures_becomes_an_objective(
    key: str, condition: str, objective: dict[str, Any]
) -> None:
    assert translated({key: [condition]}) == [objective] == translated({key: condition})
    assert translated({key: [{"threshold": condition, "abortOnFail": True}]}) == [objective]
    Wanted.of(objective)


@pytest.mark.parametrize(
    ("key", "condition"),
    [
        ("http_req_duration", "p(95)>500"),
        ("http_req_duration", "min<500"),
        ("http_req_duration", "count<500"),
        ("http_req_duration", "p(95)<0"),
        ("http_req_duration", "p(0)<10"),
        ("http_req_failed", "rate==0"),
        ("http_req_failed", "rate<1.5"),
        ("http_req_failed", "count<5"),
        ("http_reqs", "rate>100"),
        ("checks", "rate>0.9"),
        ("my_trend", "p(95)<500"),
    ],
)
def test_every_other_threshold_is_named_in_a_note(key: str, condition: str) -> None:
    found, notes = objectives_of({key: [condition]}, is_open=True)
    assert found == () and len(notes) == 1
    assert f"{key} {condition}" in notes[0] and "plimsoll run judges it" in notes[0]


def test_a_selector_of_other_tags_counts_what_carries_them_all() -> None:
    [one] = translated({"http_req_duration{method:GET,status:200}": ["max<9"]})
    assert one["request"] == "requests with method GET, status 200"
    wanted = Wanted.of(one)
    tags = {"method": "GET", "status": "200", "name": "x"}
    assert wanted.matches(Series("http_req_duration", "trend", tags))
    assert not wanted.matches(Series("http_req_duration", "trend", tags | {"status": "500"}))


def test_a_script_s_thresholds_are_its_objectives_at_its_declared_load_and_do_not_end_it(tmp_path: Path) -> None:
    (tmp_path / "script.js").write_text(SCRIPT)
    plan = plan_of(tmp_path / "script.js", Choices(env={"URL": "http://127.0.0.1:9"}))
    assert [one["objective"] for one in plan.objectives] == ["p95<500ms", "mean<=200ms", "p90<100ms", "error_rate<1%"]
    assert plan.objectives[2]["operation"] == "views"
    assert plan.objectives_level == 1.0 == plan.settings.expected_level
    assert "response time" in plan.notes[0] and "checks rate>0.9" in plan.notes[1]
    assert plan.config.options["thresholds"] == {} == alone_config(plan, 10, 1.0).options["thresholds"]


def test_a_script_without_thresholds_is_searched_as_before(tmp_path: Path) -> None:
    (tmp_path / "script.js").write_text("export default function () {}")
    plan = plan_of(tmp_path / "script.js", Choices())
    assert plan.objectives == () == plan.notes
    assert plan.objectives_level is None is plan.settings.expected_level


def test_a_budget_of_nothing_that_is_probed_is_told_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "script.js").write_text(SCRIPT)

    def check(url: str, **budgets: float) -> None:
        check_budgets(
            plan_of(tmp_path / "script.js", Choices(env={"URL": url}), options=CapacityOptions(budgets=budgets))
        )

    local = "http://127.0.0.1:9"
    check(local, cpu=0.8, disk=0.5, target=0.9)
    with pytest.raises(InputError, match=r"no resource 'targte'.*Did you mean target\?"):
        check(local, targte=0.8)
    with pytest.raises(InputError) as told:
        check(local, gc=0.8, **{"cpu+target": 0.5})
    assert "no resource 'gc'" in str(told.value) and "Use one of cpu, disk, target" in str(told.value)
    assert "no process 'cpu'" in str(told.value)
    with pytest.raises(InputError, match="no process of the target is probed"):
        check("http://192.0.2.1/", cpu=0.8)


def test_a_study_s_labels_are_budgets(tmp_path: Path) -> None:
    (tmp_path / "script.js").write_text(SCRIPT)
    (tmp_path / "study.yaml").write_text(
        "target: {url: 'http://127.0.0.1:9', processes: [{label: app, port: 9}, {label: db, name: postgres}]}\n"
        "workload: {script: script.js, operations: [{name: view, exec: default, per_user_hour: 60}]}\n"
    )
    study = tmp_path / "study.yaml"
    check_budgets(plan_of(study, Choices(), options=CapacityOptions(budgets={"app": 0.8, "app+db": 0.5, "cpu": 1.0})))
    with pytest.raises(InputError, match="Did you mean app"):
        check_budgets(plan_of(study, Choices(), options=CapacityOptions(budgets={"ap": 0.8})))


def test_a_threshold_on_a_scenario_that_the_script_lacks_is_told_before_the_run_with_the_nearest(
    tmp_path: Path,
) -> None:
    script = tmp_path / "script.js"
    script.write_text(SCRIPT.replace("{scenario:views}", "{scenario:veiws,method:GET}"))
    with pytest.raises(InputErrors, match=r"no scenario 'veiws'.*Did you mean 'views'\?"):
        plan_of(script, Choices(env={"URL": "http://127.0.0.1:9"}))
    check_scenarios({"http_req_duration{scenario:views}": ["p(95)<1"], "checks": ["rate>0.9"]}, ["views"])
