"""Gatling's simulation.log up to 3.9: tab-separated lines RUN, USER, REQUEST, GROUP, ERROR.

The columns moved between versions; a request's are found from its status: …, groups, name, start, end, OK or KO,
message (gatling-charts, LogFileReader). Times are ms since 1970. Groups are iterations here.
"""

from __future__ import annotations

from plimsoll.runs.importers.clock import milliseconds
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import LOOP_UNKNOWN, NO_ARRIVAL_TIMES, NO_GENERATOR, BadRecord, Format
from plimsoll.runs.importers.spill import Spill

CANNOT = (LOOP_UNKNOWN, NO_ARRIVAL_TIMES, "It has no HTTP status of requests, only OK and KO.", NO_GENERATOR)


def looks_like(head: str) -> bool:
    """Whether its first line is a RUN, or a USER or REQUEST of a log cut at its start."""
    first = head.partition("\n")[0]
    return "\t" in first and first.split("\t")[0] in ("RUN", "USER", "REQUEST", "ASSERTION")


def read(file: SourceFile, into: Spill) -> None:
    """All requests, groups and users into `into`."""
    users = 0

    def take(line: str) -> None:
        nonlocal users
        cells = line.rstrip("\r\n").split("\t")
        if cells[0] == "REQUEST":
            _request(cells, into)
        elif cells[0] == "USER":
            users = _user(cells, users, into)
        elif cells[0] == "GROUP":
            _group(cells, into)
        elif cells[0] not in ("RUN", "ERROR", "ASSERTION", ""):
            raise BadRecord(f"a line begins with {cells[0][:20]!r}, which Gatling does not write")

    file.records(file.text(), take)


def _status_place(cells: list[str]) -> int:
    place = next((i for i, cell in enumerate(cells) if cell in ("OK", "KO") and cells[i - 1].isdigit()), 0)
    if place < 4:
        raise BadRecord("the request has no OK or KO behind its times")
    return place


def _request(cells: list[str], into: Spill) -> None:
    at = _status_place(cells)
    start_s, end_s = milliseconds(cells[at - 2], "start"), milliseconds(cells[at - 1], "end")
    message = cells[at + 1].strip() if len(cells) > at + 1 else ""
    put_request(into, start_s, end_s, cells[at - 3], cells[at - 4], cells[at] == "OK", message)


def put_request(into: Spill, start_s: float, end_s: float, name: str, groups: str, ok: bool, message: str) -> None:
    """One request, of the text or the binary log."""
    tags = (("scenario", groups.split(",")[0] or "default"), ("name", name))
    error = () if ok else (("status", "0"), ("error", message[:200] or "KO"))
    into.request(start_s, 1000 * (end_s - start_s), (*tags, *error), not ok)


def _user(cells: list[str], users: int, into: Spill) -> int:
    place = next((i for i, cell in enumerate(cells) if cell in ("START", "END")), None)
    times = [cell for cell in cells[(place or 0) + 1 :] if cell.isdigit() and cell != "0"]
    if place is None or not times:
        raise BadRecord("a USER without START or END and its time")
    users = max(0, users + (1 if cells[place] == "START" else -1))
    into.level(milliseconds(times[0] if cells[place] == "START" else times[-1], "time"), users)
    return users


def _group(cells: list[str], into: Spill) -> None:
    numbers = [i for i, cell in enumerate(cells) if len(cell) == 13 and cell.isdigit()]
    if len(numbers) < 2:
        raise BadRecord("a GROUP without its start and end")
    start_s, end_s = milliseconds(cells[numbers[0]], "start"), milliseconds(cells[numbers[1]], "end")
    into.iteration(end_s, 1000 * (end_s - start_s), (("scenario", cells[numbers[0] - 1] or "group"),))


FORMAT = Format(
    name="gatling",
    title="Gatling up to 3.9, simulation.log",
    shape="samples",
    loop="unknown",
    looks_like=looks_like,
    read=read,
    supports="counts, times and errors per request and second; levels from users that start and end",
    cannot=CANNOT,
)
