"""What `make docs` makes is up to date, and says every command and flag."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from plimsoll.cli.app import app
from plimsoll.cli.reference import reference
from plimsoll.findings.shape.schema import findings_schema, findings_schema_json
from plimsoll.study import study_schema_json

ROOT = Path(__file__).parents[2]


def test_the_reference_of_commands_is_up_to_date() -> None:
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == reference(), "run `make docs`"


def test_the_schema_of_the_study_file_is_up_to_date() -> None:
    assert (ROOT / "docs" / "study.schema.json").read_text(encoding="utf-8").strip() == study_schema_json().strip(), (
        "run `make docs`"
    )


def test_the_schema_of_findings_is_up_to_date() -> None:
    assert (ROOT / "docs" / "findings.schema.json").read_text(encoding="utf-8").strip() == (
        findings_schema_json().strip()
    ), "run `make docs`"


def test_every_field_of_a_finding_is_on_the_page_about_them() -> None:
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    assert [name for name in findings_schema()["$defs"]["Finding"]["properties"] if f"`{name}`" not in page] == []


def test_the_examples_of_findings_are_as_the_schema_says() -> None:
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    examples = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    wanted = {"capacity", "hold", "grow", "drain", "compare", "decompose", "sweep"}
    assert {one["experiment"] for one in examples} == wanted
    jsonschema.validate(examples, findings_schema())


def test_every_command_is_there() -> None:
    names = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]
    assert len(names) >= 6
    for name in names:
        assert f"## plimsoll {name}" in reference()


@pytest.mark.parametrize(
    "flag", ["--max-rate", "--isolate", "--late-arrivals", "--restore-at", "`-e, --env`", "--json"]
)
def test_flags_of_every_kind_of_command_are_there(flag: str) -> None:
    assert flag in reference()


def test_every_flag_says_what_it_does() -> None:
    rows = [line.split(" | ") for line in reference().splitlines() if line.startswith("| `-")]
    assert rows and all(cells[-1].rstrip(" |") for cells in rows)
