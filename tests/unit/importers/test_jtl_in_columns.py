"""A large JTL is read in columns, which says the same as line by line: seconds, counts, levels, notes and mistakes."""

from __future__ import annotations

import csv
import gzip
import io
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from importing import Imported, imported

from plimsoll.errors import InputError
from plimsoll.runs.importers import spill
from plimsoll.runs.importers.clock import milliseconds
from plimsoll.runs.importers.date_column import DateColumn
from plimsoll.runs.importers.jmeter import jtl_columns, jtl_csv
from plimsoll.runs.importers.lines import SourceFile

COLUMNS = [
    *("timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType", "success"),
    *("failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "URL", "Latency", "IdleTime", "Connect"),
    "Hostname",
]
T0_MS = 1_790_000_000_000
DATES: dict[str, Callable[[datetime], str]] = {
    "JMeter with ms": lambda at: f"{at:%Y/%m/%d %H:%M:%S}.{at.microsecond // 1000:03}",
    "JMeter without ms": lambda at: f"{at:%Y/%m/%d %H:%M:%S}",
    "day first": lambda at: f"{at:%d/%m/%Y %H:%M:%S}",
    "month first": lambda at: f"{at:%m/%d/%y %H:%M:%S}",
    "ISO": lambda at: f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}",
    "ISO, UTC": lambda at: f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z",
    "ISO, whole seconds, UTC": lambda at: f"{at:%Y-%m-%d %H:%M:%S}Z",
    "ISO, another zone": lambda at: at.astimezone(timezone(timedelta(hours=-5, minutes=-30))).isoformat(),
    "Java's zone": lambda at: (
        f"{at.astimezone(timezone(timedelta(hours=1))):%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}+0100"
    ),
    "comma": lambda at: f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03}",
    "unpadded": lambda at: f"{at.year}/{at.month}/{at.day} {at.hour}:{at.minute}:{at.second}.{at.microsecond // 1000}",
    "ns": lambda at: f"{at:%Y-%m-%dT%H:%M:%S.%f}789Z",
    "spaces around": lambda at: f" {at:%Y/%m/%d %H:%M:%S.%f} ",
}


def row_of(draw: random.Random, hosts: int) -> dict[str, Any]:
    """A line in any order of time: a request, a transaction now and then, odd names, empty cells where they may be."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS, 0)
    number = draw.randrange(5)
    row |= {
        "timeStamp": T0_MS + draw.randrange(60_000),
        "elapsed": draw.choice([0, 7, draw.randrange(900), f"{draw.random() * 50:.3f}"]),
        "label": draw.choice(["home", 'größe, "quoted"', "two\nlines", f"item {number}"]),
        "responseCode": draw.choice(["200", "200", "503", "Non HTTP response code: X", ""]),
        "responseMessage": draw.choice(["OK", "OK", "Number of samples in transaction : 2, failing : 0"]),
        "threadName": f"{draw.choice(['Shop', 'Admin'])} {draw.randrange(1, 3)}-{draw.randrange(1, 400)}",
        "success": draw.choice(["true", "true", "true", "false"]),
        "failureMessage": draw.choice(["", 'a, "b"\nc']),
        "bytes": draw.choice([0, 1234, ""]),
        "allThreads": draw.choice([draw.randrange(400), ""]),
        "Hostname": f"host{draw.randrange(hosts)}",
    }
    return row


def jtl(rows: list[dict[str, Any]], columns: list[str] = COLUMNS, delimiter: str = ",") -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, delimiter=delimiter, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def told(found: Imported) -> tuple[Any, ...]:
    """All that a file gave."""
    counts = found.spill
    numbers = (counts.samples, counts.failed, counts.iterations, counts.first_s, counts.last_s, counts.merged_tag_sets)
    return found.snapshots, found.notes, numbers


def both(file: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Imported, Imported]:
    """Line by line, and in columns alone."""
    slow = imported(file)
    with monkeypatch.context() as patched:
        patched.setattr(jtl_csv, "LARGE_BYTES", 0)
        patched.setattr(jtl_csv, "LARGE_PACKED_BYTES", 0)
        patched.setattr(SourceFile, "records", lambda *_: pytest.fail("it was read line by line"))
        patched.setattr(jtl_columns, "BLOCK_BYTES", 40_000)
        return slow, imported(file)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_both_ways_of_reading_say_the_same(
    tmp_path: Path, seed: int, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    data = jtl([row_of(draw, hosts=1 + seed % 3) for _ in range(3000)])
    file = tmp_path / "r.jtl"
    file.write_bytes(gzip.compress(data) if packed else data)
    slow, fast = both(file, monkeypatch)
    assert slow.snapshots and told(fast) == told(slow)


@pytest.mark.parametrize(
    ("leave_out", "delimiter"),
    [
        (("Hostname",), ";"),
        (("allThreads", "bytes", "responseCode"), "\t"),
        (("threadName", "responseMessage", "dataType"), "|"),
    ],
)
def test_columns_that_are_not_saved_are_not_needed(
    tmp_path: Path, leave_out: tuple[str, ...], delimiter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(9)
    columns = [name for name in COLUMNS if name not in leave_out]
    (tmp_path / "r.jtl").write_bytes(jtl([row_of(draw, 2) for _ in range(500)], columns, delimiter))
    slow, fast = both(tmp_path / "r.jtl", monkeypatch)
    assert told(fast) == told(slow)


def test_names_past_the_limit_merge_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "MOST_TAG_SETS", 30)
    draw = random.Random(2)
    rows = [row_of(draw, 1) | {"label": f"item {draw.randrange(200)}"} for _ in range(2000)]
    (tmp_path / "r.jtl").write_bytes(jtl(rows))
    slow, fast = both(tmp_path / "r.jtl", monkeypatch)
    assert told(fast)[:2] == told(slow)[:2] and bool(fast.spill.merged_tag_sets) and bool(slow.spill.merged_tag_sets)


@pytest.mark.parametrize(
    "change",
    [
        {"timeStamp": "2026/11/22 05:14:00"},
        {"timeStamp": ""},
        {"timeStamp": "17"},
        {"timeStamp": T0_MS + 8 * 86_400_000},
        {"elapsed": "fast"},
        {"elapsed": ""},
        {"elapsed": "nan"},
        {"elapsed": -5},
        {"elapsed": 1e12},
        {"success": "yes"},
        {"success": ""},
        {"bytes": "many"},
        {"allThreads": "-3"},
        {"allThreads": "inf"},
        {"label": b"\xff".decode("latin-1")},
    ],
)
def test_what_is_not_as_jmeter_writes_it_is_judged_line_by_line(
    tmp_path: Path, change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(5)
    rows = [row_of(draw, 1) for _ in range(400)]
    rows[300] |= change
    data = jtl(rows)
    if "label" in change:
        data = data.replace("ÿ".encode(), b"\xff")
    (tmp_path / "r.jtl").write_bytes(data)

    def outcome() -> Any:
        try:
            return told(imported(tmp_path / "r.jtl"))
        except InputError as error:
            return str(error)

    slow = outcome()
    monkeypatch.setattr(jtl_csv, "LARGE_BYTES", 0)
    assert outcome() == slow


@pytest.mark.parametrize("cut", [1, 30, 2_000])
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_was_cut_is_used_up_to_there(
    tmp_path: Path, cut: int, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(6)
    data = jtl([row_of(draw, 1) for _ in range(800)])
    (tmp_path / "r.jtl").write_bytes(gzip.compress(data)[:-cut] if packed else data[:-cut])
    slow = imported(tmp_path / "r.jtl")
    monkeypatch.setattr(jtl_csv, "LARGE_BYTES", 0)
    monkeypatch.setattr(jtl_csv, "LARGE_PACKED_BYTES", 0)
    assert told(imported(tmp_path / "r.jtl")) == told(slow)


def with_dates(rows: list[dict[str, Any]], date: Callable[[int], str]) -> list[dict[str, Any]]:
    """The same lines, their times as `date` writes the ms."""
    return [row | {"timeStamp": date(row["timeStamp"])} for row in rows]


def moment_of(ms: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=ms)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("layout", DATES)
def test_dates_are_read_in_columns_as_line_by_line(
    tmp_path: Path, layout: str, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(layout)
    rows = [row_of(draw, hosts=2) for _ in range(1500)]
    data = jtl(with_dates(rows, lambda ms: DATES[layout](moment_of(ms))))
    (tmp_path / "r.jtl").write_bytes(gzip.compress(data) if packed else data)
    slow, fast = both(tmp_path / "r.jtl", monkeypatch)
    assert slow.snapshots and told(fast) == told(slow)


def test_dates_are_the_times_that_they_were_written_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(10)
    rows = [row_of(draw, hosts=1) for _ in range(1500)]
    (tmp_path / "ms.jtl").write_bytes(jtl(rows))
    (tmp_path / "r.jtl").write_bytes(jtl(with_dates(rows, lambda ms: DATES["JMeter with ms"](moment_of(ms)))))
    as_ms, (_, as_dates) = imported(tmp_path / "ms.jtl"), both(tmp_path / "r.jtl", monkeypatch)
    assert told(as_dates) == told(as_ms)


def test_dates_of_several_forms_and_ms_are_read_in_columns_where_a_date_is_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(11)
    forms: list[Callable[[int], str]] = [lambda ms, form=form: form(moment_of(ms)) for form in DATES.values()]
    forms += [str, lambda ms: f"{ms / 1000:.3f}"]
    rows = [row_of(draw, hosts=1) for _ in range(1500)]
    rows = with_dates(rows[:1], forms[0]) + with_dates(rows[1:], lambda ms: draw.choice(forms)(ms))
    (tmp_path / "r.jtl").write_bytes(jtl(rows))
    slow, fast = both(tmp_path / "r.jtl", monkeypatch)
    assert slow.snapshots and told(fast) == told(slow)


@pytest.mark.parametrize(
    "text",
    [
        *("", "yesterday", "2026/13/22 05:14:00.123", "2026/11/22 25:14:00.123", "2026/11/22 05:14:60.123"),
        *("22/11/2026 05:14:00.123", "1.79E+12", "1970/01/01 00:00:00.000", "2126/11/22 05:14:00.123", "17"),
        *("2026/11/22 05:14:00.", "2026-11-22T24:00:00.123", "2026/11/30 05:14:00.123"),
    ],
)
def test_a_wrong_date_among_others_has_its_line(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(12)
    dates = with_dates([row_of(draw, 1) for _ in range(400)], lambda ms: DATES["JMeter with ms"](moment_of(ms)))
    rows = [row | {"label": "home", "failureMessage": ""} for row in dates]
    rows[300]["timeStamp"] = text
    (tmp_path / "r.jtl").write_bytes(jtl(rows))
    with pytest.raises(InputError) as slow:
        imported(tmp_path / "r.jtl")
    monkeypatch.setattr(jtl_csv, "LARGE_BYTES", 0)
    with pytest.raises(InputError) as fast:
        imported(tmp_path / "r.jtl")
    assert slow.value.place.line == 302 and str(fast.value) == str(slow.value)


def test_a_column_of_dates_has_the_times_of_each_text() -> None:
    draw = random.Random(13)
    written = [form(moment_of(T0_MS + draw.randrange(10**10))) for form in DATES.values() for _ in range(200)]
    written += [f"2026-11-22T10:00:00.{draw.randrange(10**6):06}"[: draw.randrange(21, 27)] for _ in range(500)]
    written += ["2026-11-22T10:00:00.5+01:00:00.25", "2026-11-22T10-01:00:00.25", "20261122T101112.5", "2026-11-22"]
    for one in (written, written[:1], []):
        found = DateColumn("timeStamp").seconds(pa.array(one, pa.string()))
        assert found.tolist() == [milliseconds(text, "timeStamp") for text in one]


def test_very_many_samples_of_a_moment_are_added_up_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(7)
    (tmp_path / "r.jtl").write_bytes(jtl([row_of(draw, 1) for _ in range(3000)]))
    whole = imported(tmp_path / "r.jtl")
    monkeypatch.setattr(spill, "MOST_AT_ONCE", 100)
    pieces = imported(tmp_path / "r.jtl")
    assert len(pieces.snapshots) == len(whole.snapshots)
    for one, other in zip(pieces.snapshots, whole.snapshots, strict=True):
        for some, all_of_them in zip(one.series, other.series, strict=True):
            assert some.tags == all_of_them.tags and some.buckets == all_of_them.buckets
            assert some.sum == pytest.approx(all_of_them.sum) and some.count == all_of_them.count


def test_how_far_a_file_was_read_is_told(tmp_path: Path) -> None:
    draw = random.Random(8)
    (tmp_path / "r.jtl.gz").write_bytes(gzip.compress(jtl([row_of(draw, 1) for _ in range(3000)])))
    shares: list[float] = []
    file = SourceFile(tmp_path / "r.jtl.gz", watch=shares.append)
    for _ in file.text():
        pass
    assert shares[-1] == 1.0 and shares == sorted(shares)
