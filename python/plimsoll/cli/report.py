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
        Path | None, typer.Option("-o", "--output", help="the file to write (default: report.html in the run)")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the findings as JSON instead")] = False,
) -> None:
    """Write the report of a run, also of one that was killed, and its Parquet tables where they are missing."""
    from plimsoll.errors import InputError, RunDirectoryError
    from plimsoll.runs.format.damaged import understood
    from plimsoll.runs.kept.catalogue import run_whose_file

    of_run = None if output is None else run_whose_file(output)
    if of_run is not None:
        raise InputError(f"{output} is a file of the run directory {of_run}", "Give another name as --output.")
    if as_json or (output is not None and output.suffix == ".json"):
        from plimsoll.report.json_out import findings_json

        with understood(run_directory):
            text = findings_json(run_directory)
        if output is None:
            print(text)
        else:
            from plimsoll.report.html import write_text

            write_text(output, text)
        return
    from plimsoll.report.html import write_html
    from plimsoll.runs.directory import has_tables
    from plimsoll.runs.reader import RunReader
    from plimsoll.written_files import is_own_descriptor

    if output is not None and output.suffix.lower() not in (".html", ".htm", ""):
        raise InputError(
            f"{output}: a report is HTML or JSON", "Give a name that ends with .html or .json as --output."
        )
    with understood(run_directory):
        written = write_html(run_directory, output)
        if not is_own_descriptor(written):  # in /dev/stdout it would follow the page
            print(plain(written))
        is_running = RunReader(run_directory).state == "running"
    if not is_running and not has_tables(run_directory):
        from plimsoll.cli.waiting import Waiting
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
