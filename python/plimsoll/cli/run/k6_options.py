"""Every option of `k6 run` in one table: its name in scripts and configuration files, its flag, its environment
variable, and how a text becomes its value.

`SCRIPT` options reach the script's options and may stand in a script; `RUN` ones are about the run and its output.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from plimsoll.nearest_word import nearest, none_of
from plimsoll.study.bounds import MOST_PER_S, MOST_SECONDS, MOST_VUS

_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+")
_PART_OF_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)")
_SECONDS_PER = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_MOST_COUNT = 2**53  # what a number of JSON holds exactly
_MOST_TEXT = 100
_TRUE, _FALSE = ("1", "t", "T", "true", "TRUE", "True"), ("0", "f", "F", "false", "FALSE", "False")


class Area(Enum):
    SCRIPT = "script"
    RUN = "run"


class Shape(Enum):
    """How a flag is written: with a value, as a switch that may have one (--x, --x=false), or any number of times."""

    VALUE = "value"
    SWITCH = "switch"
    REPEATED = "repeated"


@dataclass(frozen=True)
class K6Option:
    """One option. `read` makes its JSON value of one text and raises ValueError with what is wrong; a REPEATED flag's
    values are joined by `join`. `bare` is the value of a flag that is given without one."""

    key: str
    flag: str = ""
    env: str = ""
    help: str = ""
    read: Callable[[str], Any] = str
    shape: Shape = Shape.VALUE
    area: Area = Area.SCRIPT
    short: str = ""
    metavar: str = "TEXT"
    bare: str = ""
    join: Callable[[list[Any]], Any] = lambda values: values[-1]

    @property
    def variable(self) -> str:
        """The environment variable: K6_ and the flag's words, or the option's where it has none of its own."""
        return self.env or "K6_" + self.flag.replace("-", "_").upper()


def whole(text: str, most: int = _MOST_COUNT) -> int:
    try:
        number = int(text[:_MOST_TEXT])
    except ValueError:
        raise ValueError(f"'{text[:_MOST_TEXT]}' is not a whole number") from None
    if not -most <= number <= most:
        raise ValueError(f"'{text[:_MOST_TEXT]}' is too many; at most {most:,} make sense")
    return number


def vus(text: str) -> int:
    return whole(text, MOST_VUS)


def per_s(text: str) -> int:
    return whole(text, int(MOST_PER_S))


def duration(text: str) -> str:
    if text.isdecimal():
        if text.strip("0") == "":
            return "0s"  # as in Go, and told as no time where it has to be some
        shown = text[:_MOST_TEXT]
        raise ValueError(f"'{shown}' has no unit; write {shown}s, {shown}m or {shown}h")
    if len(text) > _MOST_TEXT or not _DURATION.fullmatch(text):
        raise ValueError(f"'{text[:_MOST_TEXT]}' is not a duration; write for example 30s, 1m30s or 500ms")
    if sum(float(amount) * _SECONDS_PER[unit] for amount, unit in _PART_OF_DURATION.findall(text)) > MOST_SECONDS:
        raise ValueError(f"'{text}' is over {MOST_SECONDS / 86_400:g} days")
    return text


def duration_or_ms(text: str) -> str:
    return str(whole(text, int(MOST_SECONDS * 1000))) if text.isdecimal() else duration(text)


def truth(text: str) -> bool:
    if text not in _TRUE + _FALSE:
        raise ValueError(f"'{text}' is neither true nor false")
    return text in _TRUE


def listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def stage(text: str) -> dict[str, Any]:
    length, colon, target = text.rpartition(":")
    if not colon or not target.isdecimal():
        raise ValueError(f"'{text[:_MOST_TEXT]}' is not duration:target; write for example 30s:10")
    return {"duration": duration(length), "target": vus(target)}


def stages(text: str) -> list[dict[str, Any]]:
    return [stage(part) for part in listed(text)]


def tag(text: str) -> dict[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise ValueError(f"'{text}': no '=' between a name and a value; write name=value")
    return {name: value}


def tags(text: str) -> dict[str, str]:
    """K6_TAGS=name:value,other:value."""
    pairs = [part.partition(":") for part in listed(text)]
    if not all(name and value for name, _, value in pairs):
        raise ValueError(f"'{text}' is not name:value,name:value")
    return {name: value for name, _, value in pairs}


def dns(text: str) -> dict[str, str]:
    fields = [part.partition("=") for part in listed(text)]
    for name, _, value in fields:
        if name not in ("ttl", "select", "policy") or not value:
            raise ValueError(f"'{text}': write for example ttl=5m,select=random,policy=preferIPv4")
    return {name: value for name, _, value in fields}


def one_of(*allowed: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in allowed:
            raise ValueError(none_of(text, allowed))
        return text

    return read


_TREND_STATS = ("avg", "min", "med", "max", "count")


def trend_stats(text: str) -> list[str]:
    names = listed(text)
    for name in names:
        percentile = re.fullmatch(r"p\((\d+(?:\.\d+)?)\)", name)
        if name not in _TREND_STATS and not (percentile and float(percentile[1]) <= 100):
            near = nearest(name, _TREND_STATS, "")
            what = f"'{name}' is no statistic of a trend; use some of {', '.join(_TREND_STATS)} and p(N). {near}"
            raise ValueError(what.rstrip())
    return names


def variable(text: str) -> str:
    if not re.match(r"[A-Za-z_]\w*(=|$)", text):
        raise ValueError(f"'{text}': no '=' after the name of a variable; write NAME=value")
    return text


def _flat(rows: list[list[Any]]) -> list[Any]:
    return [value for row in rows for value in row]


def _merged(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: value for row in rows for name, value in row.items()}


def _switch(key: str, flag: str, help: str, **more: Any) -> K6Option:
    return K6Option(key, flag, help=help, read=truth, shape=Shape.SWITCH, bare="true", **more)


def _run(key: str, flag: str, help: str, **more: Any) -> K6Option:
    return K6Option(key, flag, help=help, area=Area.RUN, **more)


_LISTED: dict[str, Any] = {"metavar": "LIST", "shape": Shape.REPEATED, "join": _flat}

OPTIONS: tuple[K6Option, ...] = (
    K6Option("vus", "vus", short="u", read=vus, metavar="N", help="number of VUs"),
    K6Option("duration", "duration", short="d", read=duration, metavar="TIME", help="for how long, as in 30s"),
    K6Option("iterations", "iterations", short="i", read=whole, metavar="N", help="iterations in all"),
    K6Option(
        "stages",
        "stage",
        "K6_STAGES",
        "duration:target, as in 30s:10; may be repeated",
        stages,
        Shape.REPEATED,
        short="s",
        metavar="STAGE",
        join=_flat,
    ),
    K6Option("executionSegment", "execution-segment", metavar="PART", help="this part of the load: 10%%, 1/3, 0.2:2/3"),
    K6Option(
        "executionSegmentSequence", "execution-segment-sequence", metavar="CUTS", help="how it is cut, as in 0,1/3,1"
    ),
    _switch("paused", "paused", "wait before setup() until plimsoll control says resume", short="p"),
    _switch("noSetup", "no-setup", "do not run setup()"),
    _switch("noTeardown", "no-teardown", "do not run teardown()"),
    K6Option("setupTimeout", env="K6_SETUP_TIMEOUT", read=duration_or_ms),
    K6Option("teardownTimeout", env="K6_TEARDOWN_TIMEOUT", read=duration_or_ms),
    K6Option("handleSummaryTimeout", env="K6_HANDLE_SUMMARY_TIMEOUT", read=duration_or_ms),
    K6Option("maxRedirects", "max-redirects", read=vus, metavar="N", help="follow at most this many redirects"),
    K6Option("batch", "batch", read=vus, metavar="N", help="requests of a batch at once, at most"),
    K6Option("batchPerHost", "batch-per-host", read=vus, metavar="N", help="of these to one host, at most"),
    K6Option("rps", "rps", read=per_s, metavar="N", help="requests per second of the whole run, at most"),
    K6Option("userAgent", "user-agent", help="the header User-Agent"),
    K6Option(
        "httpDebug", "http-debug", metavar="[full]", bare="headers", help="log requests; =full: with their bodies"
    ),
    _switch("insecureSkipTLSVerify", "insecure-skip-tls-verify", "accept any certificate of the target"),
    _switch("noConnectionReuse", "no-connection-reuse", "a connection of its own for every request"),
    _switch("noVUConnectionReuse", "no-vu-connection-reuse", "new connections in every iteration"),
    K6Option("noCookiesReset", env="K6_NO_COOKIES_RESET", read=truth),
    K6Option(
        "minIterationDuration",
        "min-iteration-duration",
        read=duration,
        metavar="TIME",
        help="an iteration keeps its VU for at least this long, as in 1s",
    ),
    _switch("throw", "throw", "a failed request throws in the script", short="w"),
    K6Option("blacklistIPs", "blacklist-ip", "K6_BLACKLIST_IPS", "refuse these addresses", listed, **_LISTED),
    K6Option("blockHostnames", "block-hostnames", help="refuse these, as in *.example.com", read=listed, **_LISTED),
    K6Option("localIPs", "local-ips", metavar="RANGES", help="addresses that VUs call from"),
    K6Option("dns", "dns", read=dns, metavar="RULES", help="ttl=5m,select=random,policy=preferIPv4"),
    K6Option("tlsCipherSuites", env="K6_TLS_CIPHER_SUITES", read=listed),
    _switch("discardResponseBodies", "discard-response-bodies", "read bodies, but do not keep them for the script"),
    K6Option("metricSamplesBufferSize", env="K6_METRIC_SAMPLES_BUFFER_SIZE", read=whole),
    K6Option(
        "systemTags", "system-tags", read=listed, metavar="LIST", help="the only tags of the system, as in status,url"
    ),
    K6Option(
        "tags", "tag", "K6_TAGS", "name=value on every sample", tag, Shape.REPEATED, metavar="TAG", join=_merged
    ),
    K6Option(
        "summaryTrendStats",
        "summary-trend-stats",
        read=trend_stats,
        metavar="LIST",
        help="what is said of trends: avg,min,med,max,count,p(N) by commas",
    ),
    K6Option(
        "summaryTimeUnit",
        "summary-time-unit",
        read=one_of("s", "ms", "us"),
        metavar="UNIT",
        help="s, ms or us; each time's own by default",
    ),
    _switch("noColor", "no-color", "as always: nothing here is coloured"),
    _switch("noSummary", "no-summary", "no summary and no handleSummary, as --summary-mode disabled"),
    _run(
        "summaryMode",
        "summary-mode",
        "compact (default), full (what each scenario and group did too), legacy (one list) or disabled",
        read=one_of("compact", "full", "legacy", "disabled"),
        metavar="MODE",
    ),
    _run("summaryExport", "summary-export", "write the summary as JSON here, in k6's form", metavar="FILE"),
    _switch(
        "newMachineReadableSummary",
        "new-machine-readable-summary",
        "refused: the form of k6 v1 is the one that is written",
        area=Area.RUN,
    ),
    _run(
        "out",
        "out",
        "raw samples: json=FILE, csv=FILE (.gz compresses) or parquet=FILE; may be repeated",
        read=listed,
        shape=Shape.REPEATED,
        short="o",
        metavar="KIND=FILE",
        join=_flat,
    ),
    _run(
        "env", "env", "NAME=value for __ENV; may be repeated", read=variable, shape=Shape.REPEATED, short="e",
        metavar="NAME=VALUE", env="-", join=list,
    ),
    _switch("includeSystemEnvVars", "include-system-env-vars", "the system's in __ENV (default true)", area=Area.RUN),
    _switch("noThresholds", "no-thresholds", "judge no thresholds", area=Area.RUN),
    _run("config", "config", "options from this file, k6's JSON", short="c", metavar="FILE"),
    _run("consoleOutput", "console-output", "write what the script logs to this file", metavar="FILE"),
    _run("logOutput", "log-output", "stderr only; other places are refused", metavar="PLACE"),
    _run("logFormat", "log-format", "accepted without effect", metavar="FORMAT"),
    _switch("verbose", "verbose", "accepted without effect", area=Area.RUN, short="v"),
    _switch("quiet", "quiet", "no progress", area=Area.RUN, short="q", env="-"),
    _switch("noUsageReport", "no-usage-report", "as always: nothing is reported to anybody", area=Area.RUN),
    _run(
        "compatibilityMode",
        "compatibility-mode",
        "accepted without effect: scripts may use all of ECMAScript 2023",
        read=one_of("base", "extended", "experimental_enhanced"),
        metavar="MODE",
    ),
    _run("type", "type", "js; an archive is refused", short="t", metavar="KIND", read=one_of("js", "archive")),
    _run("address", "address", "accepted without effect: there is no REST API", short="a", metavar="HOST:PORT"),
    _switch("linger", "linger", "accepted without effect: there is no REST API to keep", area=Area.RUN, short="l"),
    _switch("profilingEnabled", "profiling-enabled", "accepted without effect: there is no REST API", area=Area.RUN),
    _run("tracesOutput", "traces-output", "none only; other places are refused", metavar="PLACE"),
    _run(
        "secretSource", "secret-source", "secrets for k6/secrets: mock=name=value,… or file=path", shape=Shape.REPEATED,
        metavar="SOURCE", join=list,
    ),
)  # fmt: skip
LOAD = ("duration", "iterations", "stages", "scenarios")
BY_KEY = {option.key: option for option in OPTIONS}


def from_environment(option: K6Option, text: str) -> Any:
    """The value that an environment variable states; a repeated flag has commas there. Raises ValueError."""
    if option.key == "tags":
        return tags(text)
    if option.key == "secretSource":
        return [text]
    return duration_or_ms(text) if option.read is duration else option.read(text)
