"""An answer on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from plimsoll.plain_text import plain

if TYPE_CHECKING:
    from plimsoll.verbs.session import Answer


def show(answer: Answer, as_json: bool) -> None:
    """Print the answer and the report's path; ends the program with the answer's exit code."""
    from plimsoll.report.json_out import findings_json
    from plimsoll.report.text import answer_lines

    if as_json:
        print(findings_json(answer.run_directory))
    else:
        print(answer_lines(answer.findings))
        print(f"\nReport: {plain(answer.report)}")
    raise typer.Exit(answer.exit_code)
