"""The inventory as processes: memory limit, restarts, signals, and a client that goes away."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import pytest
from inventory_client import Inventory, serving
from postgresql_server import own_database

EVERYTHING = "/instance-bulk/ids?query=cql.allRecords%3D1%20sortby%20title"
BROKEN_OFF = 0  # in place of a status: the connection was closed amid the answer


def eventually(happens: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)


def statuses(inventory: Inventory, requests: int) -> list[int]:
    """Statuses of exports of everything at the same time."""

    def one(_: int) -> int:
        try:
            return inventory.client.get(EVERYTHING).status_code
        except httpx.RemoteProtocolError:
            return BROKEN_OFF

    with ThreadPoolExecutor(requests) as pool:
        return list(pool.map(one, range(requests)))


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_storage_dies_at_its_limit_only_if_it_loads_all(
    tmp_path: Path, database: str, request: pytest.FixtureRequest
) -> None:
    where: list[str] = []
    if database == "postgresql":
        where = ["--dsn", own_database(request.getfixturevalue("postgresql_dsn"), "inventory_memory")]
    with serving(tmp_path, *where, instances=2500) as inventory:
        before = inventory.telemetry()["storage.residentMB"]
        assert statuses(inventory, 5) == [200] * 5
        grown = inventory.telemetry()["storage.mostResidentMB"] - before
    limit = int(before + 25)
    with serving(tmp_path, *where, "--memory-limit", limit, instances=2500) as inventory:
        assert statuses(inventory, 5) == [200] * 5
        assert inventory.telemetry()["storage.killedAtMemoryLimit"] == 0
    assert grown < 25, "streaming must not grow with the result"
    with serving(tmp_path, *where, "--memory-limit", limit, "--load-all", instances=2500) as inventory:
        found = statuses(inventory, 5)
        assert any(status != 200 for status in found) and set(found) <= {200, 502, 503, BROKEN_OFF}
        assert found.count(BROKEN_OFF) == inventory.errors().count("storage broke off in the middle of an answer")
        eventually(lambda: inventory.telemetry()["storage.up"])
        told = inventory.telemetry()
        assert told["storage.killedAtMemoryLimit"] >= 1 and told["storage.restarts"] >= 1
        assert f"{limit} allowed" in inventory.errors()
        assert inventory.get("/volume") == {"instances": 2500}
        assert told["search.restarts"] == told["users.restarts"] == 0


def test_a_module_that_ends_is_started_again_and_named(tmp_path: Path) -> None:
    with serving(tmp_path, instances=20) as inventory:
        for module, path in (
            ("users", "/users"),
            ("search", "/inventory/instances"),
            ("storage", "/instance-bulk/ids"),
        ):
            os.kill(inventory.telemetry()[f"{module}.pid"], signal.SIGKILL)
            answer = inventory.client.get(path)
            assert answer.status_code in (200, 502, 503), answer.text
            if answer.status_code != 200:
                assert module in answer.json()["errors"][0]["message"]
            eventually(lambda path=path: inventory.client.get(path).status_code == 200)  # type: ignore[misc]
            assert inventory.telemetry()[f"{module}.restarts"] == 1
        assert inventory.client.get("/healthz").status_code == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_module_outlives_the_gateway(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path, instances=20) as inventory:
        modules = [psutil.Process(inventory.telemetry()[f"{name}.pid"]) for name in ("storage", "search", "users")]
        inventory.process.send_signal(number)
        code = inventory.process.wait(timeout=30)
        assert code == (0 if number != signal.SIGKILL else -signal.SIGKILL)
        eventually(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in modules))
        assert "Traceback" not in inventory.errors()


def test_a_client_that_goes_away_frees_its_connection(tmp_path: Path) -> None:
    with serving(tmp_path, instances=3000) as inventory:
        for _ in range(20):  # more than the storage module has connections
            with inventory.client.stream("GET", EVERYTHING) as answer:
                next(answer.iter_raw(1))
        assert len(inventory.get(EVERYTHING)["ids"]) == 3000


def test_the_profiler_tells_what_storage_does(tmp_path: Path) -> None:
    with serving(tmp_path, "--profiler", "--load-all", instances=1000) as inventory:
        for _ in range(5):
            inventory.get(EVERYTHING)
        report = inventory.get("/admin/profile")
        assert report["functions"] and sum(one["share"] for one in report["functions"]) <= 1.001
        assert any("JSONDecoder" in one["function"] for one in report["functions"]), report


def test_a_port_in_use_ends_it_with_2(tmp_path: Path) -> None:
    with serving(tmp_path / "a", instances=5) as inventory:
        port = inventory.ready["modules"]["storage"]
        with (
            pytest.raises(AssertionError, match=f"Port {port}"),
            serving(tmp_path / "b", "--port", port - 1, instances=5),
        ):
            pass
