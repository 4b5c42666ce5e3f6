"""Experiments of some operations or groups alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.cli.app import app
from plimsoll.errors import InputError, InputErrors
from plimsoll.plans.planned_time import planned_time
from plimsoll.study import ClosedWorkload, parse_study
from plimsoll.study.workload import shares

STUDY = """\
name: two workloads
workload:
  script: s.js
  groups:
    - {name: read, weight: 70, think_time_s: 1}
    - {name: write, weight: 30, think_time_s: 2}
    - {name: proxy, weight: 5}
expected_users: 10
objectives:
  - {operation: read, objective: p90<=1s}
  - {operation: proxy, objective: p90<=2s}
  - {request: GET /, objective: p90<=3s}
experiments:
  - capacity: {of: [read, write], width: 0.3}
  - capacity: {of: [proxy], width: 0.1}
  - hold: {of: [write]}
  - drain: {backlog: /waiting}
"""


def test_an_experiment_has_its_groups_in_their_proportions_and_the_objectives_of_others_do_not_count() -> None:
    study = parse_study(STUDY, directory=None)
    first, second, third, fourth = (study.with_experiment(item) for item in study.experiments)
    assert shares(first.workload) == {"read": 0.7, "write": 0.3}
    assert [str(one) for one in first.objectives] == ["p90<=1000ms on read", "p90<=3000ms on GET /"]
    assert second.operation_names == ("proxy",) and len(second.objectives) == 2
    assert third.operation_names == ("write",) and [one.request for one in third.objectives] == ["GET /"]
    assert fourth.operation_names == ("read", "write", "proxy") and len(fourth.objectives) == 3
    assert study.operation_names == ("read", "write", "proxy")


def test_a_verb_takes_the_groups_of_its_first_experiment_and_keeps_the_study_otherwise() -> None:
    study = parse_study(STUDY, directory=None)
    study._directory = Path("/somewhere")
    alone = study.for_experiment("capacity")
    assert alone.operation_names == ("read", "write") and len(alone.experiments) == 4
    assert alone.directory == Path("/somewhere") and isinstance(alone.workload, ClosedWorkload)
    assert alone.for_experiment("drain") is alone and study.for_experiment("grow") is study


def test_a_study_of_some_groups_only_is_of_these_in_every_experiment() -> None:
    alone = parse_study(STUDY, directory=None).only(["proxy", "write"])
    assert alone.operation_names == ("write", "proxy")
    assert [str(one) for one in alone.objectives] == ["p90<=2000ms on proxy", "p90<=3000ms on GET /"]
    assert {alone.with_experiment(item).operation_names for item in alone.experiments} == {("write", "proxy")}
    assert alone.for_experiment("capacity").operation_names == ("write", "proxy")


def test_only_what_the_workload_has_can_take_part() -> None:
    with pytest.raises(InputErrors) as caught:
        parse_study(STUDY, directory=None).only(["raed", "write", "nothing"])
    told = [str(error) for error in caught.value.errors]
    assert len(told) == 2 and "Did you mean read?" in told[0] and "read, write, proxy" in told[1]


@pytest.mark.parametrize("verb", ["capacity", "hold", "grow", "drain", "compare", "decompose", "sweep"])
def test_the_flag_refuses_what_is_no_part_of_a_study(verb: str, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(STUDY)
    (tmp_path / "s.js").write_text("export default function () {}")
    for source, told in (("study.yaml", "Did you mean read?"), ("s.js", "is a script")):
        done = CliRunner().invoke(app, [verb, str(tmp_path / source), "--of", "raed"])
        assert isinstance(done.exception, InputError) and told in str(done.exception)


@pytest.mark.parametrize("verb", ["compare", "decompose", "sweep"])
def test_the_flag_wants_a_study_where_the_trials_may_be_finished_ones(verb: str) -> None:
    done = CliRunner().invoke(app, [verb, "--of", "read"])
    assert isinstance(done.exception, InputError) and "none is given" in str(done.exception)


def test_operations_of_an_open_workload_are_chosen_likewise() -> None:
    text = STUDY.replace("groups:", "operations:")
    for weight in (", weight: 70, think_time_s: 1", ", weight: 30, think_time_s: 2", ", weight: 5"):
        text = text.replace(weight, ", per_user_hour: 6")
    study = parse_study(text, directory=None)
    assert study.for_experiment("hold").operation_names == ("write",)
    assert planned_time(study, study.experiments[0]) == planned_time(study, study.experiments[1])


def test_a_name_that_the_workload_does_not_have_is_told_with_its_line() -> None:
    with pytest.raises(InputErrors) as caught:
        parse_study(STUDY.replace("[read, write]", "[raed, write, nothing]"), directory=None)
    told = [str(error) for error in caught.value.errors]
    assert len(told) == 2
    assert "'raed'" in told[0] and "Did you mean read?" in told[0] and ":14" in told[0]
    assert "read, write, proxy" in told[1]
