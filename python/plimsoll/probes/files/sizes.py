"""The size of the target's data on disk: a file, SQLite's with its write-ahead log, or a folder with all below it.

What a folder holds is counted in allocated blocks, once for each inode, as du does; links are not followed. A large
folder is counted less often, so that counting takes at most COST_SHARE of a core; between two counts there is no row.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Sequence
from pathlib import Path

from plimsoll.probes.probe import Clock, Observation, ProbeUnavailable
from plimsoll.probes.processes.resting import Rest
from plimsoll.probes.told_notes import ToldNotes
from plimsoll.study.probes.files import FilesOptions

COST_SHARE = 0.005
MOST_FILES = 1_000_000
_BLOCK = 512
_WAL = "-wal"


class FilesProbe(ToldNotes):
    """Values of "files:<label>": size_bytes (allocated on disk) and files (count); of a file with a write-ahead log
    beside it wal_bytes, which size_bytes includes. Made for Beside. ProbeUnavailable if the path is gone."""

    def __init__(
        self,
        options: FilesOptions,
        directory: Path = Path(),
        clock: Clock = time.monotonic,
        cpu_clock: Clock = time.thread_time,
    ) -> None:
        super().__init__()
        self.source = f"files:{options.label}"
        self._path = str(directory / options.path)
        self._rest = Rest(COST_SHARE, clock, cpu_clock)

    def observe(self) -> Sequence[Observation]:
        """The size now; nothing where it was counted a moment ago at some cost."""
        if not self._rest.is_over():
            return ()
        values = self._measure()
        self._rest.begin()
        return [Observation(self.source, values)]

    def _measure(self) -> dict[str, float]:
        try:
            about = os.stat(self._path)
        except OSError as error:
            raise ProbeUnavailable(
                f"{self._path} cannot be read ({error.strerror}). Correct `path`, or run as a user who may read it."
            ) from None
        if stat.S_ISDIR(about.st_mode):
            size, files = self._folder()
            return {"size_bytes": float(size), "files": float(files)}
        size = about.st_blocks * _BLOCK
        try:
            wal = os.stat(self._path + _WAL)
        except OSError:
            return {"size_bytes": float(size), "files": 1.0}
        wal_size = wal.st_blocks * _BLOCK
        return {"size_bytes": float(size + wal_size), "files": 2.0, "wal_bytes": float(wal_size)}

    def _folder(self) -> tuple[int, int]:
        """(bytes, files) of it and all below."""
        size, files, seen, waiting = 0, 0, set[tuple[int, int]](), [self._path]
        while waiting:
            folder = waiting.pop()
            try:
                entries = list(os.scandir(folder))
            except OSError as error:
                self._tell_once(folder, f"{folder} cannot be read ({error.strerror}); what is below it is not counted.")
                continue
            for entry in entries:
                try:
                    about = entry.stat(follow_symlinks=False)
                except OSError:  # deleted in between
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif (about.st_dev, about.st_ino) not in seen:
                    if about.st_nlink > 1:
                        seen.add((about.st_dev, about.st_ino))
                    files += 1
                    size += about.st_blocks * _BLOCK
                if files >= MOST_FILES:
                    self._tell_once("many", f"{self._path} has more than {MOST_FILES:,} files; that many are counted.")
                    return size, files
        return size, files
