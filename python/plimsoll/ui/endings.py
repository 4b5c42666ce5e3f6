"""How a run ended, in the words of its answer, and the command that opens its report."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from plimsoll.errors import PlimsollError
from plimsoll.plain_text import plain
from plimsoll.runs.directory import FINDINGS
from plimsoll.runs.kept.catalogue import read_json, stored_run
from plimsoll.ui.pages import row_of


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
