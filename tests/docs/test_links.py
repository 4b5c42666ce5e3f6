"""Links between pages lead to a file or a folder that is there, and to a heading that it has."""

from __future__ import annotations

from pathlib import Path

import pytest
from markdown_pages import PAGES, ROOT, anchors, links


def broken(page: Path) -> list[str]:
    """Links of a page that lead nowhere; addresses of the web are not asked."""
    found = []
    for link in links(page.read_text(encoding="utf-8")):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        place = (page.parent / path) if path else page
        if not place.exists() or (anchor and anchor not in anchors(place.read_text(encoding="utf-8"))):
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_broken_link_and_a_broken_anchor_are_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A head: `x`\n[a](none.md) [b](#a-head-x) [c](#b-head) [d](page.md#a-head-x) `[e](no.md)`\n")
    assert broken(page) == ["none.md", "#b-head"]
