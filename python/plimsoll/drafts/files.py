"""The files of a draft, in a folder: none of those that are there is touched without `force`."""

from __future__ import annotations

import os
from pathlib import Path

from plimsoll.drafts.draft import Draft
from plimsoll.drafts.recordings.flow_text import flow_script_of
from plimsoll.drafts.script_text import VALUES_FILE, script_of, values_of
from plimsoll.drafts.study_text import SCRIPT_FILE, study_of
from plimsoll.errors import InputError
from plimsoll.study.loading import parse_study
from plimsoll.written_files import write_named, write_own

STUDY_FILE = "study.yaml"


def check_free(folder: Path, force: bool) -> None:
    """Raises InputError where one of the files is there, before anything is read or asked."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is no folder", "Give a folder with -o; it is made if it is not there.")
    there = [name for name in (STUDY_FILE, SCRIPT_FILE, VALUES_FILE) if os.path.lexists(folder / name)]
    if there and not force:
        what = f"{folder} has {' and '.join(there)} already"
        raise InputError(what, "Give another folder with -o, or --force to write them again.")


def write_draft(draft: Draft, folder: Path) -> tuple[Path, ...]:
    """Writes study, script and values; each is whole or not there. InputError where the folder takes none."""
    script = draft.script or (flow_script_of(draft) if draft.steps else script_of(draft))
    texts = {VALUES_FILE: values_of(draft), SCRIPT_FILE: script}
    texts[STUDY_FILE] = study = study_of(draft, folder.resolve().name or "load")
    parse_study(study, file=str(folder / STUDY_FILE))
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            if text is None:
                (folder / name).unlink(missing_ok=True)  # of an earlier draft, which --force replaces
                continue
            write = write_own if name == VALUES_FILE else write_named
            write(folder / name, text)
            written.append(folder / name)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror or error}", "Give a folder that can be written with -o.") from None
    return tuple(reversed(written))
