"""Why requests failed, counted and in words."""

from __future__ import annotations

from typing import Any

from plimsoll.cli.run.tally import Tally
from plimsoll.runs.kept.plain_run import words_of_summary
from plimsoll.runs.readings.failures import Failures, is_targets, nothing_measured_words, requests_words
from plimsoll.runs.snapshot import Series


def failed(passes: int, metric: str = "http_req_failed", **tags: str) -> Series:
    data: dict[str, Any] = {"metric": metric, "kind": "rate", "tags": tags, "passes": passes, "total": passes + 5}
    return Series.from_json(data)


def test_failures_are_counted_by_status_or_else_by_error_code():
    seen = Failures()
    for series in (
        failed(7, status="0", error_code="1212"),
        failed(2, status="500", error_code="1500"),
        failed(3, status="0", error_code="1212"),
        failed(0, status="404", error_code="1404"),
        failed(9, metric="checks", status="500"),
        failed(1, status="0", error_code="1999"),
    ):
        seen.add(series)
    assert seen.words() == "10 × connection refused, 2 × status 500, 1 × error 1999"
    assert seen.next_step() == "It answered other requests: its log says why it ended, or stopped listening."


def test_a_target_that_never_answered_is_to_be_started() -> None:
    seen = Failures()
    seen.add(failed(7, status="0", error_code="1212"))
    assert seen.next_step() == "Start the target, or correct its URL: nothing listens there."


def test_rare_causes_are_added_up_and_the_words_end():
    seen = Failures()
    for number, status in enumerate(("500", "502", "503", "504", "505"), start=1):
        seen.add(failed(number, status=status))
    assert seen.words() == "5 × status 505, 4 × status 504, 3 × status 503, 3 × others"


def test_causes_with_several_codes_are_one():
    seen = Failures()
    for code in ("1300", "1310", "1311", "1111"):
        seen.add(failed(2, status="0", error_code=code))
    assert seen.words() == "6 × no TLS connection, 2 × an address that options forbid"
    assert "insecureSkipTLSVerify" in seen.next_step()


def test_an_address_without_a_scheme_is_the_scripts_and_no_connection_of_the_target_broke():
    """grafana/k6 5497: one bad address of a batch."""
    seen = Failures()
    seen.add(failed(2, status="0", error_code="1000", error="unsupported protocol scheme \"\" of '://x'; write the …"))
    seen.add(failed(1, status="0", error_code="1020", error="invalid URL: 'http://'"))
    assert seen.words() == "3 × the URL is not valid" and "http://localhost:8080/path" in seen.next_step()
    seen.add(failed(4, status="0", error_code="1000", error="unexpected EOF"))
    assert seen.words() == "4 × the connection broke, 3 × the URL is not valid"


def test_without_failures_there_is_nothing_to_say():
    assert (Failures().words(), Failures().next_step()) == ("", "")


def test_what_is_not_the_targets_is_told_as_such():
    seen = Failures()
    seen.add(failed(3, status="0", error_code="1000", error="the response's body is over the limit of 32 MiB; raise …"))
    seen.add(failed(2, status="0", error_code="1000", error='net/http: invalid header field value for "A"'))
    seen.add(failed(1, status="0", error_code="1200", error="proxyconnect: the proxy p:1 of HTTP_PROXY: dial: …"))
    assert seen.words() == "3 × a body over the limit here, 2 × a request that cannot be sent, 1 × the proxy"
    assert "PLIMSOLL_MAX_BODY" in seen.next_step() and not any(map(is_targets, seen.causes))
    assert is_targets("connection refused") and is_targets("status 500")


def test_an_iteration_that_the_script_broke_off_is_its_own_and_not_the_targets():
    seen = Failures()
    seen.add_broken(3)
    assert seen.words() == "3 × an exception of the script" and "exception" in seen.next_step()
    seen.add(failed(4, status="0", error_code="1020", error="invalid URL: parse"))
    assert "correct the address" in seen.next_step() and not any(map(is_targets, seen.causes))


def test_where_no_request_was_made_nothing_was_measured():
    assert nothing_measured_words(0, 0) == ["The script made no request."]
    assert nothing_measured_words(0, 0, 1) == [
        "The script made no request: 1 iteration ended with an exception of the script."
    ]
    assert nothing_measured_words(2, 1, 5) == [], "one had an answer"


def test_one_request_is_told_in_the_singular():
    assert (requests_words(1), requests_words(2_000)) == ("1 request", "2,000 requests")
    assert nothing_measured_words(1, 1) == ["No request was answered (1 was made)."]
    tally = Tally(requests=1, started=2, done=1, planned=2, dropped=1)
    tally.failures.causes["status 500"] = 1
    told = " ".join(tally.warnings())
    assert "(1 was made)" in told and "1 request failed: 1 × status 500" in told and "1 was never sent" in told
    assert "1 of 2 iterations was cut off before" in told
    assert words_of_summary({"http_reqs": {"values": {"count": 1}}}) == "1 request."
