"""Reading a study file: all mistakes at once, each with its line and the next step."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from pydantic import ValidationError

from plimsoll.errors import InputError, InputErrors
from plimsoll.study import ClosedWorkload, OpenWorkload, Study, load_study, parse_study, study_schema, study_schema_json

GOOD = """\
target:
  url: http://127.0.0.1:8000
  start: ./run
  environment: {PORT: 8000, DEBUG: true}
  processes: [{label: app, port: 8000}]
  time_limits: {switch_s: 5}
workload:
  script: script.js
  operations:
    - {name: create_issue, exec: createIssue, per_user_hour: 1}
    - {name: view, per_user_hour: 49}
expected_users: 3000
objectives:
  - {operation: create_issue, objective: p90<=1000ms}
  - {request: POST /issues, objective: error_rate<=1%}
experiments:
  - capacity: {width: 0.05, max_users: 500}
  - capacity
  - hold:
"""

BAD = """\
target:
  ulr: http://127.0.0.1
  url: 127.0.0.1
  processes:
    - label: app
      port: 99999
    - {label: app}
workload:
  script: scrip.js
  model: opne
  operations:
    - name: a
      per_user_hours: 1
    - name: a
      per_user_hour: -3
expected_users: many
objectives:
  - {operation: b, objective: p90<=1000}
experiments:
  - capasity: {}
  - capacity: {width: 2, min_users: 10, max_users: 5}
expected_users: 3
"""


def mistakes_of(text: str, **options) -> list[tuple[int | None, str | None, str]]:
    with pytest.raises(InputErrors) as caught:
        parse_study(text, **options)
    return [(error.place.line, error.place.key, str(error)) for error in caught.value.errors]


def test_a_good_study_is_read_with_defaults(tmp_path):
    (tmp_path / "script.js").write_text("")
    (tmp_path / "study.yaml").write_text(GOOD)
    study = load_study(tmp_path / "study.yaml")
    assert isinstance(study.workload, OpenWorkload)
    assert study.script_path == tmp_path / "script.js"
    assert study.target.environment == {"PORT": "8000", "DEBUG": "true"}
    assert [entry.name for entry in study.experiments] == ["capacity", "capacity", "hold"]
    assert study.experiments[0].options.width == 0.05
    assert study.experiments[1].options.step_s == 10
    assert study.objectives[0].limit.limit == 1000
    assert study.operation_names == ("create_issue", "view")
    assert (study.target.time_limits.switch_s, study.target.time_limits.ready_s) == (5, 60)


def test_variants_need_a_difference_and_a_wrong_name_is_answered_with_the_nearest():
    text = "target:\n  url: http://a\n  variants:\n    old: {switch: ./old.sh}\n    new: {url: 'http://b'}\n"
    workload = "workload: {script: s.js, operations: [{name: a, per_user_hour: 1}]}\n"
    target = parse_study(text + workload).target
    assert (target.as_variant("old").url, target.as_variant("new").url) == ("http://a", "http://b")
    with pytest.raises(InputError, match="Did you mean new"):
        target.variant("nwe")
    [(line, key, words)] = mistakes_of("target:\n  variants:\n    same: {}\n" + workload)
    assert (line, key) == (3, "target.variants.same") and "switch" in words
    [(line, key, _)] = mistakes_of("target:\n  variants:\n    one: {url: here}\n" + workload)
    assert (line, key) == (3, "target.variants.one.url")


def test_groups_make_a_closed_workload_without_saying_so():
    study = parse_study("workload: {script: s.js, groups: [{name: a, weight: 70, think_time_s: 30}]}")
    assert isinstance(study.workload, ClosedWorkload)


@pytest.mark.parametrize(
    ("group", "key", "words"),
    [
        ("think_time: {mean_s: 5}", "distribution", "needed and missing"),
        ("think_time: {distribution: exponental, mean_s: 5}", "distribution", "Did you mean exponential"),
        ("think_time: {distribution: exponential}", "mean_s", "needs mean_s"),
        ("think_time: {distribution: uniform, min_s: 1, max_s: 2, mean_s: 5}", "mean_s", "has no mean_s"),
        ("think_time: {distribution: uniform, min_s: 3, max_s: 2}", "min_s", "above max_s"),
        ("think_time: {distribution: constant, mean_s: 5}, think_time_s: 5", "", "given together"),
    ],
)
def test_mistakes_in_a_think_time_are_told_with_their_key(group, key, words):
    [(line, found, message)] = mistakes_of(f"workload:\n  script: s.js\n  groups:\n    - {{name: a, {group}}}\n")
    assert (line, found) == (4, f"workload.groups[0].think_time{'.' if key else ''}{key}")
    assert words in message


def test_every_mistake_is_listed_at_once_with_its_line_and_key(tmp_path):
    (tmp_path / "script.js").write_text("")
    found = mistakes_of(BAD, directory=tmp_path)
    assert [(line, key) for line, key, _ in found] == [
        (2, "target.ulr"),
        (3, "target.url"),
        (6, "target.processes[0].port"),
        (7, "target.processes[1]"),
        (7, "target.processes[1].label"),
        (9, "workload.script"),
        (10, "workload.model"),
        (13, "workload.operations[0].per_user_hours"),
        (14, "workload.operations[1].name"),
        (15, "workload.operations[1].per_user_hour"),
        (16, "expected_users"),
        (18, "objectives[0].operation"),
        (18, "objectives[0].objective"),
        (20, "experiments[0].capasity"),
        (21, "experiments[1].capacity.min_users"),
        (21, "experiments[1].capacity.width"),
        (22, "expected_users"),
    ]


@pytest.mark.parametrize(
    ("key", "suggestion"),
    [
        ("target.ulr", "Did you mean url?"),
        ("workload.operations[0].per_user_hours", "Did you mean per_user_hour?"),
        ("workload.model", "Did you mean open?"),
        ("experiments[0].capasity", "Did you mean capacity?"),
        ("workload.script", "Did you mean script.js?"),
    ],
)
def test_the_nearest_word_is_suggested(tmp_path, key, suggestion):
    (tmp_path / "script.js").write_text("")
    messages = {found_key: text for _, found_key, text in mistakes_of(BAD, directory=tmp_path)}
    assert messages[key].startswith("study.yaml:")
    assert suggestion in messages[key]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", None, "empty"),
        ("# only a comment\n", None, "empty"),
        ("- a\n- b\n", 1, "mapping"),
        ("workload: {script: s.js\nfoo: [", 2, "not valid YAML"),
        ("a: 1\n\tb: 2\n", 2, "not valid YAML"),
        ("a: \x07\n", 1, "not readable text"),
        ("workload: !!python/object:os.system {}\n", None, ""),
        ("a: &x [*x]\n", 1, "contains itself"),
        ("workload: null\n", 1, "must be"),
        ("workload: {script: s.js, operations: []}\n", 1, "must not be empty"),
        ("workload:\n  script: s.js\n", 1, "needed and missing"),
        ("workload: {script: s.js, operations: [{name: a, per_user_hour: .inf}]}\n", 1, "finite"),
        ("? [1, 2]\n: 3\n", 1, "word"),
        ("when: 2026-99-99\n", 1, "cannot read"),
    ],
)
def test_broken_files_are_told_and_never_crash(text, line, words):
    found = mistakes_of(text)
    assert any(words in message for _, _, message in found)
    if line is not None:
        assert line in [found_line for found_line, _, _ in found]


def test_a_missing_file_names_the_file_and_the_next_step(tmp_path):
    with pytest.raises(InputErrors, match=r"none\.yaml: cannot read it: .*docs/study\.md"):
        load_study(tmp_path / "none.yaml")


def test_anchors_and_merge_keys_work():
    study = parse_study(
        "workload:\n  script: s.js\n  operations:\n"
        "    - &first {name: a, per_user_hour: 2}\n    - {<<: *first, name: b}\n"
    )
    assert [operation.per_user_hour for operation in study.workload.operations] == [2, 2]


def test_contradictions_are_refused_in_python_too():
    operation = {"name": "a", "per_user_hour": 1}
    with pytest.raises(ValidationError, match="no operation"):
        Study.model_validate(
            {
                "workload": {"script": "s.js", "operations": [operation]},
                "objectives": [{"operation": "b", "objective": "p90<=1s"}],
            }
        )


def test_the_schema_of_the_study_file_is_strict_and_names_all_experiments():
    schema = study_schema()
    assert json.loads(study_schema_json()) == schema
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]["experiments"]["items"]["anyOf"][1]["enum"]) == {
        "capacity", "hold", "grow", "compare", "decompose", "sweep", "drain",
    }  # fmt: skip


def test_errors_survive_the_way_to_another_process():
    one = InputError("bad", "Do better.", file="a.yaml", line=3, key="x.y")
    both = pickle.loads(pickle.dumps(InputErrors([one])))
    assert str(both) == "a.yaml:3: x.y: bad. Do better."
    both = pickle.loads(pickle.dumps(InputErrors([one, one])))
    assert str(both).splitlines() == [str(one), str(one), "2 mistakes. Correct them and run the command again."]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("2026-01-01", "must be a number, is the date 2026-01-01."),
        ("2026-01-01 10:00:00", "must be a number, is the time 2026-01-01 10:00:00."),
        ("!!binary aGVsbG8=", "must be a number, is binary data."),
    ],
)
def test_values_are_told_as_yaml_has_them(value: str, words: str) -> None:
    with pytest.raises(InputErrors) as told:
        parse_study(GOOD.replace("expected_users: 3000", f"expected_users: {value}"))
    assert f"expected_users: {words}" in str(told.value)
    with pytest.raises(InputErrors, match=r"script: must be text, is true\."):
        parse_study(GOOD.replace("script: script.js", "script: yes"))


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ("expected_users: yes", "expected_users"),
        ("experiments: [{capacity: {max_users: on}}]", "experiments[0].capacity.max_users"),
        ("experiments: [{grow: {items: yes}}]", "experiments[0].grow.items"),
        ("experiments: [{compare: {a: X=1, b: X=2, users: [10, yes]}}]", "experiments[0].compare.users"),
        ("probes: {otlp: {port: yes}}", "probes.otlp.port"),
    ],
)
def test_a_yes_is_no_number(entry: str, key: str) -> None:
    told = mistakes_of(f"workload: {{script: a.js, operations: [{{name: a, per_user_hour: 1}}]}}\n{entry}\n")

    assert [(place, what) for _, place, what in told if place == key] and "must be a number, is" in told[0][2]


def test_a_yes_where_one_belongs_stays_one() -> None:
    study = parse_study(GOOD.replace("DEBUG: true", "DEBUG: yes"))

    assert study.target.environment["DEBUG"] == "true"


def test_what_is_no_name_of_an_operation_is_told_once() -> None:
    text = GOOD.replace("operation: create_issue, objective", "operation: 2024-01-02, objective")
    [(_, _, told)] = mistakes_of(text)
    assert "objectives[0].operation: must be text, is the date 2024-01-02." in told


def test_a_yes_that_is_swept_is_the_text_that_the_script_sees() -> None:
    study = parse_study(GOOD + "  - sweep: {over: {CACHE: [yes, no], N: [1, yes]}}\n")

    sweep = study.experiments[-1].sweep
    assert sweep is not None and sweep.over == {"CACHE": ["true", "false"], "N": [1, "true"]}


def test_a_contradiction_that_only_the_values_show_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.study.loading.contradictions", lambda data: ())
    with pytest.raises(InputErrors, match="it needs two different values or more"):
        parse_study(GOOD + "  - sweep: {over: {N: [1, 1]}}\n")


def test_a_script_in_place_of_a_study_is_named_as_one(tmp_path: Path) -> None:
    script = tmp_path / "load.ts"
    script.write_text("export default function () {}\n")
    with pytest.raises(InputErrors, match=r"this is a script, no study.*plimsoll capacity .*load\.ts"):
        load_study(script)
