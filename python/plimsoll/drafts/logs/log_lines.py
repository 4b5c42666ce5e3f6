"""One line of an access log as a request: common and combined (with what servers put before and after them), and the
JSON lines of nginx, Caddy and Traefik. `parse_line` gives None for what it does not understand."""

from __future__ import annotations

import ipaddress
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlsplit

FORMATS = (
    "common and combined (Apache, nginx, Traefik; also with the virtual host in front and the time of the request at "
    "the end), those of Python's and Flask's own servers, of uvicorn with a time in front, and JSON lines of nginx, "
    "Caddy and Traefik"
)
_QUOTED = r'"((?:[^"\\]|\\.)*)"'
_AFTER_USER = (
    r" \[(\d{2}/[A-Z][a-z]{2}/\d{4}[: ]\d{2}:\d{2}:\d{2}(?: [+-]\d{4})?)\] "
    rf"{_QUOTED} (\d{{3}}|-)(?: (?:\d+|-))?(?: {_QUOTED} {_QUOTED})?(.*)"
)
_TEXT = re.compile(r"(?:\S+ )??([^\s-]\S*) \S+ \S+" + _AFTER_USER)
_TEXT_WITH_SPACED_USER = re.compile(r"(\S+) \S+ \S[^\[\]\"]*" + _AFTER_USER)
_COMPOSE = re.compile(r"[\w.-]+ +\| (?=\S)")  # what `docker compose logs` puts in front
_UVICORN = re.compile(
    rf"(?:(\d{{4}}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-][\d:]+)?) )?.*?([\d.]+|[\da-f:]+):\d+ - {_QUOTED} (\d{{3}})(?: .*)?"
)
_REQUEST = re.compile(r"([A-Z][A-Z-]{1,20}) (\S+)(?: HTTP/[\d.]+)?")
_MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS = {name: at for at, name in enumerate(_MONTH_NAMES, 1)}
_SECONDS_AT_END = re.compile(r'(?:^|[\s"=])(\d{1,6}\.\d{3,6})(?=["\s,]|$)')
_MS_AT_END = re.compile(r"(?:^|\s)(\d+)ms$")
_MICROSECONDS_AT_END = re.compile(r"^\s(\d+)$")
_FORWARDED_AT_END = re.compile(r'"([0-9a-fA-F:.]{3,45})(?:, ?[^"]*)?"')
_SAFE = "!#$%&'()*+,/:;=?@[]~|^{}`"
_SENDABLE = re.compile(rf"[\w{re.escape(_SAFE)}.-]*", re.ASCII)
_ESCAPED = re.compile(r'\\x([0-9A-Fa-f]{2})|\\(["\\])')
_LATEST_S = 7.3e9  # in the year 2201
_FRACTION = re.compile(r"[.,](\d+)(?=[Z+-]|$)")


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """What a log says of one request. `method` is empty where no request was read (a scan, a timeout). Of
    `duration_ms` it is not sure where `is_maybe_us`: a bare whole number, Apache's %D in microseconds if large."""

    time_s: float
    address: str
    agent: str
    method: str
    target: str
    status: int
    duration_ms: float | None = None
    is_maybe_us: bool = False


def parse_line(line: str) -> LoggedRequest | None:
    """The request of a line; None where the line is of no known format."""
    if "| " in line and (before := _COMPOSE.match(line)):
        line = line[before.end() :]
    if line.startswith("{"):
        return _of_json(line)
    found = _TEXT.fullmatch(line) or _TEXT_WITH_SPACED_USER.fullmatch(line)
    if found is None:
        return _of_uvicorn(line)
    address, time_text, request, status, _, agent, rest = found.groups()
    time_s = _clf_time(time_text)
    if time_s is None:
        return None
    method, target = _request_of(request)
    duration_ms, is_maybe_us = _duration_at_end(rest) if rest else (None, False)
    if rest and (forwarded := _FORWARDED_AT_END.search(rest)) and _is_address(forwarded[1]):
        address = forwarded[1]
    code = int(status) if status != "-" else 0
    return LoggedRequest(time_s, address, agent or "", method, target, code, duration_ms, is_maybe_us)


def _of_uvicorn(line: str) -> LoggedRequest | None:
    """uvicorn writes no time; `docker logs --timestamps` and others put one in front."""
    found = _UVICORN.fullmatch(line) if ' - "' in line else None
    if found is None or found[1] is None:
        return None
    try:
        time_s = _time(found[1].replace(",", "."))
    except ValueError:
        return None
    return LoggedRequest(time_s, found[2], "", *_request_of(found[3]), int(found[4]))


def has_no_time(line: str) -> bool:
    """Whether it is the line of a request that lacks the time alone."""
    found = _UVICORN.fullmatch(line)
    return found is not None and found[1] is None and _request_of(found[3]) != ("", "")


def _request_of(text: str) -> tuple[str, str]:
    """(method, path with query) of a request line; of what is none, both empty."""
    found = _REQUEST.fullmatch(text)
    if found is None:
        return "", ""
    return found[1], path_of(found[2])


def path_of(target: str) -> str:
    """The path with its query, without scheme and host, without a fragment."""
    if not target.startswith("/"):
        try:
            parts = urlsplit(target)
        except ValueError:
            return ""
        if parts.scheme not in ("http", "https"):
            return ""
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    target = target.partition("#")[0]
    return target if _SENDABLE.fullmatch(target) else _encoded(target)


def _encoded(target: str) -> str:
    """As a client has to send it: what the log escaped (\\x22) and what no URL may hold, in percent."""
    unescaped = _ESCAPED.sub(lambda found: f"%{found[1] or format(ord(found[2]), 'X')}", target)
    return quote(unescaped, safe=_SAFE)


def _duration_at_end(rest: str) -> tuple[float | None, bool]:
    """(ms, whether that was a bare whole number) from what stands after the agent."""
    if found := _MS_AT_END.search(rest):
        return float(found[1]), False
    if found := _SECONDS_AT_END.search(rest):
        return 1000 * float(found[1]), False
    if found := _MICROSECONDS_AT_END.search(rest):
        return int(found[1]) / 1000, True
    return None, False


@lru_cache(maxsize=4096)
def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _clf_time(text: str) -> float | None:
    """Seconds since 1970 of "28/Nov/2026:10:00:00 +0100"."""
    hour_s = _clf_hour(text[:14], text[21:] or "+0000")
    return None if hour_s is None else _sane(hour_s + 60 * int(text[15:17]) + int(text[18:20]))


def _sane(time_s: float) -> float | None:
    """The time, if it may be one of a log."""
    return time_s if 0 <= time_s < _LATEST_S else None


@lru_cache(maxsize=1024)
def _clf_hour(hour: str, zone: str) -> float | None:
    """The same of the hour alone, "28/Nov/2026:10", as a log has thousands of lines an hour."""
    try:
        day, month, year = int(hour[:2]), _MONTHS[hour[3:6]], int(hour[7:11])
        start = datetime(year, month, day, int(hour[12:14]), tzinfo=UTC).timestamp()
    except (KeyError, ValueError):
        return None
    sign = -1 if zone[0] == "-" else 1
    return start - sign * (3600 * int(zone[1:3]) + 60 * int(zone[3:5]))


def _of_json(line: str) -> LoggedRequest | None:
    """A line of Caddy (with a `request` in it), of Traefik (with capitals) or of nginx, whose names the user chose."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    try:
        if isinstance(fields.get("request"), dict):
            return _of_caddy(fields, fields["request"])
        if "RequestMethod" in fields:
            return _of_traefik(fields)
        return _of_nginx(fields)
    except (LookupError, ValueError, TypeError, AttributeError, OverflowError):
        return None


def _of_caddy(fields: Mapping[str, Any], request: Mapping[str, Any]) -> LoggedRequest | None:
    if "status" not in fields:
        return None
    agent = (request.get("headers") or {}).get("User-Agent") or [""]
    duration = fields.get("duration")
    duration_ms = _ms(duration)
    address = str(request.get("client_ip") or request.get("remote_ip") or request.get("remote_addr") or "")
    return LoggedRequest(
        _time(fields.get("ts", fields.get("time"))),
        address,
        str(agent[0]),
        str(request["method"]),
        path_of(str(request["uri"])),
        int(fields["status"]),
        duration_ms,
    )


def _of_traefik(fields: Mapping[str, Any]) -> LoggedRequest:
    address = str(fields.get("ClientHost") or str(fields.get("ClientAddr", "")).rpartition(":")[0])
    agent = fields.get("request_User-Agent") or fields.get("request_user-agent") or ""
    duration = fields.get("Duration")
    return LoggedRequest(
        _time(fields.get("StartUTC") or fields.get("StartLocal") or fields["time"]),
        address,
        str(agent),
        str(fields["RequestMethod"]),
        path_of(str(fields["RequestPath"])),
        int(fields.get("DownstreamStatus") or fields["OriginStatus"]),
        None if duration is None else _ms(float(duration) / 1e9),
    )


def _of_nginx(fields: Mapping[str, Any]) -> LoggedRequest:
    """By nginx's own names of variables, and those that its documentation and many guides use for them."""
    given = {str(name).lower().lstrip("$@"): value for name, value in fields.items()}
    method = _first(given, ("request_method", "method", "http_method", "verb"))
    target = _first(given, ("request_uri", "uri", "url", "path", "request_path"))
    request = _first(given, ("request", "request_line"))
    if request:
        method, target = _request_of(str(request))
    elif target is None or method is None:
        raise KeyError("request")
    query = _first(given, ("args", "query_string", "query"))
    if query and query != "-" and "?" not in str(target):
        target = f"{target}?{str(query).lstrip('?')}"
    moment = _first(given, ("msec", "time_iso8601", "time_local", "timestamp", "time", "ts", "date"))
    forwarded = str(_first(given, ("http_x_forwarded_for", "x_forwarded_for")) or "").partition(",")[0].strip()
    address = _first(given, ("remote_addr", "remote_ip", "client_ip", "client", "clientip", "ip")) or ""
    duration = _first(given, ("request_time", "duration", "response_time", "request_time_s"))
    return LoggedRequest(
        _time(moment),
        forwarded if _is_address(forwarded) else str(address),
        str(_first(given, ("http_user_agent", "user_agent", "agent", "useragent")) or ""),
        str(method),
        path_of(str(target)) if target else "",
        int(_first(given, ("status", "status_code", "response_status"))),
        _ms(duration),
    )


def _first(given: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((given[name] for name in names if given.get(name) not in (None, "")), None)


def _ms(duration: Any) -> float | None:
    """A duration in ms; None where there is none, or none that can be."""
    if duration in (None, "", "-"):
        return None
    ms = 1000 * _seconds(duration)
    return ms if 0 <= ms < math.inf else None


def _seconds(value: Any) -> float:
    """A duration as a number of seconds, or with its unit as Go writes it ("1.2ms")."""
    if isinstance(value, int | float):
        return float(value)
    found = re.fullmatch(r"([\d.]+)(ns|us|µs|ms|s)?", str(value).strip())
    if found is None:
        raise ValueError(value)
    return float(found[1]) * {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, None: 1.0}[found[2]]


def _time(value: Any) -> float:
    """Seconds since 1970: a number (of seconds, or of ms if so large), ISO 8601, or as in the combined format. A time
    without a zone is taken for UTC."""
    if isinstance(value, bool) or value is None:
        raise ValueError(value)
    if isinstance(value, int | float) or re.fullmatch(r"\d{9,}(?:\.\d+)?", str(value)):
        number = float(value)
        number = number / 1000 if number > 1e11 else number
        return _checked(number)
    text = str(value).strip()
    if re.fullmatch(r"\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4}", text):
        found = _clf_time(text)
        if found is None:
            raise ValueError(text)
        return found
    text = _FRACTION.sub(lambda part: f".{part[1][:6]:0<6}", text.replace("/", "-"), count=1)
    moment = datetime.fromisoformat(text)
    return _checked((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def _checked(time_s: float) -> float:
    """ValueError for what cannot be a time of a log."""
    if _sane(time_s) is None:
        raise ValueError(time_s)
    return time_s
