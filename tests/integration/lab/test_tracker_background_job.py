"""The tracker's background job at work on a real database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plimsoll_lab.tracker import queries
from plimsoll_lab.tracker.background_job import BackgroundJob, Cadence

Serving = Callable[..., Any]  # the fixture of conftest.py
ISSUES = 300


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_it_reads_all_issues_chunk_by_chunk_and_begins_again(
    kind: str, serving: Serving, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    dsn = request.getfixturevalue("postgresql_dsn") if kind == "postgresql" else None
    with serving(tmp_path, dsn) as api:
        chunks: list[int] = []

        class Database:
            async def run(self, work: Callable[..., int], first: int, chunk: int) -> int:
                chunks.append(first)
                with api.database.engine.begin() as connection:
                    return work(connection, first, 100)

        asyncio.run(BackgroundJob(Database(), Cadence(60, 0.2)).work())  # type: ignore[arg-type]
        assert chunks[:5] == [1, 101, 201, 301, 1], "after the last issue it begins again"
        with api.database.engine.begin() as connection:
            assert queries.sum_up(connection, ISSUES, 100) == ISSUES + 100
            assert queries.sum_up(connection, ISSUES + 1, 100) == 1


def test_the_telemetry_tells_of_the_job_and_that_there_is_none(serving: Serving, tmp_path: Path) -> None:
    with serving(tmp_path) as api:
        told = api.get("/api/admin/telemetry")
        assert (told["jobEverySeconds"], told["jobsDone"], told["pendingAsyncJobs"]) == (0, 0, 0)
