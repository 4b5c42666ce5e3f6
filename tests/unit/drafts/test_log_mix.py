"""From lines of a log to operations: what counts, what is left out and why, and that nothing of it grows."""

from __future__ import annotations

from random import Random

import pytest

from plimsoll.drafts.draft import Draft
from plimsoll.drafts.logs import log_mix
from plimsoll.drafts.logs.access_log import Reading
from plimsoll.drafts.logs.log_lines import LoggedRequest
from plimsoll.drafts.logs.log_mix import LogMix
from plimsoll.errors import InputError


def _request(target: str, time_s: float = 0.0, **changes: object) -> LoggedRequest:
    given: dict[str, object] = {"address": "1.1.1.1", "agent": "Firefox", "method": "GET", "status": 200} | changes
    return LoggedRequest(time_s, target=target, **given)  # type: ignore[arg-type]


def _draft(*requests: LoggedRequest, least_share: float = 0.01) -> Draft:
    mix = LogMix()
    for request in requests:
        mix.add(request)
    return mix.draft(Reading(lines=len(requests)), "a log", None, least_share)


def _use(count: int = 200) -> list[LoggedRequest]:
    return [_request(f"/issues/{number % 20}", 10.0 * number, duration_ms=5.0) for number in range(count)]


def test_an_operation_has_its_rate_its_shares_and_its_values() -> None:
    pages = [_request("/issues?page=1&sort=a", 10.0 * number + 5, duration_ms=15.0) for number in range(200)]
    draft = _draft(*sorted([*_use(), *pages], key=lambda one: one.time_s))
    issue, page = sorted(draft.operations, key=lambda one: -len(one.rows))
    assert (issue.request, issue.name, issue.exec) == ("GET /issues/{id}", "get_issues_id", "getIssuesId")
    assert issue.per_user_hour == pytest.approx(360, rel=0.01) and issue.share == 0.5
    assert issue.time_share == pytest.approx(0.25) and issue.session_share == 1 and issue.failed_share == 0
    assert issue.p95_ms == pytest.approx(5, rel=0.02) and len(issue.rows) == 200
    assert {row["id"] for row in issue.rows} == {str(number) for number in range(20)}
    assert (page.rows, page.fixed_query) == ((), "page=1&sort=a")


def test_different_queries_are_drawn_whole() -> None:
    draft = _draft(*(_request(f"/issues{query}", 9.0 * at) for at, query in enumerate(["?a=1&b=2", "?a=3", ""] * 5)))
    [operation] = draft.operations
    assert {row["query"] for row in operation.rows} == {"?a=1&b=2", "?a=3", ""}


def test_what_failed_is_counted_and_no_value() -> None:
    failing = [_request(f"/issues/{number}", 1.0 * number, status=404) for number in range(1000, 1020)]
    [operation] = _draft(*_use(), *failing).operations
    assert operation.failed_share == pytest.approx(20 / 220)
    assert all(int(row["id"]) < 1000 for row in operation.rows)


def test_what_no_load_needs_is_named_with_its_count() -> None:
    draft = _draft(
        *_use(),
        _request("/app.js?v=3"),
        _request("/healthz"),
        _request("/issues/1", agent="kube-probe/1.27"),
        _request("/issues/1", agent="Mozilla/5.0 (compatible; Googlebot/2.1)"),
        _request("/issues", method="POST", status=201),
        _request("/issues", method="OPTIONS"),
        _request("", method=""),
        _request("/wp-login.php", status=404),
    )
    left_out = {(one.kind, one.request): one.requests for one in draft.left_out}
    assert left_out == {
        ("static", "for static files"): 1,
        ("health_check", "of health checks and scrapes"): 2,
        ("bot", "Googlebot"): 1,
        ("write", "POST /issues"): 1,
        ("preflight", "with OPTIONS and other methods"): 1,
        ("unread", "that the server did not read"): 1,
        ("failing", "GET /wp-login.php"): 1,
    }


@pytest.mark.parametrize("agent", ["plimsoll/0.1.0", "plimsoll new", "Grafana k6/1.2", "ApacheBench/2.3", "Vegeta"])
def test_tests_of_load_are_no_users(agent: str) -> None:
    """Seen: the draft counted the requests of `plimsoll new` itself, and those of earlier runs, as sessions."""
    draft = _draft(*_use(), _request("/issues/1", agent=agent))
    assert [(one.kind, one.requests) for one in draft.left_out if one.kind == "bot"] == [("bot", 1)]


def test_what_is_rare_may_be_left_out_unless_it_takes_time_or_many_use_it() -> None:
    others = [_request("/rare", 50.0, address="2.2.2.2"), _request("/dear", 60.0, duration_ms=900.0)]
    crowd = [_request("/issues/1", float(at), address=f"3.3.3.{at}", duration_ms=1.0) for at in range(100)]
    many = [_request("/terms", float(at), address=f"3.3.3.{at}", duration_ms=0.1) for at in range(8)]
    requests = [*_use(2000), *others, *crowd, *many]
    draft = _draft(*requests)
    assert {one.request for one in draft.operations} == {"GET /issues/{id}", "GET /dear", "GET /terms"}
    assert [(one.kind, one.request) for one in draft.left_out] == [("rare", "GET /rare")]
    assert not _draft(*requests, least_share=0.0).left_out


def test_secrets_are_said_by_name_and_never_kept() -> None:
    requests = [_request(f"/issues?page=1&token=s3cr3t{number}", 5.0 * number) for number in range(50)]
    requests += [_request(f"/reset/s3cr3tS3cr3t{number:06}", 5.0 * number) for number in range(50)]
    draft = _draft(*requests)
    assert "s3cr3t" not in repr(draft).lower()
    assert any("token (50)" in note for note in draft.notes)
    assert ("private", 50) in [(one.kind, one.requests) for one in draft.left_out]


def test_answers_from_the_caches_of_users_are_said() -> None:
    cached = [_request("/issues/1", 10.0 * at, status=304) for at in range(100)]
    assert any("33% of the requests were answered with 304" in note for note in _draft(*_use(), *cached).notes)


def test_shares_are_of_what_works_and_scans_take_none() -> None:
    scans = [_request(f"/x{at}.php", float(at), status=404, address="6.6.6.6") for at in range(300)]
    draft = _draft(*_use(), *scans)
    assert [one.share for one in draft.operations] == [1.0]
    assert str(draft).startswith("200 requests of users in 1 session, ")
    assert any(note.startswith("1 session had nothing but failed requests") for note in draft.notes)


def test_users_behind_a_proxy_are_said() -> None:
    requests = [_request("/a", float(at), agent=f"agent {at % 5}") for at in range(100)]
    assert any("100% of the requests come from 1.1.1.1" in note for note in _draft(*requests).notes)


def test_whole_numbers_at_the_end_are_microseconds_only_where_they_are_large() -> None:
    large = [_request("/a", float(at), duration_ms=4.0, is_maybe_us=True) for at in range(100)]
    small = [_request("/a", float(at), duration_ms=0.001, is_maybe_us=True) for at in range(100)]
    assert _draft(*large).operations[0].p95_ms is not None
    assert _draft(*small).operations[0].p95_ms is None


def test_a_log_without_use_or_of_writes_alone_is_refused() -> None:
    with pytest.raises(InputError, match="no successful request of a user"):
        _draft(_request("/a.css"), _request("/x", status=500))
    with pytest.raises(InputError, match="writes alone"):
        _draft(_request("/a", method="POST"))


def test_very_many_different_paths_take_bounded_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_mix, "_MOST_SHAPES", 200)
    mix, random = LogMix(), Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    for number in range(20_000):
        word = "".join(random.choices(letters, k=8))
        target = f"/search/{word}/more" if number % 2 else f"/issues/{number}"
        mix.add(_request(target, float(number), address=f"1.1.1.{number % 50}"))
        mix.add(_request(f"/{word}/{word}.php", float(number), status=404, address="6.6.6.6"))
        assert len(mix._tallies) <= 200
    draft = mix.draft(Reading(lines=40_000), "a log", None)
    assert {one.request for one in draft.operations} == {"GET /issues/{id}", "GET /search/{id}/more"}
    [crowded] = [one.requests for one in draft.left_out if one.kind == "crowded"]
    assert draft.operations[0].requests == 10_000
    assert 9_800 <= (draft.operations[1].requests or 0) <= 10_000 and crowded >= 15_000


def test_an_address_that_no_client_can_send_is_no_operation() -> None:
    """Seen: a line of `GET /a%zz` became an operation whose requests never left the script."""
    draft = _draft(*_use(), *(_request(f"/{name}%zz?q=%", 7.0) for name in "ab"))
    assert [one.request for one in draft.operations] == ["GET /issues/{id}"]
    assert [(one.kind, one.requests) for one in draft.left_out] == [("malformed", 2)]
