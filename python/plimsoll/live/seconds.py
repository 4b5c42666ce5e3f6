"""What one second tells of answers, of the target's resources and of the generator; and seconds as a course of time."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from plimsoll.findings.validity.generator import LAG_OF_RESPONSE
from plimsoll.findings.validity.self_diagnosis import LEAST_LAG_MS, THREAD_BUSY
from plimsoll.live.state import Course, Health
from plimsoll.runs.metric_names import RESPONSE_METRICS
from plimsoll.runs.readings.failures import is_unanswered
from plimsoll.runs.snapshot import Snapshot
from plimsoll.words import amount_words, count_words, ms_words, number, share_words, size_words

if TYPE_CHECKING:
    from plimsoll.runs.histogram import Histogram

MOST_PROCESSES, LATELY_S = 3, 5
MOST_POINTS = 240
NO_LABEL = "target"  # what a process is called where the study does not say


@dataclass(frozen=True)
class Answers:
    """Of the requests that ended in a second: median and p95 in ms, None without any, and `failed` of `requests`."""

    p95_ms: float | None = None
    failed: int = 0
    requests: int = 0
    p50_ms: float | None = None


def times_of(snapshot: Snapshot) -> Histogram:
    """The response times of what ended in that second, of whatever level."""
    from plimsoll.runs.histogram import Histogram

    present = {series.metric for series in snapshot.series if series.count}
    metric = next((name for name in RESPONSE_METRICS if name in present), None)
    times = Histogram()
    for series in snapshot.series:
        if series.metric == metric:
            times.add_series(series)
    return times


def answers_of(snapshot: Snapshot, times: Histogram | None = None) -> Answers:
    """What ended in that second; `times`: its response times, where they are known. Where nothing was answered there
    is none."""
    times = times_of(snapshot) if times is None else times
    judged = [series for series in snapshot.series if series.metric == "http_req_failed"]
    failed, requests = sum(int(one.passes or 0) for one in judged), sum(int(one.total or 0) for one in judged)
    unanswered = sum(int(one.total or 0) for one in judged if is_unanswered(one))
    if not times.count or 0 < requests <= unanswered:
        return Answers(None, failed, requests)
    p50_ms, p95_ms = times.percentiles((0.5, 0.95))
    return Answers(float(p95_ms), failed, requests, float(p50_ms))


def p95_words(p95_ms: float | None) -> str:
    """ "p95 14 ms"; "no answer yet" without any."""
    return "no answer yet" if p95_ms is None else f"p95 {ms_words(p95_ms)}"


def failed_words(failed: int, requests: int) -> str:
    """ "none failed", "12 failed (1.2%)"."""
    if not failed:
        return "none failed"
    return f"{count_words(failed)} failed ({share_words(failed / max(1, requests))})"


def rate_words(done_per_s: float, planned_per_s: float | None = None) -> str:
    """ "1,672 of 1,680/s done"."""
    of = "" if planned_per_s is None else f" of {number(planned_per_s)}"
    return f"{number(done_per_s)}{of}/s done"


class Resources:
    """Of the target and its hosts, as the probes said last; some answer later than others."""

    def __init__(self) -> None:
        self._last: dict[str, Mapping[str, Any]] = {}

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """The rows of a second."""
        for row in rows:
            source, values = str(row.get("source")), row.get("values")
            if isinstance(values, Mapping) and source.partition(":")[0] in ("process", "host"):
                self._last[source] = values

    def words(self) -> tuple[str, ...]:
        """A line for each host and for the busiest processes."""
        processes = [(source, values) for source, values in self._last.items() if source.startswith("process:")]
        processes.sort(key=lambda one: -_busiest(one[1]))
        hosts = [(source, values) for source, values in self._last.items() if source.startswith("host")]
        lines = [_process_words(source.partition(":")[2], values) for source, values in processes[:MOST_PROCESSES]]
        left = len(processes) - MOST_PROCESSES
        lines += [f"{left} more {'process' if left == 1 else 'processes'}"] if left > 0 else []
        return tuple(filter(None, [*lines, *(_host_words(source, values) for source, values in hosts)]))


def _busiest(values: Mapping[str, Any]) -> float:
    return float(values.get("busiest_thread_cores_used") or values.get("cpu_cores_used") or 0.0)


def _process_words(label: str, values: Mapping[str, Any]) -> str:
    thread, cores, size = (values.get(name) for name in ("busiest_thread_cores_used", "cpu_cores_used", "rss_bytes"))
    parts = [
        None if thread is None else f"busiest thread {share_words(thread)} of a core",
        None if cores is None else f"{amount_words(cores, 'core', 2)}",
        None if size is None else size_words(size),
    ]
    known = [part for part in parts if part]
    if not known:
        return ""
    return ", ".join(known) if label == NO_LABEL else f"{label}: {', '.join(known)}"


def _host_words(source: str, values: Mapping[str, Any]) -> str:
    share, cores, memory = values.get("cpu_share"), values.get("cores"), values.get("memory_share")
    parts = [
        None
        if share is None
        else f"{share_words(share)} of {amount_words(cores, 'core')}"
        if cores
        else share_words(share),
        None if memory is None else f"{share_words(memory)} of its memory",
    ]
    known = [part for part in parts if part]
    return f"{source.replace(':', ' ')}: {', '.join(known)}" if known else ""


class Generator:
    """What the generator did lately, by the bounds of findings/validity: one late second is a hiccup. The answer looks
    closer."""

    def __init__(self) -> None:
        self._shares: deque[float] = deque(maxlen=LATELY_S)
        self._lags_ms: deque[float] = deque(maxlen=LATELY_S)

    def health(self, snapshot: Snapshot | None, p95_ms: float | None) -> Health:
        """Its health with that second, in which response times had that p95."""
        if snapshot is None or not snapshot.generator:
            return Health()
        told = snapshot.generator
        threads = max(1, int(told.get("threads") or 1))
        self._shares.append(float(told.get("cpu_s") or 0.0) / threads)
        self._lags_ms.append(float(told.get("lag_p99_ms") or 0.0))
        share, lag_ms = fmean(self._shares), median(self._lags_ms)
        is_late = lag_ms > max(LEAST_LAG_MS, LAG_OF_RESPONSE * (p95_ms or 0.0))
        core = "its core" if threads == 1 else f"its {threads} cores"
        parts = [f"{share_words(share)} of {core}", f"lag p99 {ms_words(lag_ms)}"]
        parts += [f"{count_words(snapshot.late)} sent late"] if snapshot.late else []
        parts += [f"{count_words(snapshot.dropped)} never sent"] if snapshot.dropped else []
        return Health(", ".join(parts), not (is_late or share > THREAD_BUSY or snapshot.dropped))


class Seconds:
    """Seconds of a load as a course of bounded length: where there are too many, two become one."""

    def __init__(self) -> None:
        self._each_s = 1
        self._done: list[float] = []
        self._p95: list[float | None] = []
        self._open: list[tuple[float, float | None]] = []

    def add(self, done: float, p95_ms: float | None) -> None:
        """One second."""
        self._open.append((done, p95_ms))
        if len(self._open) < self._each_s:
            return
        self._done.append(sum(one for one, _ in self._open) / len(self._open))
        self._p95.append(_most(one for _, one in self._open))
        self._open.clear()
        if len(self._done) >= MOST_POINTS:
            self._halve()

    def course(self, whole_s: float | None) -> Course:
        """What is known by now."""
        return Course(self._each_s, whole_s, tuple(self._done), tuple(self._p95))

    def _halve(self) -> None:
        self._each_s *= 2
        self._done = [sum(pair) / len(pair) for pair in _pairs(self._done)]
        self._p95 = [_most(pair) for pair in _pairs(self._p95)]


def _pairs(values: Sequence[Any]) -> list[Sequence[Any]]:
    return [values[place : place + 2] for place in range(0, len(values), 2)]


def _most(values: Iterable[float | None]) -> float | None:
    return max((one for one in values if one is not None and math.isfinite(one)), default=None)
