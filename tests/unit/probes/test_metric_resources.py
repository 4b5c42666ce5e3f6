"""What known exporters tell, by our names: pages in their form, two scrapes ten seconds apart."""

from __future__ import annotations

import pytest

from plimsoll.probes.prometheus.beginnings import Beginnings
from plimsoll.probes.prometheus.followed import Followed
from plimsoll.probes.prometheus.mapping import COUNTERS, KNOWN, Named, resources
from plimsoll.probes.prometheus.seen import Scrapes, Seen
from plimsoll.runs.importers.resources.exposition import parse_page

NODE = """
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu="0",mode="idle"} {100+1}
node_cpu_seconds_total{cpu="0",mode="iowait"} {10+1}
node_cpu_seconds_total{cpu="0",mode="steal"} {5+1}
node_cpu_seconds_total{cpu="0",mode="system"} {20+2}
node_cpu_seconds_total{cpu="0",mode="user"} {50+5}
node_cpu_seconds_total{cpu="1",mode="idle"} {100+10}
node_cpu_seconds_total{cpu="1",mode="iowait"} {10+0}
node_cpu_seconds_total{cpu="1",mode="steal"} {5+0}
node_cpu_seconds_total{cpu="1",mode="system"} {20+0}
node_cpu_seconds_total{cpu="1",mode="user"} {50+0}
node_memory_MemTotal_bytes 8e9
node_memory_MemAvailable_bytes 2e9
node_memory_SwapTotal_bytes 1e9
node_memory_SwapFree_bytes 7.5e8
node_disk_read_bytes_total{device="sda"} {1000+4e6}
node_disk_written_bytes_total{device="sda"} {1000+2e6}
node_disk_read_bytes_total{device="dm-0"} {1000+4e6}
node_disk_io_time_seconds_total{device="sda"} {7+8}
node_disk_reads_completed_total{device="sda"} {10+100}
node_disk_read_time_seconds_total{device="sda"} {1+0.5}
node_disk_writes_completed_total{device="sda"} {10+0}
node_disk_write_time_seconds_total{device="sda"} {1+0}
node_network_transmit_bytes_total{device="eth0"} {5+1000}
node_network_transmit_bytes_total{device="lo"} {5+70}
node_network_receive_bytes_total{device="eth0"} {5+500}
node_pressure_cpu_waiting_seconds_total {3+4}
node_vmstat_pswpout {0+10}
node_vmstat_oom_kill {0+0}
node_context_switches_total {9+900}
node_load1 1.5
node_boot_time_seconds 1.78e9
process_cpu_seconds_total {1+1}
process_resident_memory_bytes 3e7
"""
CADVISOR = """
container_cpu_usage_seconds_total{id="/",cpu="total"} {900+20} {t}
container_cpu_usage_seconds_total{id="/docker/1",name="web",cpu="total"} {10+4} {t}
container_cpu_cfs_throttled_seconds_total{id="/docker/1",name="web"} {0+3} {t}
container_cpu_cfs_periods_total{id="/docker/1",name="web"} {0+100} {t}
container_cpu_cfs_throttled_periods_total{id="/docker/1",name="web"} {0+60} {t}
container_spec_cpu_quota{id="/docker/1",name="web"} 50000 {t}
container_spec_cpu_period{id="/docker/1",name="web"} 100000 {t}
container_memory_working_set_bytes{id="/docker/1",name="web"} 4e8 {t}
container_spec_memory_limit_bytes{id="/docker/1",name="web"} 5e8 {t}
container_oom_events_total{id="/docker/1",name="web"} {0+1} {t}
container_memory_working_set_bytes{namespace="shop",pod="db-0",container="db",name="k8s_1"} 1e8 {t}
container_spec_memory_limit_bytes{namespace="shop",pod="db-0",container="db",name="k8s_1"} 9223372036854771712 {t}
container_cpu_usage_seconds_total{namespace="shop",pod="db-0",container="db",cpu="cpu00"} {1+1} {t}
container_cpu_usage_seconds_total{namespace="shop",pod="db-0",container="db",cpu="cpu01"} {1+2} {t}
"""
POSTGRESQL = """
pg_up 1
# TYPE pg_stat_database_xact_commit counter
pg_stat_database_xact_commit{datname="shop"} {100+500}
pg_stat_database_xact_commit{datname="template1"} {100+7000}
pg_stat_database_xact_rollback{datname="shop"} {1+10}
pg_stat_database_blks_hit{datname="shop"} {0+900}
pg_stat_database_blks_read{datname="shop"} {0+100}
pg_stat_database_deadlocks{datname="shop"} {0+0}
pg_stat_database_numbackends{datname="shop"} 48
pg_stat_activity_count{datname="shop",state="active"} 40
pg_stat_activity_count{datname="shop",state="idle in transaction"} 3
pg_stat_activity_count{datname="shop",state="idle"} 5
pg_settings_max_connections 50
pg_locks_count{datname="shop",mode="rowexclusivelock"} 12
pg_database_size_bytes{datname="shop"} 1e9
process_cpu_seconds_total {1+1}
"""
MYSQL = """
mysql_up 1
mysql_global_status_questions {100+2000}
mysql_global_status_slow_queries {1+20}
mysql_global_status_threads_connected 150
mysql_global_status_threads_running 9
mysql_global_variables_max_connections 151
mysql_global_status_innodb_buffer_pool_read_requests {0+1000}
mysql_global_status_innodb_buffer_pool_reads {0+50}
mysql_global_status_innodb_row_lock_waits {0+30}
"""
MICROMETER = """
# TYPE process_cpu_usage gauge
process_cpu_usage{application="shop"} 0.25
system_cpu_count{application="shop"} 8.0
process_files_open_files{application="shop"} 120.0
process_files_max_files{application="shop"} 1024.0
jvm_memory_used_bytes{area="heap",id="G1 Eden Space"} 1.0E8
jvm_memory_used_bytes{area="heap",id="G1 Old Gen"} 3.0E8
jvm_memory_used_bytes{area="nonheap",id="Metaspace"} 9.0E7
jvm_memory_max_bytes{area="heap",id="G1 Eden Space"} -1.0
jvm_memory_max_bytes{area="heap",id="G1 Old Gen"} 5.0E8
jvm_gc_pause_seconds_count{action="end of minor GC"} {4+20}
jvm_gc_pause_seconds_sum{action="end of minor GC"} {0.5+1.5}
jvm_threads_live_threads 44.0
hikaricp_connections_active{pool="main"} 10.0
hikaricp_connections_max{pool="main"} 10.0
hikaricp_connections_pending{pool="main"} 37.0
tomcat_threads_busy_threads{name="http-nio-8080"} 50.0
tomcat_threads_config_max_threads{name="http-nio-8080"} 200.0
"""
JMX = """
process_cpu_seconds_total {10+15}
process_resident_memory_bytes 9e8
process_open_fds 90
process_start_time_seconds 1.78e9
jvm_memory_bytes_used{area="heap"} 4e8
jvm_memory_bytes_max{area="heap"} 8e8
jvm_gc_collection_seconds_sum{gc="G1 Young"} {1+0.5}
jvm_gc_collection_seconds_count{gc="G1 Young"} {10+5}
jvm_threads_current 33
"""
JMX_WITHOUT_RULES = """
java_lang_Memory_HeapMemoryUsage_used 4e8
java_lang_Memory_HeapMemoryUsage_max 8e8
java_lang_Memory_NonHeapMemoryUsage_used 9e7
java_lang_Threading_ThreadCount 33
java_lang_GarbageCollector_CollectionTime{name="G1 Young Generation"} {1000+400}
java_lang_GarbageCollector_CollectionTime{name="G1 Old Generation"} {100+100}
java_lang_GarbageCollector_CollectionCount{name="G1 Young Generation"} {10+5}
java_lang_OperatingSystem_ProcessCpuTime {10e9+15e9}
java_lang_OperatingSystem_OpenFileDescriptorCount 90
java_lang_OperatingSystem_MaxFileDescriptorCount 1024
"""
T0, APART_S = 1_790_000_000.0, 10.0


def scrape(template: str, part: float, at: float) -> str:
    """The page with {start+growth} as numbers; `part` of the growth has come."""
    import re

    text = re.sub(r"\{([\d.e]+)\+([\d.e]+)\}", lambda m: repr(float(m[1]) + part * float(m[2])), template)
    return text.replace("{t}", str(int(1000 * at)))


def seen_of(template: str) -> Seen:
    scrapes = Scrapes(COUNTERS)
    for part, at in ((0.0, T0), (1.0, T0 + APART_S)):
        page = parse_page(scrape(template, part, at), KNOWN.__contains__)
        seen = scrapes.add(page.samples, page.types, at)
    return seen


def values_of(template: str, where: str = "") -> dict[str, dict[str, float]]:
    return {one.source: dict(one.values) for one in resources(seen_of(template), Named("shop", where))}


def test_node_exporter_is_a_host_like_ours() -> None:
    found = values_of(NODE, "db1")
    assert list(found) == ["host:db1"]  # the exporter's own process is not the target's
    host = found["host:db1"]
    assert host["cores"] == 2
    assert host["cpu_share"] == pytest.approx(0.35)
    assert host["cpu_cores_used"] == pytest.approx(0.7)
    assert host["cpu_steal_share"] == pytest.approx(0.05)
    assert host["core_0_share"] == pytest.approx(0.7)
    assert host["cpu_busiest_core_share"] == pytest.approx(0.7)
    assert host["cpu_steal_worst_core_share"] == pytest.approx(0.1)
    assert (host["memory_used_bytes"], host["memory_share"], host["swap_used_bytes"]) == (6e9, 0.75, 2.5e8)
    assert host["disk_read_bytes_per_s"] == pytest.approx(4e5)  # dm-0 is made of sda
    assert host["disk_busy_share"] == pytest.approx(0.8)
    assert host["disk_read_ms"] == pytest.approx(5.0)
    assert "disk_write_ms" not in host
    assert host["network_sent_bytes_per_s"] == pytest.approx(100)
    assert host["loopback_bytes_per_s"] == pytest.approx(7)
    assert host["cpu_pressure_share"] == pytest.approx(0.4)
    assert host["swap_out_bytes_per_s"] == pytest.approx(4096)
    assert host["load_1m"] == 1.5


def test_cadvisor_tells_containers_with_their_limits_at_their_own_times() -> None:
    found = {one.source: one for one in resources(seen_of(CADVISOR), Named("node1", "node1"))}
    assert list(found) == ["cgroup:web", "cgroup:shop/db-0/db"]
    web = found["cgroup:web"].values
    assert found["cgroup:web"].stamp == T0 + APART_S
    assert web["cpu_cores_used"] == pytest.approx(0.4)
    assert (web["cpu_limit_cores"], web["cpu_limit_share"]) == (0.5, pytest.approx(0.8))
    assert web["cpu_throttled_share"] == pytest.approx(0.3)
    assert web["cpu_throttled_periods_share"] == pytest.approx(0.6)
    assert (web["memory_limit_bytes"], web["memory_share"]) == (5e8, 0.8)
    assert web["oom_kills_per_s"] == pytest.approx(0.1)
    db = found["cgroup:shop/db-0/db"].values
    assert db["cpu_cores_used"] == pytest.approx(0.3)
    assert "memory_limit_bytes" not in db


def test_postgres_exporter_tells_the_servers_numbers() -> None:
    found = values_of(POSTGRESQL)
    assert list(found) == ["postgresql:shop"]
    values = found["postgresql:shop"]
    assert values["commits_per_s"] == pytest.approx(50)
    assert values["cache_hit_share"] == pytest.approx(0.9)
    assert (values["connections"], values["connections_max"], values["connections_share"]) == (48, 50, 0.96)
    assert (values["connections_active"], values["connections_idle_in_transaction"], values["locks"]) == (40, 3, 12)


def test_mysqld_exporter_tells_the_servers_numbers() -> None:
    values = values_of(MYSQL)["mysql:shop"]
    assert values["statements_per_s"] == pytest.approx(200)
    assert values["connections_share"] == pytest.approx(150 / 151)
    assert values["cache_hit_share"] == pytest.approx(0.95)
    assert values["lock_waits_per_s"] == pytest.approx(3)


def test_micrometer_tells_process_heap_collections_and_pools() -> None:
    found = values_of(MICROMETER, "app1")
    process = found["process:shop@app1"]
    assert process["cpu_cores_used"] == pytest.approx(2.0)
    assert (process["heap_used_bytes"], process["heap_limit_bytes"]) == (4e8, 5e8)
    assert (process["gc_share"], process["gc_per_s"]) == (pytest.approx(0.15), pytest.approx(2))
    assert (process["threads"], process["open_files"], process["open_files_limit"]) == (44, 120, 1024)
    assert found["pool:shop main connections"] == {"used": 10, "limit": 10, "used_share": 1.0, "waiting": 37}
    assert found["pool:shop http-nio-8080 threads"]["used_share"] == 0.25


def test_jmx_exporter_with_its_older_names_tells_the_same() -> None:
    process = values_of(JMX)["process:shop"]
    assert process["cpu_cores_used"] == pytest.approx(1.5)
    assert (process["rss_bytes"], process["heap_share"], process["threads"]) == (9e8, 0.5, 33)
    assert process["gc_share"] == pytest.approx(0.05)


@pytest.mark.parametrize("spelled", [str, str.lower])
def test_jmx_exporter_without_rules_tells_the_same_by_its_beans(spelled) -> None:
    lines = [
        line.partition("{name") if "{name" in line else line.partition(" ") for line in JMX_WITHOUT_RULES.split("\n")
    ]
    found = values_of("\n".join(spelled(name) + middle + rest for name, middle, rest in lines), "app1")
    assert found["process:shop@app1"] == {
        "cpu_cores_used": 1.5, "threads": 33, "open_files": 90, "open_files_limit": 1024, "heap_used_bytes": 4e8,
        "heap_limit_bytes": 8e8, "heap_share": 0.5, "gc_share": pytest.approx(0.05), "gc_per_s": 0.5,
    }  # fmt: skip


def test_a_series_that_appears_adds_no_jump_and_one_that_fell_has_no_rate() -> None:
    scrapes = Scrapes({"a_total"})

    def rate(text: str, at: float) -> float | None:
        page = parse_page(text, lambda name: True)
        return scrapes.add(page.samples, page.types, at).rate("a_total")

    assert rate('a_total{x="1"} 100', 0.0) is None
    assert rate('a_total{x="1"} 110\na_total{x="2"} 5000', 1.0) == 10
    assert rate('a_total{x="1"} 3\na_total{x="2"} 5001', 2.0) == 1
    assert rate('a_total{x="1"} 4\na_total{x="2"} 5001', 3.0) == 1


def test_samples_with_the_same_time_as_before_have_no_rate() -> None:
    scrapes = Scrapes({"a_total"})
    pages = [parse_page(f"a_total 5 {1790000000000 + add}", lambda name: True) for add in (0, 0, 2000)]
    assert [scrapes.add(page.samples, page.types, 0.0).rate("a_total") for page in pages] == [None, None, 0.0]


def test_a_start_time_that_changed_is_a_restart_and_one_that_wobbles_is_none() -> None:
    beginnings = Beginnings()

    def restarted(started: float) -> list[str]:
        page = parse_page(f"process_start_time_seconds {started}", lambda name: True)
        return [one.what for one in beginnings.restarted(Seen(page.samples))]

    assert [restarted(one) for one in (1000.0, 1000.4, 1060.0, 1060.0)] == [[], [], ["process"], []]


@pytest.mark.parametrize(
    ("uname", "page_bytes"),
    [
        ("", 4096),
        ('node_uname_info{release="5.14.0-427.el9.aarch64+64k",machine="aarch64"} 1', 65536),
        ('node_uname_info{release="6.8.0-40-generic-64k",machine="aarch64"} 1', 65536),
        ('node_uname_info{release="6.1.0-21-powerpc64le",machine="ppc64le"} 1', 65536),
        ('node_uname_info{release="6.8.9-400.asahi.fc40.aarch64+16k",machine="aarch64"} 1', 16384),
        ('node_uname_info{release="6.1.0-64-amd64",machine="x86_64"} 1', 4096),
        ("node_memory_MemFree_bytes 6.6e8\nnode_vmstat_nr_free_pages 10100", 65536),
        (
            'node_uname_info{release="6.18.44",machine="aarch64"} 1\n'
            "node_memory_MemFree_bytes 6.6e8\nnode_vmstat_nr_free_pages 10100",
            65536,
        ),
    ],
)
def test_swap_is_in_the_pages_of_the_kernel(uname: str, page_bytes: int) -> None:
    assert (
        values_of(f"node_vmstat_pswpout {{0+10}}\n{uname}\n", "db1")["host:db1"]["swap_out_bytes_per_s"] == page_bytes
    )


def found_by(followed: Followed, text: str, at: float) -> dict[str, dict[str, float]]:
    page = parse_page(text, KNOWN.__contains__)
    return {one.source: dict(one.values) for one in followed.add(page.samples, page.types, at)[1]}


def test_a_container_that_was_restarted_is_noted_and_has_no_rate_once_and_the_others_have() -> None:
    followed = Followed(Named("node1", "node1"), "node1: the page")

    def cores(second: int, started: int, web_cpu_s: float) -> tuple[float | None, float | None]:
        text = "".join(
            f'container_start_time_seconds{{name="{name}"}} {start}\n'
            f'container_cpu_usage_seconds_total{{name="{name}"}} {cpu_s}\n'
            for name, start, cpu_s in (("web", started, web_cpu_s), ("db", 1_000, 0.5 * second))
        )
        found = found_by(followed, text, T0 + second)
        return tuple(found.get(f"cgroup:{name}", {}).get("cpu_cores_used") for name in ("web", "db"))

    assert cores(0, 2_000, 10.0) == (None, None)
    assert cores(1, 2_000, 10.2) == (pytest.approx(0.2), 0.5)
    assert followed.take_notes() == []
    assert cores(2, 5_000, 11.0) == (None, 0.5)  # it used more than before at once
    assert followed.take_notes() == ["node1: the container web was restarted; its counters began anew."]
    assert cores(3, 5_000, 11.4) == (pytest.approx(0.4), 0.5)
    assert followed.take_notes() == []


def test_a_mysql_whose_uptime_fell_was_restarted() -> None:
    followed = Followed(Named("db", "db1"), "db: the page")
    for second, uptime in enumerate((100, 101, 2, 3)):
        found_by(followed, f"mysql_global_status_uptime {uptime}\nmysql_global_status_questions 5\n", T0 + second)
    assert followed.take_notes() == ["db: the MySQL was restarted; its counters began anew."]


def test_a_container_that_goes_and_comes_back_is_noted_once_each() -> None:
    followed = Followed(Named("node1", "node1"), "node1: the page")
    notes = []
    for second, names in enumerate(["web db", *["db"] * 6, "web db", "db", "web db"]):
        lines = [f'container_memory_working_set_bytes{{name="{name}"}} 1e8\n' for name in names.split()]
        found_by(followed, "".join(lines), T0 + second)
        notes += [(second, note) for note in followed.take_notes()]
    assert notes == [
        (3, "node1: the page no longer tells of cgroup:web."),
        (7, "node1: the page tells again of cgroup:web."),
    ]


def test_values_of_a_container_are_told_once_for_each_time_of_its_own() -> None:
    """cAdvisor looks each ten seconds or so, and is asked each second."""
    followed = Followed(Named("node1", "node1"), "node1: the page")
    told_at = []
    for second in range(6):
        stamp = int(T0) + second // 3 * 10
        text = f'container_cpu_usage_seconds_total{{name="web"}} {second // 3} {1000 * stamp}\n'
        found = found_by(followed, f'{text}container_memory_working_set_bytes{{name="web"}} 1e8 {1000 * stamp}\n', T0)
        told_at += [(second, values) for values in found.values()]
    assert told_at == [(0, {"memory_used_bytes": 1e8}), (3, {"memory_used_bytes": 1e8, "cpu_cores_used": 0.1})]


def test_one_metric_with_a_time_of_its_own_does_not_place_the_others() -> None:
    page = parse_page(f"process_open_fds 5\nprocess_max_fds 9 {int(1000 * T0)}\n", KNOWN.__contains__)
    [one] = resources(Scrapes(COUNTERS).add(page.samples, page.types, T0 + 600), Named("shop"))
    assert one.stamp is None


def test_of_very_many_containers_the_busiest_are_told_and_none_is_held_for_gone() -> None:
    followed = Followed(Named("node1", "node1"), "node1: the page")
    for second in range(8):
        lines = [
            f'container_cpu_usage_seconds_total{{name="c{n}"}} {second * (1 + (n + 37 * second) % 150)}\n'
            for n in range(150)
        ]
        found = found_by(followed, "".join(lines), T0 + second)
    assert len(found) == 100
    assert followed.take_notes() == []


def test_a_series_that_a_page_has_twice_counts_once() -> None:
    scrapes = Scrapes({"a_total"})
    for at, value in ((0.0, 5), (10.0, 25)):
        page = parse_page(f"a_total {value}\na_total {value}\n", lambda name: True)
        seen = scrapes.add(page.samples, page.types, at)
    assert seen.rate("a_total") == 2.0


def test_a_series_that_a_scrape_left_out_has_its_rate_in_the_next() -> None:
    scrapes = Scrapes({"a_total"})
    rates = []
    for at, text in (
        (0.0, "a_total 5\nb 1"),
        (10.0, "b 1"),
        (20.0, "a_total 25\nb 1"),
        (900.0, "b 1"),
        (910.0, "a_total 30"),
    ):
        page = parse_page(text, lambda name: True)
        rates.append(scrapes.add(page.samples, page.types, at).rate("a_total"))
    assert rates == [None, None, 1.0, None, None]
