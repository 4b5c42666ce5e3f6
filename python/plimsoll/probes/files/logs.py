"""Log files of the target on this host: how many lines of each kind a second, and the first line of each."""

from __future__ import annotations

import glob
import re
import stat
import time
from collections.abc import Sequence
from pathlib import Path

from plimsoll.probes.files.followed_file import FollowedFile, Identity, identity_of
from plimsoll.probes.files.log_patterns import BUILT_IN, Kind, kind_of, number_in
from plimsoll.probes.probe import Clock, Observation, ProbeUnavailable
from plimsoll.study.probes.logs import LogOptions
from plimsoll.study.secrets.redactor import Redactor
from plimsoll.words import size_words

MOST_FILES = 50
LOOK_FOR_FILES_EVERY_S = 5.0
LONGEST_SHOWN = 300
_PACKED = (".gz", ".xz", ".bz2", ".zst", ".zip")
_UNPRINTABLE = re.compile(r"[^\S ]|[\x00-\x1f\x7f-\x9f]")


class LogProbe:
    """Values of "logs:<label>": <kind>_per_s of each kind of line, 0 where none came; of kinds with a number in them
    <kind>_mean_ms and <kind>_max_ms (or without _ms); log_bytes_per_s, and log_skipped_bytes_per_s where more came than
    is read. Absent in the first call. The first line of each kind is noted, without secrets.

    Files that are there at the beginning are read from their end on, those that come later whole; one that was renamed
    is no other file. Made for Beside. ProbeUnavailable if no file can be read.
    """

    def __init__(
        self,
        options: LogOptions,
        directory: Path = Path(),
        redactor: Redactor | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self.source = f"logs:{options.label}"
        self._options, self._directory, self._clock = options, directory, clock
        self._redactor = redactor or Redactor()
        own = {name: kind_of(text) for name, text in options.patterns.items()}
        self._kinds = (dict(BUILT_IN) if options.built_in else {}) | own
        self._files: dict[str, FollowedFile] = {}
        self._renamed: list[FollowedFile] = []  # another file has their name, and their new one is not known
        self._old: set[Identity] = set()  # not read now; what they hold did not come since the beginning
        self._unreadable: dict[str, str] = {}
        self._looked_s: float | None = None
        self._before_s: float | None = None
        self._gone: set[str] = set()
        self._seen: set[str] = set()
        self._skipped = False
        self._notes: list[str] = []

    def take_notes(self) -> list[str]:
        """First lines, files that cannot be read, and that more came than is read."""
        notes, self._notes = self._notes, []
        return notes

    def close(self) -> None:
        """Close the files."""
        for file in (*self._renamed, *self._files.values()):
            file.close()

    def observe(self) -> Sequence[Observation]:
        """What came since the last call."""
        now = self._clock()
        self._part_renamed()
        looked = self._look_for_files(now)
        texts, skipped, size = self._read()
        if looked:
            self._leave_renamed()
        before, self._before_s = self._before_s, now
        if before is None or now <= before:
            return ()
        elapsed_s = now - before
        values = {"log_bytes_per_s": (size + skipped) / elapsed_s}
        if skipped:
            values["log_skipped_bytes_per_s"] = skipped / elapsed_s
            self._note_skipped(skipped, elapsed_s)
        for name, kind in self._kinds.items():
            values |= self._count(name, kind, texts, elapsed_s)
        return [Observation(self.source, values)]

    def _count(self, name: str, kind: Kind, texts: Sequence[tuple[str, str]], elapsed_s: float) -> dict[str, float]:
        lines = 0
        numbers: dict[str, list[float]] = {}
        for file, text in texts:
            for match, line in kind.matches(text):
                lines += 1
                number = number_in(match)
                if number is not None:
                    numbers.setdefault(number[0], []).append(number[1])
                if name not in self._seen:
                    self._seen.add(name)
                    self._notes.append(f"first line of {name} in {file}: {self._shown(line)}")
        values = {f"{name}_per_s": lines / elapsed_s}
        for unit, found in numbers.items():
            end = "_ms" if unit == "ms" else ""
            values |= {f"{name}_mean{end}": sum(found) / len(found), f"{name}_max{end}": max(found)}
        return values

    def _shown(self, line: str) -> str:
        """A line as a note: without secrets, at most 300 characters, nothing that a terminal would obey."""
        clean = self._redactor.text(_UNPRINTABLE.sub(" ", line[: 4 * LONGEST_SHOWN]).strip())
        return clean if len(clean) <= LONGEST_SHOWN else f"{clean[:LONGEST_SHOWN]}…"

    def _read(self) -> tuple[list[tuple[str, str]], int, int]:
        """(name, text) of each file with new lines, bytes skipped and read."""
        texts, skipped, size = [], 0, 0
        left = self._options.most_bytes_per_s
        for file in (*self._renamed, *self._files.values()):
            try:
                new, jumped = file.lines(left, to_end=file in self._renamed)
            except OSError as error:
                self._lost(str(file.path), error, file)
                continue
            left = max(4096, left - len(new))
            skipped, size = skipped + jumped, size + len(new)
            if new:
                texts.append((file.path.name, new.decode("utf-8", errors="replace")))
        return texts, skipped, size

    def _look_for_files(self, now: float) -> bool:
        """Whether it was time to look."""
        if self._looked_s is not None and now - self._looked_s < LOOK_FOR_FILES_EVERY_S and self._files:
            return False
        is_first, self._looked_s = self._looked_s is None, now
        self._leave_gone_files()
        for pattern in self._options.files:
            for path in sorted(glob.glob(str(self._directory / pattern))):
                if path not in self._files and not path.endswith(_PACKED):
                    self._follow(path, is_first)
        if not self._files and not self._renamed:
            reasons = "; ".join(self._unreadable.values()) or f"there is no file {', '.join(self._options.files)}"
            raise ProbeUnavailable(f"{reasons}. Correct `files`, or run as a user who may read them.")
        return True

    def _follow(self, path: str, is_first: bool = False) -> None:
        """Read what has that name: on from where it was left if it had another one, else whole, or from its end."""
        try:
            facts = Path(path).stat()
            identity = identity_of(facts)
            if not stat.S_ISREG(facts.st_mode):
                return
            known = next((one for one in (*self._renamed, *self._files.values()) if one.identity == identity), None)
            if known is not None:
                self._rename(known, path)
                return
            if is_first:
                self._old.add(identity)
            if len(self._files) >= MOST_FILES:
                self._tell_many()
                return
            self._files[path] = FollowedFile(Path(path), from_beginning=identity not in self._old)
            self._old.discard(identity)
            self._unreadable.pop(path, None)
        except FileNotFoundError:  # it went meanwhile
            return
        except OSError as error:
            self._lost(path, error)

    def _rename(self, file: FollowedFile, path: str) -> None:
        if file in self._renamed:
            self._renamed.remove(file)
        elif file.is_gone:
            del self._files[str(file.path)]
        else:  # a second name of a file that has its first one
            return
        file.path = Path(path)
        self._files[path] = file

    def _part_renamed(self) -> None:
        """Where another file has the name of one that is read, read both."""
        renamed = [path for path, file in self._files.items() if file.is_renamed]
        self._renamed += [self._files.pop(path) for path in renamed]
        for path in renamed:
            self._follow(path)

    def _leave_renamed(self) -> None:
        """Those whose new name is none of `files`."""
        for file in self._renamed:
            file.close()
        self._renamed.clear()

    def _leave_gone_files(self) -> None:
        """A file without its name for two looks is left; between two moves of a rotation it has none for a moment."""
        gone = {path for path, file in self._files.items() if file.is_gone}
        for path in gone & self._gone:
            self._files.pop(path).close()
            self._notes.append(f"{Path(path).name} is gone.")
        self._gone = gone

    def _lost(self, path: str, error: OSError, file: FollowedFile | None = None) -> None:
        words = f"{Path(path).name} cannot be read ({error.strerror or type(error).__name__})"
        if self._unreadable.get(path) != words:
            self._unreadable[path] = words
            self._notes.append(f"{words}.")
        if file is not None:
            self._old.add(file.identity)
            file.close()
            if file in self._renamed:
                self._renamed.remove(file)
            else:
                del self._files[path]

    def _tell_many(self) -> None:
        if "files" not in self._seen:
            self._seen.add("files")
            self._notes.append(f"`files` means more than {MOST_FILES} files; that many are read. Name fewer.")

    def _note_skipped(self, skipped: int, elapsed_s: float) -> None:
        if not self._skipped:
            self._skipped = True
            self._notes.append(
                f"more is logged than is read: {size_words(skipped / elapsed_s)}/s were skipped, and counts are too "
                "low by what was in them. Raise most_bytes_per_s, or log less."
            )
