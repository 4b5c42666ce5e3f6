"""Files of a run directory that were made to fill memory are refused at once, with the file and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import RunDirectoryError
from plimsoll.runs.format import packed_file
from plimsoll.runs.format.lines import read_lines
from plimsoll.runs.format.packed_file import MOST_LINE_BYTES
from plimsoll.runs.format.zstandard import ZstdCompressor

_PIECE = 1 << 22


def packed(path: Path, piece: bytes, size: int) -> Path:
    """A small file that unpacks to that many bytes."""
    compressor = ZstdCompressor(3)
    with path.open("wb") as file:
        for _ in range(0, size, len(piece)):
            file.write(compressor.compress(piece))
        file.write(compressor.flush())
    return path


@pytest.mark.timeout(30)
def test_a_packed_line_without_end_is_refused_at_the_greatest_length(tmp_path: Path) -> None:
    path = packed(tmp_path / "series.jsonl.zst", bytes(_PIECE), 8 * MOST_LINE_BYTES)
    with pytest.raises(RunDirectoryError, match=r"series\.jsonl\.zst has a line of over 64 MiB, .*restore it"):
        list(read_lines(path))


def test_a_line_without_end_is_refused_in_a_plain_file_too(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with path.open("wb") as file:
        file.truncate(2 * MOST_LINE_BYTES)
    with pytest.raises(RunDirectoryError, match=r"events\.jsonl has a line of over 64 MiB"):
        list(read_lines(path))


def test_a_file_that_unpacks_to_thousands_of_times_its_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_file, "TRUSTED_BYTES", 1 << 20)
    path = packed(tmp_path / "series.jsonl.zst", b'{"second":1}' + b" " * _PIECE + b"\n", 1 << 26)
    with pytest.raises(RunDirectoryError, match=r"series\.jsonl\.zst unpacks to over 3,000 times its size"):
        list(read_lines(path))


def test_long_lines_of_a_real_length_are_read(tmp_path: Path) -> None:
    line = b'{"second":1,"text":"' + b"abcdefgh" * (1 << 19) + b'"}\n'
    path = packed(tmp_path / "series.jsonl.zst", line, 8 * len(line))
    assert [one["second"] for one in read_lines(path)] == [1] * 8
