"""Each source of facts has a page in docs/probes, and its README leads to each page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plimsoll.study import Probes

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "probes"
SOURCE = re.compile(r"""\b(?:source|kind|SOURCE) = f?"([a-z_]+)""")
# Pages that have several sources, or are called otherwise than these.
ELSEWHERE = {
    "network": "host",
    "target_cores": "host",
    "processes": "process",
    "cgroups": "cgroup",
    "metrics": "prometheus",
    "go": "profile",
}


def names() -> set[str]:
    """Keys of a study's probes, and sources that the probes' code names."""
    code = [path.read_text(encoding="utf-8") for path in (ROOT / "python" / "plimsoll" / "probes").rglob("*.py")]
    return {*Probes.model_fields, *(name for text in code for name in SOURCE.findall(text))}


def test_there_are_sources_to_look_at() -> None:
    assert {"host", "core_speed", "generator", "consumer", "sockets", "postgresql", "target_cores"} <= names()


@pytest.mark.parametrize("name", sorted(names()))
def test_every_source_has_a_page_that_names_it(name: str) -> None:
    page = PAGES / f"{ELSEWHERE.get(name, name)}.md"
    assert page.is_file(), f"write docs/probes/{page.name}"
    assert re.search(rf"\b{name}\b", page.read_text(encoding="utf-8")), f"{page.name} does not name {name}"


def test_the_list_leads_to_every_page_and_to_no_other() -> None:
    listed = set(re.findall(r"\]\(([a-z_]+\.md)\)", (PAGES / "README.md").read_text(encoding="utf-8")))
    assert listed == {path.name for path in PAGES.glob("*.md")} - {"README.md"}
