"""`plimsoll report` writes a run's report; `plimsoll schema` prints the JSON Schema of study files or findings."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.flags.shared import named_run
from plimsoll.plain_text import plain


def report(
    run_directory: Annotated[
        Path,
        typer.Argument(
            parser=named_run, metavar="RUN", help="a run directory; or the end of its name in runs/, or latest"
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="the file to write: .html, .pdf, .md or .json (default report.html in the run)"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the findings as JSON instead")] = False,
) -> None:
    """Write the report of a run, also of one that was killed, and its Parquet tables where they are missing."""
    from plimsoll.errors import RunDirectoryError
    from plimsoll.report.written.kinds import write_report
    from plimsoll.runs.directory import has_tables
    from plimsoll.runs.format.damaged import understood
    from plimsoll.runs.reader import RunReader
    from plimsoll.written_files import is_own_descriptor

    if as_json and output is None:
        from plimsoll.report.json_out import findings_json

        with understood(run_directory):
            return print(findings_json(run_directory))
    with understood(run_directory):
        written = write_report(run_directory, output, kind=".json" if as_json else None)
        if not is_own_descriptor(written):  # in /dev/stdout it would follow the page
            print(plain(written))
        is_running = RunReader(run_directory).state == "running"
    if not is_running and not has_tables(run_directory):
        from plimsoll.cli.live.waiting import Waiting
        from plimsoll.runs.format.tables import write_tables  # pyarrow takes 0.2 s to import

        # A folder that takes nothing more still has its lines, and lines that are no numbers have their report.
        with contextlib.suppress(RunDirectoryError), understood(run_directory), Waiting() as waiting:
            write_tables(run_directory, waiting.tell)


def schema(
    findings: Annotated[bool, typer.Option("--findings", help="of findings instead: what --json prints")] = False,
) -> None:
    """Print the JSON Schema of the study file, for editors."""
    if findings:
        from plimsoll.findings.shape.schema import findings_schema_json

        print(findings_schema_json())
        return
    from plimsoll.study import study_schema_json

    print(study_schema_json())
