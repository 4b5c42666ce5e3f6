"""Lines of access logs as servers write them (nginx 1.22 and Apache 2.4 wrote theirs; Caddy's and Traefik's are after
their manuals), and lines that are none."""

from __future__ import annotations

import pytest

from plimsoll.drafts.logs.log_lines import LoggedRequest, parse_line

MOMENT_S = 1795953102.0  # 2026-11-29 11:51:42 UTC
AT = "[29/Nov/2026:11:51:42 +0000]"
CADDY = (
    '{"level":"info","ts":1795953102.5,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":'
    '"9.8.7.6","remote_port":"53084","proto":"HTTP/1.1","method":"GET","host":"127.0.0.1:18083","uri":"/a?b=1","headers"'
    ':{"User-Agent":["Mozilla/5.0 a"],"Accept":["*/*"]}},"user_id":"","duration":0.000059,"size":2,"status":200,'
    '"resp_headers":{"Server":["Caddy"]}}'
)
TRAEFIK = (
    '{"ClientAddr":"9.8.7.6:5432","ClientHost":"9.8.7.6","Duration":1500000,"DownstreamStatus":200,"RequestMethod":"GET",'
    '"RequestPath":"/a?b=1","StartUTC":"2026-11-29T11:51:42.000000123Z","request_User-Agent":"Mozilla/5.0 a",'
    '"time":"2026-11-29T11:51:43Z"}'
)
NGINX_ISO = (
    '{"time_iso8601":"2026-11-29T12:51:42+01:00","remote_addr":"9.8.7.6","request_method":"GET","request_uri":"/a?b=1",'
    '"status":200,"request_time":0.002,"http_user_agent":"Mozilla/5.0 a"}'
)
NGINX_LINE = (
    '{"time_local":"29/Nov/2026:11:51:42 +0000","remote_addr":"9.8.7.6","request":"GET /a?b=1 HTTP/1.1","status":"200",'
    '"request_time":"0.002","http_user_agent":"Mozilla/5.0 a"}'
)
NGINX_ARGS = '{"msec":"1795953102.000","remote_addr":"9.8.7.6","method":"GET","uri":"/a","args":"b=1","status":"200"}'
REQUEST = '"GET /a?b=1 HTTP/1.1" 200 205'
UVICORN = 'INFO:     9.8.7.6:44826 - "GET /a?b=1 HTTP/1.1" 200 OK'
COMBINED = f'9.8.7.6 - - {AT} {REQUEST} "-" "Mozilla/5.0 a"'


@pytest.mark.parametrize(
    ("line", "duration_ms", "agent"),
    [
        (f"9.8.7.6 - - {AT} {REQUEST}", None, ""),
        (COMBINED, None, "Mozilla/5.0 a"),
        (f"localhost:80 {COMBINED}", None, "Mozilla/5.0 a"),
        (f"web-1  | {COMBINED}", None, "Mozilla/5.0 a"),
        ('9.8.7.6 - - [29/Nov/2026 11:51:42] "GET /a?b=1 HTTP/1.1" 200 -', None, ""),
        (f"2026-11-29T11:51:42.123456789Z {UVICORN}", None, ""),
        (f"2026-11-29 11:51:42,123 {UVICORN}", None, ""),
        (f"{COMBINED} 0.002 -", 2.0, "Mozilla/5.0 a"),
        (f"{COMBINED} 0.012 0.010", 12.0, "Mozilla/5.0 a"),
        (f'{COMBINED} rt=0.012 uct="0.000"', 12.0, "Mozilla/5.0 a"),
        (f"{COMBINED} 696", 0.696, "Mozilla/5.0 a"),
        (f'{COMBINED} "-"', None, "Mozilla/5.0 a"),
        (f'{COMBINED} "2.31"', None, "Mozilla/5.0 a"),
        (f'{COMBINED} 17 "web@docker" "http://10.0.0.2:80" 12ms', 12.0, "Mozilla/5.0 a"),
        (CADDY, 0.059, "Mozilla/5.0 a"),
        (TRAEFIK, 1.5, "Mozilla/5.0 a"),
        (NGINX_ISO, 2.0, "Mozilla/5.0 a"),
        (NGINX_LINE, 2.0, "Mozilla/5.0 a"),
        (NGINX_ARGS, None, ""),
    ],
)
def test_each_format_says_who_asked_for_what_when(line: str, duration_ms: float | None, agent: str) -> None:
    found = parse_line(line)
    assert found is not None
    assert (found.address, found.method, found.target, found.status) == ("9.8.7.6", "GET", "/a?b=1", 200)
    assert found.time_s == pytest.approx(MOMENT_S, abs=0.51)
    assert found.duration_ms == (None if duration_ms is None else pytest.approx(duration_ms))
    assert found.agent == agent


@pytest.mark.parametrize(
    "line",
    [
        "",
        "garbage",
        UVICORN,
        "2026-11-29 25:51:42 " + UVICORN,
        "{",
        "[]",
        '{"a":1}',
        '{"level":"info","ts":1795953102.5,"logger":"tls","msg":"cleaned up storage"}',
        '{"request":{"method":"GET"},"status":200}',
        '{"RequestMethod":"GET"}',
        NGINX_ARGS.replace("1795953102.000", "yesterday"),
        NGINX_ARGS.replace('"200"', '"fine"'),
        f"9.8.7.6 - - {AT.replace('Nov', 'Foo')} {REQUEST}",
        f"9.8.7.6 - - {AT.replace('29/', '31/')} {REQUEST}",
        "2026-11-29 11:51:42 9.8.7.6 GET /a b=1 80 - 1.2.3.4 Mozilla 200 0 0 15",
        '{"msec":1e400,"request":"GET / HTTP/1.1","status":200}',
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_a_line_of_another_kind_is_not_understood(line: str) -> None:
    assert parse_line(line) is None


def test_the_zone_of_a_time_counts() -> None:
    east, west = COMBINED.replace("+0000", "+0530"), COMBINED.replace("+0000", "-0800")
    assert _of(east).time_s == MOMENT_S - 5.5 * 3600
    assert _of(west).time_s == MOMENT_S + 8 * 3600


def test_a_scan_or_a_timeout_is_a_line_without_a_request() -> None:
    for request in ('"-" 408 -', '"\\x16\\x03\\x01\\x02" 400 484', '"" 400 0', '"OPTIONS * HTTP/1.0" 200 126'):
        assert _of(f'9.8.7.6 - - {AT} {request} "-" "-"').target == ""


def test_what_a_log_escapes_is_sent_as_it_came() -> None:
    assert _of(COMBINED.replace("b=1", r"b=\x22c\x22")).target == "/a?b=%22c%22"
    assert _of(COMBINED.replace("b=1", r"b=\"c\\")).target == "/a?b=%22c%5C"
    assert _of(COMBINED.replace("b=1", "b=%20é")).target == "/a?b=%20%C3%A9"
    assert _of(CADDY.replace("b=1", r"b=\"c d\"")).target == "/a?b=%22c%20d%22"


def test_a_request_to_a_proxy_has_its_path_alone() -> None:
    assert _of(COMBINED.replace("/a?b=1", "http://example.org/a?b=1#c")).target == "/a?b=1"


def test_the_forwarded_address_is_the_user_s() -> None:
    assert _of(f'{COMBINED} "5.5.5.5, 10.0.0.1"').address == "5.5.5.5"
    assert _of(f'{COMBINED} "2001:db8::1"').address == "2001:db8::1"
    assert _of(NGINX_ARGS[:-1] + ',"http_x_forwarded_for":"5.5.5.5, 10.0.0.1"}').address == "5.5.5.5"
    assert _of(NGINX_ARGS[:-1] + ',"http_x_forwarded_for":"unknown"}').address == "9.8.7.6"


def test_a_user_with_a_space_in_the_name_is_read() -> None:
    assert _of(COMBINED.replace("- - [", "- joe smith [")).address == "9.8.7.6"


def test_a_bare_whole_number_at_the_end_is_marked_as_unsure() -> None:
    assert _of(f"{COMBINED} 696").is_maybe_us and not _of(f"{COMBINED} 0.696").is_maybe_us


def _of(line: str) -> LoggedRequest:
    found = parse_line(line)
    assert found is not None
    return found
