"""The link index as a process: its defects, sources that are away, restarts, its OpenAPI document."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from configurations_client import Answering, configurations, eventually, link_index
from openapi_run import assert_schemathesis_finds_nothing


def source(ldx: Answering, name: str) -> dict[str, Any]:
    return ldx.get("/ldx/status")["sources"][name]  # type: ignore[no-any-return]


def kinds(ldx: Answering, name: str) -> list[str]:
    """Of the source's polls, the latest first."""
    return [one["kind"] for one in ldx.get(f"/ldx/sources/{name}/history")["members"]]


def initial_done(ldx: Answering) -> bool:
    return all(one["polls"] >= 1 and one["state"] == "idle" for one in ldx.get("/ldx/status")["sources"].values())


def save_again(whole: Answering, times: int) -> None:
    made = whole.new("qm", 1, ("related", whole.address("rm", 1)))
    for number in range(times):
        whole.put(f"/qm/artifacts/{made['id']}", {"title": f"Saved {number}"}, context=1)


def test_reindex_all_retrieves_everything_at_every_poll(tmp_path: Path) -> None:
    with configurations(tmp_path / "c") as whole:
        with link_index(tmp_path / "good", whole) as ldx:
            eventually(lambda: source(ldx, "qm")["polls"] >= 5)
            assert source(ldx, "qm")["retrieved"] == 44
        with link_index(tmp_path / "bad", whole, "--reindex-all") as ldx:
            eventually(lambda: source(ldx, "qm")["polls"] >= 5)
            assert source(ldx, "qm")["retrieved"] >= 5 * 44
            whole.send("DELETE", "/qm/artifacts/1", 204, params={"context": 1})
            eventually(lambda: source(ldx, "qm")["changes"] == 1)
            assert set(kinds(ldx, "qm")) == {"initial", "all"}


def test_with_keep_versions_the_index_grows_with_every_save_and_without_it_does_not(tmp_path: Path) -> None:
    grown = {}
    with configurations(tmp_path / "c") as whole:
        for name, options in (("good", ()), ("bad", ("--keep-versions",))):
            with link_index(tmp_path / name, whole, *options) as ldx:
                eventually(lambda: initial_done(ldx))
                before, changes = ldx.get("/ldx/status"), source(ldx, "qm")["changes"]
                made = whole.new("qm", 1, ("related", whole.address("rm", 1)))
                for number in range(10):
                    seen = source(ldx, "qm")["changes"]
                    whole.put(f"/qm/artifacts/{made['id']}", {"title": f"Saved {number}"}, context=1)
                    eventually(lambda: source(ldx, "qm")["changes"] > seen)  # noqa: B023
                eventually(lambda: source(ldx, "qm")["changes"] == changes + 21)  # noqa: B023
                after = ldx.get("/ldx/status")
                grown[name] = {key: after[key] - before[key] for key in ("links", "tracked")}
    assert grown["good"] == {"links": 1, "tracked": 1}
    assert grown["bad"]["links"] == grown["bad"]["tracked"] >= 9


def test_a_source_that_is_away_is_named_and_nothing_is_missed(tmp_path: Path) -> None:
    with configurations(tmp_path / "c") as whole, link_index(tmp_path / "l", whole) as ldx:
        eventually(lambda: initial_done(ldx))
        os.kill(whole.telemetry()["qm.pid"], signal.SIGSTOP)
        try:
            eventually(lambda: source(ldx, "cm")["polls"] > 5)
        finally:
            os.kill(whole.telemetry()["qm.pid"], signal.SIGCONT)
        os.kill(whole.telemetry()["qm.pid"], signal.SIGKILL)
        eventually(lambda: whole.telemetry()["qm.restarts"] == 1 and whole.telemetry()["qm.up"])
        address = whole.address("rm", 5)
        made = whole.new("qm", 13, ("validates", address))
        eventually(lambda: whole.address("qm", made["id"]) in backlinks(ldx, address))
        assert source(ldx, "qm")["problem"] is None


def backlinks(ldx: Answering, address: str) -> list[str]:
    return [one["artifact"] for one in ldx.get("/ldx/backlinks", target=address)["members"]]


def test_the_index_outlives_a_restart_of_itself_and_of_its_sources_elsewhere(tmp_path: Path) -> None:
    with configurations(tmp_path / "c") as whole, link_index(tmp_path / "l", whole) as ldx:
        eventually(lambda: initial_done(ldx))
        before = ldx.get("/ldx/status")["links"]
    with configurations(tmp_path / "c") as whole:
        made = whole.new("cm", 1, ("implements", whole.address("rm", 9)))
        with link_index(tmp_path / "l", whole) as ldx:
            eventually(lambda: whole.address("cm", made["id"]) in backlinks(ldx, whole.address("rm", 9)))
            eventually(lambda: kinds(ldx, "cm") == ["changes", "initial"])  # a link is there before its poll has ended
            assert ldx.get("/ldx/status")["links"] == before + 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_0_in_the_middle_of_its_work(tmp_path: Path, number: signal.Signals) -> None:
    with configurations(tmp_path / "c", artifacts=2000) as whole:
        with link_index(tmp_path / "l", whole) as ldx:
            eventually(lambda: source(ldx, "qm")["retrieved"] > 0)
            ldx.process.send_signal(number)
            assert ldx.process.wait(timeout=40) == 0
        assert "Traceback" not in ldx.errors.read_text()
        with link_index(tmp_path / "l", whole) as ldx:
            eventually(lambda: source(ldx, "qm")["polls"] > 0 and source(ldx, "cm")["polls"] > 0)
            held = ldx.get("/ldx/status")
            assert held["tracked"] == 4000


def test_without_configurations_it_says_what_to_start(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "plimsoll_lab", "links", "--configurations", str(tmp_path / "none"),
               "--data", str(tmp_path / "l"), "--port", "0"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2 and "plimsoll lab configurations" in done.stderr


def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    with configurations(tmp_path / "c") as whole, link_index(tmp_path / "l", whole) as ldx:
        token = {"Authorization": whole.client.headers["Authorization"]}
        assert_schemathesis_finds_nothing(ldx.ready["url"], tmp_path, token)
        assert "Traceback" not in ldx.errors.read_text()
