"""An access log, line by line: plain or gzip (by its bytes, not its name), `-` for standard input. It is never held
whole, so its size does not matter."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO

from plimsoll.drafts.logs.log_lines import FORMATS, LoggedRequest, has_no_time, parse_line
from plimsoll.errors import InputError
from plimsoll.plain_text import plain
from plimsoll.words import count_words

LEAST_UNDERSTOOD = 0.5  # of the lines; below, the format is another one
LONGEST_LINE = 1 << 16  # characters; servers cut requests at 8 KiB
_GZIP = b"\x1f\x8b"
_SHOWN = 100
_HTTP = " HTTP/"
_WITH_TIME = (
    "Have it log the time in front (uvicorn: --log-config; in a container: docker logs --timestamps), or give the log "
    "of the proxy before it."
)


@dataclass
class Reading:
    """How many lines were read, and which was the first that was not understood."""

    lines: int = 0
    unknown: int = 0
    first_unknown: tuple[str, int, str] | None = None  # file, line, text; of a request, where there is such a line
    cut_short: list[str] = field(default_factory=list)

    def first_unknown_words(self) -> str:
        """Place and beginning of that line."""
        assert self.first_unknown is not None
        file, line, text = self.first_unknown
        shown = plain(text.strip())
        return f"{file}:{line}: {shown if len(shown) <= _SHOWN else f'{shown[:_SHOWN]}…'}"

    def check(self) -> None:
        """Raises InputError where the files are empty or mostly of another format."""
        if self.lines == 0:
            raise InputError("the access log has no lines", "Give a log of at least some minutes of use.")
        if self.unknown > (1 - LEAST_UNDERSTOOD) * self.lines:
            what = (
                f"{count_words(self.unknown)} of {count_words(self.lines)} lines are not understood, as "
                f"{self.first_unknown_words()}"
            )
            if self.first_unknown is not None and has_no_time(self.first_unknown[2]):
                raise InputError(f"{what}: they have no time, so that no rates can be told", _WITH_TIME)
            raise InputError(what, f"These formats are read: {FORMATS}.")


def requests_of(paths: Iterable[str | Path], reading: Reading) -> Iterator[LoggedRequest]:
    """The requests of the files, in their order; `reading` counts. InputError for files that cannot be read."""
    for path in paths:
        name = "standard input" if str(path) == "-" else str(path)
        for at, line in enumerate(_lines(path, name, reading), 1):
            if not line.strip():
                continue
            reading.lines += 1
            found = parse_line(line)
            if found is not None:
                yield found
                continue
            reading.unknown += 1
            shown = reading.first_unknown
            if shown is None or (_HTTP in line and _HTTP not in shown[2]):
                reading.first_unknown = (name, at, line)


def _lines(path: str | Path, name: str, reading: Reading) -> Iterator[str]:
    try:
        with _opened(path) as file:
            while line := file.readline(LONGEST_LINE):
                if not line.endswith("\n") and len(line) == LONGEST_LINE:
                    _skip_rest(file)
                yield line.rstrip("\r\n")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        if reading.lines == 0:
            raise InputError(f"{name} is no whole gzip file ({error})", "Give it again, or unpacked.") from None
        reading.cut_short.append(name)
    except OSError as error:
        raise InputError(f"{name} cannot be read ({error.strerror or error})", "Give a log that can be read.") from None


def _skip_rest(file: IO[str]) -> None:
    while (more := file.readline(LONGEST_LINE)) and not more.endswith("\n"):
        pass


@contextmanager
def _opened(path: str | Path) -> Iterator[IO[str]]:
    """As text, unpacked where its first bytes are those of gzip."""
    with ExitStack() as held:
        if str(path) == "-":
            raw: BinaryIO = sys.stdin.buffer
        else:
            raw = held.enter_context(Path(path).open("rb"))
        buffered = io.BufferedReader(raw, 1 << 20) if isinstance(raw, io.RawIOBase) else raw
        is_packed = buffered.peek(2)[:2] == _GZIP  # type: ignore[attr-defined]
        unpacked = gzip.GzipFile(fileobj=buffered) if is_packed else buffered
        text = io.TextIOWrapper(unpacked, "utf-8", "replace", newline="\n")  # type: ignore[arg-type]
        try:
            yield text
        finally:
            text.detach()
