"""What a folder of runs holds: each run, and each run of a study as one with the runs in it.

Files of a run may be somebody else's: each is read only where it is a regular file of a sane size, and what cannot be
read leaves a gap in place of an error: no run spoils the list of all.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.errors import InputError, RunDirectoryError
from plimsoll.plain_text import plain
from plimsoll.runs import directory
from plimsoll.runs.format.damaged import understood
from plimsoll.runs.format.lines import placed_lines
from plimsoll.runs.format.read_numbers import moment, plausible
from plimsoll.runs.interrupted import INTERRUPTED, SAME
from plimsoll.runs.kept.labels import NOTES, TAGS, notes_of, tags_of
from plimsoll.runs.kept.plain_run import failed_thresholds, words_of_summary
from plimsoll.runs.readings.failure import failure_of

STUDY_RECORD = "study.json"
OWN_FILES = frozenset(
    name
    for packed in (
        STUDY_RECORD, directory.MANIFEST, directory.FINDINGS, directory.PLAN, directory.TRIALS, directory.SERIES,
        directory.RESOURCES, directory.EVENTS, directory.MINUTES, directory.SECONDS_TABLE, directory.SERIES_TABLE,
        directory.RESOURCES_TABLE, "control.jsonl", "step_table.json", TAGS, NOTES,
    )
    for name in (packed, packed.removesuffix(directory.PACKED_SUFFIX))
)  # fmt: skip
KEEP = ".keep"  # an empty file that says: prune leaves this run
MOST_JSON_BYTES = 64 << 20
_STATES = frozenset({"finished", "interrupted", "failed"})  # that a manifest has, but for running
_SENTENCE = re.compile(r"(?<=[.!?;])\s")
_NAMED_LIKE_A_RUN = re.compile(r"\d{8}-\d{6}-(?P<experiment>.+)-[0-9a-f]{4}")


@dataclass(frozen=True)
class StoredRun:
    """A run as a list shows it. `experiment`: its verb; `about`: script or target, empty if not known; `answer`: the
    first sentence of its answer, of a plain run what it did; `failed_thresholds`: of a plain run, as "metric: rule";
    `valid`: None where nothing says; `status` as RunReader.state has it, "damaged" if its manifest cannot be read or
    has another; `kept`: prune leaves it; `tags`: labels.py; `began_unix`, 0.0 where its manifest does not say."""

    path: Path
    began_unix: float
    ended_unix: float | None
    experiment: str
    about: str
    status: str
    answer: str
    valid: bool | None
    size_bytes: int
    kept: bool
    failed_thresholds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**self.__dict__, "path": str(self.path)}


def is_run(path: Path) -> bool:
    """Whether that is a real directory (no link) that Plimsoll made for a run, or for a run of a study."""
    if os.path.islink(path) or not os.path.isdir(path) or not _NAMED_LIKE_A_RUN.fullmatch(path.name):
        return False
    return any(_is_regular(path / name) for name in (directory.MANIFEST, STUDY_RECORD))


def stored_runs(root: Path) -> list[StoredRun]:
    """The runs in a folder, newest first; none if there is no folder. InputError if it cannot be listed."""
    try:
        found = [path for path in root.iterdir() if is_run(path)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"cannot list the runs in {root}: {error.strerror}", "Name a folder with --runs.") from error
    return [stored_run(path) for path in sorted(found, key=directory.began, reverse=True)]


def unlisted_words(root: Path) -> list[str]:
    """Of each folder beside the runs that holds files of a run and is not listed, a sentence: what it is, and what to
    do. None where the folder cannot be listed."""
    try:
        found = sorted(path for path in root.iterdir() if path.is_dir() and not path.is_symlink() and not is_run(path))
    except OSError:
        return []
    return [f"{plain(path.name)} is not listed: {why}" for path in found if (why := _why_unlisted(path))]


def _why_unlisted(path: Path) -> str:
    here = {name for name in OWN_FILES if _is_regular(path / name)}
    if {directory.MANIFEST, STUDY_RECORD} & here:
        like = "20260131-235959-capacity-1a2b"
        return f"it is a run under another name. plimsoll report reads it; to list it, name it like {like}."
    if here and _NAMED_LIKE_A_RUN.fullmatch(path.name):
        return f"its {directory.MANIFEST} is missing. Restore it, or delete the folder."
    return ""


def stored_run(path: Path) -> StoredRun:
    """One run. InputError if it is none."""
    if not is_run(path):
        step = "Give a folder that plimsoll made; `plimsoll runs list` shows them."
        raise InputError(f"{path} is no run directory, or a link to one", step)
    is_study = _is_regular(path / STUDY_RECORD)
    try:
        with understood(path):
            facts = _study_facts(path) if is_study else _run_facts(path)
    except RunDirectoryError:
        facts = _damaged(path)
    kept = _is_regular(path / KEEP)
    return StoredRun(path=path, size_bytes=size_of(path), kept=kept, tags=tags_of(path), **facts)


def size_of(path: Path) -> int:
    """Bytes of all files below a folder, as far down as Python goes; links count as themselves."""
    total = 0
    with suppress(RecursionError):
        for folder, _, names in os.walk(path):
            for name in names:
                with suppress(OSError):
                    total += os.lstat(os.path.join(folder, name)).st_size
    return total


def texts_of(path: Path) -> Iterator[str]:
    """What can be searched in a run: its name, tags, script and target, answers, and its notes, up to what is
    damaged."""
    yield path.name
    yield from tags_of(path)
    yield from (str(note["text"]) for note in notes_of(path))
    with suppress(RunDirectoryError), understood(path):
        yield from _texts_inside(path)


def _texts_inside(path: Path) -> Iterator[str]:
    inside = [found.parent for found in sorted(path.glob(f"*/{directory.MANIFEST}"))]
    for run in [path, *inside]:
        manifest = read_json(run / directory.MANIFEST)
        yield about_of(manifest if isinstance(manifest, Mapping) else {})
        for finding in _findings(run):
            yield from (text for text in finding.values() if isinstance(text, str))
            yield from (text for text in _list(finding.get("notes")) if isinstance(text, str))
        for event in _events(run):
            if isinstance(event.get("message"), str):
                yield event["message"]


def read_json(path: Path) -> Any:
    """The value of a small regular file; None if it is none or cannot be read."""
    try:
        if not _is_regular(path) or path.stat().st_size > MOST_JSON_BYTES:
            return None
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def first_sentence(text: str) -> str:
    """Of an answer, on one line."""
    return _SENTENCE.split(" ".join(text.split()), maxsplit=1)[0]


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _run_facts(path: Path) -> dict[str, Any]:
    manifest = read_json(path / directory.MANIFEST)
    if not isinstance(manifest, Mapping):
        return _damaged(path)
    findings = _findings(path)
    experiment = str(manifest.get("experiment") or "")
    answer = str(findings[0].get("answer") or "") if findings else ""
    for lead in (INTERRUPTED, SAME):
        answer = answer.removeprefix(lead).lstrip()
    if not findings and _is_regular(path / directory.FINDINGS):
        answer = "Its findings.json cannot be read: plimsoll report makes it anew."
    valid = findings[0].get("valid") if findings else None
    status = status_of(path, str(manifest.get("status")))
    if not findings and status == "failed":
        answer = answer or failure_of(_events(path))
    summary, threw = _summary(path, status) if experiment == "run" else ({}, 0)
    return _facts(
        experiment,
        status,
        began_unix=moment(manifest.get("started_unix")) or 0.0,
        ended_unix=moment(manifest.get("ended_unix")),
        about=about_of(manifest),
        answer=words_of_summary(summary, threw) if experiment == "run" else first_sentence(answer),
        valid=valid if isinstance(valid, bool) else None,
        failed_thresholds=tuple(failed_thresholds(summary)),
    )


def _damaged(path: Path) -> dict[str, Any]:
    """What the name alone says."""
    named = _NAMED_LIKE_A_RUN.fullmatch(path.name)
    return _facts(named["experiment"] if named else "", "damaged")


def _study_facts(path: Path) -> dict[str, Any]:
    record = read_json(path / STUDY_RECORD)
    record = record if isinstance(record, Mapping) else {}
    study = record.get("study")
    parts = [one for one in _list(record.get("parts")) if isinstance(one, Mapping)]
    states = {str(one.get("status")) for one in parts}
    running = any(status_of(run, "running") == "running" for run in _runs_inside(path))
    status = "running" if running else "finished" if states <= {"finished"} else "interrupted"
    done = sum(one.get("status") == "finished" for one in parts)
    manifests = [one for run in _runs_inside(path) if isinstance(one := read_json(run / directory.MANIFEST), Mapping)]
    began = [number for one in manifests if (number := moment(one.get("started_unix")))]
    ended = [number for one in manifests if (number := moment(one.get("ended_unix")))]
    return _facts(
        "study",
        status,
        began_unix=min(began, default=0.0),
        ended_unix=max(ended, default=None),
        about=str(study.get("name") or "") if isinstance(study, Mapping) else "",
        answer=f"{done} of {len(parts)} experiments are done." if parts else "",
    )


def _facts(
    experiment: str,
    status: str,
    *,
    began_unix: float = 0.0,
    ended_unix: float | None = None,
    about: str = "",
    answer: str = "",
    valid: bool | None = None,
    failed_thresholds: tuple[str, ...] = (),
) -> dict[str, Any]:
    return {
        "experiment": experiment, "status": status, "began_unix": began_unix, "ended_unix": ended_unix,
        "about": about, "answer": answer, "valid": valid, "failed_thresholds": failed_thresholds,
    }  # fmt: skip


def _runs_inside(path: Path) -> list[Path]:
    return [found.parent for found in path.glob(f"*/{directory.MANIFEST}") if _is_regular(found)]


def status_of(path: Path, status: str) -> str:
    """How a run stands: the status of its manifest, "killed" where that says running and nobody writes."""
    if status != "running":
        return status if status in _STATES else "damaged"
    lines = directory.file_of(path, directory.SERIES)
    return "running" if _is_regular(lines) and directory.is_being_written(lines) else "killed"


def about_of(manifest: Mapping[str, Any]) -> str:
    """Script, source or target of a run, in words."""
    script, options, study = (manifest.get(name) for name in ("script", "options", "study"))
    if isinstance(script, Mapping) and script.get("path"):
        return str(script["path"])
    if isinstance(options, Mapping) and options.get("source"):
        return str(options["source"])
    target = study.get("target") if isinstance(study, Mapping) else None
    return str(target.get("url") or "") if isinstance(target, Mapping) else ""


def _findings(path: Path) -> list[Mapping[str, Any]]:
    found = read_json(path / directory.FINDINGS)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _events(path: Path) -> Iterator[Mapping[str, Any]]:
    file = path / directory.EVENTS
    if not _is_regular(file):
        return
    with suppress(RunDirectoryError):
        for _, raw in placed_lines(file):
            try:
                event = json.loads(raw)
            except (ValueError, RecursionError):
                continue
            if isinstance(event, Mapping):
                yield event


def _summary(path: Path, status: str) -> tuple[Mapping[str, Any], int]:
    """Of a plain run, with how many of its iterations ended with an exception; of one that was killed what its seconds
    hold."""
    for note in _events(path):
        if isinstance(note.get("summary"), Mapping):
            return note["summary"], int(plausible(note.get("threw")) or 0)
    files = [directory.file_of(path, name) for name in (directory.SERIES, directory.MINUTES)]
    if status != "running" and _is_regular(files[0]) and all(_is_regular(one) for one in files if one.exists()):
        from plimsoll.runs.reader import RunReader  # numpy takes 0.1 s, which the list of whole runs does without
        from plimsoll.runs.readings.recorded_summary import recorded

        with suppress(RunDirectoryError), understood(path):
            found = recorded(RunReader(path))
            return found.summary, found.script.threw
    return {}, 0


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def run_whose_file(path: Path) -> Path | None:
    """The run directory of which that is a file that Plimsoll wrote, not its report; None if it is none."""
    try:
        end = path.resolve()
    except (OSError, ValueError, RuntimeError):
        return None
    if end.name in OWN_FILES and is_run(end.parent):
        return end.parent
    return end.parent.parent if end.parent.name == directory.LOGS and is_run(end.parent.parent) else None
