"""The page of a study: every experiment's answer, and links to their reports; and the page of several studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from plimsoll.errors import RunDirectoryError
from plimsoll.report.finding_view import view
from plimsoll.report.html import TEMPLATES, environment
from plimsoll.written_files import write_own

PAGE = "index.html"


def write_study_page(
    folder: Path,
    study: Mapping[str, Any],
    parts: Sequence[Mapping[str, Any]],
    findings: Mapping[int, Sequence[Mapping[str, Any]]],
) -> Path:
    """Write `folder`/index.html: `parts` as study.json has them, `findings` by their place. RunDirectoryError if it
    cannot be written."""
    shown = [
        {**part, "finding": view(found[0]), "more": [view(one) for one in found[1:]]}
        if (found := findings.get(part["place"]))
        else {**part, "finding": None, "more": []}
        for part in parts
    ]
    return _write(
        folder / PAGE,
        "study.html.j2",
        title=study.get("name") or "A study",
        parts=shown,
        cannot_decide=study.get("cannot_decide") or [],
    )


def write_index_page(folder: Path, studies: Sequence[Mapping[str, Any]]) -> Path:
    """Write `folder`/index.html of several studies: {name, page (relative), problem, parts}."""
    return _write(folder / PAGE, "studies.html.j2", title="Studies", studies=list(studies))


def _write(out: Path, template: str, **content: Any) -> Path:
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    text = environment().get_template(template).render(style=style, **content)
    try:
        write_own(out, text)
    except OSError as error:
        raise RunDirectoryError(
            f"The page cannot be written to {out}: {error.strerror or error}", "Make room, or choose another --runs."
        ) from error
    return out
