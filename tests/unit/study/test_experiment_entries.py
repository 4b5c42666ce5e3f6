"""Entries of `experiments`: short forms, and every contradiction with its line and key."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from plimsoll.errors import InputErrors
from plimsoll.plans.planned_time import planned_time
from plimsoll.study import Study, parse_study
from plimsoll.study.experiments import CapacityOptions, CompareOptions, DecomposeOptions, SweepOptions, first_of

HEAD = """\
target: {url: "http://127.0.0.1:9", variants: {old: {switch: "true"}, new: {switch: "true"}}}
workload: {script: s.js, operations: [{name: w, per_user_hour: 3600}]}
"""
CLOSED = HEAD.replace("operations: [{name: w, per_user_hour: 3600}]", "groups: [{name: w}]")
USERS = "neither it nor the study says how many users"
RATE = "no arrival rate"


def mistakes_of(entry: str, head: str = HEAD, directory: Path | None = None) -> list[tuple[str, str]]:
    """(key within the entry, words) of each mistake; all are on the entry's line."""
    with pytest.raises(InputErrors) as caught:
        parse_study(f"{head}experiments:\n  - {entry}\n", directory=directory)
    assert {error.place.line for error in caught.value.errors} == {4}
    return [(str(error.place.key).removeprefix("experiments[0]."), str(error)) for error in caught.value.errors]


@pytest.mark.parametrize(
    ("entry", "head", "key", "words"),
    [
        ("capacity: {variant: odl}", HEAD, "capacity.variant", "Did you mean old?"),
        ("capacity: {for: 20}", HEAD, "capacity.for", "capacity.for: '20' has no unit"),
        ("capacity: {for_s: 3m}", HEAD, "capacity.for_s", "Did you mean for?"),
        ("capacity: {max_rate: 5, min_users: 10}", HEAD, "capacity.max_rate", "those of 5 users"),
        ("capacity: {max_rate: 5}", CLOSED, "capacity.max_rate", RATE),
        ("capacity: {min_users: 6, max_users: 5}", HEAD, "capacity.min_users", "is above max_users 5"),
        ("capacity: {negligible_below: 0.05}", CLOSED, "capacity.negligible_below", RATE),
        ("capacity: {negligible_below: 0.05}", HEAD, "capacity.negligible_below", "how many users are expected"),
        ("capacity: {step_s: 0.5}", HEAD, "capacity.step_s", "at least 1"),
        ("capacity: {verify: ''}", HEAD, "capacity.verify", "must not be empty"),
        ("hold: {variant: old}", HEAD, "hold", USERS),
        ("grow: {items: 5, variant: x}", HEAD, "grow.variant", "no variant 'x'"),
        ("drain: {users: 3}", HEAD, "drain", "how far the consumer is"),
        ("drain: {backlog: /waiting}", HEAD, "drain", USERS),
        ("compare: {a: odl, users: 5}", HEAD, "compare.a", "Did you mean old?"),
        ("compare: {b: [X=1, what is], users: 5}", HEAD, "compare.b", "'what is' says nothing"),
        ("compare: {a: X=1, users: 5, rate: 5}", HEAD, "compare.rate", "given together"),
        ("compare: {a: X=1, rate: 5}", CLOSED, "compare.rate", RATE),
        ("compare: {a: X=1, rate: [5, 5.0]}", HEAD, "compare.rate", "there twice"),
        ("compare: {a: X=1, users: [0]}", HEAD, "compare.users[0]", "above 0"),
        ("compare: {a: X=1, users: 5, primary: [p96]}", HEAD, "compare.primary[0]", "mean or p50 or p90"),
        ("compare: {a: X=1, users: 5, primary: []}", HEAD, "compare.primary", "must not be empty"),
        ("compare: {a: X=1, users: 5, warm_up_s: -1}", HEAD, "compare.warm_up_s", "at least 0"),
        ("compare: {a: X=1, users: 5, skip_s: 3}", HEAD, "compare.skip_s", "for finished runs"),
        ("compare: {a: X=1}", HEAD, "compare", USERS),
        ("compare: {users: 5}", HEAD, "compare", "how A and B differ"),
        ("compare: {runs_a: ['1', '2'], runs_b: ['1', '3'], a: X=1}", HEAD, "compare.a", "something to run"),
        ("compare: {runs_a: ['1', '2'], runs_b: ['3']}", HEAD, "compare.runs_b", "has 1 run, and needs two"),
        ("compare: {runs_a: ['1', '2']}", HEAD, "compare", "runs_b has 0 runs"),
        ("compare: {runs_a: ['1', '2'], runs_b: ['3', '1']}", HEAD, "compare.runs_b[1]", "given twice"),
        ("decompose: {variants: {a: w, b: no thing}}", HEAD, "decompose.variants.b", "says nothing"),
        ("decompose: {variants: {a: w, b: x}, statistic: p90}", HEAD, "decompose.statistic", "mean or p50"),
        ("sweep: {over: {users: [1, x]}}", HEAD, "sweep.over.users", "no number"),
        ("sweep: {over: {users: [1, 0]}}", HEAD, "sweep.over.users", "not above 0"),
        ("sweep: {over: {users: [1, 2]}, users: 3}", HEAD, "sweep.users", "given twice"),
        ("sweep: {over: {rate: [1, 2]}}", CLOSED, "sweep.over.rate", RATE),
        ("sweep: {over: {R: [1]}, users: 1}", HEAD, "sweep.over.R", "two different values"),
        ("sweep: {over: {a b: [1, 2]}, users: 1}", HEAD, "sweep.over.a b", "no name of a variable"),
        ("sweep: {over: {users: [1, 2], rate: [1, 2]}}", HEAD, "sweep.over", "both swept"),
        ("sweep: {over: {R: [1, 2]}}", HEAD, "sweep", USERS),
    ],
)
def test_what_an_entry_cannot_mean_is_told_with_its_key(entry: str, head: str, key: str, words: str) -> None:
    assert [words in text for found, text in mistakes_of(entry, head) if found == key] == [True]


def test_runs_that_are_not_there_are_told_and_those_that_are_there_are_taken(tmp_path: Path) -> None:
    (tmp_path / "s.js").write_text("")
    for name in "123":
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text("{}")
    entry = "compare: {runs_a: ['1', '2'], runs_b: ['3', '4'], skip_s: 2, primary: [mean]}"
    [(key, words)] = mistakes_of(entry, directory=tmp_path)
    assert key == "compare.runs_b[1]" and "there is no run '4'" in words
    (tmp_path / "4").mkdir()
    (tmp_path / "4" / "manifest.json").write_text("{}")
    study = parse_study(f"{HEAD}experiments:\n  - {entry}\n", directory=tmp_path)
    assert study.experiments[0].compare is not None and study.experiments[0].compare.is_of_runs
    assert planned_time(study, study.experiments[0]) == "no load"


def test_one_value_stands_for_a_list_of_one_and_numbers_stay_as_they_are_written() -> None:
    study = parse_study(
        f"{HEAD}experiments:\n"
        "  - compare: {a: old, b: [new, X=1], rate: [5, 10], warm_up_s: 1, trial_s: 4, pairs: 3}\n"
        "  - decompose: {variants: {a: w, b: x}}\n"
        "  - sweep: {over: {N: [1000000, 0.5, x]}, users: [2, 4], repeats: 1, trial_s: 3}\n"
        "  - capacity: {verify: ./index.sh, max_rate: 50, min_users: 7, max_users: 7}\n"
    )
    compare, split = first_of(CompareOptions, study.experiments), first_of(DecomposeOptions, study.experiments)
    sweep, capacity = first_of(SweepOptions, study.experiments), first_of(CapacityOptions, study.experiments)
    assert compare and split and sweep and capacity
    assert (compare.a, compare.b, compare.primary) == (["old"], ["new", "X=1"], ["p50", "p95"])
    assert (split.users, split.statistic) == ([], "mean")
    assert sweep.over["N"] == [1000000, 0.5, "x"] and isinstance(sweep.over["N"][0], int)
    planned = [planned_time(study, item) for item in study.experiments]
    assert planned[0] == "60 s of load" and planned[2] == "30 s of load" and planned[3].startswith("at most ")


def test_an_entry_made_in_python_is_held_to_the_same() -> None:
    data = {"workload": {"script": "s.js", "operations": [{"name": "a", "per_user_hour": 1}]}, "expected_users": 5}
    good = {"compare": {"a": "X=1", "b": "X=2"}}
    assert Study.model_validate(data | {"experiments": [good]}).experiments[0].name == "compare"
    with pytest.raises(ValidationError, match="how A and B differ"):
        Study.model_validate(data | {"experiments": [{"compare": {"users": [4.0]}}]})
