"""The script that serves the configurations and the link index for the study clm-ldx."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import psycopg
import pytest
from configurations_client import eventually
from postgresql_server import own_database

SCRIPT = Path(__file__).parents[4] / "lab" / "studies" / "clm-ldx" / "lab.sh"


@pytest.fixture(scope="module")
def shared_dsn(postgresql_dsn: str) -> str:
    return own_database(postgresql_dsn, "lab_script")


def test_configurations_and_links_work_together_in_one_postgresql_database(tmp_path: Path, shared_dsn: str) -> None:
    """A link that is made in one is found in the other, whose tables are in a schema of their own; the defect too."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    given = {"DSN": shared_dsn, "DATA": str(tmp_path), "ARTIFACTS": "131", "POLL_EVERY": "0.3", "PORT": "0"}
    given |= {"LINKS_PORT": "0", "DEFECT": "--reindex-all", "PATH": path, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = ["sh", str(SCRIPT)]
    with (
        (tmp_path / "errors").open("w") as log,
        subprocess.Popen(
            command, env=os.environ | given, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, (tmp_path / "errors").read_text()
            assert_they_work_together(tmp_path / "configurations", json.loads(line)["url"])
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=40)
    assert "Traceback" not in (tmp_path / "errors").read_text()
    with psycopg.connect(shared_dsn) as connection:
        found = connection.execute("SELECT DISTINCT table_schema FROM information_schema.tables").fetchall()
    assert {name for (name,) in found} >= {"links", *(f"configurations_{tool}" for tool in ("gc", "rm", "qm", "cm"))}


def assert_they_work_together(folder: Path, index: str) -> None:
    services = json.loads((folder / "services.json").read_text())["services"]
    user = json.loads((folder / "users.json").read_text())[0]
    with httpx.Client(timeout=30, trust_env=False) as client:
        token = client.post(f"{services['jts']}/jts/login", json=user).json()["token"]
        client.headers["Authorization"] = f"Bearer {token}"
        target = f"{services['rm']}/rm/artifacts/1"
        link = {"title": "x", "links": [{"type": "implements", "target": target}]}
        made = client.post(f"{services['cm']}/cm/artifacts", params={"context": 1}, json=link).json()["id"]
        address = f"{services['cm']}/cm/artifacts/{made}"

        def found() -> bool:
            answer = client.get(f"{index}/ldx/backlinks", params={"target": target}).json()
            return address in [one["artifact"] for one in answer["members"]]

        eventually(found)
        eventually(lambda: client.get(f"{index}/ldx/sources/cm/history").json()["members"][0]["kind"] == "all")
