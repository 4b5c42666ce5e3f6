"""Packed files that are cut or damaged are used as far as they unpack, and say so; else they say what they are."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import pytest
from importing import imported, table_of
from test_formats_by_documentation import HEADER, JTL_XML, binary_log, cached, jtl_line

from plimsoll.errors import InputError

BROKEN_MEMBER = gzip.compress(b"")[:10] + b"\xff" * 60  # a header, then no deflated data
JTL = (HEADER + "".join(jtl_line(n * 10, 7 + n * 7919 % 83, f"a{n % 7}") for n in range(400))).encode()


def test_a_small_packed_file_that_was_cut_is_used_up_to_its_last_whole_line(tmp_path: Path) -> None:
    assert len(JTL) < 60_000
    packed = gzip.compress(JTL)
    (tmp_path / "r.jtl.gz").write_bytes(packed[: len(packed) * 2 // 3])
    found = imported(tmp_path / "r.jtl.gz")
    assert 0 < found.times().count < 400
    assert found.notes == [f"The packed file is cut after line {found.times().count + 1}; used up to there."]


@pytest.mark.parametrize("data", [JTL, HEADER.encode() + 3 * JTL[len(HEADER) :]], ids=["below 64 KiB", "above"])
def test_a_packed_file_whose_end_is_damaged_is_used_up_to_there(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "r.jtl.gz").write_bytes(gzip.compress(data) + BROKEN_MEMBER)
    found = imported(tmp_path / "r.jtl.gz")
    lines = data.count(b"\n")
    assert found.times().count == lines - 1
    assert len(found.notes) == 1 and "The packed file is damaged" in found.notes[0]
    assert f"after line {lines}; used up to there" in found.notes[0]


def test_a_packed_file_with_a_wrong_checksum_says_that_it_is_damaged(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(JTL))
    packed[-8] ^= 0xFF
    (tmp_path / "r.jtl.gz").write_bytes(packed)
    found = imported(tmp_path / "r.jtl.gz")
    assert found.times().count == 400 and "is damaged (CRC check failed" in found.notes[0]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x1f\x8b\x07" + b"junk" * 20, "the packed file is damaged"),
        (gzip.compress(JTL)[:12], "the packed file is cut at its start"),
        (gzip.compress(b""), "the file is empty"),
    ],
    ids=["damaged", "cut", "empty"],
)
def test_a_packed_file_of_which_nothing_unpacks_says_so(tmp_path: Path, data: bytes, what: str) -> None:
    (tmp_path / "r.gz").write_bytes(data)
    with pytest.raises(InputError, match=what):
        imported(tmp_path / "r.gz")


def test_a_packed_summary_that_is_damaged_is_refused(tmp_path: Path) -> None:
    text = b'{"metrics": {"http_reqs": {"count": 1, "rate": 1}, "iterations": {}}}'
    (tmp_path / "s.json.gz").write_bytes(gzip.compress(text) + BROKEN_MEMBER)
    with pytest.raises(InputError, match="the packed file is damaged"):
        table_of(tmp_path / "s.json.gz")


def test_a_packed_log_of_gatling_that_was_cut_is_used_up_to_its_last_whole_record(tmp_path: Path) -> None:
    requests = [
        b"\1" + struct.pack(">i", 0) + cached(4) + struct.pack(">ii?", n, n + 5 + n * 7919 % 83, True) + cached(3)
        for n in range(8000)
    ]
    packed = gzip.compress(binary_log() + b"".join(requests))
    (tmp_path / "simulation.log.gz").write_bytes(packed[: len(packed) * 2 // 3])
    found = imported(tmp_path / "simulation.log.gz")
    assert 3000 < found.times().count < 8000
    assert len(found.notes) == 1 and " whole requests" in found.notes[0]


def test_a_packed_jtl_as_xml_that_is_damaged_is_used_as_far_as_it_unpacks(tmp_path: Path) -> None:
    (tmp_path / "r.xml.gz").write_bytes(gzip.compress((JTL_XML + "</testResults>").encode()) + BROKEN_MEMBER)
    found = imported(tmp_path / "r.xml.gz")
    assert found.times().count == 2 and "The packed file is damaged" in found.notes[0]
    (tmp_path / "cut.xml.gz").write_bytes(gzip.compress(JTL_XML.encode()) + BROKEN_MEMBER)
    found = imported(tmp_path / "cut.xml.gz")
    assert found.times().count == 2 and "The file has no end" in found.notes[0]
