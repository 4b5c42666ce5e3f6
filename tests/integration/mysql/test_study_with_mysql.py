"""A study whose MariaDB database is watched, from the command line: finding, report, and the password in no output."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mariadb_server import MariadbServer
from watched_database import HOLD, PASSWORD, WatchedDatabase, repeated

from plimsoll.report.html import write_html
from plimsoll.report.run_evidence import read_findings


@contextmanager
def work(server: MariadbServer) -> Iterator[None]:
    """An application at work in the database until the context ends."""
    cursor = server.connect(database="shop").cursor()

    def once() -> None:
        cursor.execute("SELECT id FROM orders WHERE note = 'user data here'")
        cursor.execute("SELECT note FROM orders WHERE id = 77")

    with repeated(once):
        yield


@pytest.fixture
def reader(mariadb_server: MariadbServer, shop: Any) -> str:
    """The DSN of an account that may read what the probe needs, with a password."""
    shop.execute(f"CREATE OR REPLACE USER 'reader'@'%' IDENTIFIED BY '{PASSWORD}'")
    shop.execute("GRANT SELECT ON performance_schema.* TO 'reader'@'%'")
    shop.execute("GRANT PROCESS ON *.* TO 'reader'@'%'")
    return mariadb_server.dsn("reader", password=PASSWORD)


@pytest.fixture
def watched(tmp_path: Path, known_server: Callable[..., str]) -> WatchedDatabase:
    """A study with a probe of the database."""
    return WatchedDatabase("mysql", tmp_path, known_server("--service-ms", 1))


@pytest.mark.parametrize("through", ["environment", "study"])
def test_a_hold_names_the_statement_without_an_index_and_hides_the_password(
    mariadb_server: MariadbServer, reader: str, watched: WatchedDatabase, tmp_path: Path, through: str
) -> None:
    with work(mariadb_server):
        done = watched.command("env:SHOP_DSN" if through == "environment" else reader, *HOLD, SHOP_DSN=reader)
    assert done.returncode == 3, done.stderr  # five seconds are too few to call a hold stable
    words = " ".join(done.stdout.split())
    assert "What takes the database's time?" in words
    assert "One of the dearest statements ran without an index" in words
    [run] = list((tmp_path / "runs").iterdir())
    [found] = [one for one in json.loads((run / "findings.json").read_text()) if "database" in one]
    first = found["database"]["statements"][0]
    assert "WHERE `note` = ?" in first["text"] and first["share"] > 0.5
    assert first["rows_examined"] == 5_000 * first["calls"]
    assert found["database"]["half"] == "one user alone" and first["mean_top_ms"] > 0
    assert found["database"]["server"].startswith("MariaDB ")
    page = (run / "report.html").read_text()
    assert "Rows read per call" in page and "Database connections" in page and "performance_schema" in page
    assert "pg_stat_statements" not in page
    everywhere = watched.everything(done)
    assert PASSWORD not in everywhere and "user data here" not in everywhere
    events = (run / "events.jsonl").read_text().splitlines(keepends=True)
    (run / "findings.json").unlink()
    (run / "events.jsonl").write_text("".join(line for line in events if '"database_run"' not in line))
    [again] = [one for one in read_findings(run) if "database" in one]  # as after a kill
    assert "its steps are added up" in " ".join(again["notes"]) and "without an index" in again["answer"]
    assert "performance_schema over the run" in write_html(run).read_text()


def test_mistakes_in_the_dsn_are_told_before_any_run_directory_is_made(watched: WatchedDatabase) -> None:
    for dsn, words in (
        ("env:NOT_SET_ANYWHERE", "probes.mysql[0].dsn: there is no environment variable NOT_SET_ANYWHERE"),
        (f"postgresql://root:{PASSWORD}@h/d", "this is no DSN of MariaDB or MySQL"),
        (f"mysql://root:{PASSWORD}@127.0.0.1:9/d", "the server cannot be reached"),
    ):
        done = watched.command(dsn, *HOLD)
        assert done.returncode == 2 and words in done.stderr
        assert PASSWORD not in watched.everything(done)


def test_a_script_without_a_study_is_given_its_database_by_a_flag(
    mariadb_server: MariadbServer, reader: str, watched: WatchedDatabase
) -> None:
    options = ("--duration", "3", "--warm-up", "1", "--baseline", "0", "-q", "-e", f"BASE_URL={watched.url}")
    with work(mariadb_server):
        done = watched.command("env:X", "hold", "--details", "script.js", *options, "--probe", "mysql=env:X", X=reader)
    assert "What takes the database's time?" in done.stdout, done.stderr
    assert PASSWORD not in watched.everything(done)
