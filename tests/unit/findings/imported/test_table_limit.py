"""What limits a target of which a table of levels is all that is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from findings_as_json import checked

from plimsoll import AnalysisChoices, analyze
from plimsoll.findings.imported.table_limit import limit_of_table
from plimsoll.runs.readings.step_table import Row


def rows(**used) -> list[Row]:
    """Rows at 10, 100 and 200 users with these utilisations."""
    return [
        Row(level=level, throughput_per_s=1.0, utilisation={name: shares[at] for name, shares in used.items()})
        for at, level in enumerate((10, 100, 200))
    ]


def test_the_fullest_utilisation_that_rose_is_named_with_the_next_one_as_runner_up():
    found = limit_of_table(rows(gc=(0.1, 0.97, 0.99), db=(0.2, 0.92, 0.95), web=(0.1, 0.5, 0.5)), 100, "users")
    assert (found["kind"], found["where"], found["utilisation"]) == ("cpu", "gc", 0.97)
    assert found["evidence"] == "gc was 97% in use at 100 users, 10% at 10 users."
    assert found["runner_up"]["where"] == "db"


@pytest.mark.parametrize(
    ("name", "kind", "where"),
    [
        ("cpu", "cpu", "the target"),
        ("db disk busy", "disk", "db disk busy"),
        ("memory", "memory", "the target"),
        ("worker utilisation", "resource", "worker utilisation"),
    ],
)
def test_the_name_of_the_column_says_what_it_measures(name: str, kind: str, where: str):
    found = limit_of_table(rows(**{name: (0.1, 0.95, 0.95)}), 100, "users")
    assert (found["kind"], found["where"], found["runner_up"]) == (kind, where, None)


def test_room_everywhere_and_a_resource_that_was_always_full_cannot_tell():
    room = limit_of_table(rows(gc=(0.1, 0.6, 0.61)), 100, "users")
    assert room["kind"] == "unknown" and room["evidence"].startswith("Nothing was near its ceiling: gc was 60%")
    always = limit_of_table(rows(gc=(0.95, 0.97, 0.97)), 100, "users")
    assert always["kind"] == "unknown" and "at the lowest load too: gc was 97%" in always["evidence"]


def test_nothing_is_said_without_a_level_that_is_too_much_or_a_utilisation_there():
    assert limit_of_table(rows(gc=(0.1, 0.9, 0.9)), None, "users") is None
    assert limit_of_table(rows(), 100, "users") is None
    only_low = [Row(level=10, utilisation={"gc": 0.1}), Row(level=100)]
    assert limit_of_table(only_low, 100, "users") is None


def test_analyze_of_a_table_says_what_stops_it(tmp_path: Path):
    path = tmp_path / "t.csv"
    path.write_text("users,req/s,cpu (%),db disk busy (%)\n10,50,12,3\n50,240,55,20\n100,420,95,93\n200,430,98,96\n")
    [answer] = analyze([path], AnalysisChoices(runs=tmp_path / "runs"))
    [levels] = [one for one in checked(answer.findings) if one["question"].startswith("Up to which load")]
    assert levels["answer"].endswith("What stops it: CPU of the target.")
    assert levels["limited_by"]["runner_up"]["kind"] == "disk"
    cpu, disk = levels["next"][-2:]
    assert cpu.startswith("Give the target more CPU. A mean over cores cannot show one that is full")
    assert disk.startswith("If that changes nothing, ") and "Give the target a faster disk" in disk


def test_analyze_of_a_table_with_room_everywhere_says_where_to_look(tmp_path: Path):
    path = tmp_path / "t.csv"
    path.write_text("users,req/s,cpu (%)\n10,50,12\n50,240,35\n100,420,45\n200,430,46\n")
    [answer] = analyze([path], AnalysisChoices(runs=tmp_path / "runs"))
    [levels] = [one for one in checked(answer.findings) if one["question"].startswith("Up to which load")]
    assert levels["limited_by"]["kind"] == "unknown"
    assert levels["next"][-1] == (
        "To see what it waits for, look at what was not probed: its database, pools, locks, other services; "
        "or profile it at this load."
    )
