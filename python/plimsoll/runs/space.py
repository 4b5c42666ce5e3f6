"""Room on the disk for a run: what is free, what the run may take, and whether it may begin."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from plimsoll.errors import InputError, RunDirectoryError
from plimsoll.runs import directory
from plimsoll.runs.format.read_numbers import moment
from plimsoll.runs.kept.catalogue import read_json, size_of
from plimsoll.words import size_words

# Below this a run does not begin: it is what a report, its tables and an hour of lines take. PLIMSOLL_MIN_FREE_MB sets
# another floor, 0 none.
FLOOR_BYTES = 100 << 20
FLOOR_VARIABLE = "PLIMSOLL_MIN_FREE_MB"
# 200 series at 200 requests/s: 4 kB of lines, minutes and resources, and as much of tables (docs/runs.md).
TYPICAL_BYTES_PER_S = 8_000.0
REPORT_BYTES = 3 << 20
_LOOKED_AT = 20  # earlier runs, newest first
_LEAST_S = 10.0  # an earlier run that was shorter says little of its growth


def free_bytes(folder: Path) -> int:
    """What a user may still write where that folder is, or would be made."""
    return _usage(folder).free


def _usage(folder: Path) -> shutil._ntuple_diskusage:
    there = next((path for path in (folder.absolute(), *folder.absolute().parents) if path.is_dir()), Path("/"))
    return shutil.disk_usage(there)


def floor_bytes(environment: Mapping[str, str] = os.environ) -> int:
    """The free space below which no run begins. InputError for a floor that is no number."""
    text = environment.get(FLOOR_VARIABLE, "").strip()
    if not text:
        return FLOOR_BYTES
    try:
        megabytes = float(text)
    except ValueError:
        megabytes = -1.0
    if not 0 <= megabytes < float("inf"):
        raise InputError(f"{FLOOR_VARIABLE}={text} is no number of megabytes", "Write one, as in 50; 0 asks for none.")
    return int(megabytes * 1e6)


def check_room(
    root: Path,
    experiment: str,
    script: str | None,
    planned_s: float | None,
    environment: Mapping[str, str] = os.environ,
) -> str:
    """A warning where the run may take more than is free; empty if there is room. RunDirectoryError if less is free
    than the floor, InputError for a floor that is no number."""
    try:
        free = free_bytes(root)
        holds_files = free > 0 or _usage(root).total > 0
    except OSError:
        return ""  # what cannot be asked is told when it is written
    if not holds_files:  # a file system of the kernel's own, such as /proc
        return ""
    floor = floor_bytes(environment)
    if free < floor:
        what = f"only {size_words(free)} are free for {root}, and a run begins with {size_words(floor)} at least"
        step = "Free some (plimsoll runs prune), choose another place with --runs, or lower the floor with "
        raise RunDirectoryError(what, f"{step}{FLOOR_VARIABLE}, in MB; 0 asks for none.")
    needed = expected_bytes(root, experiment, script, planned_s)
    if needed is None or needed + floor <= free:
        return ""
    return (
        f"This run may take about {size_words(needed)}, and {size_words(free)} are free for {root}: it fails when the "
        "disk is full. Free some (plimsoll runs prune), or choose another place with --runs."
    )


def expected_bytes(root: Path, experiment: str, script: str | None, planned_s: float | None) -> float | None:
    """What the run may take: by the last one of that script and verb, else by its time; None if neither is known."""
    earlier = _earlier(root, experiment, script) if script is not None else None
    if earlier is None:
        return None if planned_s is None else REPORT_BYTES + TYPICAL_BYTES_PER_S * planned_s
    size, lasted_s = earlier
    if planned_s is None or lasted_s < _LEAST_S:
        return float(size)
    return REPORT_BYTES + max(0, size - REPORT_BYTES) / lasted_s * planned_s


def _earlier(root: Path, experiment: str, script: str) -> tuple[int, float] | None:
    """Size and seconds of the last run of that script and verb, if it is among the newest."""
    try:
        newest = directory.list_runs(root)[: -_LOOKED_AT - 1 : -1]
    except RunDirectoryError:
        return None
    for path in newest:
        manifest = read_json(path / directory.MANIFEST)
        if not isinstance(manifest, Mapping) or manifest.get("experiment") != experiment:
            continue
        about = manifest.get("script")
        began, ended = (moment(manifest.get(name)) for name in ("started_unix", "ended_unix"))
        if not isinstance(about, Mapping) or about.get("path") != script:
            continue
        if began is not None and ended is not None:
            return size_of(path), ended - began
    return None
