"""`plimsoll report` writes a run's report; `plimsoll schema` prints the study file's JSON Schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    run_directory: Annotated[Path, typer.Argument(help="a run directory, such as runs/20261121-120000-capacity-1a2b")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="the file to write; report.html in the run")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the findings as JSON instead")] = False,
) -> None:
    """Write the report of a run, also of one that was killed."""
    if as_json or (output is not None and output.suffix == ".json"):
        from plimsoll.report.json_out import findings_json

        text = findings_json(run_directory)
        if output is None:
            print(text)
        else:
            output.write_text(text, encoding="utf-8")
        return
    from plimsoll.report.html import write_html

    print(write_html(run_directory, output))


def schema() -> None:
    """Print the JSON Schema of the study file, for editors."""
    from plimsoll.study import study_schema_json

    print(study_schema_json())
