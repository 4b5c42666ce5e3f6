"""The kinds of planted limits. Each is made with parameters drawn from a seed, on real processes, and says what stops
it and at about which rate, so that the answer has a truth to be compared with.

All kinds were written before attribution was changed for any. `DEVELOPMENT` are those that it was then tuned with, or
had a rule mended by a trial of; `HELD_OUT` those of which no trial changed a rule. Healthy trials are plants of any
kind under a fifth to under half of the load that they can carry.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from confined import cpu_quota, disk_throttle, memory_limit, narrow_network
from servers import application, database

from plimsoll_lab.ports import free_port

HANDLING_MS = 0.8  # what the application itself takes for a request


@dataclass(frozen=True)
class Truth:
    """What a finding must name: one of the kinds, and any of the words in its place or evidence, if there are some;
    `place`: words that its place must begin with; `note`: words that a note must have."""

    kinds: tuple[str, ...]
    where: tuple[str, ...] = ()
    place: str = ""
    note: str = ""

    def is_named_by(self, limit: dict[str, Any] | None) -> bool:
        """Whether that limit of a finding is it."""
        if limit is None or limit.get("kind") not in self.kinds:
            return False
        place = f"{limit.get('where') or ''} {limit.get('evidence') or ''}"
        return place.startswith(self.place) and (not self.where or any(word in place for word in self.where))

    def is_noted_by(self, finding: dict[str, Any]) -> bool:
        """Whether the notes of a finding tell what is planted beside the limit."""
        return any(self.note in str(note) for note in finding.get("notes") or ()) or not self.note


@dataclass(frozen=True)
class Plant:
    """One planted limit: the flags of the application, what surrounds it, its truth, and the rate that it carries
    (operations per second)."""

    kind: str
    parameters: dict[str, Any]
    truth: Truth
    carries_per_s: float
    flags: tuple[str, ...] = ()
    experiment: Literal["capacity", "hold"] = "capacity"
    dependency: tuple[str, ...] = ()  # flags of a second application, where there is one
    statement: str = ""
    quota_cores: float | None = None
    memory_mib: float | None = None
    disk_kib_per_s: float | None = None
    megabits_per_s: float | None = None
    generator_cores: float | None = None
    script_ms: float = 0.0
    load: float = 0.0  # of a hold: operations per second
    hold_s: float = 30.0
    keeps_up: bool = False
    copies: int = 1  # processes of the application, on one port


@dataclass
class Standing:
    """A plant that stands: where it answers, and what of it the study watches."""

    url: str
    processes: list[dict[str, Any]]
    dsn: str | None = None
    addresses: dict[str, str] = field(default_factory=dict)


@contextmanager
def standing(plant: Plant, folder: Path) -> Iterator[Standing]:
    """The plant's processes, up; Skipped if this machine cannot confine them."""
    with ExitStack() as around:
        port, host, before = free_port(), "127.0.0.1", []
        name = f"shop-{port}"
        flags, processes, dsn = [*plant.flags, "--name", name], [], None
        if plant.dependency:
            other = free_port()
            around.enter_context(application(plant.dependency, other))
            flags += ["--to", f"127.0.0.1:{other}"]
            processes.append({"label": "stock", "port": other})
        if plant.statement:
            dsn, other = around.enter_context(database())
            flags += ["--dsn", dsn, "--statement", plant.statement]
            processes.append({"label": "postgres", "port": other})
        if plant.quota_cores:
            before += around.enter_context(cpu_quota(plant.quota_cores))
        if plant.memory_mib:
            before += around.enter_context(memory_limit(plant.memory_mib))
        if plant.disk_kib_per_s:
            before += around.enter_context(disk_throttle(folder, plant.disk_kib_per_s))
            flags += ["--write-to", str(folder / "written")]
        if plant.megabits_per_s:
            words, host = around.enter_context(narrow_network(plant.megabits_per_s))
            before += words
        flags += ["--share-port"] if plant.copies > 1 else []
        for _ in range(plant.copies):
            around.enter_context(application(flags, port, host, before, plant.keeps_up))
        # In a network of its own a port cannot be looked up from outside; copies are found all by their name.
        by_name = plant.megabits_per_s or plant.copies > 1
        found = {"label": "shop", **({"name": name} if by_name else {"port": port})}
        yield Standing(f"http://{host}:{port}", [found, *processes], dsn)


def _flags(**values: float | str) -> tuple[str, ...]:
    return tuple(word for name, value in values.items() for word in (f"--{name.replace('_', '-')}", str(value)))


def _cpu_quota(draw: random.Random) -> Plant:
    cores, ms = draw.choice((0.2, 0.3, 0.4, 0.5)), round(draw.uniform(3, 10), 1)
    return Plant(
        "cpu_quota", {"cores": cores, "cpu_ms": ms}, Truth(("cpu_quota",), ("shop",)),
        1000 * cores / (ms + HANDLING_MS), _flags(cpu_ms=ms), quota_cores=cores,
    )  # fmt: skip


def _hot_thread(draw: random.Random) -> Plant:
    ms = round(draw.uniform(8, 25), 1)
    return Plant(
        "hot_thread", {"writer_ms": ms}, Truth(("cpu",), ("shop",)), 1000 / (ms + HANDLING_MS), _flags(writer_ms=ms)
    )


def _lock(draw: random.Random) -> Plant:
    ms = round(draw.uniform(8, 30), 1)
    return Plant("lock", {"lock_ms": ms}, Truth(("lock",), ("shop",)), 1000 / ms, _flags(lock_ms=ms))


def _connection_pool(draw: random.Random) -> Plant:
    size, ms = draw.randint(2, 10), round(draw.uniform(30, 90))
    return Plant(
        "connection_pool", {"connections": size, "wait_ms": ms}, Truth(("pool",)), 1000 * size / (ms + 1),
        _flags(pool=size), dependency=_flags(wait_ms=ms),
    )  # fmt: skip


def _worker_pool(draw: random.Random) -> Plant:
    size, ms = draw.randint(2, 10), round(draw.uniform(30, 90))
    return Plant(
        "worker_pool", {"workers": size, "wait_ms": ms}, Truth(("workers",), ("shop",)), 1000 * size / (ms + 1),
        _flags(workers=size, wait_ms=ms),
    )  # fmt: skip


def _slow_statement(draw: random.Random) -> Plant:
    size, repeated = draw.randint(6, 16), draw.choice((1, 2, 3))
    joined = " UNION ALL ".join(["SELECT id, note FROM orders WHERE customer = %s"] * repeated)
    return Plant(
        "slow_statement", {"connections": size, "scans": repeated},
        Truth(("database_statement",), ("orders",)), 110 / repeated, _flags(pool=size), statement=joined,
    )  # fmt: skip


def _database_lock(draw: random.Random) -> Plant:
    size, ms = draw.randint(6, 16), round(draw.uniform(8, 30))
    update = f"WITH held AS (UPDATE counters SET n = n + 1 WHERE id = 1 RETURNING n) SELECT pg_sleep({ms / 1000}), n "
    return Plant(
        "database_lock", {"connections": size, "held_ms": ms}, Truth(("database_lock",)), 1000 / (ms + 1.5),
        _flags(pool=size), statement=update + "FROM held",
    )  # fmt: skip


def _memory_limit(draw: random.Random) -> Plant:
    each, per_s = draw.choice((1, 2, 3)), draw.randint(25, 60)
    return Plant(
        "memory_limit", {"mib_per_request": each, "limit_mib": 40 + each * per_s}, Truth(("memory_limit",), ("shop",)),
        per_s, _flags(hold_mib=each), memory_mib=40 + each * per_s, keeps_up=True,
    )  # fmt: skip


def _disk_throttled(draw: random.Random) -> Plant:
    each, per_s = draw.choice((16, 32, 64)), draw.randint(30, 90)
    return Plant(
        "disk_throttled", {"kib_per_request": each, "kib_per_s": each * per_s}, Truth(("disk",)), per_s,
        _flags(write_kib=each), disk_kib_per_s=each * per_s,
    )  # fmt: skip


def _slow_dependency(draw: random.Random) -> Plant:
    """Either each call takes longer than it should, or the dependency does one after the other, for a lock of its own:
    then that lock is as good a name as the dependency."""
    workers = draw.randint(12, 24)
    if draw.random() < 0.5:
        ms = round(draw.uniform(150, 350))
        flags, carries = _flags(wait_ms=ms), 1000 * workers / (ms + 4)
    else:
        ms = round(draw.uniform(8, 25))
        flags, carries = _flags(lock_ms=ms), 1000 / ms
    return Plant(
        "slow_dependency", {"workers": workers, "its": " ".join(flags)},
        Truth(("dependency", "lock"), ("stock",)), carries, _flags(workers=workers), dependency=flags,
    )  # fmt: skip


def _periodic_job(draw: random.Random) -> Plant:
    every, ms, hold_ms = round(draw.uniform(9, 16), 1), round(draw.uniform(500, 1200)), round(draw.uniform(2, 6), 1)
    return Plant(
        "periodic_job", {"every_s": every, "job_ms": ms, "lock_ms": hold_ms}, Truth(("periodic_job",)), 1000 / hold_ms,
        _flags(lock_ms=hold_ms, job_every=every - ms / 1000, job_ms=ms), "hold",
        load=round(draw.uniform(0.2, 0.4) * 1000 / hold_ms), hold_s=66,
    )  # fmt: skip


def _leak(draw: random.Random) -> Plant:
    kib, wait = round(draw.uniform(30, 300)), round(draw.uniform(5, 30))
    return Plant(
        "leak", {"kib_per_request": kib}, Truth(("leak",), ("shop",)), 400, _flags(leak_kib=kib, wait_ms=wait), "hold",
        load=draw.randint(20, 60), hold_s=40,
    )  # fmt: skip


def _error_limiter(draw: random.Random) -> Plant:
    above, status = draw.randint(30, 120), draw.choice((429, 503))
    return Plant(
        "error_limiter", {"above_per_s": above, "status": status}, Truth(("errors",)), above,
        _flags(fail_above=above, fail_status=status, wait_ms=5),
    )  # fmt: skip


def _network_shaped(draw: random.Random) -> Plant:
    megabits, kib = draw.choice((6, 8, 12, 16)), draw.choice((16, 24, 32))
    return Plant(
        "network_shaped", {"mbit_per_s": megabits, "kib_per_reply": kib}, Truth(("network",)),
        megabits * 1e6 / 8 / (kib * 1024 * 1.04), _flags(reply_kib=kib), megabits_per_s=megabits,
    )  # fmt: skip


def _generator_starved(draw: random.Random) -> Plant:
    cores, ms = draw.choice((0.3, 0.4, 0.5)), round(draw.uniform(6, 15), 1)
    return Plant(
        "generator_starved", {"generator_cores": cores, "script_ms": ms}, Truth(("generator",)), 1000 * cores / ms,
        _flags(wait_ms=5), generator_cores=cores, script_ms=ms,
    )  # fmt: skip


def _pool_before_idle_database(draw: random.Random) -> Plant:
    """A statement that only takes its time, by a small pool: a larger one carries more."""
    size, ms = draw.randint(2, 4), round(draw.uniform(30, 60))
    return Plant(
        "pool_before_idle_database", {"connections": size, "sleep_ms": ms}, Truth(("pool",), ("connections",)),
        1000 * size / (ms + 1), _flags(pool=size), statement=f"SELECT pg_sleep({ms / 1000}), %s::int",
    )  # fmt: skip


def _full_host(draw: random.Random) -> Plant:
    """One process more than the host has cores, each with one busy thread: none of them gets a whole core."""
    ms, cores = round(draw.uniform(8, 20), 1), os.cpu_count() or 1
    return Plant(
        "full_host", {"cpu_ms": ms, "processes": cores + 1}, Truth(("cpu",), place="host, all cores"),
        1000 * cores / (ms + HANDLING_MS), _flags(cpu_ms=ms), copies=cores + 1,
    )  # fmt: skip


def _keep_alive_off(draw: random.Random) -> Plant:
    """Each answer closes its connection: whatever the limit, that is to be told."""
    ms = round(draw.uniform(4, 10), 1)
    return Plant(
        "keep_alive_off", {"cpu_ms": ms}, Truth(("cpu",), note="opens a new connection"), 1000 / (ms + HANDLING_MS),
        (*_flags(cpu_ms=ms), "--close"),
    )  # fmt: skip


HEALTHY = "healthy"
DEVELOPMENT: dict[str, Callable[[random.Random], Plant]] = {
    "lock": _lock,
    "worker_pool": _worker_pool,
    "slow_statement": _slow_statement,
    "slow_dependency": _slow_dependency,
    "periodic_job": _periodic_job,
    "leak": _leak,
    "network_shaped": _network_shaped,
    "generator_starved": _generator_starved,
    "memory_limit": _memory_limit,
    "hot_thread": _hot_thread,
    "pool_before_idle_database": _pool_before_idle_database,
    "full_host": _full_host,
    "keep_alive_off": _keep_alive_off,
}
HELD_OUT: dict[str, Callable[[random.Random], Plant]] = {
    "cpu_quota": _cpu_quota,
    "connection_pool": _connection_pool,
    "database_lock": _database_lock,
    "disk_throttled": _disk_throttled,
    "error_limiter": _error_limiter,
}
KINDS = {**DEVELOPMENT, **HELD_OUT}
# Kinds in the order in which healthy trials take them: their parameters follow from it. What a hold shows under any
# load (a job, a leak, a starved generator) is not among them.
_HEALTHY_OF = (
    "lock", "worker_pool", "slow_statement", "slow_dependency", "network_shaped", "cpu_quota", "hot_thread",
    "connection_pool", "database_lock", "memory_limit", "disk_throttled", "error_limiter",
)  # fmt: skip


def plant_of(kind: str, seed: int, variation: int) -> Plant:
    """The plant of that kind with the parameters of that seed and variation."""
    draw = random.Random(f"{seed}:{kind}:{variation}")
    return _healthy(draw, variation) if kind == HEALTHY else KINDS[kind](draw)


def _healthy(draw: random.Random, variation: int) -> Plant:
    """A plant of each kind in turn, far from its limit; every second is a capacity run that ends below it. Those that
    one user alone, who waits for nothing between two requests, drives beyond their limit are not held."""
    sick = KINDS[_HEALTHY_OF[variation % len(_HEALTHY_OF)]](draw)
    share = round(draw.uniform(0.2, 0.45), 2)
    is_searched = (variation // len(_HEALTHY_OF)) % 2 == 1 or sick.kind in ("memory_limit", "error_limiter")
    experiment: Literal["capacity", "hold"] = "capacity" if is_searched else "hold"
    return replace(
        sick, kind=HEALTHY, parameters={"of": sick.kind, "load": share, **sick.parameters}, truth=Truth(("none",)),
        experiment=experiment, load=round(share * sick.carries_per_s, 1), hold_s=20, keeps_up=False,
    )  # fmt: skip
