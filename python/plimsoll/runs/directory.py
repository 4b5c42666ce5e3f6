"""The layout of a run directory (version 1): names, atomic writes, whole lines, finding the latest.

    runs/<UTC yyyymmdd-HHMMSS>-<experiment>-<4 hex, the fraction of the second>/
      manifest.json                       what was run, where, with what outcome
      series.jsonl.zst                    one snapshot a line
      minutes.jsonl.zst                   what answers need of it in columns, for fast reading; may be missing
      resources.jsonl.zst, events.jsonl   facts of the server side; what happened when
      findings.json                       the answers
      plan.json, trials.jsonl             what was to be tried, and one trial a line (compare, decompose, sweep)
      seconds.parquet, series.parquet, resources.parquet    the same as the .jsonl, in columns, once it has ended
      logs/                               output of the target's commands
      .reserve                            room for the last words on a full disk; gone when the run has ended

Whole files are written aside and renamed. Lines are written whole, unbuffered, by one `write`: a killed writer
leaves at most one torn last line, which readers ignore. Files named .zst are compressed line by line (packed_file.py);
runs of earlier versions have them without .zst and not compressed.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import re
import time
from pathlib import Path
from typing import Any

from plimsoll.errors import RunDirectoryError
from plimsoll.written_files import PRIVATE, PRIVATE_FOLDER, new_private, write_own

SCHEMA = 1
MANIFEST, FINDINGS = "manifest.json", "findings.json"
LAST_SECOND = "last_second"  # of the manifest of a run that has ended: the number of its last line of series
PROBE_LINES = "probe_lines"  # likewise, how many lines of resources it has; missing where a run was gone on with
PLAN, TRIALS = "plan.json", "trials.jsonl"
SERIES, RESOURCES, EVENTS = "series.jsonl.zst", "resources.jsonl.zst", "events.jsonl"
MINUTES = "minutes.jsonl.zst"
PACKED_SUFFIX = ".zst"
SECONDS_TABLE, SERIES_TABLE, RESOURCES_TABLE = "seconds.parquet", "series.parquet", "resources.parquet"
LOGS = "logs"
RESERVE = ".reserve"
_CHUNK_BYTES = 65_536
_LOCK_TRIES, _LOCK_AGAIN_S = 20, 0.005
FRACTIONS_PER_SECOND = 65_536

_RUN_NAME = re.compile(r"^\d{8}-\d{6}-.+-[0-9a-f]{4}$")
_NEXT_STEPS = {
    errno.ENOSPC: "Free some disk space, or choose another place{elsewhere}.",
    errno.EDQUOT: "Your disk quota is used up: free some space, or choose another place{elsewhere}.",
    errno.EFBIG: "The file size limit is reached: raise it (ulimit -f), or choose another place{elsewhere}.",
    errno.EROFS: "Choose another place{elsewhere}.",
    errno.EACCES: "You may not write there: correct the permissions, or choose another place{elsewhere}.",
    errno.EPERM: "You may not write there: correct the permissions, or choose another place{elsewhere}.",
    errno.EEXIST: "A file has that name: choose another place{elsewhere}, or move it away.",
    errno.ENOTDIR: "A part of that path is a file: choose another place{elsewhere}.",
    errno.EMFILE: "Raise the limit of open files (ulimit -n).",
    errno.ENOENT: "It was removed or never was: check the path.",
}  # fmt: skip


def run_error(doing: str, path: Path, error: OSError, elsewhere: str = " with --runs") -> RunDirectoryError:
    """The error of the tree for one of the operating system: what failed, and the next step."""
    step = remedy_of(error, elsewhere)
    if doing == "read" and isinstance(error, PermissionError):
        step = "Read it as the user who made the run, or have its owner give you the right to."
    return RunDirectoryError(f"cannot {doing} {path}: {error.strerror or error}", step)


def no_run(path: Path) -> RunDirectoryError:
    """That `path` is no run directory, what it is instead, and where runs are."""
    lists = "`plimsoll runs list` shows the runs that are there"
    if not os.path.lexists(path):
        what = f"there is no run {path}: it is neither a path nor the end of a run's name in runs/"
        return RunDirectoryError(what, f"{lists}; `plimsoll analyze FILE` makes one of another tool's results.")
    if not path.is_dir():
        step = f"`plimsoll analyze {path}` makes a run with a report of another tool's results; {lists}."
        return RunDirectoryError(f"{path} is a file, not a run directory", step)
    runs = sorted(one.parent.name for one in path.glob(f"*/{MANIFEST}"))
    if runs:
        step = f"Give one of them, such as {path / runs[-1]}; `plimsoll runs list --runs {path}` shows all."
        return RunDirectoryError(f"{path} is not a run directory; it holds runs", step)
    step = f"Give a folder that plimsoll made; {lists}."
    return RunDirectoryError(f"{path} is not a run directory: it has no {MANIFEST}", step)


def remedy_of(error: OSError, elsewhere: str) -> str:
    """The next step where a file cannot be read or written; `elsewhere`: how to choose another place."""
    step = _NEXT_STEPS.get(error.errno or 0, "Check the disk and the permissions, or choose another place{elsewhere}.")
    return step.format(elsewhere=elsewhere)


def make_run_directory(run_root: Path, experiment: str, now_unix: float) -> Path:
    """Create runs/<UTC time>-<experiment>-<4 hex>/ with logs/ in it; only its owner may enter."""
    path = make_named_directory(run_root, experiment, now_unix)
    try:
        (path / LOGS).mkdir(mode=PRIVATE_FOLDER)
    except OSError as error:
        raise run_error("make a run directory in", run_root, error) from error
    return path


def make_named_directory(run_root: Path, experiment: str, now_unix: float) -> Path:
    """Create runs/<UTC time>-<experiment>-<4 hex>/; only its owner may enter.

    The four digits are the fraction of that second in 65536ths, the next free one if it is taken, so that names tell
    the order in which runs began.
    """
    slug = re.sub(r"[^A-Za-z0-9_.]+", "_", experiment).strip("_.") or "run"
    moment = int(now_unix * FRACTIONS_PER_SECOND)
    try:
        run_root.mkdir(parents=True, exist_ok=True)
        while True:
            second, fraction = divmod(moment, FRACTIONS_PER_SECOND)
            stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(second))
            path = run_root / f"{stamp}-{slug}-{fraction:04x}"
            try:
                path.mkdir(mode=PRIVATE_FOLDER)
                break
            except FileExistsError:
                moment += 1
    except OSError as error:
        raise run_error("make a run directory in", run_root, error) from error
    return path


def latest(run_root: str | Path) -> Path:
    """The newest run directory below `run_root`; RunDirectoryError if there is none."""
    runs = list_runs(run_root)
    if not runs:
        raise RunDirectoryError(f"there is no run in {run_root}", "Make one first, for example with `plimsoll demo`.")
    return runs[-1]


def began(path: Path) -> tuple[str, str]:
    """What the name of a run directory says of when it began, to sort by."""
    return path.name[:15], path.name[-4:]


def list_runs(run_root: str | Path) -> list[Path]:
    """All run directories below `run_root`, oldest first; empty if the folder does not exist."""
    try:
        found = [
            path for path in Path(run_root).iterdir() if _RUN_NAME.match(path.name) and (path / MANIFEST).is_file()
        ]
        return sorted(found, key=began)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise run_error("list the runs in", Path(run_root), error) from error


def has_tables(run_dir: Path) -> bool:
    """Whether all Parquet tables of a run are there."""
    return all((run_dir / name).is_file() for name in (SECONDS_TABLE, SERIES_TABLE, RESOURCES_TABLE))


def file_of(run_dir: Path, name: str) -> Path:
    """The file of that name in a run directory; its uncompressed one in a run of an earlier version."""
    path = run_dir / name
    if name.endswith(PACKED_SUFFIX) and not path.exists():
        plain = run_dir / name.removesuffix(PACKED_SUFFIX)
        if plain.exists():
            return plain
    return path


def write_json(path: Path, data: Any) -> None:
    """Write a whole JSON file of a run directory: readers see the old or the new one, never a part."""
    try:
        write_own(path, json_text(data, indent=2) + "\n", sync=True)
    except OSError as error:
        raise run_error("write", path, error) from error


def keep_free(path: Path, size_bytes: int) -> None:
    """Write a file of zeros whose removal gives a run that fills the disk the room to record how it ended.

    Raises RunDirectoryError if there is not even that much room to begin with.
    """
    try:
        with new_private(path) as file:
            file.write(bytes(size_bytes))
    except OSError as error:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        raise run_error("write", path, error) from error


def json_text(data: Any, *, indent: int | None = None) -> str:
    """Strict JSON: numpy scalars and paths become plain values, NaN and infinity become null."""
    encoder = _ONE_LINE if indent is None else json.JSONEncoder(indent=indent, **_STRICT)
    try:
        return encoder.encode(data)
    except ValueError:
        return encoder.encode(_without_non_finite(data))


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return _without_non_finite(value.tolist())
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    return str(value)


_STRICT: dict[str, Any] = {"default": _plain, "allow_nan": False, "ensure_ascii": False}
_ONE_LINE = json.JSONEncoder(separators=(",", ":"), **_STRICT)  # made once: a second has hundreds of small texts


def _without_non_finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_non_finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_non_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


class LineFile:
    """A file of JSON lines, each written whole. A line that could not be written whole is taken back.

    The writer holds an advisory lock for as long as it lives, by which readers tell a running run from a killed one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._handle = os.open(path, flags, PRIVATE)
        except OSError as error:
            raise run_error("open", path, error) from error
        _lock_for_writing(self._handle)
        self._end = self._begun = os.fstat(self._handle).st_size

    @property
    def portion(self) -> int:
        """The byte from which what was written since the last `end_portion` can be read."""
        return self._begun

    def end_portion(self) -> int:
        """The byte after all that was written: from there on, lines can be read without those before."""
        self._begun = self._end
        return self._end

    def take_back_torn_line(self) -> None:
        """Remove what a killed writer left of its last line, so that the next one stands alone."""
        try:
            size = place = os.fstat(self._handle).st_size
            keep = 0
            with self.path.open("rb") as file:
                while place > 0 and not keep:
                    start = max(0, place - _CHUNK_BYTES)
                    file.seek(start)
                    found = file.read(place - start).rfind(b"\n")
                    keep = start + found + 1 if found >= 0 else 0
                    place = start
            if keep < size:
                os.ftruncate(self._handle, keep)
            self._end = self._begun = keep
        except OSError as error:
            raise run_error("write", self.path, error) from error

    def append(self, data: Any) -> None:
        """Write one line; it is with the operating system when this returns."""
        self.append_text(json_text(data))

    def append_text(self, line: str) -> None:
        """Write one line of JSON that is text already."""
        self._write(line.encode() + b"\n")

    def _write(self, data: bytes) -> None:
        """Add bytes, all of them or none."""
        if self._handle < 0:
            raise RunDirectoryError(f"{self.path} is closed, its run has ended", "Start a new run to record more.")
        written = 0
        try:
            while written < len(data):
                written += os.write(self._handle, data[written:])
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, self._end)
            raise run_error("write", self.path, error) from error
        self._end += len(data)

    def close(self) -> None:
        """Close; further calls do nothing."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _lock_for_writing(handle: int) -> None:
    """Take the lock of a file that is written from now on. Who looks just then whether it is being written
    (`is_being_written`) holds it for an instant, and must not take it from the writer for good."""
    for _ in range(_LOCK_TRIES):
        if try_lock(handle):
            return
        time.sleep(_LOCK_AGAIN_S)


def try_lock(handle: int, *, shared: bool = False) -> bool:
    """Take the advisory lock of an open file without waiting; False if another holds it (exclusively, if `shared`)."""
    try:
        import fcntl

        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except ImportError:
        return True
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True


def is_being_written(path: Path) -> bool:
    """Whether a living writer holds that file's lock."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not try_lock(handle, shared=True)
    finally:
        os.close(handle)
