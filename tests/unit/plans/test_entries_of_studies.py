"""What an entry of a study says becomes the plan, and what the caller says comes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.plans.load import Choices, as_entry_says, plan_of
from plimsoll.plans.options import options_of
from plimsoll.plans.requests import CompareRequest, DecomposeRequest, SweepRequest, TrialChoices, request_of
from plimsoll.plans.trials import compare_setup, decompose_setup, sweep_setup, with_runs_of_study
from plimsoll.study import load_study
from plimsoll.study.experiments import CapacityOptions

SCRIPT = "export default function () { __ENV.N }\nexport function db() {}\n"
STUDY = """\
target: {url: "http://127.0.0.1:9", variants: {old: {url: "http://127.0.0.1:10"}}}
workload: {script: s.js, operations: [{name: w, exec: default, per_user_hour: 36}]}
expected_users: 30
experiments:
  - capacity: {max_rate: 5, max_users: 800, variant: old}
  - compare: {a: X=1, b: [X=2, old], rate: [1, 2], warm_up_s: 1, trial_s: 4, pairs: 3, primary: [mean]}
  - decompose: {variants: {all: default, "database only": db}, statistic: p50, users: [1, 3], warm_up_s: 0}
  - sweep: {over: {N: [1000000, 0.5]}, rate: 3, warm_up_s: 4}
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "s.js").write_text(SCRIPT)
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path / "study.yaml"


def test_the_script_s_own_options_are_caps_of_a_study_too(study: Path) -> None:
    """Its scenarios are the study's, without maxVUs; rps, minIterationDuration and batches are the script's."""
    own = "export const options = {\n  rps: 30, minIterationDuration: '1s' };\n"
    (study.parent / "s.js").write_text(own + SCRIPT)
    plan = plan_of(study, Choices())
    assert [(cap.option, cap.line, cap.least_iteration_s) for cap in plan.settings.caps] == [
        ("rps", 2, 0.0),
        ("VUs of this machine", None, 1.0),
    ]
    assert (plan.config.options["rps"], plan.config.options["minIterationDuration"]) == (30, "1s"), "as the run tells"


def quiet(text: str) -> None: ...


def test_a_rate_bounds_the_search_as_users_do_and_the_callers_bound_replaces_both(study: Path) -> None:
    def most(**given: float) -> float | None:
        options = options_of(CapacityOptions, "capacity", load_study(study), given)
        return plan_of(study, Choices(), options=options).settings.max_level

    assert most() == pytest.approx(500), "5/s of 0.01/s a user"
    assert most(max_rate=7) == pytest.approx(700) and most(max_users=900) == pytest.approx(900)


def test_the_variant_of_an_entry_is_switched_to_unless_the_caller_names_one(study: Path) -> None:
    entry = load_study(study).experiments[0].capacity
    assert as_entry_says(Choices(), entry).variant == "old"
    assert as_entry_says(Choices(variant="new"), entry).variant == "new"
    assert as_entry_says(Choices(), None) == Choices()


def test_a_comparison_has_its_levels_warm_up_and_deciding_statistics_from_the_study(study: Path) -> None:
    plan = compare_setup(CompareRequest(study), TrialChoices(), quiet).plan
    assert [level.words for level in plan.levels] == ["1 arrival/s", "2 arrivals/s"]
    assert (plan.warm_up_s, plan.trial_s, plan.repetitions, plan.analysis["primary"]) == (1, 4, 3, ["mean"])
    assert plan.label("b") == "X=2, old"
    asked = TrialChoices(users=(4.0,), warm_up_s=0)
    other = compare_setup(CompareRequest(study, primary=("p99",)), asked, quiet).plan
    assert [level.words for level in other.levels] == ["4 users"] and other.warm_up_s == 0
    assert other.analysis["primary"] == ["p99"]
    with pytest.raises(InputError, match="no statistic decides"):
        compare_setup(CompareRequest(study, primary=()), TrialChoices(), quiet)
    request, _ = request_of(CompareRequest, study, None, {"primary": "p90"})
    assert request.primary == ("p90",)


def test_a_decomposition_has_its_statistic_and_levels_from_the_study(study: Path) -> None:
    plan = decompose_setup(DecomposeRequest((study,)), TrialChoices(), quiet).plan
    assert [variant.label for variant in plan.variants] == ["all", "database only"]
    assert (plan.warm_up_s, plan.analysis["statistic"]) == (0, "p50") and len(plan.levels) == 2
    asked = decompose_setup(DecomposeRequest((study,), statistic="mean"), TrialChoices(users=(2.0,)), quiet).plan
    assert asked.analysis["statistic"] == "mean" and len(asked.levels) == 1


def test_a_sweep_gives_the_script_numbers_as_they_are_written(study: Path) -> None:
    setup = sweep_setup(SweepRequest(study), TrialChoices(), quiet)
    assert [config.env["N"] for config in setup.configs.values()] == ["1000000", "0.5"]
    assert [level.words for level in setup.plan.levels] == ["3 arrivals/s"] and setup.plan.warm_up_s == 4
    swept = sweep_setup(SweepRequest(study, {"users": ("1", "5")}), TrialChoices(), quiet)
    assert [level.words for level in swept.plan.levels] == ["1 user", "5 users"]


def test_finished_runs_of_a_study_are_found_from_its_folder_unless_something_else_is_asked(study: Path) -> None:
    assert with_runs_of_study(CompareRequest(study), TrialChoices()) == CompareRequest(study)
    for name in "1234":
        (study.parent / name).mkdir()
        (study.parent / name / "manifest.json").write_text("{}")
    entry = "  - compare: {runs_a: ['1', '2'], runs_b: ['3', '4'], skip_s: 2, margin: 0.2}\n"
    study.write_text(STUDY.partition("  - capacity")[0] + entry)
    found = with_runs_of_study(CompareRequest(study), TrialChoices())
    assert found.source is None and found.runs_a == (study.parent / "1", study.parent / "2")
    assert (found.skip_s, found.margin, found.primary) == (2, 0.2, ("p50", "p95"))
    assert with_runs_of_study(CompareRequest(study, skip_s=0, margin=0.1), TrialChoices()).skip_s == 0
    asked = CompareRequest(study, a=("X=1",), b=("X=2",))
    assert with_runs_of_study(asked, TrialChoices()) == asked
