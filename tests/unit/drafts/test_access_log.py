"""Logs are read line by line, unpacked where they are gzip; what is not understood is counted and shown."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

from plimsoll.drafts.logs.access_log import LONGEST_LINE, Reading, requests_of
from plimsoll.errors import InputError

LINE = '9.8.7.6 - - [29/Nov/2026:11:51:42 +0000] "GET /a HTTP/1.1" 200 205\n'


def _read(*paths: Path | str) -> tuple[int, Reading]:
    reading = Reading()
    return sum(1 for _ in requests_of(paths, reading)), reading


def _written(folder: Path, text: str | bytes, name: str = "access.log") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_plain_and_packed_logs_are_read_by_their_bytes_in_their_order(tmp_path: Path) -> None:
    packed = _written(tmp_path, gzip.compress((LINE * 3).encode()), "access.log")  # rotated, its name says nothing
    count, reading = _read(packed, _written(tmp_path, LINE * 2, "access.log.1"))
    assert (count, reading.lines, reading.unknown) == (5, 5, 0)
    reading.check()


def test_standard_input_may_be_packed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for content in (LINE.encode(), gzip.compress(LINE.encode())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))  # type: ignore[arg-type]
        assert _read("-")[0] == 1


def test_what_is_not_understood_is_counted_and_the_first_is_shown_with_its_line(tmp_path: Path) -> None:
    path = _written(tmp_path, LINE + "\n" + "gar\x1b[31mbage\nmore\n" + LINE * 2)
    count, reading = _read(path)
    assert (count, reading.lines, reading.unknown) == (3, 5, 2)
    assert reading.first_unknown_words() == f"{path}:3: gar�[31mbage"
    reading.check()


def test_a_log_of_another_format_is_refused_with_the_formats_that_are_read(tmp_path: Path) -> None:
    _, reading = _read(_written(tmp_path, LINE + "a,b,c\n" * 2))
    with pytest.raises(InputError, match=r"2 of 3 lines are not understood.*access\.log:2: a,b,c.*combined.*Traefik"):
        reading.check()


def test_half_of_the_lines_are_enough(tmp_path: Path) -> None:
    _, reading = _read(_written(tmp_path, LINE + "a,b,c\n"))
    reading.check()


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_an_empty_log_is_refused(tmp_path: Path, content: bytes) -> None:
    _, reading = _read(_written(tmp_path, content))
    with pytest.raises(InputError, match="has no lines"):
        reading.check()


def test_of_a_gzip_file_that_ends_early_what_comes_before_counts(tmp_path: Path) -> None:
    lines = "".join(LINE.replace("/a", f"/{number * 7919 % 10007}") for number in range(20_000))
    count, reading = _read(_written(tmp_path, gzip.compress(lines.encode())[:-5000]))
    assert 0 < count < 20_000 and reading.cut_short


def test_a_gzip_file_without_any_line_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no whole gzip file"):
        _read(_written(tmp_path, gzip.compress(LINE.encode())[:12]))


def test_a_line_without_end_takes_no_memory(tmp_path: Path) -> None:
    count, reading = _read(_written(tmp_path, "x" * (40 * LONGEST_LINE) + "\n" + LINE))
    assert (count, reading.lines, reading.unknown) == (1, 2, 1)


def test_bytes_that_are_no_text_are_one_line_that_is_not_understood(tmp_path: Path) -> None:
    count, reading = _read(_written(tmp_path, b"\xff\xfe\x00\n" + LINE.encode() * 2))
    assert (count, reading.unknown) == (2, 1)


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.log"):
        with pytest.raises(InputError, match="cannot be read"):
            _read(path)


def test_a_log_without_times_says_that_these_are_what_is_missing(tmp_path: Path) -> None:
    """uvicorn's: the line that was shown was of its start, and the formats alone helped nobody."""
    started = "INFO:     Started server process [1]\n"
    _, reading = _read(_written(tmp_path, started + 'INFO:     127.0.0.1:4 - "GET / HTTP/1.1" 200 OK\n' * 2))
    with pytest.raises(InputError, match=r'log:2: INFO: .*"GET / .* they have no time.*--timestamps'):
        reading.check()
