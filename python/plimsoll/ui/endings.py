"""How a run ended, in the words of its answer, and the command that opens its report."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import Any

from plimsoll.errors import PlimsollError
from plimsoll.plain_text import plain
from plimsoll.runs.kept.catalogue import stored_run
from plimsoll.ui.pages import row_of


def ending_of(path: Path) -> dict[str, Any]:
    """Its status, answer and next command."""
    with suppress(PlimsollError):
        row = row_of(stored_run(path), path.name)
        answer = row["answer"] or "No answer was recorded."
        return {"status": row["status"], "key": row["key"], "answer": answer, "command": _command(path)}
    return {"status": "cannot be read", "key": "bad", "answer": "", "command": _command(path)}


def _command(path: Path) -> str:
    return f"plimsoll report {shlex.quote(plain(path))}"
