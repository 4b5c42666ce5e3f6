"""What real exporters' pages tell by our names, beside what the load did and what psutil told (recorded/README.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plimsoll.probes.prometheus.followed import Followed
from plimsoll.probes.prometheus.hosts import page_bytes
from plimsoll.probes.prometheus.mapping import KNOWN, Named
from plimsoll.probes.prometheus.seen import Seen
from plimsoll.runs.importers.resources.exposition import parse_page

RECORDED = Path(__file__).parent / "recorded"
BESIDE: dict[str, Any] = json.loads((RECORDED / "exporters.json").read_text())


def page(exporter: str, number: int) -> str:
    return (RECORDED / f"{exporter}-{number}.txt").read_text()


def told_by(exporter: str) -> tuple[dict[str, dict[str, float]], float]:
    """What the second page tells by source, and the seconds between the two."""
    times = BESIDE["read_at_unix"][exporter]
    followed = Followed(Named("db", "db1"), "db: the page")
    for number, at in enumerate(times, 1):
        parsed = parse_page(page(exporter, number), KNOWN.__contains__)
        assert parsed.unreadable == 0
        _, found = followed.add(parsed.samples, parsed.types, at)
    assert followed.take_notes() == []
    return {one.source: dict(one.values) for one in found}, times[1] - times[0]


def test_node_exporter_tells_what_psutil_told_of_the_same_ten_seconds() -> None:
    found, seconds = told_by("node_exporter")
    assert list(found) == ["host:db1"]
    host, beside = found["host:db1"], BESIDE["machine"]
    cpu_s, disk = beside["cpu_s"], beside["disk_vda"]
    whole_s = sum(cpu_s.values())
    busy_s = cpu_s["user"] + cpu_s["nice"] + cpu_s["system"] + cpu_s["irq"] + cpu_s["softirq"]
    assert host["cores"] == 2
    assert host["cpu_share"] == pytest.approx(busy_s / whole_s, abs=0.01)
    assert host["cpu_cores_used"] == pytest.approx(2 * busy_s / whole_s, abs=0.02)
    assert host["cpu_user_share"] == pytest.approx(cpu_s["user"] / whole_s, abs=0.01)
    assert host["cpu_iowait_share"] == pytest.approx(cpu_s["iowait"] / whole_s, abs=0.005)
    assert host["core_0_share"] + host["core_1_share"] == pytest.approx(host["cpu_cores_used"], abs=0.02)
    assert host["cpu_busiest_core_share"] == max(host["core_0_share"], host["core_1_share"]) > 0.9
    assert host["memory_available_bytes"] == beside["memory_available_bytes"]
    assert host["memory_used_bytes"] == beside["memory_total_bytes"] - beside["memory_available_bytes"]
    assert host["swap_used_bytes"] == beside["swap_used_bytes"]
    assert host["disk_write_bytes_per_s"] * seconds == pytest.approx(disk["write_bytes"], rel=0.02)
    assert host["disk_busy_share"] == pytest.approx(disk["busy_time"] / 1000 / seconds, abs=0.001)
    assert host["disk_vda_write_ms"] == pytest.approx(disk["write_time"] / disk["write_count"], rel=0.05)
    assert host["loopback_bytes_per_s"] * seconds == pytest.approx(beside["loopback_bytes"], rel=0.02)
    assert host["context_switches_per_s"] * seconds == pytest.approx(beside["context_switches"], rel=0.05)
    assert host["load_1m"] == beside["load_1m"]


def test_node_exporter_tells_every_value_that_is_promised_of_a_host() -> None:
    assert set(told_by("node_exporter")[0]["host:db1"]) == {
        "cores", "cpu_cores_used", "cpu_share", "cpu_user_share", "cpu_system_share", "cpu_iowait_share",
        "cpu_steal_share", "cpu_steal_worst_core_share", "cpu_busiest_core_share", "core_0_share", "core_1_share",
        "cpu_pressure_share", "memory_pressure_share", "io_pressure_share", "context_switches_per_s", "load_1m",
        "memory_used_bytes", "memory_available_bytes", "memory_share", "swap_used_bytes", "swap_in_bytes_per_s",
        "swap_out_bytes_per_s", "oom_kills_per_s", "disk_read_bytes_per_s", "disk_write_bytes_per_s",
        "disk_busy_share", "disk_read_ms", "disk_write_ms", "disk_vda_busy_share", "disk_vda_read_ms",
        "disk_vda_write_ms", "network_sent_bytes_per_s", "network_received_bytes_per_s", "loopback_bytes_per_s",
        "network_dropped_packets_per_s", "network_errors_per_s",
    }  # fmt: skip


def test_pages_of_an_x86_machine_have_4_kib_also_where_free_memory_is_not_that_of_its_free_pages() -> None:
    seen = Seen(parse_page(page("node_exporter", 2), KNOWN.__contains__).samples)
    free, pages = seen.gauge("node_memory_MemFree_bytes"), seen.gauge("node_vmstat_nr_free_pages")
    assert free / pages > 3 * 4096  # so of the virtual machine that it was recorded on
    assert page_bytes(seen) == 4096


def test_postgres_exporter_tells_what_its_clients_did() -> None:
    found, seconds = told_by("postgres_exporter")
    assert list(found) == ["postgresql:db"]
    values, did = found["postgresql:db"], BESIDE["postgresql"]
    assert values["sequential_scans_per_s"] * seconds == pytest.approx(did["scans"])
    assert values["sequential_rows_per_s"] * seconds == pytest.approx(did["rows"])
    assert values["temp_files_per_s"] * seconds == pytest.approx(did["sorts_on_disk"])
    assert did["rollbacks"] <= values["rollbacks_per_s"] * seconds < did["rollbacks"] + 2
    assert did["commits"] <= values["commits_per_s"] * seconds < 1.15 * did["commits"]  # the exporter's own beside
    assert values["temp_bytes_per_s"] > 1e6 and values["blocks_hit_per_s"] > 500 * values["sequential_scans_per_s"]
    assert (values["cache_hit_share"], values["blocks_read_per_s"], values["deadlocks_per_s"]) == (1, 0, 0)
    # The client that worked, one that waits in a transaction since 3 s before, and two of the exporter.
    assert (values["connections"], values["connections_max"], values["connections_share"]) == (4, 100, 0.04)
    states = {"active": 1, "idle": 2, "idle_in_transaction": 1}
    assert {name: values[f"connections_{name}"] for name in states} == states
    assert values["longest_transaction_s"] == pytest.approx(seconds + 3, abs=0.5)
    assert values["locks"] >= 1 and values["database_bytes"] > 20_000 * 192


def test_mysqld_exporter_tells_what_the_clients_of_a_mariadb_did() -> None:
    found, seconds = told_by("mysqld_exporter")
    assert list(found) == ["mysql:db"]
    values, did = found["mysql:db"], BESIDE["mariadb"]
    assert did["statements"] <= values["statements_per_s"] * seconds < 1.05 * did["statements"]
    assert did["scans"] <= values["sequential_scans_per_s"] * seconds < 1.05 * did["scans"]
    assert values["lock_waits_per_s"] * seconds == pytest.approx(did["lock_waits"])
    assert values["lock_wait_ms_per_s"] * seconds == pytest.approx(did["lock_wait_ms"], abs=5)
    assert values["lock_waits"] == 1  # the second one, which still waits
    # Who worked, who holds the row, who waits for it, and the exporter.
    assert (values["connections"], values["connections_max"]) == (4, 151)
    assert values["connections_active"] == 2 and values["cache_hit_share"] == 1
    for name in ("slow_statements_per_s", "temp_disk_tables_per_s", "failed_connections_per_s"):
        assert values[name] == 0
    assert values["joins_without_index_per_s"] == values["blocks_read_per_s"] == 0
