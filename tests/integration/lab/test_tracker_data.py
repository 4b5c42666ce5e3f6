"""Where the tracker keeps its data: reuse, reset, the lock, and what ages."""

from __future__ import annotations

import contextlib
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from plimsoll.errors import InputError
from plimsoll_lab.seeded_data import Wanted
from plimsoll_lab.tracker import queries
from plimsoll_lab.tracker.data_directory import open_data
from plimsoll_lab.tracker.queries import Filter

Serving = Callable[..., Any]  # the fixture of conftest.py
ISSUES = 300


def opened(directory: Path, wanted: Wanted, dsn: str | None = None) -> int:
    """Open the data, return how many issues it has, create one more, close it."""
    with (
        contextlib.closing(open_data(directory, wanted, dsn, say=lambda _: None)) as data,
        data.database.engine.begin() as connection,
    ):
        count = queries.count_matching(connection, Filter())
        queries.create_issue(connection, queries.load_people(connection).all[0], "One more", "")
    return count


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_data_is_kept_until_reset(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    dsn = request.getfixturevalue("postgresql_dsn") if kind == "postgresql" else None
    assert opened(tmp_path, Wanted(20, 1, reset=True), dsn) == 20
    assert opened(tmp_path, Wanted(), dsn) == 21
    assert opened(tmp_path, Wanted(20, 1), dsn) == 22
    assert opened(tmp_path, Wanted(reset=True), dsn) == 20
    with pytest.raises(InputError, match="--reset"):
        opened(tmp_path, Wanted(30), dsn)
    assert opened(tmp_path, Wanted(30, reset=True), dsn) == 30


def test_a_folder_serves_one_tracker_at_a_time(serving: Serving, tmp_path: Path) -> None:
    with serving(tmp_path), pytest.raises(InputError, match="in use by the process"):
        opened(tmp_path, Wanted())


def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="--data"):
        opened(tmp_path / "file", Wanted(5))


def test_a_database_that_cannot_be_reached_is_told_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Check --dsn") as told:
        opened(tmp_path, Wanted(5), "postgresql://someone:hunter2@127.0.0.1:1/none")
    assert "hunter2" not in str(told.value)


def test_tokens_are_readable_by_their_owner_only_and_not_in_the_database(tmp_path: Path) -> None:
    opened(tmp_path, Wanted(5))
    users = tmp_path / "users.json"
    assert stat.S_IMODE(users.stat().st_mode) == 0o600
    token = json.loads(users.read_text())[0]["token"]
    assert token.encode() not in (tmp_path / "seed.db").read_bytes()


def test_a_search_reads_the_text_index_in_order_and_stops_after_a_page(serving: Serving, tmp_path: Path) -> None:
    with serving(tmp_path) as api, api.database.engine.connect() as connection:
        statement = """SELECT issues_text.rowid FROM issues_text JOIN issues ON issues.id = issues_text.rowid
                       WHERE issues_text MATCH '"under"' AND issues.state = 'Open'
                       ORDER BY issues_text.rowid DESC LIMIT 9"""
        plan = [row[3] for row in connection.execute(text(f"EXPLAIN QUERY PLAN {statement}"))]
        assert plan[0].startswith("SCAN issues_text VIRTUAL TABLE")
        assert not any("TEMP B-TREE" in step for step in plan)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_recounting_per_create_gives_the_same_counts(
    kind: str, serving: Serving, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    dsn = request.getfixturevalue("postgresql_dsn") if kind == "postgresql" else None
    with serving(tmp_path, dsn, age_recount=True) as api:
        for number in range(3):
            api.post("/api/issues", {"summary": f"Number {number}"})
        assert api.post("/api/issuesGetter/count", {"query": ""})["count"] == ISSUES + 3
        assert api.get("/api/admin/telemetry")["ageRecount"] is True
