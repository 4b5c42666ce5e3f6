"""The HTML of the live page, from templates that escape all that is put into them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.plain_text import plain
from plimsoll.runs.kept.catalogue import StoredRun
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
        "answer": plain(run.answer),
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
