"""A run's report as the kind of file that its name asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.report.html import drawn_page, write_html, write_text


def write_report(run_dir: Path, out: Path | None = None, *, kind: str | None = None) -> Path:
    """Write the report of `run_dir` to `out` and return where it is: a page (`.html`, by default report.html in the
    run), Markdown (`.md`), a PDF (`.pdf`) or the findings as JSON (`.json`), as its name says, or `kind` in its place.

    InputError where the name asks for anything else, is a file of a run, or asks for a PDF where there is no Chromium;
    RunDirectoryError if the run cannot be read or the file cannot be written.
    """
    from plimsoll.runs.kept.catalogue import run_whose_file

    of_run = None if out is None else run_whose_file(out)
    if of_run is not None:
        raise InputError(f"{out} is a file of the run directory {of_run}", "Give another name as --output.")
    kind = kind or ("" if out is None else out.suffix.lower())
    if out is None or kind in ("", ".html", ".htm"):
        return write_html(run_dir, out)
    if kind not in _KINDS:
        raise InputError(
            f"{out}: a report is HTML, PDF, Markdown or JSON",
            "Give a name that ends with .html, .pdf, .md or .json as --output.",
        )
    write_text(out, _KINDS[kind](run_dir))
    return out


def _json(run_dir: Path) -> str:
    from plimsoll.report.json_out import findings_json

    return findings_json(run_dir)


def _markdown(run_dir: Path) -> str:
    from plimsoll.report.written.markdown import render_markdown

    return render_markdown(run_dir)


def _pdf(run_dir: Path) -> bytes:
    from plimsoll.report.written.pdf import print_pdf

    return print_pdf(drawn_page(run_dir)[0])


_KINDS: dict[str, Callable[[Path], str | bytes]] = {".json": _json, ".md": _markdown, ".pdf": _pdf}
