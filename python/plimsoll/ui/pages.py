"""The HTML of the live page, from templates that escape all that is put into them; a run in their words."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import PlimsollError
from plimsoll.plain_text import plain
from plimsoll.runs.directory import FINDINGS
from plimsoll.runs.kept.catalogue import StoredRun, read_json, stored_run
from plimsoll.words import counted_words, size_words, time_words

if TYPE_CHECKING:
    import jinja2

TEMPLATES = Path(__file__).with_name("templates")


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page(template: str, **content: Any) -> str:
    """A page by the name of its template."""
    return _environment().get_template(f"{template}.html.j2").render(**content)


def row_of(run: StoredRun, name: str) -> dict[str, Any]:
    """A run as a row of the list."""
    invalid = run.valid is False
    failed = bool(run.failed_thresholds)
    words = [run.status, *(["invalid"] if invalid else []), *(["thresholds failed"] if failed else [])]
    key = "now" if run.status == "running" else "bad" if failed or invalid or run.status in ("failed", "killed") else ""
    return {
        "name": name,
        "shown": plain(name),
        "verb": plain(run.experiment) or "?",
        "about": plain(run.about),
        "answer": plain(run.answer).rstrip(";"),
        "status": ", ".join(words),
        "key": key or ("good" if run.status == "finished" else "open"),
        "is_running": run.status == "running",
        "is_study": run.experiment == "study",
        "when": time.strftime("%Y-%m-%d %H:%M", time.localtime(run.began_unix)) if run.began_unix else "?",
        "when_iso": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(run.began_unix)) if run.began_unix else "",
        "lasted": _lasted(run),
        "size": size_words(run.size_bytes),
        "tags": run.tags,
        "kept": run.kept,
    }


def counted(rows: Sequence[Any]) -> str:
    """ "1 run", "12 runs"."""
    return counted_words(len(rows), "run")


def _lasted(run: StoredRun) -> str:
    ended = run.ended_unix
    return time_words(ended - run.began_unix) if ended is not None and 0 < run.began_unix <= ended else ""


def ending_of(path: Path) -> dict[str, Any]:
    """Its status, answer and next command."""
    with suppress(PlimsollError):
        row = row_of(stored_run(path), path.name)
        answer = _whole_answer(path, row["verb"]) or row["answer"] or "No answer was recorded."
        return {"status": row["status"], "key": row["key"], "answer": answer, "command": _command(path)}
    return {"status": "cannot be read", "key": "bad", "answer": "", "command": _command(path)}


def _whole_answer(path: Path, verb: str) -> str:
    """What an experiment answered first; of a plain run its list says what it did."""
    found = read_json(path / FINDINGS)
    first = found[0] if verb != "run" and isinstance(found, list) and found else None
    return plain(first.get("answer") or "") if isinstance(first, Mapping) else ""


def _command(path: Path) -> str:
    return f"plimsoll report {shlex.quote(plain(path))}"
