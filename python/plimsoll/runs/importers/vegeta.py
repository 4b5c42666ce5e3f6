"""vegeta's results, one a line: `vegeta encode` (JSON) and `vegeta encode -to csv`.

github.com/tsenart/vegeta, lib/results.go. vegeta sends at a rate whatever the target does, so work that piles up shows.
It succeeded if the code is 200 to 399 and there is no error, as vegeta counts success.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from plimsoll.runs.format import quick_json
from plimsoll.runs.importers.clock import moment
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.plain_numbers import integer
from plimsoll.runs.importers.source import NO_GENERATOR, BadRecord, Format
from plimsoll.runs.importers.spill import Spill

NS_PER_MS = 1e6
STAMPED_LATE = (
    "vegeta stamps the start when a worker takes a request, not when it was due. With too few workers (-max-workers) "
    "its own backlog is not in these times."
)
_CSV_COLUMNS = 12


def looks_like_json(head: str) -> bool:
    """Whether its first line is a result."""
    first = head.lstrip().partition("\n")[0]
    return first.startswith("{") and all(f'"{key}":' in first for key in ("timestamp", "latency", "code", "attack"))


def looks_like_csv(head: str) -> bool:
    """Whether its first line has vegeta's columns: ns since 1970, code, ns, bytes, bytes, …"""
    cells = head.partition("\n")[0].split(",")
    return len(cells) >= 9 and len(cells[0]) == 19 and all(cell.isdigit() for cell in cells[:5])


def read_json(file: SourceFile, into: Spill) -> None:
    """All results into `into`."""

    def take(line: str) -> None:
        if not line.strip():
            return
        try:
            data = quick_json.loads(line)
            at, latency, code = str(data["timestamp"]), data["latency"], int(data["code"])
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise BadRecord(f"this is no result of vegeta ({type(error).__name__}: {error})") from None
        _put(into, moment(at, "timestamp"), latency, code, data)

    file.records(file.text(), take)


def read_csv(file: SourceFile, into: Spill) -> None:
    """All results into `into`."""

    def take(cells: list[str]) -> None:
        if not cells:
            return
        if len(cells) < 9:
            raise BadRecord(f"{len(cells)} columns instead of {_CSV_COLUMNS}")
        try:
            at, code, latency, size = integer(cells[0]) / 1e9, *(integer(cells[place]) for place in (1, 2, 4))
        except ValueError as error:
            raise BadRecord(f"this is no result of vegeta ({error})") from None
        data = {"error": cells[5], "attack": cells[7], "bytes_in": size}
        if len(cells) > 10:
            data |= {"method": cells[9], "url": cells[10]}
        _put(into, moment(str(at), "timestamp"), latency, code, data)

    file.records(file.rows(), take)


def _put(into: Spill, start_s: float, latency: Any, code: int, data: dict[str, Any]) -> None:
    size = data.get("bytes_in")
    for value, unit, key in ((latency, "ns", "latency"), (0 if size is None else size, "bytes", "bytes_in")):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadRecord(f"{value!r} is no number of {unit}", key)
    try:
        path = urlsplit(str(data.get("url") or "")).path
    except ValueError as problem:
        raise BadRecord(f"{data.get('url')!r} is no URL ({problem})", "url") from None
    name = f"{data.get('method') or 'GET'} {path or '/'}"
    error = str(data.get("error") or "")
    tags = [("scenario", str(data.get("attack") or "default")), ("name", name), ("status", str(code))]
    tags += [("error", error[:200])] if error and code == 0 else []
    failed = bool(error) or not 200 <= code < 400
    into.request(start_s, latency / NS_PER_MS, tuple(tags), failed, float(size or 0))


JSON = Format(
    name="vegeta-json",
    title="vegeta, results as JSON lines",
    shape="samples",
    loop="open",
    looks_like=looks_like_json,
    read=read_json,
    supports="counts, times and errors per request and second; whether work piled up",
    cannot=(STAMPED_LATE, NO_GENERATOR),
)
CSV = Format(
    name="vegeta-csv",
    title="vegeta, results as CSV",
    shape="samples",
    loop="open",
    looks_like=looks_like_csv,
    read=read_csv,
    supports="as vegeta-json",
    cannot=(STAMPED_LATE, NO_GENERATOR),
)
