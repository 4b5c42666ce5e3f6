"""The command line of `plimsoll lab`, up to the point where it would serve."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import plimsoll_lab
from plimsoll.errors import InputError
from plimsoll_lab.__main__ import main, parser
from plimsoll_lab.seeded_data import SeedFacts, Wanted
from plimsoll_lab.serving import bound_socket, pin_to_core
from plimsoll_lab.tracker.data_directory import SEEDING


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["tracker", "--port", "70000"], ["tracker", "--issues", "-1"]])
def test_a_wrong_command_line_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_the_known_defect_is_off_unless_asked_for() -> None:
    assert parser().parse_args(["tracker"]).age_recount is False
    assert parser().parse_args(["tracker", "--age-recount"]).age_recount is True


def test_the_defects_of_the_forum_are_off_unless_asked_for() -> None:
    given = parser().parse_args(["discussions"])
    assert (given.unread_index, given.accounts_calls, given.auto_auth) == ("new", "page", False)


def test_a_port_in_use_is_told_with_what_to_do(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with bound_socket("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["tracker", "--port", str(port), "--data", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert f"Port {port}" in told.err
    assert "give another --port" in told.err
    assert told.out == ""


def test_a_core_that_is_not_there_is_told() -> None:
    with pytest.raises(InputError, match=r"--cpu"):
        pin_to_core(100_000)


def test_data_that_differs_from_what_is_wanted_is_named() -> None:
    facts = SeedFacts(count=100, seed=1, schema=SEEDING.schema_version)
    assert SEEDING.difference(facts, Wanted()) is None
    assert SEEDING.difference(facts, Wanted(100, 1)) is None
    assert SEEDING.difference(facts, Wanted(200)) == "100 seeded issues, not 200"
    assert SEEDING.difference(facts, Wanted(seed=2)) == "data of seed 1, not 2"
    assert (
        SEEDING.difference(replace(facts, schema=0), Wanted()) == f"tables of version 0, not {SEEDING.schema_version}"
    )


def test_the_lab_imports_of_the_package_errors_and_what_imports_nothing_itself() -> None:
    folder = Path(plimsoll_lab.__file__).parent
    imported = set()
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module)
            elif isinstance(node, ast.Import):
                imported.update(alias.name for alias in node.names)
    allowed = {"plimsoll.errors", "plimsoll.nearest_word", "plimsoll.own_programs", "plimsoll.written_files"}
    ours = {name for name in imported if name.split(".")[0] == "plimsoll"}
    assert ours <= allowed
