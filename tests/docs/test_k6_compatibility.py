"""The table of k6's surface: up to date, complete, and every test that it names is there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REAL = "tests/docs/test_k6_compatibility.py::test_the_surface_is_whole"
SOURCE = ROOT / "docs" / "k6-surface" / "compatibility_page.py"
SPEC = importlib.util.spec_from_file_location("compatibility_page", SOURCE)
assert SPEC is not None and SPEC.loader is not None
table = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = table
SPEC.loader.exec_module(table)


def test_the_page_is_up_to_date() -> None:
    page = (ROOT / "docs" / "k6-compatibility.md").read_text(encoding="utf-8")
    assert page == table.page(table.sections()), "run `make docs`"


def test_every_entry_is_a_name_of_the_surface_once_and_its_test_exists() -> None:
    assert table.mistakes(table.sections()) == []


def test_the_surface_is_whole() -> None:
    sections = {section.title: section for section in table.sections()}
    assert {"k6", "k6/http", "k6/net/grpc", "Globals", "Options", "Executors", "System tags"} <= set(sections)
    assert all(len(set(section.names)) == len(section.names) for section in sections.values())
    assert sum(len(section.names) for section in sections.values()) >= 380


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"name": "nix", "state": "supported", "test": REAL},
         "no name of it"),
        ({"name": "check", "state": "fine", "test": REAL},
         "no state"),
        ({"name": "check", "state": "differs", "test": REAL},
         "'how' is empty"),
        ({"name": "check", "state": "supported"}, "no test shows it"),
        ({"name": "check", "state": "supported", "test": REAL.replace("whole", "nix")},
         "there is no test"),
    ],
)  # fmt: skip
def test_an_entry_that_does_not_fit_is_named(entry: dict[str, str], words: str) -> None:
    section = table.Section("k6", ("check", "fail"), (table.Entry(**entry),))
    found = table.mistakes([section])
    assert len(found) == 1 and words in found[0], found


def test_a_name_without_an_entry_is_not_yet_supported() -> None:
    section = table.Section("k6", ("check", "fail"), (table.Entry("check", "supported"),))
    assert section.entry("fail").state == "not yet" and section.count("supported") == 1
