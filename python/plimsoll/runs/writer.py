"""Writing a run directory, line by line as things happen, so that a crash loses at most the last second."""

from __future__ import annotations

import hashlib
import math
import os
import platform
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from plimsoll.errors import RunDirectoryError
from plimsoll.output_streams import answer_kept_in, lost_lines
from plimsoll.runs import directory
from plimsoll.runs.begun_runs import begun
from plimsoll.runs.clean_summary import clean_metrics
from plimsoll.runs.directory import LineFile, keep_free, make_run_directory, run_error, write_json
from plimsoll.runs.format.compact_line import Compactor
from plimsoll.runs.format.minutes import DIGITS, MinuteWriter
from plimsoll.runs.format.packed_file import line_file
from plimsoll.runs.machine import machine_facts
from plimsoll.runs.snapshot import Snapshot
from plimsoll.runs.space import check_room
from plimsoll.study.secrets.redactor import HIDDEN, Redactor, is_secret_key

RESERVE_BYTES = 32_768
_MOST_KEPT = 20_000  # texts of which it is known what they are without secrets
Outcome = Literal["finished", "interrupted", "failed"]


@dataclass(frozen=True)
class RunFacts:
    """What a run's manifest says beside its outcome. `study` and `options` are plain data; `t0_unix` is the wall
    clock at elapsed second 0 (the time of creation when left out)."""

    experiment: str
    script: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    study: Mapping[str, Any] | None = None
    seed: int = 0
    level_unit: str = "users"
    t0_unix: float | None = None


class RunWriter:
    """An open run directory. All methods may be called from several threads.

    As a context manager it finishes by itself: "finished", "interrupted" on KeyboardInterrupt, "failed" on other
    exceptions. Raises RunDirectoryError whenever the disk does not take what it is given.
    """

    def __init__(
        self, path: Path, manifest: dict[str, Any], redactor: Redactor, clock: Callable[[], float], tables: bool
    ) -> None:
        self.path = path
        self._tables = tables
        self.manifest = manifest
        self._last_second: Any = None
        self._probe_lines: int | None = 0
        self.redactor = redactor
        self._clock = clock
        self._lock = threading.RLock()
        self._finished = False
        self.warning = ""  # of `create`: that the disk may not have the room for this run
        self._cleaned: dict[str, str] = {}
        self._telling: dict[str, bool] = {}
        self._lost_before = lost_lines()
        answer_kept_in(path)
        begun(path)
        self._series = line_file(path, directory.SERIES)
        self._compactor = Compactor()
        self._portion = self._series.portion  # of series.jsonl.zst, in which the compactor's series are defined
        self._minutes = MinuteWriter(path, self._series)
        self._resources = line_file(path, directory.RESOURCES)
        self._events = LineFile(path / directory.EVENTS)
        self._trials: LineFile | None = None
        self._write_manifest()
        self._reserve = path / directory.RESERVE
        keep_free(self._reserve, RESERVE_BYTES)

    @classmethod
    def create(
        cls,
        run_root: str | Path,
        facts: RunFacts,
        *,
        redactor: Redactor | None = None,
        clock: Callable[[], float] = time.time,
        tables: bool = True,
        planned_s: float | None = None,
    ) -> RunWriter:
        """Make a run directory below `run_root` and open it. RunDirectoryError, with nothing made, where the disk has
        less room than any run needs; `warning` says where it may not do for the `planned_s` seconds of load.

        Without a `redactor`, one is made that knows the secrets of the study, the options and this process's
        environment variables with telling names. `tables` says whether `finish` makes the Parquet files, which costs
        more than the rest of a short run; readers do without, and `plimsoll report` makes those that are missing.
        """
        now = clock()
        script = None if facts.script is None else str(facts.script)
        warning = check_room(Path(run_root), facts.experiment, script, planned_s)
        if redactor is None:
            known = {"study": facts.study, "options": facts.options}
            redactor = Redactor.for_data(known, environment=os.environ)
        manifest = _manifest(facts, redactor, now) | ({} if planned_s is None else {"planned_s": planned_s})
        path = make_run_directory(Path(run_root), facts.experiment, now)
        try:
            writer = cls(path, manifest, redactor, clock, tables)
            writer.warning = warning
            return writer
        except RunDirectoryError:
            shutil.rmtree(path, ignore_errors=True)  # not even begun: nothing in it
            raise

    @classmethod
    def reopen(cls, path: Path, *, redactor: Redactor, clock: Callable[[], float] = time.time) -> RunWriter:
        """Open a run that has ended, by whatever, to go on with it: lines are added behind those there.

        Raises RunDirectoryError if it is none, or if its writer still lives.
        """
        from plimsoll.runs.reader import RunReader

        reader = RunReader(path)
        if reader.state == "running":
            raise RunDirectoryError(f"{path} is still running", "Wait until it has ended, or end it, then resume it.")
        writer = cls(path, reader.manifest | {"status": "running", "ended_unix": None}, redactor, clock, True)
        for file in (writer._series, writer._resources, writer._events):
            file.take_back_torn_line()
        writer._probe_lines = None
        writer.manifest.pop(directory.PROBE_LINES, None)
        return writer

    @property
    def logs(self) -> Path:
        """The folder for output of the target's commands."""
        return self.path / directory.LOGS

    @property
    def t0_unix(self) -> float:
        """Wall clock at elapsed second 0."""
        return float(self.manifest["clock"]["t0_unix"])

    def set_t0(self, t0_unix: float) -> None:
        """Say when elapsed second 0 was, once the load source has started."""
        with self._lock:
            self.manifest["clock"] = {"t0_unix": t0_unix}
            self._write_manifest()

    def append_snapshot(self, snapshot: Snapshot | Mapping[str, Any]) -> None:
        """Append one second to series.jsonl.zst, and each full minute to minutes.jsonl.zst."""
        data = snapshot.to_json() if isinstance(snapshot, Snapshot) else dict(snapshot)
        with self._lock:
            data["series"] = [self._series_item(item) for item in data.get("series") or ()]
            if data.get("script_metrics"):
                data["script_metrics"] = [
                    {**one, "name": self._clean(str(one["name"]))} for one in data["script_metrics"]
                ]
            data["generator"] = as_written(data.get("generator") or {})
            self._minutes.before(data.get("second"))
            self._append_second(data)
            self._last_second = data.get("second", self._last_second)
            self._minutes.add(data)

    def _append_second(self, data: Mapping[str, Any]) -> None:
        if self._portion != self._series.portion:
            self._compactor.restart()
            self._portion = self._series.portion
        try:
            self._series.append_text(self._compactor.line(data))
        except RunDirectoryError:
            self._compactor.restart()  # what the line defined is not in the file
            raise

    def append_resource(self, row: Mapping[str, Any]) -> None:
        """Append one row {"t_unix", "second", "source", "values"} to resources.jsonl.zst."""
        clean = dict(row)
        if "source" in row:
            clean["source"] = self._clean(str(row["source"]))
        if isinstance(row.get("values"), Mapping):
            clean["values"] = {self._clean(str(name)): _short(value) for name, value in row["values"].items()}
        with self._lock:
            self._resources.append(clean)
            if self._probe_lines is not None:
                self._probe_lines += 1

    def append_event(
        self, kind: str, *, second: float | None = None, t_unix: float | None = None, **details: Any
    ) -> None:
        """Append an event; its time is now unless `t_unix` or `second` (elapsed) is given."""
        with self._lock:
            if t_unix is None:
                t_unix = self._clock() if second is None else self.t0_unix + second
            if second is None:
                second = round(max(0.0, t_unix - self.t0_unix), 3)
            event = self.redactor.data({"t_unix": t_unix, "second": second, "kind": kind, **details})
            if "summary" in details:  # of metrics, whose names may be telling while their values are numbers
                event["summary"] = clean_metrics(details["summary"], self.redactor)
            self._events.append(event)

    def write_plan(self, plan: Mapping[str, Any]) -> None:
        """Write plan.json: what an experiment of trials is to try."""
        write_json(self.path / directory.PLAN, self.redactor.data(plan))

    def append_trial(self, trial: Mapping[str, Any]) -> None:
        """Append a complete trial to trials.jsonl."""
        with self._lock:
            if self._trials is None:
                self._trials = LineFile(self.path / directory.TRIALS)
                self._trials.take_back_torn_line()
            self._trials.append(self.redactor.data(trial))

    def write_findings(self, findings: Iterable[Mapping[str, Any]]) -> None:
        """Write findings.json, replacing an earlier one; also after the run has finished."""
        write_json(self.path / directory.FINDINGS, self.redactor.data(list(findings)))

    def finish(self, status: Outcome = "finished", watch: Callable[[str, float], None] | None = None) -> None:
        """Close the run: make the tables, of which `watch` hears as in `write_tables`, then say the outcome. The second
        call does nothing.

        If the tables cannot be made (disk full), the outcome is still recorded and RunDirectoryError raised after.
        """
        with self._lock:
            if self._finished:
                return
            self._finished = True
            failure: RunDirectoryError | None = None
            try:
                self._minutes.close()
                if self._tables:
                    from plimsoll.runs.format.tables import write_tables  # pyarrow and numpy cost 0.2 s to import

                    write_tables(self.path, watch)
            except RunDirectoryError as error:
                failure = error
            except OSError as error:
                failure = run_error("write the tables of", self.path, error)
            finally:  # also when Ctrl-C comes in between
                self._reserve.unlink(missing_ok=True)
                self._note_lost_lines()
                written = {directory.LAST_SECOND: self._last_second, directory.PROBE_LINES: self._probe_lines}
                self.manifest |= {name: value for name, value in written.items() if value is not None}
                self.manifest |= {"status": status, "ended_unix": self._clock()}
                try:
                    self._write_manifest()
                finally:
                    for file in (self._series, self._resources, self._events, self._trials):
                        if file is not None:
                            file.close()
            if failure is not None:
                raise failure

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.finish("finished")
            return
        error.add_note(f"What was recorded is kept in {self.path}; read it with: plimsoll report {self.path}")
        self._reserve.unlink(missing_ok=True)
        try:
            interrupted = isinstance(error, KeyboardInterrupt)
            if not self._finished:
                self.append_event("interrupted" if interrupted else "error", message=str(error) or type(error).__name__)
            self.finish("interrupted" if interrupted else "failed")
        except RunDirectoryError as second_error:
            if type(error) is not RunDirectoryError:  # a full disk was told already
                error.add_note(f"Also: {second_error}")

    def _note_lost_lines(self) -> None:
        """Of standard output and error since the run began: progress, mostly."""
        lost = lost_lines() - self._lost_before
        if lost:
            with suppress(RunDirectoryError):
                self.append_event("note", message=f"{lost:,} lines to standard output or error were lost.")

    def _write_manifest(self) -> None:
        write_json(self.path / directory.MANIFEST, self.manifest)

    def _series_item(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """A series without secrets in its metric's name and its tags: a `name` may be a URL with a token in it. Of a
        trend's times, which have a bucket's precision, the digits that are told."""
        clean = {**item, "tags": {self._clean(key): self._tag(key, str(value)) for key, value in _tags_of(item)}}
        if "metric" in item:
            clean["metric"] = self._clean(str(item["metric"]))
        if item.get("kind") == "trend":
            clean |= {name: _short(item[name]) for name in ("min", "max") if name in item}
            if isinstance(item.get("sum"), float):
                clean["sum"] = float(f"{item['sum']:.{DIGITS}g}")
        return clean

    def _tag(self, key: str, value: str) -> str:
        if key not in self._telling:
            if len(self._telling) > _MOST_KEPT:
                self._telling.clear()
            self._telling[key] = is_secret_key(key)
        return HIDDEN if value and self._telling[key] else self._clean(value)

    def _clean(self, text: str) -> str:
        """The text without secrets. Cleaned texts are kept, up to a bound."""
        if text not in self._cleaned:
            if len(self._cleaned) > _MOST_KEPT:
                self._cleaned.clear()
            self._cleaned[text] = self.redactor.text(text)
        return self._cleaned[text]


def _short(value: Any) -> Any:
    """A number with the digits that are told; what is none or whole stays as it is."""
    if not isinstance(value, float) or value.is_integer() or not math.isfinite(value):
        return value
    return float(f"{value:.{DIGITS}g}")


def as_written(values: Mapping[str, Any]) -> dict[str, Any]:
    """With the digits that a run keeps: what is judged while it goes on is judged alike from its directory."""
    return {name: _short(value) for name, value in values.items()}


def _manifest(facts: RunFacts, redactor: Redactor, now: float) -> dict[str, Any]:
    return {
        "schema": directory.SCHEMA,
        "experiment": facts.experiment,
        "status": "running",
        "started_unix": now,
        "ended_unix": None,
        "plimsoll": _version(),
        "python": platform.python_version(),
        "machine": machine_facts(),
        "script": _script_facts(facts.script),
        "options": redactor.data(facts.options),
        "study": None if facts.study is None else redactor.data(facts.study),
        "seed": facts.seed,
        "level_unit": facts.level_unit,
        "clock": {"t0_unix": now if facts.t0_unix is None else facts.t0_unix},
    }


def _tags_of(item: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    return ((str(key), value) for key, value in (item.get("tags") or {}).items())


def _script_facts(script: Path | None) -> dict[str, str] | None:
    if script is None:
        return None
    try:
        return {"path": str(script), "sha256": hashlib.sha256(script.read_bytes()).hexdigest()}
    except OSError as error:
        raise RunDirectoryError(f"cannot read the script {script}: {error.strerror}", "Check its path.") from error


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("plimsoll-line")
    except PackageNotFoundError:
        return "unknown"
