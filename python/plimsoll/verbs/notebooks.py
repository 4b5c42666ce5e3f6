"""A run for a notebook: its seconds as tables, its charts as objects to change and combine.

import plimsoll
answer = plimsoll.capacity("script.js")            # shows its answers
plimsoll.charts(answer.run_directory)["level-throughput"]
plimsoll.frames(answer.run_directory)["seconds"].to_pandas()
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import InputError
from plimsoll.runs.reader import RunReader
from plimsoll.verbs.stored import RUNS, named_run

if TYPE_CHECKING:
    import altair
    import pyarrow

_WIDTH_PX = 640
_TABLES = ("seconds", "series", "resources")


def frames(run: str | Path, *, root: str | Path = RUNS) -> dict[str, pyarrow.Table]:
    """The tables of a run by name, as docs/run-directory.md has their columns: `seconds` (a row for each), `series`
    (metric, tags and values of each second), `resources` (what the probes read). Arrow tables: `.to_pandas()`,
    `polars.from_arrow`, and DuckDB take them. They are written first where they are missing. RunDirectoryError if the
    run cannot be read."""
    from plimsoll.runs.directory import has_tables
    from plimsoll.runs.format.tables import read_table, write_tables  # pyarrow takes 0.2 s to import

    path = RunReader(named_run(run, root)).path  # nothing is written into what is no run
    if not has_tables(path):
        write_tables(path)
    return {name: read_table(path / f"{name}.parquet") for name in _TABLES}


def charts(run: str | Path, *, root: str | Path = RUNS) -> dict[str, altair.TopLevelMixin]:
    """The charts of a run's report by their keys, in its order, as Altair objects in the notebook's own theme.
    InputError without Altair, RunDirectoryError if the run cannot be read."""
    from plimsoll.report.page import build
    from plimsoll.report.run_evidence import read_run

    chart_of = _altair().Chart.from_dict
    page = build(read_run(named_run(run, root)))
    look = {"width": _WIDTH_PX}
    return {one.key: chart_of({**one.specification, "title": one.title, **look}) for one in page.charts}


def _altair() -> Any:
    try:
        import altair
    except ImportError as error:
        raise InputError(
            "Charts as objects need Altair, which is not installed", "pip install 'plimsoll-line[notebook]'"
        ) from error
    return altair
