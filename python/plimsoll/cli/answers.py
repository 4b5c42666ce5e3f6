"""An answer on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from plimsoll.plain_text import plain

if TYPE_CHECKING:
    from plimsoll.verbs.session import Answer


def show(answer: Answer, as_json: bool, details: bool) -> None:
    """Print the answer and the report's path; ends the program with the answer's exit code."""
    from plimsoll.report.json_out import findings_json

    if as_json:
        print(findings_json(answer.run_directory))
    else:
        print(words_of(answer.findings, answer.run_directory, answer.report, details))
    raise typer.Exit(answer.exit_code)


def words_of(
    findings: Sequence[Mapping[str, Any]], run: Path, report: Path | None, details: bool, most_lines: int | None = None
) -> str:
    """The answers of a run: one screen, of `most_lines` where something else is on it, or all of them whole."""
    if not details:
        from plimsoll.report.screen import MOST_LINES, screen_of_run

        return screen_of_run(findings, run, report, most_lines or MOST_LINES)
    from plimsoll.report.text import answer_lines

    return "\n\n".join([answer_lines(findings), *([] if report is None else [f"Report: {plain(report)}"])])
