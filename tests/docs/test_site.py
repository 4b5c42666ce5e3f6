"""The docs site has each page at one place, and its build sees what would be loaded from another host."""

from __future__ import annotations

import importlib.util
import re
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from markdown_pages import FENCE, PAGES, ROOT


def build() -> ModuleType:
    specification = importlib.util.spec_from_file_location("site_build", ROOT / "docs" / "site" / "build.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def named(nav: object) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    assert isinstance(parts, list | type({}.values()))
    return [name for part in parts for name in named(part)]


def test_every_page_has_one_place_in_the_navigation() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    pages = {str(path.relative_to(ROOT)) for pattern in build().PAGES for path in ROOT.glob(pattern)}
    assert sorted(named(settings["nav"])) == sorted(name for name in pages if name.endswith(".md"))


def run_together(text: str) -> list[str]:
    """Lines that begin a list or a table right behind a line of text: MkDocs takes them for more of that text."""
    lines = FENCE.sub("", text).splitlines()
    return [
        line
        for before, line in pairwise(lines)
        if (re.match(r"[-*] |1\. ", line) and before.strip() and not re.match(r"\s*([-*#]|\d+\.)|\s\s", before))
        or (line.startswith("|") and before.strip() and not before.startswith(("|", "#")))
    ]


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_lists_and_tables_stand_apart_from_the_text_before_them(page: Path) -> None:
    assert run_together(page.read_text(encoding="utf-8")) == []


def test_a_list_and_a_table_right_behind_text_are_seen() -> None:
    page = "# A\n- a\n  more\n- b\n\ntext\n- c\n\ntext\n| d |\n|---|\n\n1. e\n2. f\n"
    assert run_together(page) == ["- c", "| d |"]


def test_what_the_theme_would_load_by_itself_is_beside_the_pages() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert settings["theme"]["font"] is False
    assert "extra_javascript" not in settings and "analytics" not in settings["extra"]
    assert all((ROOT / path).is_file() for path in settings["extra"]["polyfills"])


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("a.html", '<script src="https://cdn.example/x.js"></script>', 1),
        ("a.html", "<img alt=x src=//cdn.example/x.png>", 1),
        ("a.html", '<link rel="stylesheet" href="https://fonts.example/css">', 1),
        ("a.css", '@import "https://fonts.example/css"; a { background: url(http://cdn.example/x.png) }', 2),
        ("a.html", '<a href="https://example.com">a link</a> <script src="assets/x.js"></script>', 0),
        ("a.html", '<link rel="canonical" href="https://example.com/">', 0),
    ],
)
def test_what_a_page_loads_from_another_host_is_seen(tmp_path: Path, name: str, text: str, count: int) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert len(build().loaded_from_elsewhere(tmp_path)) == count
