"""Locust's rows per request: locust.contrib.csv_request_logger (since 2.44).

docs.locust.io, "locust.contrib.csv_request_logger": `timestamp` is when the request was sent, in s since 1970;
`response_time_ms` is empty where no answer came, which is an error and not 0 ms; `exception` is the text of what
failed, and may hold what was sent, so forms and tokens are cut from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from plimsoll.runs.importers.clock import moment
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.plain_numbers import real
from plimsoll.runs.importers.source import HIDES_QUEUEING, NO_GENERATOR, BadRecord, Format
from plimsoll.runs.importers.spill import Spill
from plimsoll.study.secrets.in_text import hide_in_text

NEEDED = ("timestamp", "name", "response_time_ms", "exception")
LONGEST_ERROR = 120
_MISSING = ("", "None", "nan", "NaN")
_FORM = re.compile(r"[\w.\-]+=[^\s&]*(?:&[\w.\-]+=[^\s&'\")]*)+")
_TOKEN = re.compile(r"\b(?=[\w\-.]*\d)[\w\-.]{24,}\b")


def looks_like(head: str) -> bool:
    """Whether its first line names the columns of the logger."""
    columns = [cell.strip() for cell in head.partition("\n")[0].split(",")]
    return columns[0] == "timestamp" and all(name in columns for name in NEEDED)


def read(file: SourceFile, into: Spill) -> None:
    """All requests into `into`."""
    rows = file.rows()
    header = [name.strip() for name in next(rows)]
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise file.error(
            BadRecord(f"the columns {', '.join(missing)} are missing", None, "Log it with Locust's logger.")
        )
    file.records(rows, _taker(header, into))
    file.notes.append("It does not say how many users there were, so it is of no level.")


def _taker(header: list[str], into: Spill) -> Callable[[list[str]], None]:
    place = {name: index for index, name in enumerate(header)}
    width = len(header)

    def cell(cells: list[str], name: str) -> str:
        return cells[place[name]].strip() if name in place else ""

    def take(cells: list[str]) -> None:
        if not cells:
            return
        if len(cells) != width:
            raise BadRecord(f"{len(cells)} columns instead of {width}")
        start_s = moment(cell(cells, "timestamp"), "timestamp")
        status, error = cell(cells, "status_code"), cell(cells, "exception")
        tags = _tags(cell(cells, "request_type"), cell(cells, "name"), status, error)
        took = cell(cells, "response_time_ms")
        if took in _MISSING:
            into.requests(int(start_s), 1, 1, tags)
            return
        try:
            ms, size = real(took), real(cell(cells, "response_length") or "0")
        except ValueError:
            raise BadRecord(f"{took!r} and {cell(cells, 'response_length')!r} are no ms and bytes") from None
        into.request(start_s, ms, tags, failed=bool(error), received_bytes=size)

    return take


def _tags(kind: str, name: str, status: str, error: str) -> tuple[tuple[str, str], ...]:
    tags = (("scenario", "default"), ("name", f"{kind} {name}".strip()), ("status", status or "0"))
    return (*tags, ("error", _without_content(error))) if error else tags


def _without_content(error: str) -> str:
    """The first line of an exception without forms, tokens and secrets, at most LONGEST_ERROR letters of it."""
    first = error.strip().splitlines()[0]
    return hide_in_text(_TOKEN.sub("***", _FORM.sub("***", first)))[:LONGEST_ERROR]


FORMAT = Format(
    name="locust-requests",
    title="Locust, rows per request",
    shape="samples",
    loop="closed",
    looks_like=looks_like,
    read=read,
    supports="counts, exact percentiles and errors per request and second",
    cannot=(HIDES_QUEUEING, NO_GENERATOR),
)
