"""Deleting runs: only real run directories, never through a link, and none that goes on."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import InputError, InputErrors, RunDirectoryError
from plimsoll.runs.directory import run_error
from plimsoll.runs.kept.catalogue import KEEP, StoredRun, stored_run
from plimsoll.runs.kept.unfinished import DELETED, held

_SHOWN_NAME = 100


@dataclass(frozen=True)
class Pruning:
    """Which runs go and which stay, newest first."""

    gone: tuple[StoredRun, ...]
    staying: tuple[StoredRun, ...]

    @property
    def freed_bytes(self) -> int:
        """What the runs that go take now."""
        return sum(one.size_bytes for one in self.gone)


def pruning(runs: Sequence[StoredRun], now_unix: float, older_than_s: float | None, keep_bytes: int | None) -> Pruning:
    """Those that ended more than `older_than_s` ago go, and the oldest of the others until the rest takes at most
    `keep_bytes`. Those that are kept or go on stay, and count."""
    newest_first = sorted(runs, key=_ended, reverse=True)
    taken = sum(one.size_bytes for one in newest_first)
    gone = []
    for one in reversed(newest_first):
        if one.kept or one.status == "running":
            continue
        is_old = older_than_s is not None and now_unix - _ended(one) > older_than_s
        is_too_much = keep_bytes is not None and taken > keep_bytes
        if is_old or is_too_much:
            gone.append(one)
            taken -= one.size_bytes
    chosen = {one.path for one in gone}
    return Pruning(tuple(reversed(gone)), tuple(one for one in newest_first if one.path not in chosen))


def _ended(run: StoredRun) -> float:
    """When it ended; of one that does not say when its directory was changed last."""
    if run.ended_unix is not None:
        return run.ended_unix
    try:
        return max(run.began_unix, os.lstat(run.path).st_mtime)
    except OSError:
        return run.began_unix


def check_deletable(paths: Iterable[Path]) -> list[StoredRun]:
    """The runs at these paths. InputErrors for all that may not be deleted: no run, a link, or one that goes on."""
    found, mistakes = [], []
    for path in paths:
        try:
            run = stored_run(path)
        except InputError as error:
            mistakes.append(error)
            continue
        if run.status == "running":
            mistakes.append(InputError(f"{path} is still running", "End it first, with Ctrl-C or plimsoll control."))
        found.append(run)
    if mistakes:
        raise InputErrors(mistakes)
    return found


def delete(path: Path) -> None:
    """Delete a run directory. It gets another name first, so that none is ever seen half deleted; links in it go and
    what they lead to stays. Raises InputError if it is none, RunDirectoryError if it cannot be deleted."""
    check_deletable([path])
    aside = path.with_name(f"{DELETED}{path.name[:_SHOWN_NAME]}-{secrets.token_hex(3)}")
    try:
        with held(path):
            path.rename(aside)
            shutil.rmtree(aside)
    except OSError as error:
        raise run_error("delete", path, error) from error
    except RecursionError as error:
        what = f"{path} holds folders nested without end; it is {aside.name} now"
        raise RunDirectoryError(what, f"Delete that with rm -r '{aside}'.") from error


def mark_kept(path: Path, kept: bool) -> None:
    """Say that `prune` leaves a run, or that it need not. InputError if it is none."""
    run = stored_run(path)
    try:
        if kept:
            os.close(os.open(run.path / KEEP, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        else:
            (run.path / KEEP).unlink(missing_ok=True)
    except OSError as error:
        raise RunDirectoryError(f"cannot mark {path}: {error.strerror}", "Check the permissions.") from error
