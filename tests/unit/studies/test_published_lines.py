"""Every row of every published table names the lines of its report, in order and within the report."""

from __future__ import annotations

import pytest
from published_figures import STUDIES, rows, source_lines

# study: published tables, lines of the report
STUDY_TABLES = {
    "clm-gc": (5, 585),
    "clm-ldx": (6, 585),
    "edx": (8, 294),
    "folio": (3, 869),
    "kiwi": (4, 120),
    "youtrack": (3, 403),
}


@pytest.mark.parametrize("study", STUDY_TABLES)
def test_each_published_row_names_its_lines(study: str) -> None:
    tables, last_line = STUDY_TABLES[study]
    names = [file.stem.removeprefix("published-") for file in (STUDIES / study).glob("published-*.csv")]
    assert len(names) == tables
    for row in (row for name in names for row in rows(study, name)):
        lines = source_lines(row)
        assert lines and lines == sorted(set(lines)) and lines[0] >= 1 and lines[-1] <= last_line, row


def test_each_study_with_published_tables_is_checked() -> None:
    assert {file.parent.name for file in STUDIES.glob("*/published-*.csv")} == set(STUDY_TABLES)


@pytest.mark.parametrize(
    ("cell", "lines"),
    [
        ("42", [42]),
        ("39-42", [39, 40, 41, 42]),
        ("73 and 81", [73, 81]),
        ("292, 302 and 307", [292, 302, 307]),
        ("87-88 and 175-178", [87, 88, 175, 176, 177, 178]),
    ],
)
def test_lines_are_read_as_they_are_written(cell: str, lines: list[int]) -> None:
    assert source_lines({"source line": cell}) == lines


@pytest.mark.parametrize("cell", ["", "-", "chart", "42,", "73, 81", "39–42", "73 and"])
def test_what_names_no_lines_is_refused(cell: str) -> None:
    with pytest.raises(ValueError, match="names no lines"):
        source_lines({"source line": cell})
