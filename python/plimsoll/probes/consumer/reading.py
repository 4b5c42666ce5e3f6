"""One number of the target, read again and again: from JSON, a database, a log, a file's size, or a command.

    http://host/path#place      the number at `place` in a JSON document; `/path#place` below the target's URL
    sql:DSN QUERY               the first value of the query's first row (sqlite:///file.db, postgresql://user@host/db)
    log:FILE PATTERN            lines that match the regular expression since the first look: a file that is there is
                                read from its end on, one that comes later whole
    size:PATH                   bytes of a file, or of all files in a folder
    trs:URL                     change events of a tracked resource set (OSLC TRS) since the first look
    trs-base:URL                members of its base
    anything else               a shell command that prints the number last

`reading` raises InputError for what cannot be understood; a reading that fails is ProbeUnavailable: data, not a
failure.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

from plimsoll.errors import InputError
from plimsoll.probes.consumer.tracked_resources import BaseMembers, ChangeEvents, is_url
from plimsoll.probes.files.followed_file import LONGEST_LINE, Identity, identity_of
from plimsoll.probes.http.json_place import JsonPlace
from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.study.probes.patterns import compiled
from plimsoll.study.secrets.redactor import Redactor, redact

Reading = Callable[[], float]


@runtime_checkable
class Noting(Protocol):
    """A reading that has something to tell of what it reads."""

    def take_notes(self) -> list[str]:
        """What happened since the last call; then forgotten."""


class NotThereYet(ProbeUnavailable):
    """A log that does not exist yet: it counts from its first line on when it comes."""


LIMIT_S = 5.0
MOST_BYTES = 16 * 2**20
_LIMITS_OF_DRIVERS = {"pysqlite": "timeout", "psycopg": "connect_timeout", "psycopg2": "connect_timeout"}
FORMS = (
    "Write a URL of JSON with #place, sql:DSN QUERY, log:FILE PATTERN, size:PATH, trs:URL, or a command that prints a "
    "number."
)


def reading(text: str, *, url: str | None = None, directory: Path = Path(), key: str | None = None) -> Reading:
    """What reads the number that `text` describes; `url` is the target's, relative files lie in `directory`."""
    text = text.strip()
    if not text:
        raise InputError("nothing says where the number is", FORMS, key=key)
    if text.startswith(("http://", "https://")):
        return _JsonNumber(text)
    if re.fullmatch(r"/\S*", text) and url and not Path(text.partition("#")[0]).exists():
        return _JsonNumber(url.rstrip("/") + text)
    kind, _, rest = text.partition(":")
    if kind == "sql":
        dsn, _, query = rest.strip().partition(" ")
        if not query.strip():
            raise InputError("sql: has no query", "Write sql:DSN SELECT …, with a space between.", key=key)
        return _SqlNumber(dsn, query.strip())
    if kind == "log":
        name, _, pattern = rest.strip().partition(" ")
        try:
            return _MatchingLines(directory / name, compiled(pattern.strip() or "."))
        except re.error as error:
            raise InputError(
                f"log: the pattern {pattern!r} is no regular expression ({error})", FORMS, key=key
            ) from None
    if kind in ("trs", "trs-base"):
        address = rest.strip()
        if address.startswith("/") and url:
            address = url.rstrip("/") + address
        if not is_url(address):
            raise InputError(f"{kind}: {redact(address)!r} is no URL", f"Write {kind}:http://host/path.", key=key)
        return ChangeEvents(address) if kind == "trs" else BaseMembers(address)
    if kind == "size":
        return lambda: _size(directory / rest.strip())
    return lambda: _command(text, directory)


def number(value: Any, of: str) -> float:
    """A finite number, or ProbeUnavailable."""
    try:
        found = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found):
        raise ProbeUnavailable(f"{of} is no number: {str(value)[:80]!r}")
    return found


class _JsonNumber:
    def __init__(self, text: str) -> None:
        self._from = JsonPlace(text)

    def __call__(self) -> float:
        return number(self._from.value(), f"{self._from.place or 'the JSON'} of {self._from.url}")


class _SqlNumber:
    def __init__(self, dsn: str, query: str) -> None:
        self._dsn, self._query = re.sub(r"^postgres(ql)?://", "postgresql+psycopg://", dsn), query
        self._redactor = Redactor.for_data([dsn])
        self._engine: Any = None

    def __call__(self) -> float:
        import sqlalchemy

        try:
            if self._engine is None:
                limits = _connect_limits(sqlalchemy.make_url(self._dsn))
                self._engine = sqlalchemy.create_engine(self._dsn, pool_size=1, connect_args=limits)
            with self._engine.connect() as connection:
                if connection.dialect.name == "postgresql":  # not as an option of the connection: PgBouncer takes none
                    connection.exec_driver_sql(f"SET LOCAL statement_timeout = {round(1000 * LIMIT_S)}")
                row = connection.execute(sqlalchemy.text(self._query)).first()
        except Exception as error:  # of the driver, the dialect or the database: all mean that there is no number now
            first = (self._redactor.text(str(error)).strip().splitlines() or [type(error).__name__])[0]
            raise ProbeUnavailable(f"the query gave no number ({first[:200]})") from None
        return number(row[0] if row else None, "the first value of the query")


def _connect_limits(url: Any) -> dict[str, int]:
    """How long the driver of a DSN may take to connect, or wait for a lock (SQLite); nothing where the DSN says it."""
    name = _LIMITS_OF_DRIVERS.get(url.get_driver_name())
    return {name: round(LIMIT_S)} if name is not None and name not in url.query else {}


class _MatchingLines:
    def __init__(self, path: Path, pattern: re.Pattern[str]) -> None:
        self._path, self._pattern = path, pattern
        self._identity: Identity | None = None
        self._read_to: int | None = None  # not looked yet
        self._count = 0

    def __call__(self) -> float:
        try:
            with self._path.open("rb") as file:
                facts = os.fstat(file.fileno())
                before, self._identity = self._identity, identity_of(facts)
                if self._read_to is None:
                    self._read_to = _end_of_lines(file)
                elif facts.st_size < self._read_to or before != self._identity:  # cut, or another file
                    self._read_to = 0
                file.seek(self._read_to)
                text = file.read(MOST_BYTES)
        except OSError as error:
            is_missing = isinstance(error, FileNotFoundError)
            if is_missing and self._read_to is None:
                self._read_to = 0
            kind = NotThereYet if is_missing else ProbeUnavailable
            raise kind(f"{self._path} cannot be read ({error.strerror or error})") from None
        whole = text[: text.rfind(b"\n") + 1]
        self._read_to += len(whole)
        self._count += sum(1 for line in whole.decode("utf-8", "replace").splitlines() if self._pattern.search(line))
        return float(self._count)


def _end_of_lines(file: BinaryIO) -> int:
    """Where the last line begins that is not finished, if it is none of endless length; else the end."""
    size = file.seek(0, os.SEEK_END)
    begin = file.seek(max(0, size - LONGEST_LINE))
    end = file.read(size - begin).rfind(b"\n") + 1
    return begin + end if end or begin == 0 else size


def _size(path: Path) -> float:
    try:
        if path.is_file():
            return float(path.stat().st_size)
        if path.is_dir():
            return float(sum(_bytes_of(Path(folder) / name) for folder, _, names in os.walk(path) for name in names))
    except OSError as error:
        raise ProbeUnavailable(f"{path} cannot be read ({error.strerror or error})") from None
    raise ProbeUnavailable(f"there is no {path}")


def _bytes_of(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:  # it went while the folder was read
        return 0


def _command(text: str, directory: Path) -> float:
    redactor = Redactor.for_data(text, environment=os.environ)
    shown = f"the command {redactor.command(text)[:60]!r}"
    try:
        done = subprocess.run(
            text, shell=True, cwd=directory, capture_output=True, text=True, timeout=LIMIT_S, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ProbeUnavailable(f"{shown} did not end within {LIMIT_S:g} s") from None
    except OSError as error:
        raise ProbeUnavailable(f"{shown} cannot run ({error})") from None
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no output"]
        raise ProbeUnavailable(f"{shown} ended with {done.returncode}: {redactor.text(last[0])[:200]}")
    lines = done.stdout.strip().splitlines()
    return number(lines[-1].strip() if lines else "", "what the command printed last")
