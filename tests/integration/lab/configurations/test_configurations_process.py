"""The configurations as processes: defects that are switched on, restarts, signals, data that is kept."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest
from configurations_client import COMPONENTS, Answering, configurations, eventually
from sqlalchemy import event

from plimsoll_lab.configurations import local_queries
from plimsoll_lab.configurations.data import WantedData, open_database, prepare_data
from plimsoll_lab.configurations.local_queries import Draft

SERVICES = ("gc", "rm", "qm", "cm", "jts")


def asked(whole: Answering) -> tuple[int, int]:
    told = whole.telemetry()
    return told["gc.resolutions"], told["rm.resolutionsAsked"]


def test_a_list_resolves_its_configuration_once_and_with_resolve_each_for_every_artifact(tmp_path: Path) -> None:
    with configurations(tmp_path, artifacts=5 * COMPONENTS) as whole:
        for _ in range(3):
            rows = whole.get("/rm/artifacts", context=1)["members"]
        assert asked(whole) == (1, 1) and len(rows) == 5
    with configurations(tmp_path, "--resolve-each", artifacts=5 * COMPONENTS) as whole:
        again = whole.get("/rm/artifacts", context=1)["members"]
        assert asked(whole) == (6, 6) and again == rows


def test_with_resolve_each_it_is_so_on_postgresql_too(tmp_path: Path, configurations_dsn: str) -> None:
    options = ("--resolve-each", "--reset", "--dsn", configurations_dsn)
    with configurations(tmp_path, *options, artifacts=5 * COMPONENTS) as whole:
        assert len(whole.get("/rm/artifacts", context=1)["members"]) == 5
        assert asked(whole) == (6, 6)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_create_counts_all_artifacts_with_recount_artifacts_and_never_without(
    tmp_path: Path, request: pytest.FixtureRequest, database: str
) -> None:
    dsn = request.getfixturevalue("configurations_dsn") if database == "postgresql" else None
    prepare_data(tmp_path, WantedData(COMPONENTS, COMPONENTS, 1, True), dsn, lambda _: None).lock.close()
    with contextlib.closing(open_database("rm", tmp_path, dsn)) as opened:
        counting: list[str] = []

        @event.listens_for(opened.engine, "before_cursor_execute")
        def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
            counting.extend([statement] if "count(distinct" in statement.lower() else [])

        numbers = []
        for recount in (False, True, True, False):
            with opened.engine.begin() as connection:
                made = local_queries.create_artifact(connection, 1, Draft("x", "", [], "engineer01"), True, recount)
            numbers.append((made["id"], len(counting)))
    first = COMPONENTS + 1
    assert numbers == [(first, 0), (first + 1, 1), (first + 2, 2), (first + 3, 2)]


def test_a_service_that_ends_is_started_again_and_named(tmp_path: Path) -> None:
    with configurations(tmp_path, "--recount-artifacts") as whole:
        kept = whole.new("rm", 1)["id"]
        for service, path in (("jts", "/jts/check"), ("gc", "/gc/configuration/4"), ("rm", "/rm/projects")):
            os.kill(whole.telemetry()[f"{service}.pid"], signal.SIGKILL)
            answer = whole.raw("GET", "/qm/proxy/gc/configuration/4") if service != "rm" else None
            assert answer is None or answer.status_code in (200, 502, 503)
            if answer is not None and answer.status_code != 200:
                assert service in answer.json()["error"]["message"]
            eventually(lambda service=service: whole.telemetry()[f"{service}.restarts"] == 1)  # type: ignore[misc]
            eventually(lambda: whole.client.get(f"{whole.ready['url']}/healthz").status_code == 200)
            assert whole.get(path)
        assert whole.get(f"/rm/artifacts/{kept}", context=1)["id"] == kept


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_service_outlives_the_first_process(tmp_path: Path, number: signal.Signals) -> None:
    with configurations(tmp_path) as whole:
        told = whole.telemetry()
        services = [psutil.Process(told[f"{name}.pid"]) for name in SERVICES]
        whole.process.send_signal(number)
        code = whole.process.wait(timeout=40)
        assert code == (0 if number != signal.SIGKILL else -signal.SIGKILL)
        eventually(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in services))
        assert "Traceback" not in whole.errors.read_text()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_gc_and_jts_share_a_core_if_told_to(tmp_path: Path) -> None:
    core = max(os.sched_getaffinity(0))
    with configurations(tmp_path, "--shared-cpu", core) as whole:
        told = whole.telemetry()
        found = {name: psutil.Process(told[f"{name}.pid"]).cpu_affinity() for name in SERVICES}
    assert found["gc"] == found["jts"] == [core]
    assert found["rm"] == found["qm"] == sorted(os.sched_getaffinity(0))


def test_changes_are_kept_and_links_follow_to_other_ports(tmp_path: Path) -> None:
    with configurations(tmp_path) as whole:
        target = whole.address("rm", 2)
        made = whole.new("qm", 1, ("validates", target))
        assert made["links"] == [{"type": "validates", "target": target}]
    with configurations(tmp_path) as whole:
        found = whole.get(f"/qm/artifacts/{made['id']}", context=1)["links"]
        assert found == [{"type": "validates", "target": whole.address("rm", 2)}] and whole.address("rm", 2) != target
    with configurations(tmp_path, "--reset") as whole:
        assert whole.get(f"/qm/artifacts/{made['id']}", 404, context=1)


@pytest.mark.parametrize(("options", "said"), [(["--seed", 2], "seed 1, not 2"), (["--cpu", 99], "no core 99")])
def test_what_cannot_be_served_ends_it_with_what_to_do(tmp_path: Path, options: list[object], said: str) -> None:
    with configurations(tmp_path, "--seed", 1):
        pass
    with pytest.raises(AssertionError, match=said), configurations(tmp_path, *options):
        pass
