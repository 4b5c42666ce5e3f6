"""One self-contained HTML file of a run: opens offline, in light and dark, and prints."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import RunDirectoryError
from plimsoll.runs.directory import MANIFEST
from plimsoll.written_files import write_named, write_own

if TYPE_CHECKING:
    import jinja2

    from plimsoll.report.run_evidence import RunEvidence

TEMPLATES = Path(__file__).parent / "templates"
SCRIPTS = ("time_axis.js", "tables.js", "report.js")  # the last one draws, which the first one hears of


def write_html(run_dir: Path, out: Path | None = None) -> Path:
    """Write the report of `run_dir` to `out` (default `run_dir`/report.html) and return where it is.

    A reader never sees half of it. RunDirectoryError if the run cannot be read or the file cannot be written.
    """
    run_dir = Path(run_dir)
    out = Path(out) if out is not None else run_dir / "report.html"
    text, failure = drawn_page(run_dir)
    write_text(out, text)
    if failure:
        print(f"\nwarning: {out}: {failure}", file=sys.stderr)
    return out


def drawn_page(run_dir: Path) -> tuple[str, str]:
    """The page of a run, and what is to be said where its charts could not be drawn. RunDirectoryError if the run
    cannot be read."""
    from plimsoll.report.drawing import Drawing
    from plimsoll.report.run_evidence import read_run

    with Drawing() as drawing:
        text = render(read_run(run_dir), drawing.svg, drawing.library)
    return text, "" if drawing.failure is None else drawing.words


def write_text(out: Path, text: str | bytes) -> None:
    """Write a report's text: in a run directory for its owner alone, elsewhere as the umask says, as it is made to be
    passed on. RunDirectoryError if `out` cannot be written."""
    try:
        if (out.parent / MANIFEST).is_file():
            write_own(out, text)
        else:
            write_named(out, text)
    except OSError as error:
        raise RunDirectoryError(
            f"The report cannot be written to {out}: {error.strerror or error}",
            f"Name a file in a folder you may write to, with room left, with -o {out.name}.",
        ) from error


def render(
    run: RunEvidence, draw: Callable[[dict[str, Any]], str] | None = None, library: Callable[[], str] | None = None
) -> str:
    """The page of a run as text; `draw` makes the SVG of a chart, `charts.static_svg` unless given, and `library` the
    script that draws in a browser, `charts.browser_library` unless given."""
    from plimsoll.report import charts, page

    draw = draw or charts.static_svg
    content = page.build(run)
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            page=content,
            specifications={chart.key: chart.specification for chart in content.charts},
            drawings={chart.key: draw(chart.specification) for chart in content.charts},
            configuration=charts.page_configuration(),
            library=(library or charts.browser_library)() if content.charts else "",
            style=(TEMPLATES / "report.css").read_text(encoding="utf-8"),
            script="".join((TEMPLATES / name).read_text(encoding="utf-8") for name in SCRIPTS),
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
