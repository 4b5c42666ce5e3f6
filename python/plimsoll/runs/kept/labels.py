"""What people say of a run: tags, and notes with a time. Both are files of their own in the run directory, so that they
can be written while the run goes on, and after it has ended.

    tags.json      ["baseline", "after the index"]
    notes.jsonl    {"t_unix": …, "second": …, "text": "…"}    `second`: of the load, null where it is over
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from plimsoll.errors import InputError, RunDirectoryError
from plimsoll.plain_text import plain
from plimsoll.runs import directory
from plimsoll.runs.directory import run_error
from plimsoll.runs.format.lines import read_lines
from plimsoll.runs.format.read_numbers import moment, plausible
from plimsoll.runs.format.small_files import read_small
from plimsoll.study.secrets.redactor import Redactor
from plimsoll.words import count_words, time_words
from plimsoll.written_files import new_private, write_own

TAGS, NOTES = "tags.json", "notes.jsonl"
MOST_TAGS, LONGEST_TAG, LONGEST_NOTE, MOST_NOTES = 20, 40, 2000, 1000


def tags_of(run_dir: Path) -> tuple[str, ...]:
    """The tags of a run, in their order; none where they cannot be read."""
    file = run_dir / TAGS
    if file.is_symlink() or not file.is_file():
        return ()
    with suppress(OSError, ValueError, InputError, RecursionError):
        found = json.loads(read_small(file))
        if isinstance(found, list):
            return tuple(plain(one)[:LONGEST_TAG] for one in found[:MOST_TAGS] if isinstance(one, str) and one.strip())
    return ()


def set_tags(run_dir: Path, tags: Iterable[str]) -> tuple[str, ...]:
    """Make these the tags of a run, each once. InputError for too many or too long ones, RunDirectoryError if they
    cannot be written."""
    tags = list(tags)
    if not all(isinstance(one, str) for one in tags):
        raise InputError("a tag is no text", 'Write tags as texts, for example ["baseline"].')
    wanted = tuple(dict.fromkeys(" ".join(plain(one).split()) for one in tags if one.strip()))
    if len(wanted) > MOST_TAGS:
        raise InputError(f"{len(wanted)} tags: a run has at most {MOST_TAGS}", "Leave some out.")
    long = next((one for one in wanted if len(one) > LONGEST_TAG), None)
    if long is not None:
        raise InputError(f"the tag '{long[:LONGEST_TAG]}…' is too long", f"Use at most {LONGEST_TAG} characters.")
    try:
        write_own(run_dir / TAGS, json.dumps(Redactor().data(list(wanted)), ensure_ascii=False) + "\n")
    except OSError as error:
        raise run_error("write", run_dir / TAGS, error, elsewhere="") from error
    return wanted


def notes_of(run_dir: Path) -> Iterator[Mapping[str, Any]]:
    """The notes of a run, in their order, as far as they can be read."""
    file = run_dir / NOTES
    if file.is_symlink():
        return
    with suppress(RunDirectoryError):
        for line in read_lines(file):
            if isinstance(line.get("text"), str):
                yield line


def when_words(note: Mapping[str, Any]) -> str:
    """When a note was made: "at 45 s" of the load, else its day and time."""
    second, made = plausible(note.get("second")), moment(note.get("t_unix"))
    if second is not None:
        return f"at {time_words(second)}"
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(made)) if made else "noted"


def add_note(run_dir: Path, text: str, *, is_running: bool, now_unix: float | None = None) -> dict[str, Any]:
    """Add a note to a run, with the second of the load where that goes on. InputError for one that is empty or too
    long, RunDirectoryError if it cannot be written."""
    if not isinstance(text, str):
        raise InputError("the note is no text", "Write it as a text.")
    said = " ".join(plain(" ".join(text.split())).split())
    if not said or len(said) > LONGEST_NOTE:
        what = "the note is empty" if not said else f"the note has {count_words(len(said))} characters"
        raise InputError(what, f"Write 1 to {count_words(LONGEST_NOTE)} characters.")
    if sum(1 for _ in notes_of(run_dir)) >= MOST_NOTES:
        raise InputError(f"the run has {count_words(MOST_NOTES)} notes", "A run takes no more.")
    now = time.time() if now_unix is None else now_unix
    second = _second(run_dir, now) if is_running else None
    note = {"t_unix": round(now, 3), "second": second, "text": Redactor().text(said)}
    try:
        with new_private(run_dir / NOTES, append=True) as file:
            file.write(json.dumps(note, ensure_ascii=False).encode() + b"\n")
    except OSError as error:
        raise run_error("write", run_dir / NOTES, error, elsewhere="") from error
    return note


def _second(run_dir: Path, now_unix: float) -> float | None:
    with suppress(OSError, ValueError, InputError, TypeError, KeyError, RecursionError):
        clock = json.loads(read_small(run_dir / directory.MANIFEST))["clock"]
        began = moment(clock["t0_unix"])
        return None if began is None else round(max(0.0, now_unix - began), 3)
    return None
