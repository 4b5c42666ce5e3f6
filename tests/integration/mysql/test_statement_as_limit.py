"""A statement without an index stops an application on MariaDB: it is named, and the index that is told ends that."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mariadb_server import MariadbServer
from visits_server import CUSTOMERS
from watched_database import WatchedDatabase

ROWS, CONNECTIONS = 600_000, 4
HOLD = (
    "hold",
    "study.yaml",
    "--users",
    "60",
    "--duration",
    "12",
    "--warm-up",
    "2",
    "--baseline",
    "2",
    "-q",
    "--details",
)


@pytest.fixture
def application(mariadb_server: MariadbServer, shop: Any) -> Iterator[str]:
    """The URL of an application whose statement reads all visits."""
    shop.execute("CREATE OR REPLACE TABLE visits (id INT PRIMARY KEY, customer INT, page VARCHAR(40))")
    shop.execute(f"INSERT INTO visits SELECT seq, seq % {CUSTOMERS}, concat('page ', seq) FROM seq_1_to_{ROWS}")
    command = [sys.executable, str(Path(__file__).with_name("visits_server.py")), str(mariadb_server.port)]
    with subprocess.Popen([*command, str(CONNECTIONS)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


def findings(folder: Path) -> list[dict[str, Any]]:
    """Those of the newest run."""
    newest = max((folder / "runs").iterdir(), key=lambda path: path.stat().st_ctime_ns)
    return json.loads((newest / "findings.json").read_text())


def test_the_statement_that_a_hold_waits_for_is_named_and_the_index_it_tells_is_measured(
    mariadb_server: MariadbServer, shop: Any, application: str, tmp_path: Path
) -> None:
    watched = WatchedDatabase("mysql", tmp_path, application)
    done = watched.command(mariadb_server.dsn(), *HOLD)
    main, *others = findings(tmp_path)
    limit = main["limited_by"]
    assert (limit["kind"], limit["where"]) == ("database_statement", "a statement in shop"), (limit, done.stderr)
    assert "It used no index in 100% of its calls, and read 600,000 rows for the 60" in limit["evidence"]
    assert "FROM `visits` WHERE `customer` = ?" in limit["evidence"]
    [statement] = re.findall(r"run (ALTER TABLE [^,]*),", limit["remedy"])
    assert statement in " ".join(main["next"]) and statement in " ".join(done.stdout.split())

    shop.execute(statement)
    watched.command(mariadb_server.dsn(), *HOLD)
    main, *others = findings(tmp_path)
    assert main["limited_by"]["kind"] != "database_statement", main["limited_by"]
    [database] = [one for one in others if "database" in one]
    [effect] = database["database"]["effects"]
    assert "`visits`" in effect["text"] and effect["factor"] > 5
    assert "One statement uses an index now that used none in run" in database["answer"]
