"""The report of a run as Markdown, for an issue, a pull request or a wiki: what the page says, without its charts.

Tables are those of GitHub Flavored Markdown; what a name contains is escaped, so that it cannot become markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from plimsoll.report.finding_view import FindingView
from plimsoll.report.html import environment
from plimsoll.report.k6.outcome import views_of
from plimsoll.report.load_line import drawn
from plimsoll.report.page import Page, TallyTable, build
from plimsoll.report.text import clean

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~])")
_BEGINS_A_BLOCK = re.compile(r"^(\d+)([.)]) |^([-+=])")
_BLANK_LINES = re.compile(r"\n{3,}")


def render_markdown(run_dir: Path) -> str:
    """The report of a run directory as Markdown. RunDirectoryError if the run cannot be read."""
    from plimsoll.report.run_evidence import read_run

    return _written("report.md.j2", page=build(read_run(run_dir)))


def findings_markdown(findings: Iterable[Mapping[str, Any]]) -> str:
    """The answers alone as Markdown, as a notebook shows them."""
    return _written("findings.md.j2", findings=views_of(findings))


def _written(template: str, **content: Any) -> str:
    found = environment()
    found.autoescape = False
    found.filters |= {"text": text, "cell": cell}
    found.globals |= {
        "load_line": lambda line: "\n".join(drawn(line)),
        "decided": _decided,
        "judged": lambda rows: [[*cells, words] for cells, _, words in rows],
        "tally_columns": _tally_columns,
        "tally_rows": _tally_rows,
        "objective_rows": lambda rows: [[row[key] for key in ("level", "value", "samples", "verdict")] for row in rows],
        "step_columns": _step_columns,
        "step_rows": _step_rows,
    }
    return _BLANK_LINES.sub("\n\n", found.get_template(template).render(**content)).strip() + "\n"


def text(value: Any) -> str:
    """Words of a paragraph, a heading or an item of a list."""
    escaped = _MARKUP.sub(r"\\\1", clean(str(value)).strip())
    return _BEGINS_A_BLOCK.sub(lambda found: f"{found[1]}\\{found[2]} " if found[1] else f"\\{found[3]}", escaped)


def cell(value: Any) -> str:
    """Words of a cell: one line; several lines are parted by a semicolon."""
    return text(" ".join(str(value).split()))


def _decided(finding: FindingView) -> list[list[str]]:
    return [[row.subject, row.badge, row.words] for row in finding.decided]


def _tally_columns(table: TallyTable) -> list[str]:
    columns = ["Name", "Count", "Per s", "Avg", "Min", "Median", "p90", "p95", "Max", "Failed requests"]
    return [*columns, "Objective"] if table.judged else columns


def _tally_rows(table: TallyTable) -> Iterable[list[str]]:
    for row in table.rows:
        few = [f"{'~ ' if is_few else ''}{words}" for words, is_few in (row["p50"], row["p90"], row["p95"])]
        failed = f"{row['errors']} ({row['error_share']})" if row["error_share"] else row["errors"]
        told = [row["name"], row["count"], row["rate"], row["average"], row["min"], *few, row["max"], failed]
        judged = "; ".join(f"{objective} {words}" for objective, _, words in row["verdicts"])
        yield [*told, judged] if table.judged else told


def _step_columns(page: Page) -> list[str]:
    done = "Good answers" if page.facts["good_answers"] else "Done"
    rates, times = ["Planned /s", f"{done} /s"], ["p50, ms", "p90, ms", "p99, ms"]
    return ["At, s", "Held", f"Level, {page.unit}", *rates, *times, "Errors", "Unfinished at end", "CPU", "Verdict"]


def _step_rows(page: Page) -> Iterable[list[str]]:
    names = ("start", "duration", "level", "planned", "done", "p50", "p90", "p99", "errors", "unfinished")
    for row in page.steps:
        verdict = f"{row['verdict']}. {row['reasons']}" if row["reasons"] else row["verdict"]
        yield [*(row[name] for name in names), "; ".join(row["cpu"]), verdict]
