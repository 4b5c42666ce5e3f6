"""What the indexer does while its index is emptied: without processes, so that each happens in the order told here."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from configurations_client import eventually
from sqlalchemy import Engine, event

from plimsoll.lab.database import sqlite_engine
from plimsoll.lab.links import index
from plimsoll.lab.links.indexer import Indexer, Switches
from plimsoll.lab.links.source import Source

ADDRESS = "/cm/artifacts/1"


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
        content = {"id": 1, "stream": 1, "born": 1, "died": None, "removed": False, "title": "x", "links": []}
        self.fetched()
        return content

    def close(self) -> None:
        pass


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    found = sqlite_engine(tmp_path / "links.db", connect_args={"timeout": 30})
    with found.begin() as connection:
        assert index.prepare(connection, ("cm",), False) is None
    yield found
    found.dispose()


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
    indexer = Indexer(engine, [cast(Source, source)], Switches(poll_every_s=0.01, threads=1))

    def emptied_and_deleted() -> None:
        source.there = False
        indexer.reindex()

    source.fetched = emptied_and_deleted
    with contextlib.ExitStack() as at_end:
        indexer.start()
        at_end.callback(indexer.stop)
        eventually(lambda: indexer.tallies["cm"].polls > 3)
    with engine.connect() as connection:
        assert index.counts(connection)["tracked"] == 0
        assert index.last_change(connection, "cm") == 1
