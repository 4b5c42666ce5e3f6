"""A run in which no request was answered measured nothing: its thresholds are not met."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cli.run.checks import check_thresholds
from plimsoll.cli.run.settings import Settings
from plimsoll.cli.run.tally import Tally
from plimsoll.cli.run.verb import EXIT_INVALID, EXIT_THRESHOLDS, _exit_code
from plimsoll.engine import EngineConfig
from plimsoll.errors import InputErrors
from plimsoll.runs.snapshot import Series, Snapshot


def tally(*statuses: str) -> Tally:
    found = Tally()
    for status in statuses:
        failed = Series("http_req_failed", "rate", {"status": status}, passes=int(status == "0"), total=1)
        found.add(Snapshot(0, series=(failed,)))
    return found


def ended(*verdicts: str) -> dict[str, Any]:
    rows = {f"p({at})<1": {"verdict": verdict} for at, verdict in enumerate(verdicts)}
    return {
        "aborted": None,
        "marked_failed": False,
        "summary": {"metrics": {"http_req_duration": {"thresholds": rows}}},
    }


def test_thresholds_that_the_times_of_refused_connections_pass_end_with_99() -> None:
    assert _exit_code(ended("met"), tally("0", "0"), strict=False) == EXIT_THRESHOLDS
    assert _exit_code(ended("met"), tally("0", "200"), strict=False) == 0
    assert _exit_code(ended("met"), tally("0", "500"), strict=False) == 0, "an answer, though not a good one"
    assert _exit_code(ended(), tally("0"), strict=False) == EXIT_INVALID, "nothing measured is never green"
    assert _exit_code(ended(), tally("0", "200"), strict=False) == 0


def test_iterations_that_failed_at_once_are_told_as_attempts() -> None:
    """Seen: a closed loop on a refused port, 104,622 of them in 2 s as if they were throughput."""
    found = tally("0", "0")
    found.add(Snapshot(1, done=9, series=(Series("unanswered_iterations", "counter", {}, value=7.0),)))
    [words] = [words for words in found.warnings() if "at once" in words]
    assert words.startswith("7 of 9 iterations failed at once") and "attempts and no throughput" in words


@pytest.mark.parametrize(
    ("threshold", "words"),
    [
        ("http_req_duration{name:GET /isues}", "No request had name 'GET /isues'. Did you mean 'GET /issues'?"),
        ("http_req_duration{nmae:GET /issues}", "No request had the tag 'nmae'. Did you mean 'name'?"),
        ("http_req_duration{status:404}", "No request had status '404'. status was 200."),
        ("http_req_duration{status:201}", "No request had status '201'. status was 200."),
        ("my_trend", "Check that the script adds to this metric"),
        ("my_trend{kind:a}", "Check that the script adds to this metric"),
        ("checks{check:is onn}", "No sample of checks had check 'is onn'. Did you mean 'is on'?"),
        ("checks{name:GET /issues}", "No sample of checks had the tag 'name'. They had check, scenario."),
        ("group_duration{group:::pay}", "No sample of group_duration had group '::pay'. group was ::find."),
    ],
)
def test_a_threshold_that_matched_nothing_is_said_with_the_nearest_name(threshold: str, words: str) -> None:
    found = tally("200")
    found.tags["http_req_failed"]["name"] = {"GET /issues", "POST /issues"}
    checks = Series("checks", "rate", {"check": "is on", "scenario": "default"}, passes=1, total=1)
    found.add(Snapshot(1, series=(checks, Series("group_duration", "trend", {"group": "::find"}))))
    summary = {"metrics": {threshold: {"type": "trend", "thresholds": {"p(95)<1": {"verdict": "undecided"}}}}}
    [told] = found.without_data(summary)
    assert told.startswith(f"no data for the threshold on {threshold}: it is undecided, and fails with --strict.")
    assert words in told
    assert list(tally("0").without_data(summary)) == [], "that nothing was answered is said already"


def test_a_threshold_on_requests_of_a_script_that_makes_none_says_so() -> None:
    """grafana/k6 2512, 4283: a threshold that nothing reached; it said “They had .”"""
    key = "http_req_duration{name:http://${}.com/{x}:1}"
    summary = {"metrics": {key: {"type": "trend", "thresholds": {"p(95)<1": {"verdict": "undecided"}}}}}
    [told] = Tally().without_data(summary)
    assert told.endswith("The script made no request.")


def test_that_no_request_was_answered_is_said() -> None:
    assert "no request was answered (2 were made)" in tally("0", "0").warnings()[0]
    assert not any("answered" in words for words in tally("0", "200").warnings())
    assert not tally().nothing_answered


def test_a_threshold_on_a_scenario_that_is_not_there_is_an_error_at_the_start(tmp_path: Any) -> None:
    script = tmp_path / "script.js"
    script.write_text(
        "export const options = {scenarios: {views: {executor: 'per-vu-iterations'}},\n"
        "thresholds: {'http_req_duration{scenario:veiws}': ['p(95)<1']}};\nexport default function () {}"
    )
    with pytest.raises(InputErrors, match="Did you mean 'views'") as told:
        check_thresholds(EngineConfig(script), Settings({}, {}, {}, {}))
    assert told.value.exit_code == 104
    check_thresholds(EngineConfig(script), Settings({}, {"vus": 1}, {}, {}))


def test_a_script_that_makes_no_request_is_told_so_and_ends_as_in_k6() -> None:
    """Seen: not a word, beside "the generator was late, beside response times of …" of requests that nobody made."""
    found = Tally()
    found.add(Snapshot(0, done=40))
    [words] = found.warnings()
    assert words == (
        "the script made no request in 40 iterations: no response time was measured. Check that the script makes HTTP "
        "requests."
    )
    assert _exit_code(ended(), found, strict=False) == 0
