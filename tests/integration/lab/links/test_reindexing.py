"""What the indexer does with its switches and while its index is emptied: without processes, so that each happens in
the order told here. On SQLite and on PostgreSQL."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psycopg
import pytest
from configurations_client import eventually
from sqlalchemy import Engine, event

from plimsoll_lab.database import postgresql_engine, sqlite_engine
from plimsoll_lab.links import index
from plimsoll_lab.links.index import Item, Sight
from plimsoll_lab.links.indexer import Indexer, Switches
from plimsoll_lab.links.source import Change, Source

ADDRESS = "/cm/artifacts/1"
LINK = {"type": "related", "target": "http://a"}


class Waiting:
    """A lock that counts who has come to it."""

    def __init__(self) -> None:
        self.came, self._lock = 0, threading.Lock()

    def __enter__(self) -> None:
        self.came += 1
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class OneDefect:
    """A source with one defect, until it is deleted; `fetched()` is called when it has been fetched."""

    name = "cm"

    def __init__(self) -> None:
        self.there, self.fetched = True, lambda: None

    def newest_change(self) -> int:
        return 0 if self.there else 1

    def changes_after(self, last: int) -> list[Any]:
        return []  # the base is read after the deletion, so that no change tells of it

    def base_pages(self) -> Iterator[tuple[int, list[str]]]:
        yield self.newest_change(), [ADDRESS] if self.there else []

    def resource(self, address: str) -> dict[str, Any]:
        content = {"id": 1, "stream": 1, "born": 1, "died": None, "removed": False, "title": "x", "links": [LINK]}
        self.fetched()
        return content

    def close(self) -> None:
        pass


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """An empty index, on PostgreSQL in a schema of its own."""
    if request.param == "postgresql":
        dsn = request.getfixturevalue("links_dsn")
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("CREATE SCHEMA IF NOT EXISTS emptied")
        found = postgresql_engine(dsn, connect_args={"options": "-csearch_path=emptied"})
    else:
        found = sqlite_engine(tmp_path / "links.db", connect_args={"timeout": 30})
    with found.begin() as opened:
        assert index.prepare(opened, ("cm",), True) is None
    yield found
    found.dispose()


@contextlib.contextmanager
def following(engine: Engine, source: OneDefect, **switches: bool) -> Iterator[Indexer]:
    """An indexer that polls that source a hundred times a second."""
    indexer = Indexer(engine, [cast(Source, source)], Switches(poll_every_s=0.01, threads=1, **switches))
    indexer.start()
    try:
        yield indexer
    finally:
        indexer.stop()


def test_of_eight_reindexings_at_once_the_first_does_it_for_all(engine: Engine) -> None:
    indexer = Indexer(engine, [], Switches())
    lock = indexer._writing = cast(Any, Waiting())
    emptied = []
    event.listen(engine, "commit", lambda _connection: emptied.append(1))
    threads = [threading.Thread(target=indexer.reindex) for _ in range(8)]
    with lock:
        for one in threads:
            one.start()
        eventually(lambda: lock.came == 9)
    for one in threads:
        one.join()
    assert len(emptied) == 1
    indexer.reindex()
    assert len(emptied) == 2


def test_what_was_fetched_before_the_index_was_emptied_and_is_gone_is_not_written(engine: Engine) -> None:
    source = OneDefect()
    indexers: queue.Queue[Indexer] = queue.Queue()

    def emptied_and_deleted() -> None:
        source.there = False
        indexers.get().reindex()

    source.fetched = emptied_and_deleted
    with following(engine, source) as indexer:
        indexers.put(indexer)
        eventually(lambda: indexer.tallies["cm"].polls > 3)
    with engine.connect() as connection:
        assert index.counts(connection)["tracked"] == 0
        assert index.last_change(connection, "cm") == 1


@pytest.mark.parametrize("reindex_all", [False, True])
def test_with_reindex_all_every_poll_retrieves_the_whole_base(engine: Engine, reindex_all: bool) -> None:
    with following(engine, OneDefect(), reindex_all=reindex_all) as indexer:
        tally = indexer.tallies["cm"]
        eventually(lambda: tally.polls >= 5)
        assert tally.retrieved >= 5 if reindex_all else tally.retrieved == 1
    with engine.connect() as connection:
        polls, _ = index.history(connection, "cm", 0, index.POLLS_KEPT)
        assert polls[-1]["kind"] == "initial"
        assert {one["kind"] for one in polls[:-1]} == ({"all"} if reindex_all else set())
        assert index.counts(connection)["tracked"] == 1


class DeletedMeanwhile(OneDefect):
    """A source whose defect is deleted when its base is asked for a second time: the base no longer has it."""

    asked = 0

    def changes_after(self, last: int) -> list[Change]:
        return [] if self.there or last else [Change(1, True, ADDRESS)]

    def base_pages(self) -> Iterator[tuple[int, list[str]]]:
        self.asked += 1
        self.there = self.asked < 2
        yield from super().base_pages()


def test_with_reindex_all_what_is_deleted_while_a_poll_begins_is_gone_from_the_index(engine: Engine) -> None:
    with following(engine, DeletedMeanwhile(), reindex_all=True) as indexer:
        tally = indexer.tallies["cm"]
        eventually(lambda: tally.polls >= 3)
        assert tally.changes == 1
    with engine.connect() as connection:
        assert index.counts(connection)["tracked"] == 0


class Odd(OneDefect):
    """A source whose answers are JSON, but not as those of a source."""

    def __init__(self, trouble: Exception) -> None:
        super().__init__()
        self.trouble: Exception | None = trouble

    def base_pages(self) -> Iterator[tuple[int, list[str]]]:
        if self.trouble is not None:
            raise self.trouble
        return super().base_pages()


@pytest.mark.parametrize("trouble", [KeyError("trs:changeLog"), TypeError("no list"), ValueError("no JSON")])
def test_a_source_that_answers_oddly_is_told_and_asked_again(engine: Engine, trouble: Exception) -> None:
    source = Odd(trouble)
    with following(engine, source) as indexer:
        tally = indexer.tallies["cm"]
        name = type(trouble).__name__
        eventually(lambda: tally.polls >= 2 and name in (tally.shown()["problem"] or ""))
        source.trouble = None
        eventually(lambda: tally.shown()["state"] == "idle" and tally.retrieved == 1)


def test_what_is_removed_between_two_statements_hides_nothing(engine: Engine) -> None:
    gone = SimpleNamespace(source="qm", artifact=7, stream_id=1)
    sights = [Sight("qm", 1, 2, None, 0), Sight("qm", 1, 1, 5, 1)]
    with engine.connect() as connection:
        assert index._hidden(connection, [(gone, sights[1])], sights) == set()


@pytest.mark.parametrize("keep_versions", [False, True])
def test_with_keep_versions_what_is_gone_at_its_source_stays_in_the_index(engine: Engine, keep_versions: bool) -> None:
    content = OneDefect().resource(ADDRESS)
    resources = [f"/qm/versions/{number}" for number in range(1, 4)]
    for number, resource in enumerate(resources):
        gone = [Item("qm", before, None) for before in resources[:number]]
        with engine.begin() as connection:
            index.put(connection, [*gone, Item("qm", resource, content)], keep_versions)
    with engine.connect() as connection:
        held = index.counts(connection)
    assert (held["tracked"], held["links"]) == ((3, 3) if keep_versions else (1, 1))
