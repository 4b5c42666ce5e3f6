"""A run as one file, to give away or to store: a tar compressed with Zstandard, or a ZIP; and back.

A run directory holds no secrets (docs/run-directory.md), so the file has none either. A file that comes from somebody
else is taken apart with care: only plain files below one folder that is named like a run, within the space that is
free; it is unpacked aside and gets its name when it is whole.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import tarfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from plimsoll.errors import InputError, RunDirectoryError
from plimsoll.runs.directory import run_error
from plimsoll.runs.format.packed_file import MOST_UNPACKED, TRUSTED_BYTES
from plimsoll.runs.format.zstandard import CompressionParameter, ZstdFile
from plimsoll.runs.kept.archive_members import DAMAGE, EXPORTED, Member, members
from plimsoll.runs.kept.catalogue import is_run, stored_run
from plimsoll.runs.kept.unfinished import IMPORTED, held
from plimsoll.runs.space import FLOOR_BYTES, free_bytes
from plimsoll.written_files import own_file

SUFFIXES = (".tar.zst", ".zip")
MOST_FILES = 100_000
MOST_PARTS = 10  # of a name: a run of a study has three folders
MOST_NAME = 1_000
_SHOWN_NAME = 100
_COPY_BYTES = 1 << 20
_ZIP_FIRST, _ZIP_LAST = (1980, 1, 1, 0, 0, 0), (2107, 12, 31, 23, 59, 58)


def export_run(path: Path, to: Path | None = None) -> Path:
    """Write a run that has ended into one file, by default NAME.tar.zst in the current folder, and where that is.

    Raises InputError if it is no run, goes on, or the file is there already or has another suffix; RunDirectoryError if
    it cannot be written.
    """
    run = stored_run(path)
    to = to or Path(f"{path.name}.tar.zst")
    if run.status == "running":
        raise InputError(f"{path} is still running", "Wait for its end.")
    if not to.name.endswith(SUFFIXES):
        raise InputError(f"{to}: an exported run is .tar.zst or .zip", "Give a name that ends so.")
    if to.exists() or to.is_symlink():
        raise InputError(f"{to} is there already", "Choose another name, or move it away.")
    try:
        with own_file(to) as file:
            (_write_zip if to.suffix == ".zip" else _write_tar)(path, file)
    except OSError as error:
        raise run_error("write", to, error) from error
    return to


def _files(path: Path) -> Iterator[tuple[Path, str]]:
    """The plain files of a run, each with its name in the archive. Links, devices and what is hidden are left out.
    InputError for a name that import would refuse."""
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(folder) / name
            if not name.startswith(".") and stat.S_ISREG(os.lstat(file).st_mode):
                packed_as = (PurePosixPath(path.name) / file.relative_to(path).as_posix()).as_posix()
                if not _is_name_of_file(packed_as):
                    what = f"{path} holds {_shown(packed_as)}, a name that no file of a run has"
                    raise InputError(what, "Rename that file, or move it out of the run.")
                yield file, packed_as


def _is_name_of_file(name: str) -> bool:
    """Whether a file of an exported run may be named so: below one folder, in UTF-8, plain and not hidden."""
    parts = PurePosixPath(name).parts
    is_plain = name.isprintable() and "\\" not in name and not name.startswith("/")
    is_in_bounds = 2 <= len(parts) <= MOST_PARTS and len(name.encode(errors="replace")) <= MOST_NAME
    return is_plain and is_in_bounds and not any(part.startswith(".") for part in parts)


def _shown(name: str) -> str:
    return repr(name if len(name) <= _SHOWN_NAME else f"{name[:_SHOWN_NAME]}…")


def _write_tar(path: Path, into: BinaryIO) -> None:
    with (
        ZstdFile(into, "wb", options={CompressionParameter.checksum_flag: 1}) as packed,
        tarfile.open(fileobj=packed, mode="w|") as tar,
    ):
        for file, name in _files(path):
            about = tarfile.TarInfo(name)
            with file.open("rb") as content:
                status = os.fstat(content.fileno())
                about.size, about.mtime, about.mode = status.st_size, int(status.st_mtime), 0o600
                tar.addfile(about, content)


def _write_zip(path: Path, into: BinaryIO) -> None:
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for file, name in _files(path):
            with file.open("rb") as content:
                status = os.fstat(content.fileno())
                about = zipfile.ZipInfo(name, _zip_time(status.st_mtime))
                about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, (stat.S_IFREG | 0o600) << 16
                about.file_size = status.st_size
                with archive.open(about, "w") as packed:
                    shutil.copyfileobj(content, packed, _COPY_BYTES)


def _zip_time(mtime: float) -> tuple[int, int, int, int, int, int]:
    """A time as ZIP has it, from 1980 to 2107; the nearest one where it has none."""
    try:
        found = time.localtime(mtime)[:6]
    except (OverflowError, OSError, ValueError):
        return _ZIP_FIRST
    return min(max(found, _ZIP_FIRST), _ZIP_LAST)


def import_run(file: Path, root: Path) -> Path:
    """Unpack an exported run into a folder of runs, and where it lies then.

    Raises InputError for a file that is none or holds what a run does not, or a run that is there already;
    RunDirectoryError if it cannot be written or there is no room.
    """
    aside = root / f"{IMPORTED}{secrets.token_hex(6)}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        aside.mkdir(mode=0o700)
        with held(aside), members(file) as found:
            name = _unpack(found, file, aside)
        made, to = aside / name, root / name
        if not is_run(made):
            raise InputError(f"{file} holds no run directory", EXPORTED)
        if to.exists() or to.is_symlink():
            raise InputError(f"{to} is there already", "Delete it first, or choose another folder with --runs.")
        made.rename(to)
        return to
    except DAMAGE as error:
        what = f"{file} is no exported run, or is damaged ({str(error) or type(error).__name__})"
        raise InputError(what, "Give a file that `plimsoll runs export` made, and copy it whole.") from error
    except OSError as error:
        raise run_error("unpack", Path(error.filename or file), error) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _unpack(found: Iterator[Member], file: Path, into: Path) -> str:
    """The files below `into`; the name of the run, which is that of their folder."""
    run, unpacked = "", 0
    packed = file.stat().st_size
    room = free_bytes(into) - FLOOR_BYTES
    for number, member in enumerate(found):
        if number >= MOST_FILES:
            raise InputError(f"{file} holds more than {MOST_FILES:,} files, as no run does", "Do not use this file.")
        if member.is_folder:
            continue
        name, content = member.name, member.content
        parts = PurePosixPath(name).parts
        if content is None or not _is_name_of_file(name) or (run and parts[0] != run):
            raise InputError(f"{file} holds {_shown(name)}, which no exported run has", "Do not use this file.")
        run = parts[0]
        to = into.joinpath(*parts)
        to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
            while data := content.read(_COPY_BYTES):
                unpacked += len(data)
                if unpacked > TRUSTED_BYTES and unpacked > MOST_UNPACKED * packed:
                    what = f"{file} unpacks to over {MOST_UNPACKED:,} times its size, as no run does"
                    raise InputError(what, "Do not use this file.")
                if unpacked > room:
                    what = f"{file} unpacks to more than is free in {into.parent}"
                    raise RunDirectoryError(what, "Free some disk space, or choose another folder with --runs.")
                out.write(data)
    if not run:
        raise InputError(f"{file} is empty", EXPORTED)
    return run
