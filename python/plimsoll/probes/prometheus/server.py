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
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from plimsoll.probes.http.page import HttpPage, query_of
from plimsoll.probes.http.source import HttpSource
from plimsoll.probes.probe import Clock, Observation, ProbeUnavailable
from plimsoll.probes.prometheus.instances import LATE_SCRAPE_S, Instance, Target, numbers_of, samples_of
from plimsoll.probes.prometheus.mapping import KNOWN, Named
from plimsoll.probes.prometheus.presence import Presence
from plimsoll.runs.importers.resources.exposition import Sample
from plimsoll.study.probes.prometheus import PrometheusOptions
from plimsoll.study.secrets.redactor import redact
from plimsoll.words import time_words

MOST_SERIES = 200
MOST_STEPS = 10_000  # of a range; servers refuse more than 11,000
FIRST_WINDOW_S, LONGEST_WINDOW_S = 60.0, 600.0
_CLOCK_STEP_S = 0.001
_ALL_KNOWN = "|".join(sorted(KNOWN))
_Point = tuple[dict[str, str], float, float]


class ServerProbe(HttpSource):
    """Observations of "metrics:<label>" for the study's queries, one for each series where there are many, and those of
    mapping.py for the selected series. `page` fetches; made for Beside.

    Names stay what they were at the first answer: what was alone then has the entry's label alone, whatever comes
    beside it. A query or an instance that is lost, and its return, is noted; ProbeUnavailable only if all are.
    """

    def __init__(
        self, page: HttpPage, options: PrometheusOptions, clock: Clock = time.monotonic, path: str | None = None
    ) -> None:
        super().__init__(f"prometheus:{options.label}", page, options.label, options.every_s, clock)
        self._options = options
        self._path = (path if path is not None else urlsplit(options.url).path).rstrip("/")
        self._range_end: dict[str, float] = {}
        self._alone: dict[str, dict[str, str] | None] = {}  # of a query: the labels of its only series
        self._presence: dict[str, Presence] = {}
        self._instances: dict[Target, Instance] = {}
        self._only: str | None = None  # the instance that was alone at first

    def _ask(self) -> list[Observation]:
        now = self._server_now()
        found: list[Observation] = []
        alone: dict[str, float] = {}
        alone_at = 0.0
        failed: dict[str, ProbeUnavailable] = {}
        for name, query in self._options.queries.items():
            try:
                points = self._points(name, query, now)
            except ProbeUnavailable as error:
                failed[f"the query {name}"] = error
                continue
            for labels, value, at in points:
                if not labels and self._options.step_s is None:
                    alone[name], alone_at = value, at
                else:
                    source = f"metrics:{self._options.label} {_words(labels)}".strip()
                    found.append(Observation(source, {name: value}, self.clock_offset.local(at)))
        if alone:
            found.append(Observation(f"metrics:{self._options.label}", alone, self.clock_offset.local(alone_at)))
        if self._options.select is not None:
            try:
                found += self._selected(now)
            except ProbeUnavailable as error:
                failed["select"] = error
        self._note_failed(failed)
        return found + self._clock_observation()

    def _note_failed(self, failed: Mapping[str, ProbeUnavailable]) -> None:
        """One of several that fails does not cost the others. Raises the first failure if there is nothing else."""
        asked = [
            *(f"the query {name}" for name in self._options.queries),
            *(["select"] if self._options.select is not None else []),
        ]
        if failed and len(failed) == len(asked):
            raise next(iter(failed.values()))
        for what in asked:
            if what in failed:
                self._tell_lost(f"failed:{what}", f"{what} failed: {failed[what]}")
            else:
                self._tell_back(f"failed:{what}", f"{what} is answered again.")

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

    def _points(self, name: str, query: str, now: float) -> list[_Point]:
        """(labels, value, time by the server's clock) of what is new."""
        step_s = self._options.step_s
        if step_s is None:
            answer, _, _ = self._answer("query", {"query": query}, name)
            if answer.get("resultType") == "scalar":
                series: list[tuple[dict[str, str], Any]] = [({}, [answer.get("result")])]
            else:
                series = [(_labels(one), [one.get("value")]) for one in _series(answer)]
        else:
            start = max(self._range_end.get(name, now - step_s) + step_s, now - MOST_STEPS * step_s)
            if start > now:
                return []
            asked = {"query": query, "start": f"{start:.3f}", "end": f"{now:.3f}", "step": f"{step_s:g}"}
            answer, _, _ = self._answer("query_range", asked, name)
            self._range_end[name] = start + math.floor((now - start) / step_s) * step_s
            series = [(_labels(one), one.get("values") or []) for one in _series(answer)]
        if any("histogram" in one or "histograms" in one for one in _series(answer)):
            words = (
                f"the query {name} gives native histograms. Ask for a number of them, as histogram_quantile(0.99, …)."
            )
            self._tell_once(f"histogram:{name}", words)
        if len(series) > MOST_SERIES:
            words = f"the query {name} has {len(series):,} series; {MOST_SERIES} are kept. Sum over some labels."
            self._tell_once(f"many:{name}", words)
        return self._named_points(name, series[:MOST_SERIES], now)

    def _named_points(self, name: str, series: Sequence[tuple[dict[str, str], Any]], now: float) -> list[_Point]:
        """The series' numbers, with the labels that name them: none for the one that was alone at first."""
        if series and name not in self._alone:
            self._alone[name] = series[0][0] if len(series) == 1 else None
        alone = self._alone.get(name)
        found = [
            ({} if labels == alone else labels, value, at)
            for labels, pairs in series
            for value, at in numbers_of(pairs)
        ]
        self._note_result(name, bool(series), {_words(labels) for labels, _, _ in found}, now)
        return found

    def _note_result(self, name: str, has_series: bool, sources: set[str], now: float) -> None:
        what = f"empty:{name}"
        if sources:
            again = "again" if name in self._presence else "now"
            self._tell_back(what, f"the query {name} has a result {again}.")
            presence = self._presence.setdefault(name, Presence(f"the query {name}"))
            self._notes += presence.changes((words or "what it had alone" for words in sources), now)
        elif has_series:
            self._tell_lost(what, f"the query {name} has no number: NaN, as of a share of nothing.")
        elif name in self._presence:
            words = "has no result any more: what it asks of is gone, or no longer scraped."
            self._tell_lost(what, f"the query {name} {words}")
        else:
            self._tell_lost(what, f"the query {name} has no result. Correct it, or check the scrapes.")

    def _selected(self, now: float) -> list[Observation]:
        """What mapping.py finds in the scrapes that are new, of each instance."""
        is_first = not self._instances
        followed = [one.since for one in self._instances.values() if not one.rhythm.is_silent]
        since = min(followed, default=now - FIRST_WINDOW_S)
        window_s = min(LONGEST_WINDOW_S, math.ceil(now - since + LATE_SCRAPE_S))
        inside = (self._options.select or "").strip().strip("{}").strip().rstrip(",")
        query = f'{{__name__=~"{_ALL_KNOWN}",{inside}}}[{window_s:g}s]'
        answer, _, _ = self._answer("query", {"query": query}, "select")
        samples = samples_of(_series(answer))
        if is_first:
            names = {instance for instance, _ in samples}
            self._only = names.pop() if len(names) == 1 else None
        found = []
        for target, many in samples.items():
            found += self._of_instance(target, many, is_first)
        for one in self._instances.values():
            if one.rhythm.fell_silent(now, LATE_SCRAPE_S + self._options.every_s):
                words = f"{one.words} has had no new samples for {time_words(now - (one.rhythm.last or now))}"
                self._tell_lost(f"instance:{one.words}", f"select: {words}. It is gone, or its scrapes fail.")
        if self._instances:
            self._tell_back("select", "select: there are series of known exporters now.")
        else:
            self._tell_lost("select", f"select: no series of a known exporter has {inside}. Check it with PromQL.")
        return found

    def _of_instance(self, target: Target, samples: Sequence[Sample], is_first: bool) -> list[Observation]:
        one = self._instances.get(target)
        if one is None:
            instance, job = target
            one = self._instances[target] = Instance(self._named(instance), f"{instance} (job {job})")
        found: list[Observation] = []
        for at, scrape in one.scrapes(samples):
            if is_first:
                one.followed.take_notes()  # what happened in the minute before
            _, told = one.followed.add(scrape, {}, at)
            if one.rhythm.came(at):
                self._tell_back(f"instance:{one.words}", f"select: {one.words} has new samples again.")
            local = self.clock_offset.local
            found += [
                Observation(this.source, this.values, local(at if this.stamp is None else this.stamp)) for this in told
            ]
        self._notes += one.followed.take_notes()
        return found

    def _named(self, instance: str) -> Named:
        host = urlsplit(f"//{instance}").hostname or instance
        if instance == self._only:
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


def _labels(series: Mapping[str, Any]) -> dict[str, str]:
    return {str(key): str(text) for key, text in (series.get("metric") or {}).items() if key != "__name__"}


def _words(labels: Mapping[str, str]) -> str:
    return str(redact(" ".join(f"{name}={text}" for name, text in sorted(labels.items()))))
