"""JMeter's results (JTL) as CSV: one line a sample, the columns named in the first line.

jmeter.apache.org/usermanual/listeners.html, "CSV Log format". `timeStamp` is the start of the sample, which JMeter's
own jmeter.properties sets (sampleresult.timestamp.start=true). Lines of transaction controllers repeat the time of
their samples; they are iterations here, not requests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from plimsoll.runs.importers.clock import milliseconds
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.plain_numbers import real
from plimsoll.runs.importers.source import LOOP_UNKNOWN, NO_ARRIVAL_TIMES, NO_GENERATOR, BadRecord, Format
from plimsoll.runs.importers.spill import Key, Spill

# Files from here on are read in columns, which pays for loading Arrow.
LARGE_BYTES, LARGE_PACKED_BYTES = 16 << 20, 1 << 20
NEEDED = ("timeStamp", "elapsed", "label", "success")
TRANSACTION = "Number of samples in transaction"
_THREAD = re.compile(r" \d+-\d+$")
_WITHOUT_NAMES = re.compile(r"\d{13}([,;\t|])\d+\1.*\1(?:true|false)\1")
NAMES_MISSING = "this is what JMeter writes as CSV, without the line that names its columns"
NAMES_STEP = (
    "Put that line at its top, with a name for each column. JMeter's defaults are timeStamp,elapsed,label,responseCode,"
    "responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,"
    "IdleTime,Connect (jmeter.save.saveservice.print_field_names=true writes it)."
)


def looks_like(head: str) -> bool:
    """Whether the first line names JMeter's columns."""
    first = head.partition("\n")[0]
    return all(name in first for name in ("timeStamp", "elapsed", "label")) and not first.startswith("<")


def lacks_names(head: str) -> bool:
    """Whether its first line is a sample in the order of JMeter's columns."""
    return _WITHOUT_NAMES.match(head.partition("\n")[0]) is not None


def check_one(count: str) -> None:
    """BadRecord for a line of JMeter's Statistical mode: it holds the sum of the times of several samples, of up to a
    minute."""
    if count not in ("", "1"):
        what = f"this line holds {count[:20]} samples in one, so it has the time of none of them"
        raise BadRecord(what, "SampleCount", "Run JMeter with mode=StrippedBatch instead of mode=Statistical.")


def read(file: SourceFile, into: Spill) -> None:
    """All samples into `into`."""
    with_head = file.head().decode("utf-8-sig", errors="replace").partition("\n")[0]
    delimiter = max(",;\t|", key=with_head.count)
    header = [name.strip() for name in next(file.rows(delimiter))]
    missing = [name for name in NEEDED if name not in header]
    if missing:
        step = "Save it with jmeter.save.saveservice's defaults: timestamp, time, label and success are needed."
        raise file.error(BadRecord(f"the columns {', '.join(missing)} are missing", None, step))
    if not _in_columns(file, header, delimiter, into):
        file.records(_lines(file, delimiter), _taker(header, into))
    if into.iterations and not into.samples:
        file.records(_lines(file, delimiter), _taker(header, into, parents=True))
        file.notes.append("It has transactions only, without their samples; each counts as one request.")
    if into.level_sources > 1:
        hosts = f"{into.level_sources} hosts"
        file.notes.append(f"Threads of {hosts} are added up: allThreads counts those of one host each.")


def _lines(file: SourceFile, delimiter: str) -> Iterator[list[str]]:
    """The lines after the first."""
    rows = file.rows(delimiter)
    next(rows)
    return rows


def _in_columns(file: SourceFile, header: list[str], delimiter: str, into: Spill) -> bool:
    """Whether a large file could be read in columns; if not, nothing is in `into`."""
    if file.size_bytes < (LARGE_PACKED_BYTES if file.is_packed else LARGE_BYTES):
        return False
    from plimsoll.runs.importers.jmeter.jtl_columns import Irregular, Meaning, read_columns

    try:
        read_columns(file, header, delimiter, into, Meaning(_group_of, _is_transaction, _key))
        return True
    except Irregular:
        into.clear()
        return False


def _group_of(thread: str) -> str:
    """ "Shop" of the thread "Shop 1-17"."""
    return _THREAD.sub("", thread)


def _is_transaction(message: str) -> bool:
    return message.startswith(TRANSACTION)


def _key(group: str, label: str, code: str, transaction: bool, failed: bool) -> Key:
    """What a line is, by what its texts mean."""
    if transaction:
        return "iteration", (("scenario", label),), False
    return "request", tags_of(group, label, code), failed


def _taker(header: list[str], into: Spill, parents: bool = False) -> Callable[[list[str]], None]:
    """`parents`: lines of transactions are the requests, and counted as iterations already."""
    place = {name: index for index, name in enumerate(header)}
    at, took, label, success = (place[name] for name in NEEDED)
    code, message, thread = place.get("responseCode"), place.get("responseMessage"), place.get("threadName")
    size, users, host = place.get("bytes"), place.get("allThreads"), place.get("Hostname")
    several = place.get("SampleCount")
    width = len(header)
    known: dict[tuple[str, str, str], tuple[tuple[str, str], ...]] = {}

    def take(row: list[str]) -> None:
        if len(row) != width:
            if not row:
                return
            raise BadRecord(f"{len(row)} columns instead of {width}")
        start_s = milliseconds(row[at], "timeStamp")
        try:
            ms = real(row[took])
        except ValueError:
            raise BadRecord(f"{row[took]!r} is no number of ms", "elapsed") from None
        word = row[success].lower()  # spreadsheets write TRUE, which JMeter reads too
        if word not in ("true", "false"):
            raise BadRecord(f"{row[success]!r} is neither true nor false", "success")
        if several is not None:
            check_one(row[several])
        group = _group_of(row[thread]) if thread is not None else "default"
        if not parents and message is not None and _is_transaction(row[message]):
            into.iteration(start_s + ms / 1000, ms, (("scenario", row[label]),))
            return
        status = row[code] if code is not None else ""
        tags = known.get((group, row[label], status))
        if tags is None:
            tags = tags_of(group, row[label], status)
            if len(known) < 10_000:
                known[group, row[label], status] = tags
        into.request(start_s, ms, tags, word == "false", _number(row, size))
        if users is not None and row[users]:
            into.level(start_s + ms / 1000, _number(row, users), row[host] if host is not None else "")

    return take


def tags_of(group: str, label: str, status: str) -> tuple[tuple[str, str], ...]:
    """Tags of a request as our own runs have them; a code that is no HTTP status is the error."""
    if status.isdigit():
        return (("scenario", group), ("name", label), ("status", status))
    error = (("error", status[:200]),) if status else ()
    return (("scenario", group), ("name", label), ("status", "0"), *error)


def _number(row: list[str], place: int | None) -> float:
    try:
        return real(row[place]) if place is not None else 0.0
    except ValueError:
        return 0.0


FORMAT = Format(
    name="jmeter-csv",
    title="JMeter, JTL as CSV",
    shape="samples",
    loop="unknown",
    looks_like=looks_like,
    read=read,
    supports="counts, times and errors per label and second; levels from allThreads",
    cannot=(LOOP_UNKNOWN, NO_ARRIVAL_TIMES, NO_GENERATOR),
)
