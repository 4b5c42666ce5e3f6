"""One self-contained HTML file of a run: opens offline, in light and dark, and prints."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import RunDirectoryError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import jinja2

    from plimsoll.report.run_evidence import RunEvidence

TEMPLATES = Path(__file__).parent / "templates"


def write_html(run_dir: Path, out: Path | None = None) -> Path:
    """Write the report of `run_dir` to `out` (default `run_dir`/report.html) and return where it is.

    The file is written aside and then renamed, so a reader never sees half of it. RunDirectoryError if the run cannot
    be read or the file cannot be written.
    """
    from plimsoll.report import charts
    from plimsoll.report.run_evidence import read_run
    from plimsoll.runs import RunReader

    run_dir = Path(run_dir)
    out = Path(out) if out is not None else run_dir / "report.html"
    RunReader(run_dir)  # refused before a thread is started
    with charts.drawing() as thread:
        text = render(read_run(run_dir), thread)
    try:
        replace_file(out, text)
    except OSError as error:
        raise RunDirectoryError(
            f"The report cannot be written to {out}: {error.strerror or error}",
            "Name a file in a folder you may write to, with room left, with -o report.html.",
        ) from error
    return out


def render(run: RunEvidence, thread: Executor | None = None) -> str:
    """The page of a run as text; its charts are drawn by that thread of `charts.drawing`, or by one of their own."""
    from plimsoll.report import charts, page

    if thread is None:
        with charts.drawing() as own:
            return render(run, own)
    with charts.unchecked():
        content = page.build(run)
    drawn = {chart.key: thread.submit(charts.static_svg, chart.specification) for chart in content.charts}
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            page=content,
            specifications={chart.key: chart.specification for chart in content.charts},
            drawings={key: drawing.result() for key, drawing in drawn.items()},
            configuration=charts.page_configuration(),
            library=charts.browser_library() if content.charts else "",
            style=(TEMPLATES / "report.css").read_text(encoding="utf-8"),
            script=(TEMPLATES / "report.js").read_text(encoding="utf-8"),
        )
    )


def environment() -> jinja2.Environment:
    """Where the pages' templates are."""
    import jinja2

    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.policies["json.dumps_kwargs"] = {"sort_keys": False}
    return found


def replace_file(out: Path, text: str) -> None:
    """Write the file aside and rename it, so that a reader never sees half of it. OSError if that fails."""
    descriptor, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.", suffix=".part")
    aside = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        aside.chmod(0o666 & ~umask)
        aside.replace(out)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
