"""The study and the load script for a target that serves, in its data folder: ready to be run as they are.

They are written anew at each start, with the addresses and sizes of that target, from the templates in its folder
load/; a study whose first line was removed is the user's own and is left alone.
"""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from plimsoll.errors import TargetError
from plimsoll.own_programs import command
from plimsoll_lab.folder import write_file

RESTORE_LIMIT_S = 120
_READY = "  ready: /healthz\n"


def first_line(target: str) -> str:
    """By which a study is known as one of ours: study.yaml begins with it."""
    return f"# Written by `plimsoll lab {target}` at each start. Remove this line to keep your own changes.\n"


def write_study(
    directory: Path,
    target: str,
    load: Path,
    beside: Sequence[str],
    changes: Mapping[str, str],
    restore_url: str | None = None,
) -> Path:
    """Write DIR/study.yaml and the files of `beside` from the folder `load`; returns the study's path.

    `changes` says what is replaced in the template by what, in that order. With `restore_url` the study's target has a
    `reset` that takes what serves there back to its seeded data.
    """
    study = directory / "study.yaml"
    if study.exists() and not study.read_text(encoding="utf-8").startswith(first_line(target)):
        return study
    for name in beside:
        write_file(directory / name, (load / name).read_text(encoding="utf-8"))
    text = (load / "study.yaml").read_text(encoding="utf-8")
    for before, after in changes.items():
        text = text.replace(before, after)
    if restore_url is not None:
        restore = command("plimsoll_lab", target, "--restore-at", restore_url, "--data", ".")
        text = text.replace(_READY, f"{_READY}  reset: {json.dumps(shlex.join(restore))}\n")
    write_file(study, first_line(target) + text)
    return study


@contextlib.contextmanager
def restoring(what: str, target: str, url: str) -> Iterator[None]:
    """What fails within, over HTTP or in users.json, becomes a TargetError: `what` at `url` was not restored."""
    try:
        yield
    except (OSError, ValueError, LookupError, TypeError) as error:  # HTTPError and URLError are OSErrors
        step = f"Start it with `plimsoll lab {target}`, and give its folder as --data."
        raise TargetError(f"{what} at {url} was not restored: {error}", step) from None
