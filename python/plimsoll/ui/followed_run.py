"""A run directory that is read as it grows: what the page shows of it, each second.

Only what came since the last look is read, so that a second costs the same in the first minute and in the third hour.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plimsoll.live.seconds import Answers, Generator, Resources, answers_of, failed_words, p95_words, times_of
from plimsoll.live.state import PHASES, Health
from plimsoll.plain_text import plain
from plimsoll.runs import directory
from plimsoll.runs.format import quick_json
from plimsoll.runs.format.followed_lines import FollowedLines
from plimsoll.runs.format.line_cut import LineCutter
from plimsoll.runs.format.read_numbers import moment, plausible
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.kept import catalogue
from plimsoll.runs.kept.labels import NOTES
from plimsoll.runs.metric_names import RESPONSE_METRICS
from plimsoll.runs.snapshot import Snapshot
from plimsoll.ui.course import Course
from plimsoll.ui.limits import Limits, declared_of
from plimsoll.ui.steps import Steps
from plimsoll.ui.trials import Trials
from plimsoll.words import count_words, number, time_words

_WANTED = frozenset((*RESPONSE_METRICS, "http_req_failed"))
_MOST_NOTES = 100
_CATCH_UP_BYTES = 1 << 20  # of a file, in one look
_QUIET_S = 3.0  # without a new second after which the page says so
# Events that are told as lines.
_TOLD = frozenset(("note", "ready", "error", "interrupted", "control", "drain_gave_up", "database_lost"))


class FollowedRun:
    """`look` reads what is new; `course` and `now` say what the run is by then. Each is called by one thread at a
    time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._manifest: Mapping[str, Any] = {}
        self._read_manifest_at = -1
        self._series = FollowedLines(directory.file_of(path, directory.SERIES))
        self._rows = FollowedLines(directory.file_of(path, directory.RESOURCES))
        self._events = FollowedLines(path / directory.EVENTS)
        self._own_notes = FollowedLines(path / NOTES)
        self._trial_lines = FollowedLines(path / directory.TRIALS)
        self.trials = Trials(path)
        self._cutter = LineCutter(_WANTED)
        self._resources, self._generator = Resources(), Generator()
        self._health, self._answers = Health(), Answers()
        self._last: Snapshot | None = None
        self._failed = self._requests = self._done = self._seconds = 0
        self._times = Histogram()
        self._cores: dict[float, dict[str, float]] = {}  # of each process, by seconds that are still to come
        self._last_cores: float | None = None
        self._limits = Limits()
        self._planned_s: float | None = None
        self._levels: list[float] = []  # seconds at which the next levels begin
        self.course = Course()
        self.notes: list[dict[str, Any]] = []
        self.notes_changed = 0  # a number that goes up with each note
        self._control: Mapping[str, Any] = {}
        self.state = "running"
        self.look_manifest()
        self.steps = Steps(str(self._manifest.get("level_unit") or "users"))

    @property
    def experiment(self) -> str:
        """Its verb."""
        return str(self._manifest.get("experiment") or "")

    def look_manifest(self) -> None:
        """What it is and whether it goes on."""
        file = self.path / directory.MANIFEST
        try:
            changed = file.stat().st_mtime_ns
        except OSError:
            self.state = "gone"
            return
        if changed != self._read_manifest_at:
            found = catalogue.read_json(file)
            self._manifest = found if isinstance(found, Mapping) else {}
            self._read_manifest_at = changed
        self.state = catalogue.status_of(self.path, str(self._manifest.get("status")))

    def look_to_end(self) -> None:
        """Read all that is there by now."""
        while self.look():
            pass

    def look(self) -> bool:
        """Read what is new, at most CATCH_UP_BYTES of each file; whether there may be more."""
        self.look_manifest()
        before = self._series.read_to
        for raw in self._rows.new(_CATCH_UP_BYTES):
            self._take_row(_parsed(raw))
        for raw in self._events.new(_CATCH_UP_BYTES):
            self._take_event(_parsed(raw))
        for raw in self._own_notes.new(_CATCH_UP_BYTES):
            self._note(_parsed(raw), str(_parsed(raw).get("text") or ""), "note")
        self.trials.look()
        for raw in self._trial_lines.new(_CATCH_UP_BYTES):
            self.trials.take(_parsed(raw))
        for raw in self._series.new(_CATCH_UP_BYTES):
            snapshot = self._cutter.snapshot(raw)
            if snapshot is not None:
                self._take(snapshot)
        return self._series.read_to - before >= _CATCH_UP_BYTES

    def _take(self, snapshot: Snapshot) -> None:
        times = times_of(snapshot)
        self._times.add(times)
        answers = self._answers = answers_of(snapshot, times)
        self._last = snapshot
        while self._levels and self._levels[0] < snapshot.second + 0.5:
            del self._levels[0]
            self._limits.begin_level()
        self._limits.take(snapshot)
        self._health = self._generator.health(snapshot, answers.p95_ms)
        self._failed += answers.failed
        self._requests += answers.requests
        self._done += snapshot.done
        self._seconds += 1
        told = snapshot.generator
        threads = max(1, int(told.get("threads") or 1))
        self.course.add(
            {
                "second": float(snapshot.second + 1),
                "done": float(snapshot.done),
                "planned": float(snapshot.planned),
                "failed": float(answers.failed),
                "level": float(snapshot.level),
                "p50": answers.p50_ms,
                "p95": answers.p95_ms,
                "target": self._cores_at(snapshot.second),
                "generator": float(told["cpu_s"]) / threads if told.get("cpu_s") is not None else None,
            }
        )

    def _take_row(self, row: Mapping[str, Any]) -> None:
        self._resources.add([row])
        source, values = str(row.get("source")), row.get("values")
        if source.startswith("process:") and isinstance(values, Mapping):
            cores, second = plausible(values.get("cpu_cores_used")), plausible(row.get("second"))
            if cores is not None and second is not None:
                self._cores.setdefault(second, {})[source] = cores

    def _cores_at(self, second: int) -> float | None:
        """What the busiest process took then; what was told last, where nothing is told of that second yet."""
        for told in sorted(one for one in self._cores if one <= second):
            self._last_cores = max(self._cores.pop(told).values())
        return self._last_cores

    def _take_event(self, event: Mapping[str, Any]) -> None:
        kind = str(event.get("kind"))
        self.steps.take(event)
        if kind in ("judgement", "declared"):
            objectives, planned_s = declared_of(event)
            self._limits.declare(objectives)
            self._planned_s = planned_s if planned_s is not None else self._planned_s
        if kind == "step_started":
            self._levels.append(plausible(event.get("second")) or 0.0)
        if kind == "control":
            self._control = event
        if kind in _TOLD:
            text = event.get("answer") if kind == "control" else event.get("message")
            if kind == "drain_gave_up":
                text = f"{count_words(plausible(event.get('count')) or 0)} without an answer were given up"
            if text:
                self._note(event, str(text), "said")

    def _note(self, about: Mapping[str, Any], text: str, kind: str) -> None:
        if text:
            second = plausible(about.get("second"))
            self.notes.append({"second": second, "at": _at(second), "text": plain(text)[:2000], "kind": kind})
            self.notes.sort(key=lambda one: math.inf if one["second"] is None else one["second"])
            del self.notes[:-_MOST_NOTES]
            self.notes_changed += 1

    # what is shown

    @property
    def rows_changed(self) -> int:
        """A number that goes up when `rows` may tell more."""
        return self.steps.changes + self.trials.count

    def rows(self) -> list[dict[str, Any]]:
        """The levels that were held, or the trials that were made."""
        return self.steps.rows() or self.trials.rows()

    def about(self) -> dict[str, Any]:
        """What does not change."""
        return {
            "name": self.path.name,
            "experiment": self.experiment,
            "about": plain(catalogue.about_of(self._manifest)),
            "began_unix": moment(self._manifest.get("started_unix")),
        }

    def now(self) -> dict[str, Any]:
        """The run by now, in words."""
        last, answers = self._last, self._answers
        level = last.level if last is not None else 0.0
        held = self.steps.held(level) or self.trials.state() or self._plain_state()
        second = 0.0 if last is None else last.second + 1.0
        return {
            "state": self.state,
            "state_words": STATE_WORDS.get(self.state, self.state),
            **held,
            "second": time_words(second),
            "left": self._left(second),
            "tiles": self._tiles(answers),
            "failing": bool(answers.failed),
            "bracket": self.steps.bracket(),
            "limits": self._limits.rows(),
            "target": list(self._resources.words()),
            "generator": {"words": self._health.words, "well": self._health.is_well},
            "quiet": self._quiet(),
            "level": plausible(self._control.get("level")) if self._control else None,
            "paused": bool(self._control.get("paused")),
        }

    def numbers(self) -> dict[str, Any]:
        """The whole load in numbers, for comparing."""
        has_times = self._times.count > 0
        return {
            "seconds": self._seconds,
            "done": self._done,
            "done_per_s": self._done / max(1, self._seconds),
            "failed": self._failed,
            "requests": self._requests,
            "p50_ms": self._times.percentile(0.5) if has_times else None,
            "p95_ms": self._times.percentile(0.95) if has_times else None,
        }

    def _plain_state(self) -> dict[str, str]:
        last = self._last
        if last is None:
            is_paused = bool(self._control.get("paused"))
            return {"phase": "paused" if is_paused else "starting", "name": "no load yet", "why": ""}
        if self.experiment != "run":
            return {"phase": PHASES["load"], "name": "", "why": ""}
        paused = bool(self._control.get("paused"))
        vus = f"{count_words(last.vus)} of {count_words(last.vus_max)} VUs at work"
        level = "" if last.level == 1 or paused else f", level {number(last.level)}"
        return {"phase": "paused" if paused else "running", "name": f"{vus}{level}", "why": ""}

    def _tiles(self, answers: Answers) -> list[dict[str, str]]:
        last = self._last
        if last is None:
            return []
        of = f"of {number(last.planned)} planned" if last.planned else ""
        failed = failed_words(answers.failed, answers.requests)
        return [
            {"key": "done", "label": "Done in the last second", "value": f"{number(last.done)}/s", "more": of},
            {"key": "p95", "label": "Response time", "value": p95_words(answers.p95_ms), "more": ""},
            {
                "key": "failed",
                "label": "Failed requests",
                "value": failed,
                "more": f"{count_words(self._failed)} of {count_words(self._requests)} in all",
            },
            {
                "key": "unfinished",
                "label": "Unfinished",
                "value": count_words(last.backlog + last.in_flight),
                "more": f"{count_words(last.backlog)} of them wait",
            },
        ]

    def _left(self, second: float) -> str | None:
        whole_s = plausible(self._manifest.get("planned_s")) or self._planned_s or self.trials.planned_s
        if whole_s is None or self.state != "running":
            return None
        return time_words(max(0.0, whole_s - second))

    def _quiet(self) -> str:
        last = self._last
        if last is None or self.state != "running" or not last.t_unix:
            return ""
        silent_s = time.time() - last.t_unix - 1
        return f"no new second for {time_words(silent_s)}" if silent_s > _QUIET_S else ""


STATE_WORDS = {
    "running": "running",
    "finished": "finished",
    "interrupted": "interrupted",
    "failed": "failed",
    "killed": "was killed",
    "gone": "is gone",
    "damaged": "cannot be read",
}


def _at(second: float | None) -> str:
    return "" if second is None else time_words(second)


def _parsed(raw: bytes) -> Mapping[str, Any]:
    try:
        found = quick_json.loads(raw)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
