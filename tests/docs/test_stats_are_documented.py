"""Every module of plimsoll.stats has its row in docs/measurement.md and its line in the package's index."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STATS = ROOT / "python" / "plimsoll" / "stats"
MODULES = sorted(path.relative_to(STATS).as_posix() for path in STATS.rglob("*.py") if path.name != "__init__.py")
ROW = re.compile(r"^\| `stats/(\w+/\w+\.py)` (.*) \|$", re.MULTILINE)


def _page() -> str:
    return (ROOT / "docs" / "measurement.md").read_text(encoding="utf-8")


def _indexed() -> list[str]:
    head = ast.get_docstring(ast.parse((STATS / "__init__.py").read_text(encoding="utf-8"))) or ""
    folders = re.split(r"^(\w+/)  ", head, flags=re.MULTILINE)[1:]
    return [
        folder + name
        for folder, text in zip(folders[::2], folders[1::2], strict=True)
        for name in re.findall(r"^(\w+\.py) +\S", text, re.MULTILINE)
    ]


def test_there_are_modules_to_look_at() -> None:
    assert "throughput/saturation.py" in MODULES


@pytest.mark.parametrize("module", MODULES)
def test_every_module_is_named_in_the_page(module: str) -> None:
    assert f"`stats/{module}`" in _page(), f'give {module} a row in docs/measurement.md, "Every formula"'


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_one_row_with_formula_source_assumptions_and_what_breaks_it(module: str) -> None:
    rows = [rest for name, rest in ROW.findall(_page()) if name == module]
    assert len(rows) == 1, f'give {module} one row in docs/measurement.md, "Every formula"'
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", rows[0])]
    assert len(cells) == 5 and all(cells), f"the row of {module} lacks a cell: {cells}"


def test_the_index_of_the_package_has_a_line_for_every_module_and_for_no_other() -> None:
    assert sorted(_indexed()) == MODULES


def test_the_page_names_no_module_that_is_gone() -> None:
    assert set(re.findall(r"`stats/([\w/]+\.py)`", _page())) <= set(MODULES)


def test_the_rows_link_to_headings_of_the_page() -> None:
    headings = re.findall(r"^#+ (.+)$", _page(), re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", _page())) <= anchors
