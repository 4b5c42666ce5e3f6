"""Another host, whose metrics were read, counts as this one does."""

from __future__ import annotations

from plimsoll.findings.capacity.run_resources import resources_of
from plimsoll.findings.limits.what_stops import limiting_resource
from plimsoll.findings.resources import cpu_shares, target_cores


def step(level: float, per_s: float, verdict: str = "good") -> dict:
    return {
        "level": level, "done_per_s": per_s, "verdict": verdict, "measured_from_s": 0.0, "end_s": 10.0,
        "error_share": 0.0, "generator_cores": 0.2, "reasons": [],
    }  # fmt: skip


def means(share: float, disk: float = 0.1, memory: float = 0.5, swapped: float = 0.0) -> dict:
    return {
        "host": {"cpu_share": 0.2, "cores": 8.0},
        "host:db1": {
            "cpu_share": share, "cores": 4.0, "cpu_cores_used": 4 * share, "disk_busy_share": disk,
            "memory_share": memory, "swap_used_bytes": swapped,
        },
        "process:postgres@db1": {"cpu_cores_used": 3.5 * share},
    }  # fmt: skip


STEPS = [step(100, 10), step(500, 50), step(1000, 95, "bad")]


def limit_of(*seen: dict) -> dict:
    return limiting_resource(STEPS[-1], STEPS, list(seen), "users")


def test_its_cores_are_named_as_the_limit() -> None:
    limit = limit_of(means(0.1), means(0.5), means(0.97))
    assert (limit["kind"], limit["where"]) == ("cpu", "host db1, all cores")
    assert "CPU of the host db1 was 97% busy in the step at 1,000 users, 10% at 100 users" in limit["evidence"]


def test_its_disk_and_its_memory_are_too() -> None:
    disk = limit_of(means(0.1), means(0.2), means(0.3, disk=0.99))
    assert (disk["kind"], disk["where"]) == ("disk", "host db1, the busiest disk")
    assert disk["evidence"].startswith("The busiest disk of the host db1 was 99% busy")
    memory = limit_of(means(0.1), means(0.2), means(0.3, memory=0.97, swapped=1e9))
    assert (memory["kind"], memory["where"]) == ("memory", "host db1")


def test_where_nothing_is_near_its_end_it_is_listed_with_the_rest() -> None:
    assert "CPU of the host db1 30%" in limit_of(means(0.1), means(0.2), means(0.3))["evidence"]


def test_its_demand_is_told_with_its_processes_although_the_generator_is_elsewhere() -> None:
    steps = [step(level, level / 10) for level in (100, 300, 500)]
    found = resources_of(steps, [means(level / 1000) for level in (100, 300, 500)], same_host=False, kept_apart=False)
    [cores] = [one for one in found if one.name == "cpu@db1"]
    assert (cores.where, cores.ceiling) == ("the 4 cores of the host db1", 4.0)
    assert cores.full_per_s == 100
    assert set(cores.parts) == {"postgres@db1", "the rest"}
    assert all(not one.name.startswith("disk") for one in found)  # it did not rise with the throughput


def test_its_processes_are_no_cores_of_this_host() -> None:
    assert target_cores(means(0.5)) is None
    assert cpu_shares(means(0.5), None) == {"host": 0.2, "db1": 0.5, "postgres@db1": 1.75}
