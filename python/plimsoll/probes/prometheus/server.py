"""A Prometheus server, asked by PromQL: for values that the study names, and for the series of known exporters.

prometheus.io/docs/prometheus/latest/querying/api. Instant queries are asked without a time, so that the server's own
clock stands in the answer; range queries and samples have times of that clock, which are corrected by its offset. The
series of exporters are asked for as raw samples ("[60s]"), so that rates are taken between real scrapes, whatever their
interval.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from plimsoll.probes.http_page import HttpPage, query_of
from plimsoll.probes.http_source import HttpSource
from plimsoll.probes.probe import Clock, Observation, ProbeUnavailable
from plimsoll.probes.prometheus.mapping import COUNTERS, KNOWN, Named, resources
from plimsoll.probes.prometheus.seen import Scrapes
from plimsoll.runs.importers.resources.exposition import Sample
from plimsoll.study.prometheus import PrometheusOptions
from plimsoll.study.secrets import redact

MOST_SERIES = 200
FIRST_WINDOW_S, LONGEST_WINDOW_S = 60.0, 600.0
LATE_SCRAPE_S = 5.0
_CLOCK_STEP_S = 0.001
_ALL_KNOWN = "|".join(sorted(KNOWN))
Target = tuple[str, str]  # instance and job: each is scraped at its own times


class ServerProbe(HttpSource):
    """Observations of "metrics:<label>" for the study's queries, one for each series where there are many, and those of
    mapping.py for the selected series. `page` fetches; made for Beside."""

    def __init__(
        self, page: HttpPage, options: PrometheusOptions, clock: Clock = time.monotonic, path: str | None = None
    ) -> None:
        super().__init__(f"prometheus:{options.label}", page, options.label, options.every_s, clock)
        self._options = options
        self._path = (path if path is not None else urlsplit(options.url).path).rstrip("/")
        self._range_end: dict[str, float] = {}
        self._scraped_to: dict[Target, float] = {}
        self._scrapes: dict[Target, Scrapes] = {}

    def _ask(self) -> list[Observation]:
        now = self._server_now()
        found: list[Observation] = []
        alone: dict[str, float] = {}
        alone_at = 0.0
        for name, query in self._options.queries.items():
            points = list(self._points(name, query, now))
            if not points:
                self._tell_once(f"empty:{name}", f"the query {name} has no result. Correct it, or check the scrapes.")
            for labels, value, at in points:
                if not labels and self._options.step_s is None:
                    alone[name], alone_at = value, at
                else:
                    source = f"metrics:{self._options.label} {_words(labels)}".strip()
                    found.append(Observation(source, {name: value}, self.clock_offset.local(at)))
        if alone:
            found.append(Observation(f"metrics:{self._options.label}", alone, self.clock_offset.local(alone_at)))
        if self._options.select is not None:
            found += self._selected(now)
        return found + self._clock_observation()

    def _server_now(self) -> float:
        """The server's clock, from an instant query of the time."""
        answer, sent, received = self._answer("query", {"query": "time()"})
        try:
            remote = float(answer["result"][0])
        except (LookupError, TypeError, ValueError):
            raise ProbeUnavailable(
                f"{self._page.shown} does not tell its time as Prometheus does. Check the URL."
            ) from None
        self.clock_offset.between(remote - _CLOCK_STEP_S, sent, received, 2 * _CLOCK_STEP_S)
        return remote

    def _points(self, name: str, query: str, now: float) -> Iterator[tuple[dict[str, str], float, float]]:
        """(labels, value, time by the server's clock) of what is new."""
        step_s = self._options.step_s
        if step_s is None:
            answer, _, _ = self._answer("query", {"query": query}, name)
            if answer.get("resultType") == "scalar":
                yield from _values({}, [answer.get("result")])
                return
            series = [(one, [one.get("value")]) for one in _series(answer)]
        else:
            start = self._range_end.get(name, now - step_s) + step_s
            if start > now:
                return
            asked = {"query": query, "start": f"{start:.3f}", "end": f"{now:.3f}", "step": f"{step_s:g}"}
            answer, _, _ = self._answer("query_range", asked, name)
            self._range_end[name] = start + math.floor((now - start) / step_s) * step_s
            series = [(one, one.get("values") or []) for one in _series(answer)]
        if len(series) > MOST_SERIES:
            words = f"the query {name} has {len(series):,} series; {MOST_SERIES} are kept. Sum over some labels."
            self._tell_once(f"many:{name}", words)
        for one, pairs in series[:MOST_SERIES]:
            labels = {str(key): str(text) for key, text in (one.get("metric") or {}).items() if key != "__name__"}
            yield from _values(labels if len(series) > 1 else {}, pairs)

    def _selected(self, now: float) -> list[Observation]:
        """What mapping.py finds in the scrapes that are new, of each instance."""
        since = min(self._scraped_to.values(), default=now - FIRST_WINDOW_S)
        window_s = min(LONGEST_WINDOW_S, math.ceil(now - since + LATE_SCRAPE_S))
        inside = (self._options.select or "").strip().strip("{}").strip().rstrip(",")
        query = f'{{__name__=~"{_ALL_KNOWN}",{inside}}}[{window_s:g}s]'
        answer, _, _ = self._answer("query", {"query": query}, "select")
        scrapes = _by_target_and_time(_series(answer))
        if not scrapes:
            self._tell_once("select", f"select: no series of a known exporter has {inside}. Check it with PromQL.")
        found = []
        instances = len({instance for instance, _ in scrapes})
        for target, moments in scrapes.items():
            done_to = self._scraped_to.get(target, -math.inf)
            for at in sorted(moment for moment in moments if moment > done_to):
                seen = self._scrapes.setdefault(target, Scrapes(COUNTERS)).add(moments[at], {}, at)
                self._scraped_to[target] = at
                local = self.clock_offset.local(at)
                named = self._named(target[0], instances)
                found += [Observation(one.source, one.values, local) for one in resources(seen, named)]
        return found

    def _named(self, instance: str, instances: int) -> Named:
        host = urlsplit(f"//{instance}").hostname or instance
        if instances == 1:
            return Named(self._options.label, self._options.host or host)
        return Named(instance, host)

    def _answer(self, what: str, asked: Mapping[str, str], name: str = "") -> tuple[dict[str, Any], float, float]:
        """The `data` of an answer, and when it was asked for and there."""
        fetched = self._page.fetch(
            f"{self._path}/api/v1/{what}", "application/json", form=query_of(asked), any_status=True
        )
        self.clock_offset.date_header(fetched.headers.get("date"), fetched.sent_unix, fetched.received_unix)
        try:
            document = json.loads(fetched.body)
            status = document["status"]
        except (ValueError, LookupError, TypeError):
            raise ProbeUnavailable(
                f"{self._page.shown} did not answer as a Prometheus server does. Give the server's URL, without "
                "/api and what follows; of a page of metrics, leave `queries` and `select` out."
            ) from None
        if status != "success" or not isinstance(document.get("data"), dict):
            words = redact(str(document.get("error") or document.get("errorType") or "no reason given"))[:200]
            of = f" to {name}" if name else ""
            raise ProbeUnavailable(f"{self._page.shown} answered{of}: {words}. Correct the query.")
        return document["data"], fetched.sent_unix, fetched.received_unix


def _series(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    result = answer.get("result")
    return [one for one in result if isinstance(one, dict)] if isinstance(result, list) else []


def _values(labels: dict[str, str], pairs: Sequence[Any]) -> Iterator[tuple[dict[str, str], float, float]]:
    for pair in pairs:
        try:
            at, value = float(pair[0]), float(pair[1])
        except (TypeError, ValueError, LookupError):
            continue
        if math.isfinite(value) and math.isfinite(at):
            yield labels, value, at


def _words(labels: Mapping[str, str]) -> str:
    return str(redact(" ".join(f"{name}={text}" for name, text in sorted(labels.items()))))


def _by_target_and_time(series: Sequence[Mapping[str, Any]]) -> dict[Target, dict[float, dict[str, list[Sample]]]]:
    """Samples of each scrape: those of one scrape of one target have the same time."""
    found: dict[Target, dict[float, dict[str, list[Sample]]]] = {}
    for one in series:
        labels = {str(key): str(text) for key, text in (one.get("metric") or {}).items()}
        name, target = labels.pop("__name__", ""), (labels.get("instance", ""), labels.get("job", ""))
        for _, value, at in _values(labels, one.get("values") or []):
            scrape = found.setdefault(target, {}).setdefault(at, {})
            scrape.setdefault(name, []).append(Sample(name, labels, value, at))
    return found
