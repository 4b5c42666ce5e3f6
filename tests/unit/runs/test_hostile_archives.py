"""Archives that somebody made to harm who imports them: refused at once, in little memory, with nothing left behind."""

from __future__ import annotations

import io
import random
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import plimsoll
from plimsoll.errors import InputError
from plimsoll.runs.format.zstandard import CompressionParameter, ZstdFile
from plimsoll.runs.kept import archive

NAME = "20260101-000000-hold-0001"
MANIFEST = b'{"schema": 1, "status": "finished", "experiment": "hold"}'
MEBIBYTE = 1 << 20


def header(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0) -> bytes:
    about = tarfile.TarInfo(name)
    about.type, about.size = kind, size
    return about.tobuf(tarfile.GNU_FORMAT)


def packed(*pieces: bytes, times: int = 1) -> bytes:
    """A tar.zst of a manifest, then `times` these blocks, then its end."""
    raw = io.BytesIO()
    with ZstdFile(raw, "wb") as file:
        file.write(header(f"{NAME}/manifest.json", size=len(MANIFEST)) + MANIFEST + bytes(-len(MANIFEST) % 512))
        for _ in range(times):
            for piece in pieces:
                file.write(piece)
        file.write(bytes(10_240))
    return raw.getvalue()


def zipped(write: Callable[[zipfile.ZipFile], object] = lambda _: None, *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", method) as archive:
        archive.writestr(f"{NAME}/manifest.json", MANIFEST)
        write(archive)
    return raw.getvalue()


def with_field(data: bytes, local: int, listed: int, value: bytes) -> bytes:
    """A ZIP with a field of each file's header and of its entry in the list set."""
    changed = bytearray(data)
    for signature, offset in ((b"PK\3\4", local), (b"PK\1\2", listed)):
        at = data.find(signature)
        while at >= 0:
            changed[at + offset : at + offset + len(value)] = value
            at = data.find(signature, at + 1)
    return bytes(changed)


def zip_with_long_list() -> bytes:
    """A ZIP whose list of files has 600,000 entries."""
    data = zipped()
    start = data.find(b"PK\1\2")
    end = data.find(b"PK\5\6")
    entries = data[start:end] * 600_000
    return data[:start] + entries + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65_535, 65_535, len(entries), start, 0)


def damaged_deflate() -> bytes:
    data = bytearray(zipped())
    begin = 30 + struct.unpack("<H", data[26:28])[0]
    data[begin : begin + 2] = b"\xff\xff"
    return bytes(data)


def peak_of_refusal(data: bytes, folder: Path) -> tuple[InputError, int]:
    """The error, and the most memory that Python had taken for it."""
    (folder / "file").write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as raised:
            plimsoll.import_run(folder / "file", folder / "runs")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert list((folder / "runs").iterdir()) == []
    return raised.value, peak


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_a_header_of_many_megabytes_is_refused_before_it_is_read(tmp_path: Path, kind: bytes) -> None:
    size = 200 * MEBIBYTE
    data = packed(header("x", kind, size), *[b"a" * MEBIBYTE] * 200)
    error, peak = peak_of_refusal(data, tmp_path)
    assert "209,715,200 bytes" in str(error) and peak < 20 * MEBIBYTE


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_headers_without_a_file_have_an_end(tmp_path: Path, kind: bytes) -> None:
    body = b"5 a=b\n" if kind != tarfile.GNUTYPE_LONGNAME else b"name\0"
    error, peak = peak_of_refusal(packed(header("x", kind, len(body)), body.ljust(512, b"\0"), times=20), tmp_path)
    assert "damaged" in str(error) and peak < 20 * MEBIBYTE


def test_folders_count_as_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_FILES", 5_000)
    error, peak = peak_of_refusal(packed(header(f"{NAME}/d", tarfile.DIRTYPE) * 5_000), tmp_path)
    assert "more than 5,000 files" in str(error) and peak < 20 * MEBIBYTE


def test_a_list_of_files_of_many_megabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    error, peak = peak_of_refusal(zip_with_long_list(), tmp_path)
    assert "list of files" in str(error) and peak < 20 * MEBIBYTE


def test_a_file_that_unpacks_to_thousands_of_times_its_size_is_refused(tmp_path: Path) -> None:
    size = 300 * MEBIBYTE
    error, peak = peak_of_refusal(packed(header(f"{NAME}/x", size=size), *[bytes(MEBIBYTE)] * 300), tmp_path)
    assert "3,000 times its size" in str(error) and peak < 20 * MEBIBYTE


def test_a_sparse_file_is_none_of_a_run(tmp_path: Path) -> None:
    error, _ = peak_of_refusal(packed(header(f"{NAME}/x", tarfile.GNUTYPE_SPARSE)), tmp_path)
    assert "which no exported run has" in str(error)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_that_another_tool_made_of_a_run_is_imported(tmp_path: Path, method: int) -> None:
    (tmp_path / "file").write_bytes(zipped(lambda archive: archive.mkdir(f"{NAME}/logs"), method=method))
    assert plimsoll.import_run(tmp_path / "file", tmp_path / "runs").name == NAME


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_tar_that_another_tool_made_of_a_run_is_imported(tmp_path: Path, form: int) -> None:
    long_name = f"logs/{'é' * 40}/{'n' * 90}.log"
    source = tmp_path / NAME
    (source / long_name).parent.mkdir(parents=True)
    (source / long_name).write_bytes(b"x" * 700)
    (source / "manifest.json").write_bytes(MANIFEST)
    with ZstdFile(tmp_path / "file", "wb") as file, tarfile.open(fileobj=file, mode="w|", format=form) as tar:
        tar.add(source, NAME)
    run = plimsoll.import_run(tmp_path / "file", tmp_path / "runs")
    assert (run / long_name).read_bytes() == b"x" * 700


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (damaged_deflate(), "is damaged"),
        (with_field(zipped(), 6, 8, b"\1\0"), "is encrypted"),
        (with_field(zipped(), 8, 10, struct.pack("<H", 77)), r"method that is not read \(77\)"),
        (with_field(zipped(), 4, 6, struct.pack("<H", 99)), "is damaged"),
        (zipped(method=zipfile.ZIP_LZMA), r"method that is not read \(14\)"),
        (zipped(method=zipfile.ZIP_BZIP2), r"method that is not read \(12\)"),
        (with_field(zipped(), 14, 16, b"\0\0\0\0"), "is damaged"),
        (with_field(zipped(), 18, 42, b"\xff\xff\xff\x7f"), "is damaged"),
    ],
)  # fmt: skip
def test_a_zip_that_is_damaged_or_packed_otherwise_says_so(tmp_path: Path, data: bytes, words: str) -> None:
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(InputError, match=words):
        plimsoll.import_run(tmp_path / "file", tmp_path / "runs")


@pytest.mark.parametrize("place", range(0, 400, 7))
def test_a_zip_with_any_byte_changed_is_imported_whole_or_refused(tmp_path: Path, place: int) -> None:
    data = bytearray(zipped())
    data[place % len(data)] ^= 0xFF
    (tmp_path / "file").write_bytes(data)
    try:
        run = plimsoll.import_run(tmp_path / "file", tmp_path / "runs")
    except InputError:
        return
    assert (run / "manifest.json").read_bytes() == MANIFEST


@pytest.mark.parametrize("checksum", [0, 1])
def test_a_tar_without_a_checksum_as_earlier_versions_wrote_it_is_read(tmp_path: Path, checksum: int) -> None:
    tar = ZstdFile(io.BytesIO(packed())).read()
    with ZstdFile(tmp_path / "file", "wb", options={CompressionParameter.checksum_flag: checksum}) as file:
        file.write(tar)
    run = plimsoll.import_run(tmp_path / "file", tmp_path / "runs")
    assert (run / "manifest.json").read_bytes() == MANIFEST


def test_an_exported_tar_with_any_byte_changed_is_refused(tmp_path: Path) -> None:
    source = tmp_path / NAME
    source.mkdir()
    (source / "manifest.json").write_bytes(MANIFEST)
    (source / "numbers.bin").write_bytes(random.Random(1).randbytes(500))
    data = plimsoll.export_run(source, tmp_path / "run.tar.zst").read_bytes()
    for place in range(0, len(data), 3):
        changed = bytearray(data)
        changed[place] ^= 0x10
        (tmp_path / "file").write_bytes(changed)
        try:
            run = plimsoll.import_run(tmp_path / "file", tmp_path / "runs")
        except InputError:
            continue
        pytest.fail(f"byte {place} of {len(data)}: {run}")


def test_a_tar_that_ends_at_a_damaged_header_is_refused(tmp_path: Path) -> None:
    tar = ZstdFile(io.BytesIO(packed(header(f"{NAME}/empty")))).read()
    at = tar.index(f"{NAME}/empty".encode())
    with ZstdFile(tmp_path / "file", "wb") as file:
        file.write(tar[:at] + b"?" + tar[at + 1 :])
    with pytest.raises(InputError, match="is damaged"):
        plimsoll.import_run(tmp_path / "file", tmp_path / "runs")
