"""A Java virtual machine by Jolokia, JMX values over HTTP (jolokia.org/reference/html: protocol, bulk requests)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from plimsoll.probes.http.page import Fetched, HttpPage, with_variables
from plimsoll.probes.http.source import HttpSource
from plimsoll.probes.http.tls_trust import trust_of
from plimsoll.probes.probe import Observation, ProbeUnavailable, Rates
from plimsoll.probes.restarts import restart_note
from plimsoll.study.probes.jvm import JvmOptions

_READ = (
    ("java.lang:type=Memory", ("HeapMemoryUsage",)),
    ("java.lang:type=Threading", ("ThreadCount",)),
    ("java.lang:type=GarbageCollector,name=*", ("CollectionTime", "CollectionCount")),
    ("java.lang:type=OperatingSystem", ("ProcessCpuTime", "OpenFileDescriptorCount", "MaxFileDescriptorCount")),
    ("java.lang:type=Runtime", ("StartTime",)),
)
REQUEST = json.dumps([{"type": "read", "mbean": bean, "attribute": list(names)} for bean, names in _READ])
_BEGAN_ANEW_MS = 1500


class JolokiaProbe(HttpSource):
    """Values of "process:<label>@<host>", without @<host> on this one: heap_used_bytes, heap_committed_bytes,
    heap_limit_bytes, heap_share, gc_share, gc_per_s, threads, cpu_cores_used, open_files, open_files_limit, each where
    it is told. Made for Beside; ProbeUnavailable if the page is no Jolokia. A machine that was restarted is noted.
    """

    def __init__(self, page: HttpPage, options: JvmOptions, fetch: Callable[[], Fetched] | None = None) -> None:
        source = f"process:{options.shown}@{options.host}" if options.host else f"process:{options.shown}"
        super().__init__(source, page, options.host or page.host)
        self._fetch = fetch or (lambda: page.fetch(accept="application/json", json=REQUEST))
        self._at = 0.0
        self._rates = Rates(lambda: self._at)
        self._started_ms: float | None = None

    def _ask(self) -> list[Observation]:
        fetched = self._fetch()
        found = values_by_bean(fetched.body, self._page.shown)
        self._at = (fetched.sent_unix + fetched.received_unix) / 2
        self._note_restart(found.get("java.lang:type=Runtime", {}).get("StartTime"))
        gauges, counters = resources_of(found)
        rates, _ = self._rates.update(counters)
        self.clock_offset.date_header(fetched.headers.get("date"), fetched.sent_unix, fetched.received_unix)
        return [Observation(self.source, gauges | rates, self._at), *self._clock_observation(self._at)]

    def _note_restart(self, started_ms: Any) -> None:
        if not isinstance(started_ms, int | float):
            return
        before, self._started_ms = self._started_ms, float(started_ms)
        if before is not None and started_ms > before + _BEGAN_ANEW_MS:
            self._notes.append(restart_note(f"{self.source}: the Java virtual machine", "; its counters began anew."))
            self._rates = Rates(lambda: self._at)  # a counter that already passed its old value would give a false rate


def values_by_bean(body: bytes, shown: str) -> dict[str, dict[str, Any]]:
    """{bean: {attribute: value}} of a bulk answer. ProbeUnavailable where it is none, or all of it was refused."""
    try:
        answers = json.loads(body)
    except (ValueError, RecursionError):
        raise ProbeUnavailable(
            f"{shown} gave no JSON. Give the URL of Jolokia, as in http://HOST:8778/jolokia."
        ) from None
    if isinstance(answers, dict):  # an error of the whole request
        answers = [answers]
    if not isinstance(answers, list) or not all(isinstance(one, dict) and "status" in one for one in answers):
        raise ProbeUnavailable(
            f"{shown} gave JSON that is not Jolokia's. Give its URL, as in http://HOST:8778/jolokia."
        )
    found: dict[str, dict[str, Any]] = {}
    for answer in answers:
        value, request = answer.get("value"), answer.get("request")
        if answer["status"] != 200 or not isinstance(value, dict) or not isinstance(request, dict):
            continue
        bean = str(request.get("mbean"))
        beans = value if "*" in bean else {bean: value}
        found |= {name: values for name, values in beans.items() if isinstance(values, dict)}
    if not found:
        first = next((str(one.get("error")) for one in answers if one.get("error")), "no values")
        raise ProbeUnavailable(f"{shown} refused what was asked: {first[:200]}. Allow reading java.lang in its policy.")
    return found


def resources_of(found: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, float], dict[str, float]]:
    """(values, counters that become rates) by our names, of attributes by bean."""
    values: dict[str, float] = {}
    counters: dict[str, float] = {}

    def put(into: dict[str, float], name: str, value: Any, factor: float = 1.0) -> None:
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf:
            into[name] = value * factor

    heap = found.get("java.lang:type=Memory", {}).get("HeapMemoryUsage")
    if isinstance(heap, Mapping):
        put(values, "heap_used_bytes", heap.get("used"))
        put(values, "heap_committed_bytes", heap.get("committed"))
        put(values, "heap_limit_bytes", heap.get("max"))  # -1: without one
        if values.get("heap_limit_bytes") and "heap_used_bytes" in values:
            values["heap_share"] = values["heap_used_bytes"] / values["heap_limit_bytes"]
    put(values, "threads", found.get("java.lang:type=Threading", {}).get("ThreadCount"))
    system = found.get("java.lang:type=OperatingSystem", {})
    put(values, "open_files", system.get("OpenFileDescriptorCount"))
    put(values, "open_files_limit", system.get("MaxFileDescriptorCount"))
    put(counters, "cpu_cores_used", system.get("ProcessCpuTime"), 1e-9)
    collectors = [one for bean, one in found.items() if "type=GarbageCollector" in bean]
    for name, attribute, factor in (("gc_share", "CollectionTime", 1e-3), ("gc_per_s", "CollectionCount", 1.0)):
        known = [one[attribute] for one in collectors if isinstance(one.get(attribute), int | float)]
        if known:
            put(counters, name, sum(known), factor)
    return values, counters


def jolokia_probe(options: JvmOptions, *, key: str, directory: Path = Path()) -> JolokiaProbe:
    """The probe of an entry of `probes.jvm` with a url. InputError for a variable that is not set, or a ca_file (in
    `directory`) without certificates."""
    assert options.url is not None
    headers = with_variables(options.headers, f"{key}.headers")
    trust = trust_of(options, options.url, key=key, directory=directory)
    return JolokiaProbe(HttpPage(_with_slash(options.url), headers, trust=trust, limit_s=options.timeout_s), options)


def _with_slash(url: str) -> str:
    """The URL as Jolokia serves it: its agents, 1 and 2, answer 404 to /jolokia without a slash behind it."""
    parts = urlsplit(url)
    return url if parts.query or parts.path.endswith("/") else urlunsplit(parts._replace(path=f"{parts.path}/"))
