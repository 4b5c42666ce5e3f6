"""A report as Markdown and PDF says what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import synthetic_run
from page_in_chromium import MISSING, PROGRAMS
from test_report_html import ATTACKS

import plimsoll
from plimsoll.cli.report import report
from plimsoll.errors import InputError
from plimsoll.report.html import write_html
from plimsoll.report.written import pdf
from plimsoll.report.written.markdown import cell, render_markdown, text


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic_run.write_run(tmp_path_factory.mktemp("runs") / "run")


def tables_of(markdown: str) -> list[list[str]]:
    """The lines of each table."""
    return [found.strip().split("\n") for found in re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE)]


def test_markdown_has_the_answer_first_and_each_table_as_wide_as_its_head(run: Path) -> None:
    written = render_markdown(run)
    page = write_html(run).read_text(encoding="utf-8")
    first = written.index("## How much load does it carry?")
    assert first < written.index("## Operations") < written.index("## Steps") < written.index("## Machines")
    answer = written[first:].split("\n\n")[1]
    assert re.sub(r"\\(.)", r"\1", answer)[:60] in page
    tables = tables_of(written)
    assert len(tables) > 5
    for rows in tables:
        columns = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
        assert len(columns) == 1 and re.fullmatch(r"\|( --- \|)+", rows[1]), rows[:2]
    assert "\n\n\n" not in written and written.endswith("\n") and "None" not in written


def test_names_cannot_become_markup(tmp_path: Path) -> None:
    written = render_markdown(synthetic_run.write_run(tmp_path / "pages", rename=ATTACKS))
    assert "\\<script\\>" in written and not re.search(r"(?<!\\)<(?:script|img|svg)", written)
    names = {"create_issue": "[a](http://x) | b\n# c `d` *e*"}
    written = render_markdown(synthetic_run.write_run(tmp_path / "tables", rename=names))
    assert "(http://x) \\| b \\# c \\`d\\` \\*e\\*" in written
    assert (text("1. a"), text("- b"), text("1.5 c"), cell("a\n b")) == ("1\\. a", "\\- b", "1.5 c", "a b")


def test_a_killed_run_is_told_as_such(tmp_path: Path) -> None:
    written = render_markdown(synthetic_run.write_run(tmp_path / "run", status="running", findings=False, torn=True))
    assert "**This run was killed." in written and "- Carried so far: 7,000 users" in written


def test_from_python_a_report_is_written_by_one_call(run: Path, tmp_path: Path) -> None:
    written = plimsoll.write_report(run, tmp_path / "answer.md")
    assert written.read_text() == render_markdown(run)


def test_a_pdf_is_the_page_printed(run: Path, tmp_path: Path) -> None:
    if not any(map(pdf.shutil.which, PROGRAMS)):
        pytest.skip(MISSING)
    report(run, tmp_path / "report.PDF")
    written = (tmp_path / "report.PDF").read_bytes()
    assert written.startswith(b"%PDF-") and written.rstrip().endswith(b"%%EOF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", written)) < 40


def test_without_chromium_a_pdf_says_what_to_do(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "PROGRAMS", ("no-such-browser",))
    with pytest.raises(InputError, match="PDF is printed by Chromium") as told:
        report(run, tmp_path / "report.pdf")
    assert ".html" in told.value.next_step and not (tmp_path / "report.pdf").exists()


def test_another_kind_of_file_is_refused_with_those_there_are(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"HTML, PDF, Markdown or JSON"):
        report(run, tmp_path / "report.docx")
    report(run, tmp_path / "report.md")
    assert (tmp_path / "report.md").read_text().startswith("# Capacity")
