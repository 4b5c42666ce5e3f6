"""Issues that wait for the tracker's text index: what finds them, what keeps them, and the way back."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from lab_process import LabProcess, ended_process, lab_process
from sqlalchemy import Connection, delete, inspect, text, update

from plimsoll_lab.seeded_data import OpenedData, Wanted
from plimsoll_lab.tracker import queries, text_queue
from plimsoll_lab.tracker.data_directory import open_data
from plimsoll_lab.tracker.queries import Filter
from plimsoll_lab.tracker.schema import issues
from plimsoll_lab.tracker.text_indexer import TextIndexer

ISSUES = 40
WORD = "zanzibar"


@pytest.fixture(params=["sqlite", "postgresql"])
def dsn(request: pytest.FixtureRequest) -> str | None:
    return request.getfixturevalue("postgresql_dsn") if request.param == "postgresql" else None


@contextlib.contextmanager
def opened(folder: Path, dsn: str | None, deferred: bool, reset: bool = False) -> Iterator[OpenedData]:
    wanted = Wanted(ISSUES, 1, reset)
    with contextlib.closing(open_data(folder, wanted, dsn, lambda _: None, deferred_index=deferred)) as data:
        yield data


def created(connection: Connection, *summaries: str) -> list[int]:
    person = queries.load_people(connection).all[0]
    return [queries.create_issue(connection, person, summary, "").id for summary in summaries]


def found(connection: Connection, word: str = WORD) -> list[int]:
    return queries.find_ids(connection, Filter(text=word))


def test_a_new_issue_is_there_at_once_and_found_by_its_words_once_it_is_indexed(
    dsn: str | None, tmp_path: Path
) -> None:
    with opened(tmp_path, dsn, True, reset=True) as data, data.database.engine.begin() as connection:
        assert text_queue.count_waiting(connection) == 0, "what was seeded is indexed"
        first, second, third = created(connection, f"{WORD} a", f"{WORD} b", f"{WORD} c")
        assert queries.get_issue(connection, third) is not None and queries.count_all(connection) == ISSUES + 3
        assert found(connection) == [] and text_queue.count_waiting(connection) == 3
        assert text_queue.index_next(connection, 2) == 2
        assert found(connection) == [second, first], "the one that came first is indexed first"
        assert text_queue.index_next(connection, 2) == 1 and text_queue.index_next(connection, 2) == 0
        assert found(connection) == [third, second, first] and text_queue.count_waiting(connection) == 0


def test_an_issue_whose_text_changes_waits_once_and_one_that_is_deleted_no_longer(
    dsn: str | None, tmp_path: Path
) -> None:
    with opened(tmp_path, dsn, True, reset=True) as data, data.database.engine.begin() as connection:
        changed, gone = created(connection, f"{WORD} a", f"{WORD} b")
        for word in ("samarkand", "timbuktu"):
            connection.execute(update(issues).where(issues.c.id == changed).values(summary=word))
        connection.execute(update(issues).where(issues.c.id == changed).values(state="Open"))
        connection.execute(delete(issues).where(issues.c.id == gone))
        assert text_queue.count_waiting(connection) == 1
        assert text_queue.index_next(connection, 10) == 1
        assert (found(connection), found(connection, "samarkand"), found(connection, "timbuktu")) == ([], [], [changed])
        connection.execute(update(issues).where(issues.c.id == changed).values(description=WORD))
        assert text_queue.index_next(connection, 10) == 1 and found(connection) == [changed]
        connection.execute(delete(issues).where(issues.c.id == changed))
        assert found(connection) == [] and text_queue.count_waiting(connection) == 0


def test_what_waits_is_still_there_after_the_next_start_and_is_indexed_without_the_switch(
    dsn: str | None, tmp_path: Path
) -> None:
    with opened(tmp_path, dsn, True, reset=True) as data, data.database.engine.begin() as connection:
        [first] = created(connection, f"{WORD} a")
    with opened(tmp_path, dsn, True) as data, data.database.engine.begin() as connection:
        assert text_queue.count_waiting(connection) == 1 and found(connection) == []
        [second] = created(connection, f"{WORD} b")
    for _ in range(2):
        with opened(tmp_path, dsn, False) as data, data.database.engine.begin() as connection:
            assert found(connection)[-2:] == [second, first]
            assert not inspect(connection).has_table("issues_to_index")
            [at_once] = created(connection, f"{WORD} c")
            assert found(connection)[0] == at_once
            if dsn is None:  # it says what rows of the table and of the index differ
                connection.execute(text("INSERT INTO issues_text(issues_text, rank) VALUES ('integrity-check', 1)"))


def test_the_seeded_state_has_nothing_that_waits_and_new_issues_wait_again(dsn: str | None, tmp_path: Path) -> None:
    with opened(tmp_path, dsn, True, reset=True) as data:
        with data.database.engine.begin() as connection:
            created(connection, WORD)
        with data.database.engine.begin() as connection:
            data.restore(connection)
        with data.database.engine.begin() as connection:
            assert text_queue.count_waiting(connection) == 0 and queries.count_all(connection) == ISSUES
            created(connection, WORD)
            assert text_queue.count_waiting(connection) == 1 and found(connection) == []
    with opened(tmp_path, dsn, False, reset=True) as data, data.database.engine.begin() as connection:
        assert not inspect(connection).has_table("issues_to_index")


def test_the_indexer_empties_the_queue(dsn: str | None, tmp_path: Path) -> None:
    async def emptied(indexer: TextIndexer) -> None:
        going = asyncio.create_task(indexer.keep_indexing())
        async with asyncio.timeout(60):
            while indexer.done < 3:
                await asyncio.sleep(0.02)
        going.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going

    with opened(tmp_path, dsn, True, reset=True) as data:
        with data.database.engine.begin() as connection:
            created(connection, f"{WORD} a", f"{WORD} b", f"{WORD} c")
        asyncio.run(emptied(TextIndexer(data.database, 200)))
        with data.database.engine.begin() as connection:
            assert text_queue.count_waiting(connection) == 0 and len(found(connection)) == 3


def test_a_reset_amid_creates_and_indexing_goes_through(dsn: str | None, tmp_path: Path) -> None:
    async def busy(data: OpenedData, complaints: list[str]) -> None:
        indexer = TextIndexer(data.database, 500, complain=complaints.append)
        going = asyncio.create_task(indexer.keep_indexing())
        for _ in range(3):
            creates = [data.database.run(created, WORD) for _ in range(20)]
            resets = [data.database.run_alone(data.restore) for _ in range(2)]
            await asyncio.gather(*creates[:10], *resets, *creates[10:])
        async with asyncio.timeout(60):
            await data.database.run(created, WORD)
            while await data.database.run(text_queue.count_waiting):
                await asyncio.sleep(0.02)
        going.cancel()

    with opened(tmp_path, dsn, True, reset=True) as data:
        complaints: list[str] = []
        asyncio.run(busy(data, complaints))
        assert not complaints
        with data.database.engine.begin() as connection:
            assert len(found(connection)) == queries.count_all(connection) - ISSUES > 0


def indexing(served: LabProcess) -> dict[str, int]:
    told: dict[str, int] = httpx.get(f"{served.url}/indexing").json()
    return told


def create_many(served: LabProcess, client: httpx.Client, count: int) -> None:
    for number in range(count):
        assert client.post(f"{served.url}/api/issues", json={"summary": f"{WORD} {number}"}).status_code == 200


def test_a_tracker_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    switch = ("--issues", ISSUES, "--data", tmp_path, "--index-per-s")
    with lab_process("tracker", *switch, 0.01) as slow:
        with httpx.Client(headers=logged_in(slow)) as client:
            create_many(slow, client, 30)
            told = client.get(f"{slow.url}/api/admin/telemetry").json()
        assert (told["indexPerSecond"], told["issuesToIndex"], told["issuesIndexed"]) == (0.01, 30, 0)
        slow.process.kill()
        slow.process.wait(timeout=30)
    with lab_process("tracker", *switch, 1000, "--job-every", 0.2, "--job-work", 20) as quick:  # beside a job as well
        deadline = time.monotonic() + 60
        while (told := indexing(quick)) != {"issuesToIndex": 0, "issuesIndexed": 30}:
            assert time.monotonic() < deadline, told
            time.sleep(0.1)
        ids = httpx.get(f"{quick.url}/api/sortedIssues?query={WORD}", headers=logged_in(quick)).json()["tree"]
        assert len(ids) == 30
        quick.process.terminate()
        assert quick.process.wait(timeout=30) == 0 and "Traceback" not in quick.errors()


def test_without_the_switch_the_telemetry_says_that_nothing_waits_and_there_is_no_queue(tmp_path: Path) -> None:
    with lab_process("tracker", "--issues", ISSUES, "--data", tmp_path) as served:
        with httpx.Client(headers=logged_in(served)) as client:
            create_many(served, client, 3)
            told: dict[str, Any] = client.get(f"{served.url}/api/admin/telemetry").json()
            assert (told["indexPerSecond"], told["issuesToIndex"], told["issuesIndexed"]) == (0, 0, 0)
            assert len(client.get(f"{served.url}/api/sortedIssues?query={WORD}").json()["tree"]) == 3
        assert httpx.get(f"{served.url}/indexing").status_code == 404


def test_a_rate_of_nothing_ends_it_with_2(tmp_path: Path) -> None:
    ended = ended_process("tracker", "--port", 0, "--data", tmp_path, "--index-per-s", 0)
    assert ended.returncode == 2 and "is not above 0" in ended.stderr and not any(tmp_path.iterdir())


def logged_in(served: LabProcess) -> dict[str, str]:
    return {"Authorization": f"Bearer {served.first_user()['token']}"}
