"""A study whose database is watched, from the command line: finding, report, and the password in no output."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from postgresql_server import PostgresqlServer
from watched_database import HOLD, PASSWORD, WatchedDatabase, repeated

from plimsoll.report.html import write_html
from plimsoll.report.run_evidence import read_findings


@contextmanager
def work(dsn: str) -> Iterator[None]:
    """An application at work in the database until the context ends."""
    with psycopg.connect(dsn, autocommit=True) as connection:

        def once() -> None:
            connection.execute("SELECT id FROM item WHERE customer = 77")
            connection.execute("SELECT id FROM item WHERE doc->>'title' = 'user data here'")

        with repeated(once):
            yield


@pytest.fixture
def watched(tmp_path: Path, known_server: Callable[..., str]) -> WatchedDatabase:
    """A study with a probe of the database."""
    return WatchedDatabase("postgresql", tmp_path, known_server("--service-ms", 1))


@pytest.mark.parametrize("through", ["environment", "study", "words"])
def test_a_hold_names_the_statements_and_the_missing_index_and_hides_the_password(
    postgresql_server: PostgresqlServer, database, watched: WatchedDatabase, tmp_path: Path, through: str
):
    dsn = postgresql_server.dsn(database="advice", password=PASSWORD)
    if through == "words":
        dsn = f"host=127.0.0.1 port={postgresql_server.port} dbname=advice user=plimsoll password={PASSWORD}"
    database.execute("SELECT pg_stat_statements_reset()")
    with work(postgresql_server.dsn(database="advice")):
        done = watched.command("env:SHOP_DSN" if through == "environment" else dsn, *HOLD, SHOP_DSN=dsn)
    assert done.returncode == 3, done.stderr  # five seconds are too few to call a hold stable
    assert "What takes the database's time?" in done.stdout
    assert "CREATE INDEX CONCURRENTLY ON public.item USING btree (customer);" in done.stdout.replace("\n    ", " ")
    [run] = list((tmp_path / "runs").iterdir())
    found = [one for one in json.loads((run / "findings.json").read_text()) if "database" in one]
    statements = found[0]["database"]["statements"]
    assert {"SELECT id FROM item WHERE customer = $1", "SELECT id FROM item WHERE doc->>$1 = $2"} == {
        one["text"] for one in statements[:2]
    }
    assert sum(one["share"] for one in statements) == pytest.approx(1, abs=0.05)
    assert found[0]["database"]["half"] == "one user alone"
    page = (run / "report.html").read_text()
    assert "ON public.item USING btree (customer)" in page
    assert "Database connections" in page
    everywhere = watched.everything(done)
    assert PASSWORD not in everywhere
    assert "user data here" not in everywhere


def test_a_run_that_was_killed_still_tells_what_its_steps_show(
    postgresql_server: PostgresqlServer, database, watched: WatchedDatabase, tmp_path: Path
):
    database.execute("SELECT pg_stat_statements_reset()")
    with work(postgresql_server.dsn(database="advice")):
        watched.command(postgresql_server.dsn(database="advice"), *HOLD)
    [run] = list((tmp_path / "runs").iterdir())
    (run / "findings.json").unlink()
    events = (run / "events.jsonl").read_text().splitlines(keepends=True)
    (run / "events.jsonl").write_text("".join(line for line in events if '"database_run"' not in line))
    found = [one for one in read_findings(run) if "database" in one]
    assert len(found) == 1
    assert "its steps are added up" in " ".join(found[0]["notes"])
    assert "SELECT id FROM item" in found[0]["answer"]
    assert "What takes the database" in write_html(run).read_text()


def test_mistakes_in_the_dsn_are_told_before_any_run_directory_is_made(watched: WatchedDatabase, tmp_path: Path):
    for dsn, words in (
        ("env:NOT_SET_ANYWHERE", "there is no environment variable NOT_SET_ANYWHERE"),
        (f"mysql://root:{PASSWORD}@h/d", "this is no DSN of PostgreSQL"),
    ):
        done = watched.command(dsn, *HOLD)
        assert done.returncode == 2
        assert words in done.stderr
        assert PASSWORD not in done.stderr
        assert not (tmp_path / "runs").exists()


def test_a_server_that_is_away_ends_the_command_before_the_load(watched: WatchedDatabase):
    done = watched.command(f"postgresql://app:{PASSWORD}@127.0.0.1:9/shop", *HOLD)
    assert done.returncode == 2
    assert "the server cannot be reached" in done.stderr
    assert PASSWORD not in watched.everything(done)


def test_a_script_without_a_study_is_given_its_database_by_a_flag(
    postgresql_server: PostgresqlServer, database, watched: WatchedDatabase
):
    dsn = postgresql_server.dsn(database="advice", password=PASSWORD)
    options = ("--duration", "3", "--warm-up", "1", "--baseline", "0", "-q", "-e", f"BASE_URL={watched.url}")
    with work(postgresql_server.dsn(database="advice")):
        done = watched.command(
            "env:X", "hold", "--details", "script.js", *options, "--probe", "postgresql=env:X", X=dsn
        )
    assert "What takes the database's time?" in done.stdout, done.stderr
    assert PASSWORD not in watched.everything(done)
