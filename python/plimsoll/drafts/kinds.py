"""What kind of request a line of a log is: of who uses the service, or of none that a load needs."""

from __future__ import annotations

import re
from functools import lru_cache

READING = ("GET", "HEAD")
WRITING = ("POST", "PUT", "PATCH", "DELETE")
_STATIC = re.compile(
    r"\.(?:js|mjs|css|map|png|jpe?g|gif|svg|ico|webp|avif|woff2?|ttf|otf|eot|mp4|webm|mp3|wasm|webmanifest)$"
    r"|^/(?:robots|humans|ads|security)\.txt$",
    re.IGNORECASE,
)
_CHECKED = re.compile(
    r"(?:^|/)(?:healthz?|health-?checks?|livez|liveness|readyz|readiness|-/(?:healthy|ready)|ping|heartbeat|"
    r"nginx_status|server-status|stub_status|actuator/(?:health|prometheus)[\w/]*)/?$|^/metrics/?$",
    re.IGNORECASE,
)
_CHECKER = re.compile(
    r"kube-probe|ELB-HealthChecker|GoogleHC|Prometheus/|UptimeRobot|Pingdom|StatusCake|Site24x7|Better ?Uptime|"
    r"Blackbox|Nagios|check_http|Zabbix|Consul Health Check|Datadog|NewRelicPinger|internal dummy connection",
    re.IGNORECASE,
)
_BOT = re.compile(
    r"([\w.-]*(?:bots?\b|crawl(?:er)?|spider|slurp|archiver|scrapy|facebookexternalhit|headlesschrome|"
    r"mediapartners|bingpreview|zgrab|masscan|nuclei|nmap|censys|expanse|sqlmap|nikto|"
    r"plimsoll|\bk6\b|apachebench|vegeta|siege|gatling)[\w.-]*)",  # tests of load are no users
    re.IGNORECASE,
)


def is_static(path: str) -> bool:
    """Whether the path is that of a static file."""
    return _STATIC.search(path) is not None


def is_health_check(path: str, agent: str) -> bool:
    """Whether a machine asks whether the service lives, or reads its numbers."""
    return _CHECKED.search(path) is not None or (agent != "" and _is_checker(agent))


@lru_cache(maxsize=8192)
def _is_checker(agent: str) -> bool:
    return _CHECKER.search(agent) is not None


@lru_cache(maxsize=8192)
def bot_of(agent: str) -> str | None:
    """The name that a crawler, scanner or load generator gives itself; None for others."""
    found = _BOT.search(agent)
    return found[1][:40] if found else None
