"""How long does loading N items take, and how does it age? A closed load under back pressure, until N items are there.

Windows of a few seconds at one concurrency (back_pressure.py says which one next) are written as events
`grow_window`; they are all that the findings, the forecast and a resumption need. So that little more than N is
loaded, the load is told when to pause before that moment comes (stretch.py), and near the end the concurrency falls
with the items left. An item counts as loaded when its iteration ended and none of its requests failed, or as a Counter
of the script says. Loading takes the time in which creates were under way: pauses are no part of it, and the last
creates' end is. Ctrl-C ends with what was loaded; a later run resumes there. Time is the load source's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from plimsoll.experiments.load import PausingSource
from plimsoll.experiments.long_runs.back_pressure import BackPressure, Window
from plimsoll.experiments.long_runs.stretch import LEAST_STRETCH_S, REACTION_S, OnTimes, Pace
from plimsoll.experiments.steps.holding import DataVolume, ProbesSampler, StepHolder, Writer
from plimsoll.experiments.steps.record import ProgressCallback, Status
from plimsoll.interruptions import load_within
from plimsoll.runs.readings.failures import Failures
from plimsoll.runs.snapshot import Snapshot
from plimsoll.stats.growth.load_forecast import LEAST_SHARE, Forecast, forecast, time_per_item
from plimsoll.words import counted_words, time_words

WINDOW_S, LONGEST_WINDOW_S = 3, 15
ITEMS_IN_WINDOW = 40
WINDOWS_AT_LEAST = 40  # what a short load is cut into, as far as whole seconds go
HOPELESS_WINDOWS = 4
FORECASTS = 60
DRAIN_LIMIT_S = 60.0
WHOLE_S = 0.9  # of a second in which the load was on, for it to tell what a level brings
FAR = 10**9

WindowEnd = Literal["full", "cut short", "in part", "draining"]  # "in part": load was on for a part of its second


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
    source: PausingSource,
    settings: GrowSettings,
    writer: Writer | None = None,
    probes_sampler: ProbesSampler | None = None,
    on_progress: ProgressCallback | None = None,
    data_volume: DataVolume | None = None,
    on_message: Callable[[str], None] | None = None,
) -> GrowResult:
    """Load the items; the source is started here and stopped whatever happens. Its level is the creates at a time."""
    holder = StepHolder(source, writer, probes_sampler, on_progress, None, on_message)
    holder.until_s = settings.longest_s
    loading = _Loading(source, holder, settings)
    result = loading.result
    started = False

    def stop(graceful: bool) -> None:
        if not started:
            return
        try:
            if graceful:
                loading.finish()
        finally:
            source.stop(graceful=graceful and result.status != "failed")

    def interrupted() -> None:
        result.status, result.reason = "interrupted", "It was ended by an interruption."
        holder.say("stopping: running creates may end; Ctrl-C again stops at once")

    with load_within(stop, interrupted):
        result.volume_start = data_volume() if data_volume is not None else None
        source.start()
        started = True
        holder.event("experiment_started", 0.0, experiment="grow", unit=source.unit, open=False, items=settings.items)
        if settings.resumed is not None:
            earlier = {"loaded": settings.loaded, "windows": settings.windows, "doubts": settings.doubts}
            holder.event("grow_resumed", 0.0, run=settings.resumed, **earlier)
        loading.run()
    result.volume_end = data_volume() if data_volume is not None else None
    holder.event("grow_result", loading.now_s, result=result.to_json())
    return result


class _Loading:
    """The loop over seconds and windows; keeps the result up to date."""

    def __init__(self, source: PausingSource, holder: StepHolder, settings: GrowSettings) -> None:
        self.source, self.holder, self.settings = source, holder, settings
        self.result = GrowResult(settings, loaded=settings.loaded, windows=[dict(one) for one in settings.windows])
        self.result.loading_s = sum(one["seconds"] for one in self.result.windows)
        self.pressure = BackPressure(settings.least, settings.most, settings.slow_ms)
        self.now_s = 0.0
        self.failures = Failures()
        self._hopeless = 0
        self._level = 0
        self._open: list[_Second] = []
        self._next_forecast = LEAST_SHARE * settings.items
        self._pace, self._on = Pace(), OnTimes()
        self._under_way = 0
        self._longest_s = math.inf if settings.longest_s is None else settings.longest_s

    def run(self) -> None:
        """Load until the items are there, or creates fail whatever is done."""
        if self._left <= 0:
            return
        self._set(self.pressure.concurrency)
        for snapshot in self.source.snapshots(FAR):
            self._take(snapshot)
            if self._left <= 0 or self.result.status == "failed":
                return
            if snapshot.second + 1 >= self._longest_s:
                self.result.reason = f"It ended with the load time of {time_words(self._longest_s)} (--for)."
                return

    def finish(self) -> None:
        """Let running creates end, and count them."""
        self._on.end(self.source.now())
        try:
            self.source.drain(DRAIN_LIMIT_S)
            self._close_window("cut short")
            for snapshot in self.source.snapshots(self.source.now()):
                self._take(snapshot, draining=True)
        finally:
            self.result.causes = dict(self.failures.causes)
            self._close_window("draining")

    @property
    def _left(self) -> int:
        return self.settings.items - self.result.loaded

    def _set(self, level: int) -> None:
        """So many at a time from now on, until the last wanted create has begun. After a pause fewer, where so many
        would begin more than that, and none before it is known what was begun until then."""
        now, wanted = self.source.now(), self._left - self._under_way
        was_on = self._on.is_on(now)
        if was_on:
            unseen = self._pace.per_s(self._level) * max(0.0, now - max(self.now_s, self._on.from_s))
            stretch_s = self._pace.stretch_s(wanted - unseen, level)
        elif wanted <= 0 or self.now_s < self._on.to_s + REACTION_S:
            return
        else:
            level = self._pace.level_for(wanted, level)
            stretch_s = max(LEAST_STRETCH_S, self._pace.stretch_s(wanted, level))
        until_s = min(now + stretch_s, self._longest_s)
        if until_s <= now:
            self.source.set_level(0.0)
            self._on.end(now)
            return
        paused = self.source.pause_at(until_s)
        if paused or not was_on or level != self._level:
            self.source.set_level(float(level))
        self._on.go_on(now, until_s)
        if level != self._level:
            self._level = level
            self.holder.why = self.pressure.reason
            self.holder.event("level", now, level=level, reason=self.pressure.reason)

    def _take(self, snapshot: Snapshot, draining: bool = False) -> None:
        second = self._count(snapshot)
        if not draining:  # before the probes, which may take seconds
            self._set(self._level if self._on.is_on(self.source.now()) else self.pressure.concurrency)
        self.holder.record(snapshot, "drain" if draining else "load", probe=not draining)
        self.failures.add_broken(snapshot.broke)
        for series in snapshot.series:
            self.failures.add(series)
        if draining:
            self._open.append(second)
        elif second.is_whole:
            self._enter(second)
        else:
            self._close_window("cut short")
            self._open.append(second)
            self._close_window("in part")

    def _count(self, snapshot: Snapshot) -> _Second:
        """The second, with its items among those loaded and its creates in the pace."""
        second, on_s = _Second.of(snapshot, self.settings.counter), self._on.of_second(snapshot.second)
        self.now_s, self._under_way = snapshot.second + 1.0, int(snapshot.in_flight)
        level = min(self._level, snapshot.level or self._level)
        self._pace.see(second.items, second.timed, second.total_ms, on_s, level)
        if self._under_way and not second.timed:
            self._pace.none_ended(self.now_s - self._on.from_s)
        self.result.loaded += second.items
        self.result.failed += second.failed
        is_on = self._on.is_on(self.now_s)
        if on_s >= WHOLE_S or (self._under_way and not is_on):
            loading_s = 1.0
        else:
            least_s = on_s if is_on else on_s - REACTION_S
            loading_s = min(1.0, max(0.0, least_s, second.total_ms / 1000 / max(1.0, level)))
        self.result.loading_s += loading_s
        return replace(second, loading_s=loading_s, is_whole=on_s >= WHOLE_S)

    def _enter(self, second: _Second) -> None:
        """A second in which the load was on belongs to the open window, and may end it."""
        self._open.append(second)
        done = sum(one.items for one in self._open)
        failed = any(one.failed for one in self._open)
        length = len(self._open)
        if failed or (length >= self._window_s(done) and done >= ITEMS_IN_WINDOW) or length >= LONGEST_WINDOW_S:
            self._close_window()
        elif self._left > 0:
            self._set(self._tapered(self._level, second.items))

    def _window_s(self, done: int) -> int:
        """Seconds of a window; fewer where all the items would be there so soon that its law could not be told."""
        load_s = self.settings.items * len(self._open) / max(1, done)
        return max(1, min(WINDOW_S, round(load_s / WINDOWS_AT_LEAST)))

    def _close_window(self, ended: WindowEnd = "full") -> None:
        seconds, self._open = self._open, []
        if not any(one.items or one.failed or one.loading_s for one in seconds):
            return
        # The first second after a change still holds creates that began before it.
        told = seconds[1:] if len(seconds) > 2 else seconds
        items, failed = sum(one.items for one in seconds), sum(one.failed for one in seconds)
        count, total_ms = sum(one.timed for one in told), sum(one.total_ms for one in told)
        told_s = sum(one.loading_s for one in told)
        per_s = sum(one.items for one in told) / told_s if told_s else 0.0
        window = Window(self._level, per_s, failed, total_ms / count if count else None)
        entry = {
            "seconds": sum(one.loading_s for one in seconds),
            "concurrency": self._level,
            "items": items,
            "failed": failed,
            "per_s": window.per_s,
            "mean_ms": window.mean_ms,
            "loaded": self.result.loaded,
            "draining": ended == "draining",
            "trial": ended == "in part" or self.pressure.is_trying or self._level != self.pressure.concurrency,
            "reason": self.pressure.reason,
        }
        self.result.windows.append(entry)
        self.holder.event("grow_window", self.now_s, **entry)
        # Load that was on for a part of its seconds tells what fails, and not what a level brings.
        if ended == "full" or (ended == "in part" and failed):
            self._judge(window, items, failed)

    def _judge(self, window: Window, items: int, failed: int) -> None:
        self._hopeless = self._hopeless + 1 if failed > items and self._level <= self.settings.least else 0
        if self._hopeless >= HOPELESS_WINDOWS:
            self.result.status = "failed"
            self.result.reason = (
                f"Creates fail even with {self.settings.least} at a time: {self.failures.words()}. "
                f"{self.result.loaded:,} of {counted_words(self.settings.items, 'item')} were loaded."
            )
            return
        level = self.pressure.next(window)
        self._tell()
        self._set(self._tapered(level, window.per_s))

    def _tapered(self, level: int, per_s: float) -> int:
        """Fewer at a time where less than two seconds' items are left."""
        if 0 < self._left < 2 * per_s:
            return max(1, min(level, math.floor(level * self._left / (2 * per_s))))
        return level

    def _tell(self) -> None:
        words = f"  {self.result.loaded:,} of {counted_words(self.settings.items, 'item')}"
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
            whole, low, high = (time_words(last[name]) for name in ("total_s", "low_s", "high_s"))
            words += f", {whole} in all ({low} to {high})"
        self.holder.words = words

    @property
    def _volume_before(self) -> float:
        known = self.settings.volume_before if self.settings.volume_before is not None else self.result.volume_start
        return known or 0.0


@dataclass(frozen=True)
class _Second:
    """Items and failed creates of one second, and the times of iterations in it; `loading_s` of it creates were under
    way, `is_whole`: they were begun all through it."""

    items: int
    failed: int
    timed: int
    total_ms: float
    loading_s: float = 1.0
    is_whole: bool = True

    @classmethod
    def of(cls, snapshot: Snapshot, counter: str | None) -> _Second:
        failed_requests, timed = int(snapshot.broke), 0
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
