"""Iterations that threw and checks that failed are said beside every answer, in numbers of what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.cli.run.tally import Tally
from plimsoll.findings.cautions import ANSWERED, cautions_of, parts_of, with_cautions
from plimsoll.findings.outcome import outcome_of_note, outcome_steps
from plimsoll.report.k6.outcome import outcome_rows
from plimsoll.report.screen import screen
from plimsoll.runs.reader import RunReader
from plimsoll.runs.readings.endpoints import Endpoints
from plimsoll.runs.readings.script_outcomes import ScriptOutcomes
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.secrets.redactor import Redactor


def checks(name: str, passes: int, total: int, group: str = "") -> Series:
    return Series("checks", "rate", {"check": name, "group": group, "scenario": "a"}, passes=passes, total=total)


def outcomes(done: int, threw: int = 0, *series: Series) -> ScriptOutcomes:
    found = ScriptOutcomes(done, threw)
    found.add(series)
    return found


def second(at: int, threw: int, passes: int) -> Snapshot:
    return Snapshot(at, 1000.0 + at, done=10, threw=threw, series=(checks("logged in", passes, 10),))


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunReader]:
    """Ten seconds in which all is well, ten in which half throws and a tenth of the checks fail, ten of ruins."""
    with RunWriter.create(tmp_path, RunFacts("hold"), tables=False, redactor=Redactor()) as writer:
        for at in range(30):
            writer.append_snapshot(second(at, (0, 5, 10)[at // 10], (10, 9, 0)[at // 10]))
    yield RunReader(writer.path)


def step(level: float, start: float, end: float, kind: str = "expected") -> dict[str, Any]:
    return {"level": level, "measured_from_s": start, "end_s": end, "step_kind": kind}


def test_of_a_held_load_its_measured_seconds_count_and_not_those_of_one_user_alone(run: RunReader) -> None:
    main = {"experiment": "hold", "status": "finished", "steps": [step(1, 0, 10, "baseline"), step(5, 10, 20)]}
    told = with_cautions({**main, "valid": True, "next": [ANSWERED]}, run)
    assert told["cautions"] == [
        "50 of 100 iterations ended with an exception of the script.",
        "The check 'logged in' failed in 10% of 100. Checks do not decide this answer.",
    ]
    assert [one.partition(":")[0] for one in told["next"]] == [
        "See the script's exception, which was said when it came",
        "See why the check 'logged in' fails",
    ]


def test_what_fails_above_the_capacity_alone_may_be_of_the_overload(run: RunReader) -> None:
    steps = [step(1, 0, 10), step(2, 10, 20), step(4, 20, 30)]
    main = {"experiment": "capacity", "status": "finished", "capacity": {"good": 1, "bad": 2}, "steps": steps}
    told = with_cautions(main, run)
    assert "cautions" not in told and told["notes"] == [] and told["next"] == []
    main["capacity"] = {"good": 2, "bad": 4}
    assert with_cautions(main, run)["cautions"][0].startswith("50 of 200 iterations")


def test_an_experiment_that_failed_says_itself_why(run: RunReader) -> None:
    assert with_cautions({"experiment": "hold", "status": "failed", "steps": []}, run).keys() == {
        "experiment",
        "status",
        "steps",
    }


def test_that_every_iteration_threw_is_said_once(run: RunReader) -> None:
    """Beside an answer that has none because of it, and of scripts that throw at their very end."""
    main = {"experiment": "hold", "status": "finished", "steps": [step(5, 20, 30)]}
    assert "cautions" not in with_cautions({**main, "valid": False}, run)
    assert with_cautions({**main, "valid": True}, run)["cautions"][0].startswith("100 of 100 iterations ended")


def test_one_in_a_thousand_is_a_note() -> None:
    [thrown, failing] = cautions_of({"": outcomes(1000, 1, checks("logged in", 999, 1000))})
    assert not thrown.matters and not failing.matters
    assert thrown.words == "1 of 1,000 iterations ended with an exception of the script."
    assert failing.words.startswith("The check 'logged in' failed in 0.1% of 1,000.")


def test_both_arms_of_a_comparison_are_told_and_the_worst_checks_first() -> None:
    some = (checks("a", 5, 10), checks("b", 1, 10), checks("c", 8, 10), checks("d", 10, 10))
    a, b = outcomes(10, 5, *some), outcomes(12, 0, checks("b", 4, 10))
    told = [one.words for one in cautions_of({"A": a, "B": b})]
    assert told == [
        "Iterations ended with an exception of the script: 5 of 10 in A and 0 of 12 in B.",
        "The check 'b' failed in 90% of 10 in A and 60% of 10 in B, 'a' in 50% of 10 in A and 1 more. "
        "Checks do not decide this answer.",
    ]


def test_a_script_that_does_all_is_told_nothing() -> None:
    assert not list(cautions_of({"": outcomes(10, 0, checks("a", 10, 10))}))


class Trials:
    """A run of a comparison: what its trials hold."""

    def __init__(self, *trials: dict[str, Any]) -> None:
        self._trials = trials

    def plan(self) -> dict[str, Any]:
        return {"experiment": "compare"}

    def trials(self) -> list[dict[str, Any]]:
        return list(self._trials)


def test_trials_hold_what_became_of_the_script_and_those_of_earlier_versions_say_nothing() -> None:
    seen = Endpoints()
    seen.add(second(3, 5, 4))
    trials = [{"variant": arm, **seen.to_json()} for arm in "ba"]
    parts = parts_of(Trials(*trials, trials[0]), {"experiment": "compare"})  # type: ignore[arg-type]
    assert list(parts) == ["A", "B"] and (parts["B"].done, parts["B"].threw) == (20, 10)
    assert parts["A"].checks == {("", "logged in"): [4, 6]}
    earlier = {key: value for key, value in trials[0].items() if key not in ("threw", "checks")}
    assert not list(cautions_of(parts_of(Trials(earlier), {"experiment": "compare"})))  # type: ignore[arg-type]


def test_the_screen_says_them_right_behind_the_answer_and_counts_them_as_no_notes() -> None:
    finding = {
        "question": "Q?",
        "answer": "A.",
        "cautions": ["5 of 10 iterations threw."],
        "notes": ["n"],
        "valid": True,
    }
    lines = screen([finding], None).splitlines()
    assert lines[1:3] == ["  A.", "  But: 5 of 10 iterations threw."] and lines[-1].startswith("1 note ")


def sessions(count: int, **status: str) -> Series:
    return Series("ws_sessions", "counter", {"scenario": "a", **status}, value=float(count))


def test_sockets_that_did_not_open_are_said_beside_an_answer_about_requests(tmp_path: Path) -> None:
    """Seen: two thirds of the operations got no socket, and "nothing grew, came back or failed"."""
    some, refused = sessions(20, status="101"), sessions(30)
    all_of = outcomes(100, 0, some, sessions(50, status="404"), refused)
    [found] = cautions_of({"": all_of})
    assert found.matters and found.words.startswith("80 of 100 WebSockets did not open (status 404 and no answer).")
    assert ScriptOutcomes.to_json(all_of)["sockets"] == {"101": 20, "404": 50, "": 30}
    [calm] = cautions_of({"": outcomes(100, 0, some)})
    assert not calm.matters and "about the script's requests" in calm.words
    for tags, told in ((None, 1), (["scenario"], 0)):  # without the tag nobody knows which opened
        facts = RunFacts("hold", options={"systemTags": tags} if tags else {})
        with RunWriter.create(tmp_path, facts, tables=False, redactor=Redactor()) as writer:
            writer.append_snapshot(Snapshot(0, 1000.0, done=30, series=(refused,)))
        assert len(list(cautions_of(parts_of(RunReader(writer.path), {})))) == told


def test_a_plain_run_has_a_row_for_its_sockets() -> None:
    """Seen: "16 iterations, no requests, healthy" of a run whose sockets were all refused."""
    found = outcome_of_note({"sockets": {"101": 4, "404": 12}})
    [row] = [one for one in outcome_rows(found) if one.subject == "WebSockets"]
    assert (row.key, row.badge, row.words) == ("bad", "✗ 12 of 16 did not open", "Status 404.")
    assert outcome_steps(found)[-1].startswith("See why the WebSockets do not open")
    [row] = [one for one in outcome_rows(outcome_of_note({"sockets": {"101": 4}})) if one.subject == "WebSockets"]
    assert (row.key, row.badge) == ("good", "✓ all 4 opened")
    refused = Tally()
    refused.add(Snapshot(0, 1000.0, series=(sessions(3),)))
    assert refused.known_sockets == {"": 3}
    refused.add(Snapshot(1, 1001.0, series=(Series("ws_msgs_sent", "counter", {}, value=3.0),)))
    assert not refused.known_sockets, "without the tag nobody knows"
