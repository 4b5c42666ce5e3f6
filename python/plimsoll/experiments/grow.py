"""How long does loading N items take, and how does it age? A closed load under back pressure, until N items are there.

Windows of a few seconds at one concurrency (back_pressure.py says which one next) are written as events
`grow_window`; they are all that the findings, the forecast and a resumption need. Near the end the concurrency falls
with the items left, so that little more than N is loaded. An item counts as loaded when its iteration ended and none
of its requests failed, or as a Counter of the script says. Ctrl-C ends with what was loaded; a later run resumes
there. Time is the load source's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.experiments.back_pressure import BackPressure, Window
from plimsoll.experiments.load import LoadSource
from plimsoll.experiments.result import ProgressCallback, Status
from plimsoll.experiments.steps import DataVolume, ProbesSampler, StepHolder, Writer
from plimsoll.runs.failures import Failures
from plimsoll.runs.snapshot import Snapshot
from plimsoll.stats.load_forecast import LEAST_SHARE, Forecast, forecast, time_per_item

WINDOW_S, LONGEST_WINDOW_S = 3, 15
ITEMS_IN_WINDOW = 40
WINDOWS_AT_LEAST = 40  # what a short load is cut into, as far as whole seconds go
HOPELESS_WINDOWS = 4
FORECASTS = 60
DRAIN_LIMIT_S = 60.0
FAR = 10**9


@dataclass(frozen=True)
class GrowSettings:
    """`items` to load in all; concurrency within `least` and `most`; `counter`: a Counter of the script that counts
    items; `allowed_failures`: share of failed creates above which the run is no success; `loaded` items were there
    from an earlier run, with its `windows` and `doubts`, why its times are not the target's alone; `slow_ms`: mean time
    of a create that is too slow; `longest_s`: load time after which it ends with what is loaded."""

    items: int
    least: int = 1
    most: int | None = None
    counter: str | None = None
    allowed_failures: float = 0.0
    slow_ms: float = 10_000.0
    loaded: int = 0
    windows: tuple[Mapping[str, Any], ...] = ()
    volume_before: float | None = None
    resumed: str | None = None
    doubts: tuple[str, ...] = ()
    longest_s: float | None = None


@dataclass
class GrowResult:
    """How it ended. `windows` include those of the run that was resumed."""

    settings: GrowSettings
    status: Status = "finished"
    reason: str = ""
    loaded: int = 0
    failed: int = 0
    loading_s: float = 0.0
    volume_start: float | None = None
    volume_end: float | None = None
    windows: list[dict[str, Any]] = field(default_factory=list)
    forecasts: list[dict[str, Any]] = field(default_factory=list)
    causes: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The result as findings read it, from the run's event `grow_result`; windows and forecasts are events of
        their own."""
        return {
            "status": self.status,
            "reason": self.reason,
            "items": self.settings.items,
            "loaded": self.loaded,
            "failed": self.failed,
            "loading_s": self.loading_s,
            "volume_start": self.volume_start,
            "volume_end": self.volume_end,
            "allowed_failures": self.settings.allowed_failures,
            "resumed": self.settings.resumed,
            "loaded_before": self.settings.loaded,
            "causes": self.causes,
        }


def run_grow(
    source: LoadSource,
    settings: GrowSettings,
    writer: Writer | None = None,
    probes_sampler: ProbesSampler | None = None,
    on_progress: ProgressCallback | None = None,
    data_volume: DataVolume | None = None,
    on_message: Callable[[str], None] | None = None,
) -> GrowResult:
    """Load the items; the source is started here and stopped whatever happens. Its level is the creates at a time."""
    holder = StepHolder(source, writer, probes_sampler, on_progress, None, on_message)
    loading = _Loading(holder, settings)
    result = loading.result
    started = False
    try:
        result.volume_start = data_volume() if data_volume is not None else None
        source.start()
        started = True
        holder.event("experiment_started", 0.0, experiment="grow", unit=source.unit, open=False, items=settings.items)
        if settings.resumed is not None:
            earlier = {"loaded": settings.loaded, "windows": settings.windows, "doubts": settings.doubts}
            holder.event("grow_resumed", 0.0, run=settings.resumed, **earlier)
        loading.run()
    except KeyboardInterrupt:
        result.status, result.reason = "interrupted", "It was ended by an interruption."
        holder.say("stopping: running creates may end; Ctrl-C again stops at once")
    finally:
        if started:
            try:
                loading.finish()
            finally:
                source.stop(graceful=result.status != "failed")
    result.volume_end = data_volume() if data_volume is not None else None
    holder.event("grow_result", loading.now_s, result=result.to_json())
    return result


class _Loading:
    """The loop over seconds and windows; keeps the result up to date."""

    def __init__(self, holder: StepHolder, settings: GrowSettings) -> None:
        self.holder, self.settings = holder, settings
        self.result = GrowResult(settings, loaded=settings.loaded, windows=[dict(one) for one in settings.windows])
        self.result.loading_s = sum(one["seconds"] for one in self.result.windows)
        self.pressure = BackPressure(settings.least, settings.most, settings.slow_ms)
        self.now_s = 0.0
        self.failures = Failures()
        self._hopeless = 0
        self._level = 0
        self._open: list[_Second] = []
        self._next_forecast = LEAST_SHARE * settings.items

    def run(self) -> None:
        """Load until the items are there, or creates fail whatever is done."""
        if self._left <= 0:
            return
        self._set(self.pressure.concurrency)
        for snapshot in self.holder.source.snapshots(FAR):
            self._take(snapshot)
            if self._left <= 0 or self.result.status == "failed":
                return
            if self.settings.longest_s is not None and snapshot.second + 1 >= self.settings.longest_s:
                self.result.reason = f"It ended with the load time of {self.settings.longest_s:.0f} s (--for)."
                return

    def finish(self) -> None:
        """Let running creates end, and count them."""
        try:
            self.holder.source.drain(DRAIN_LIMIT_S)
            for snapshot in self.holder.source.snapshots(self.holder.source.now()):
                self._take(snapshot, draining=True)
        finally:
            self.result.causes = dict(self.failures.causes)
            self._close_window(draining=True)

    @property
    def _left(self) -> int:
        return self.settings.items - self.result.loaded

    def _set(self, level: int) -> None:
        if level != self._level:
            self._level = level
            self.holder.source.set_level(float(level))
            self.holder.event("level", self.holder.source.now(), level=level, reason=self.pressure.reason)

    def _take(self, snapshot: Snapshot, draining: bool = False) -> None:
        self.holder.record(snapshot, "drain" if draining else "load", probe=not draining)
        self.now_s = snapshot.second + 1.0
        for series in snapshot.series:
            self.failures.add(series)
        second = _Second.of(snapshot, self.settings.counter)
        self.result.loaded += second.items
        self.result.failed += second.failed
        self.result.loading_s += 0.0 if draining else 1.0
        self._open.append(second)
        if draining:
            return
        done = sum(one.items for one in self._open)
        failed = any(one.failed for one in self._open)
        length = len(self._open)
        if failed or (length >= self._window_s(done) and done >= ITEMS_IN_WINDOW) or length >= LONGEST_WINDOW_S:
            self._close_window()
        elif self._left > 0:
            self._taper(second.items)

    def _window_s(self, done: int) -> int:
        """Seconds of a window; fewer where all the items would be there so soon that its law could not be told."""
        load_s = self.settings.items * len(self._open) / max(1, done)
        return max(1, min(WINDOW_S, round(load_s / WINDOWS_AT_LEAST)))

    def _close_window(self, draining: bool = False) -> None:
        seconds, self._open = self._open, []
        if not seconds:
            return
        # The first second after a change still holds creates that began before it.
        told = seconds[1:] if len(seconds) > 2 else seconds
        items, failed = sum(one.items for one in seconds), sum(one.failed for one in seconds)
        count, total_ms = sum(one.timed for one in told), sum(one.total_ms for one in told)
        window = Window(
            self._level, sum(one.items for one in told) / len(told), failed, total_ms / count if count else None
        )
        entry = {
            "seconds": len(seconds),
            "concurrency": self._level,
            "items": items,
            "failed": failed,
            "per_s": window.per_s,
            "mean_ms": window.mean_ms,
            "loaded": self.result.loaded,
            "draining": draining,
            "trial": self.pressure.is_trying or self._level != self.pressure.concurrency,
            "reason": self.pressure.reason,
        }
        self.result.windows.append(entry)
        self.holder.event("grow_window", self.now_s, **entry)
        if draining:
            return
        self._hopeless = self._hopeless + 1 if failed > items and self._level == self.settings.least else 0
        if self._hopeless >= HOPELESS_WINDOWS:
            self.result.status = "failed"
            self.result.reason = (
                f"Creates fail even with {self.settings.least} at a time: {self.failures.words()}. "
                f"{self.result.loaded:,} of {self.settings.items:,} items were loaded."
            )
            return
        self._set(self.pressure.next(window))
        self._tell()
        self._taper(items // len(seconds))

    def _taper(self, per_s: int) -> None:
        """Fewer at a time where less than two seconds' items are left."""
        if per_s and self._left < 2 * per_s:
            self._set(max(1, min(self._level, math.floor(self._level * self._left / (2 * per_s)))))

    def _tell(self) -> None:
        words = f"  {self.result.loaded:,} of {self.settings.items:,} items"
        if self.result.loaded >= self._next_forecast:
            seen = forecast_of(self.result.windows, self._volume_before, self.settings.items, self.result.loading_s)
            if seen is not None:
                self._next_forecast = self.result.loaded + self.settings.items // FORECASTS
                entry = {
                    "loaded": self.result.loaded,
                    "elapsed_s": self.result.loading_s,
                    "total_s": seen.total_s,
                    "low_s": seen.low_s,
                    "high_s": seen.high_s,
                    "family": seen.growth.best.family,
                }
                self.result.forecasts.append(entry)
                self.holder.event("forecast", self.now_s, **entry)
        if self.result.forecasts:
            last = self.result.forecasts[-1]
            words += f", {last['total_s']:,.0f} s in all ({last['low_s']:,.0f} to {last['high_s']:,.0f})"
        self.holder.words = words

    @property
    def _volume_before(self) -> float:
        known = self.settings.volume_before if self.settings.volume_before is not None else self.result.volume_start
        return known or 0.0


@dataclass(frozen=True)
class _Second:
    """Items and failed creates of one second, and the times of iterations in it."""

    items: int
    failed: int
    timed: int
    total_ms: float

    @classmethod
    def of(cls, snapshot: Snapshot, counter: str | None) -> _Second:
        failed_requests = timed = 0
        total_ms = counted = 0.0
        for series in snapshot.series:
            if series.metric == "http_req_failed":
                failed_requests += int(series.passes or 0)
            elif series.metric == "iteration_duration":
                timed += series.count
                total_ms += float(series.sum or 0.0)
            elif counter is not None and series.metric == counter:
                counted += float(series.value or 0.0)
        done = int(snapshot.done)
        failed = min(done, failed_requests) if counter is None else max(0, min(done, failed_requests))
        items = int(counted) if counter is not None else done - failed
        return cls(items, failed, timed, total_ms)


def forecast_of(
    windows: Iterable[Mapping[str, Any]], volume_before: float, items: int, elapsed_s: float
) -> Forecast | None:
    """The forecast that these windows allow; those that try another concurrency do not count."""
    volume, cost = time_per_item(windows, volume_before)
    loaded = volume[-1] - volume_before if volume.size else 0.0
    return forecast(volume, cost, elapsed_s, loaded, items)


def earlier_load(run: Any) -> tuple[int, tuple[dict[str, Any], ...], float | None]:
    """(items loaded, windows, volume before) of the run directory `run`, a RunReader, finished or not.

    Seconds after the last window, of a run that was killed, count too.
    """
    windows: list[dict[str, Any]] = []
    last_s = 0.0
    for event in run.events():
        if event.get("kind") == "grow_resumed":
            windows = [dict(one) for one in event["windows"]]
        elif event.get("kind") == "grow_window":
            windows.append({key: value for key, value in event.items() if key not in ("kind", "t_unix", "second")})
            last_s = float(event["second"])
    loaded = int(windows[-1]["loaded"]) if windows else 0
    counter = next((event.get("counter") for event in run.events("grow_settings")), None)
    loaded += sum(_Second.of(snapshot, counter).items for snapshot in run.snapshots(from_s=last_s))
    results = run.events("grow_settings")
    return loaded, tuple(windows), results[0].get("volume_before") if results else None
