"""The runs on this disk: listing, finding, deleting and moving them.

import plimsoll
for run in plimsoll.stored_runs("runs"):
    print(run.path, run.experiment, run.answer, run.size_bytes)
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from plimsoll.errors import InputError
from plimsoll.runs.kept import archive, catalogue, labels, tidying
from plimsoll.runs.kept.catalogue import StoredRun
from plimsoll.runs.kept.tidying import Pruning
from plimsoll.runs.kept.unfinished import forget_unfinished
from plimsoll.runs.reader import RunReader

RUNS = Path("runs")


def stored_runs(root: str | Path = RUNS) -> list[StoredRun]:
    """The runs in a folder, newest first; a run of a study is one. InputError if the folder cannot be listed."""
    return catalogue.stored_runs(Path(root))


def unlisted_runs(root: str | Path = RUNS) -> list[str]:
    """Folders in it that hold files of a run and are not listed, a sentence each: renamed, or without a manifest."""
    return catalogue.unlisted_words(Path(root))


def find_run(name: str | Path, root: str | Path = RUNS) -> StoredRun:
    """A run by its path, by its name in `root` or the end of that, or "latest". InputError if there is none, or several
    end so."""
    path = Path(name)
    if str(name) != "latest" and (catalogue.is_run(path) or path.is_symlink() or len(path.parts) > 1):
        return catalogue.stored_run(path)
    return _only(_ending_with(name, root), name, root)


def named_run(name: str | Path, root: str | Path = RUNS) -> Path:
    """The path that is meant where a run or another file may be given: one that is there as it is; else what
    `find_run` finds for a bare name; else the path as given. InputError if several runs end so."""
    path = Path(name)
    if os.path.lexists(path) or len(path.parts) != 1 or not Path(root).is_dir():
        return path
    found = _ending_with(name, root)
    return _only(found, name, root).path if found or str(name) == "latest" else path


def _ending_with(name: str | Path, root: str | Path) -> list[StoredRun]:
    runs = stored_runs(root)
    return runs[:1] if str(name) == "latest" else [one for one in runs if one.path.name.endswith(str(name))]


def _only(found: list[StoredRun], name: str | Path, root: str | Path) -> StoredRun:
    """The one of that very name, or the only one that ends so."""
    exact = [one for one in found if one.path.name == str(name)]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        names = ", ".join(one.path.name for one in found[:5])
        raise InputError(f"{len(found)} runs in {root} end with {name}: {names}", "Give more of the name.")
    raise InputError(f"there is no run {name} in {root}", "`plimsoll runs list` shows those that are there.")


def search_runs(words: Iterable[str], root: str | Path = RUNS) -> list[StoredRun]:
    """The runs whose name, tags, script, target, answers or notes have all the words, newest first; case
    does not matter."""
    wanted = [word.casefold() for word in words]
    return [one for one in stored_runs(root) if _has_all(wanted, catalogue.texts_of(one.path))]


def _has_all(wanted: list[str], texts: Iterator[str]) -> bool:
    missing = set(wanted)
    for text in texts:
        folded = text.casefold()
        missing -= {word for word in missing if word in folded}
        if not missing:
            return True
    return not missing


def seconds_of(run: str | Path) -> Iterator[dict[str, Any]]:
    """The seconds of a run as plain data, every series with its names (docs/run-directory.md)."""
    return (snapshot.to_json() for snapshot in RunReader(run).snapshots())


def delete_runs(runs: Iterable[str | Path]) -> list[StoredRun]:
    """Delete run directories, and what interrupted deletions left beside them; those that were. InputErrors, with
    nothing deleted, for any that is none, a link, or goes on; RunDirectoryError if one cannot be deleted."""
    found = tidying.check_deletable([Path(run) for run in runs])
    for root in {one.path.parent for one in found}:
        forget_unfinished(root)
    for one in found:
        tidying.delete(one.path)
    return found


def prune_runs(
    root: str | Path = RUNS, *, older_than_s: float | None = None, keep_bytes: int | None = None, dry_run: bool = False
) -> Pruning:
    """Delete the runs that ended longer ago than that, and the oldest until the rest takes at most `keep_bytes`; runs
    that are kept or go on stay. With `dry_run` nothing is deleted. InputError if neither is asked for."""
    if older_than_s is None and keep_bytes is None:
        raise InputError("nothing says which runs go", "Give --older-than, as in 30d, or --keep-size, as in 5GB.")
    found = tidying.pruning(stored_runs(root), time.time(), older_than_s, keep_bytes)
    if not dry_run:
        forget_unfinished(Path(root))
        for one in found.gone:
            tidying.delete(one.path)
    return found


def keep_run(run: str | Path, kept: bool = True) -> None:
    """Say that `prune_runs` leaves a run, or that it need not. InputError if it is none."""
    tidying.mark_kept(Path(run), kept)


def write_report(run: str | Path, to: str | Path | None = None, *, root: str | Path = RUNS) -> Path:
    """Write the report of a run and return where it is; `to` ends with .html, .pdf, .md or .json (default: report.html
    in the run). InputError where there is no such kind of file, or no Chromium for a PDF; RunDirectoryError if there is
    no such run, or it cannot be read or written."""
    from plimsoll.report.written.kinds import write_report as write  # a page's libraries take half a second to import

    return write(named_run(run, root), None if to is None else Path(to))


def tag_run(run: str | Path, tags: Iterable[str]) -> tuple[str, ...]:
    """Make these the tags of a run, in place of those that it has; as they are kept. A text is one tag. InputError if
    it is no run, or for tags that are too many, too long or no text."""
    return labels.set_tags(find_run(run).path, [tags] if isinstance(tags, str) else tags)


def note_run(run: str | Path, text: str) -> None:
    """Add a note to a run, which may go on. InputError if it is none, or for a note that is empty or too long."""
    found = find_run(run)
    labels.add_note(found.path, text, is_running=found.status == "running")


def export_run(run: str | Path, to: str | Path | None = None) -> Path:
    """A run as one file, NAME.tar.zst in the current folder or `to` (.tar.zst or .zip). InputError or RunDirectoryError
    as archive.export_run says."""
    return archive.export_run(Path(run), None if to is None else Path(to))


def import_run(file: str | Path, root: str | Path = RUNS) -> Path:
    """Unpack an exported run into a folder of runs, and where it is then. InputError or RunDirectoryError as
    archive.import_run says."""
    forget_unfinished(Path(root))
    return archive.import_run(Path(file), Path(root))
