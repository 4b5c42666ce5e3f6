"""What a held load says of restarts, and of the memory that was seen before them."""

from __future__ import annotations

from typing import Any

import pytest
from findings_as_json import checked

from plimsoll.findings.hold.restarts import restart_finding
from plimsoll.probes.restarts import restart_note
from plimsoll.words import MIB

HELD = {"start_s": 10, "end_s": 60}
LIMIT = 180.0 * MIB


def note(second: int, before: int = 11, label: str = "store") -> dict[str, Any]:
    text = restart_note(label, f": process {before} is now {before + 1}")
    return {"second": second, "message": f"process:{label}: {text}"}


def row(second: int, source: str, **values: float) -> dict[str, Any]:
    return {"second": second, "source": source, "values": values}


def found(notes: list[dict[str, Any]], rows: list[dict[str, Any]], limit: float | None = None) -> dict[str, Any]:
    about = {"schema": 1, "experiment": "hold", "status": "finished", "valid": True, "run": None, "objectives": []}
    told = restart_finding(notes, HELD, rows, limit)
    checked(about | {key: value for key, value in told.items() if key != "trouble"})
    return told


def test_restarts_are_those_of_processes_and_of_metrics_pages_while_the_load_was_on() -> None:
    told = (
        (4, "process:store: store was restarted: process 10 is now 11"),  # before
        (20, "process:store: store was restarted: process 11 is now 12"),
        (31, "prometheus:shop: shop: the process was restarted; its counters began anew."),
        (32, "process:store: process:store can be read again"),
        (33, "process:store: store: process 12 ended; 13 goes on."),
    )
    told += ((40, f"jvm:shop: {restart_note('shop: the Java virtual machine', '; its counters began anew.')}"),)
    told_of = restart_finding([{"second": at, "message": text} for at, text in told], HELD)
    assert [row["second"] for row in told_of["restarts"]] == [20, 31, 40]
    first = "store was restarted: process 11 is now 12."
    assert told_of["answer"] == f"Yes, at least 3 times, 20, 31, 40 s after the start: {first}"


def test_no_restart_is_told_of_processes_that_were_probed_alone() -> None:
    """Seen of a script of which no process was known: "No restart of a probed process was seen." """
    assert restart_finding([], HELD, [row(20, "host", cpu_share=0.5)])["answer"] == (
        "It cannot be told: no process of the target was probed."
    )
    assert restart_finding([], HELD, [row(20, "process:store", rss_bytes=9.0)])["answer"].startswith("No restart")


def test_a_restart_says_how_much_memory_it_had_last_against_the_limit_that_was_stated() -> None:
    rows = [row(second, "process:store", rss_bytes=second * 9.0 * MIB) for second in range(10, 20)]
    rows += [row(20, "process:store", rss_bytes=40.0 * MIB), row(19, "process:other", rss_bytes=179.0 * MIB)]
    told = found([note(20)], rows, LIMIT)
    assert told["answer"].endswith("When last seen before, store had 171 MiB of memory: 95% of its limit of 180 MiB.")
    assert told["restarts"][0]["memory_bytes"] == 171 * MIB and told["restarts"][0]["memory_limit_bytes"] == LIMIT
    assert "near its memory limit" in told["next"][0] and "kernel" not in told["answer"]


def test_of_several_restarts_the_one_with_the_most_memory_is_told() -> None:
    rows = [row(at - 1, "process:store", rss_bytes=size * MIB) for at, size in ((20, 60.0), (30, 170.0), (40, 90.0))]
    answer = found([note(20), note(30, 12), note(40, 13)], rows, LIMIT)["answer"]
    assert "store had 170 MiB of memory, the most of 3 times: 94% of its limit of 180 MiB." in answer


@pytest.mark.parametrize(("last", "limit", "words"), [(90.0, LIMIT, "50% of its limit"), (90.0, None, "not probed")])
def test_memory_far_from_its_limit_or_without_one_acquits_nothing(last: float, limit: float | None, words: str) -> None:
    told = found([note(20)], [row(19, "process:store", rss_bytes=last * MIB)], limit)
    assert words in told["answer"] and "(out of memory?)" in told["next"][0]


def test_the_control_group_s_own_limit_comes_before_the_one_that_was_stated() -> None:
    group = row(19, "cgroup:store", memory_used_bytes=127.0 * MIB, memory_limit_bytes=128.0 * MIB)
    told = found([note(20)], [row(19, "process:store", rss_bytes=100.0 * MIB), group], LIMIT)
    assert "store had 127 MiB of memory: 99% of its limit of 128 MiB." in told["answer"]


def test_a_kill_that_the_control_group_counted_is_said() -> None:
    """One of two restarts: the other was none of the kernel's."""
    kill = row(20, "cgroup:store", oom_kills_per_s=1.0)
    told = found([note(20), note(40, 12)], [kill, row(50, "cgroup:store", oom_kills_per_s=1.0)])
    assert told["answer"].endswith("The kernel killed a process of store for memory, by the restart at 20 s.")
    assert [one.get("killed_for_memory", False) for one in told["restarts"]] == [True, False]
    assert told["next"][0].startswith("Raise the memory limit")


def test_what_was_seen_long_before_or_of_the_new_process_is_not_taken_for_the_old_one() -> None:
    rows = [row(14, "process:store", rss_bytes=170.0 * MIB), row(20, "process:store", rss_bytes=30.0 * MIB)]
    told = found([note(20)], rows, LIMIT)
    assert "memory" not in told["answer"] and "memory_bytes" not in told["restarts"][0]
