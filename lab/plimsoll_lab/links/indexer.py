"""The indexer: each source has a thread that polls it and two that fetch what changed and write it into the index.

    initial    the base is read, every member fetched; then changes are followed from its cutoff
    changes    the changes since the last look, each changed resource once
    all        the known defect of --reindex-all: every member of the base again, at each poll

A poll that is broken off (the source does not answer) counts as not made: what it should have done is done by the next.
Writing an item twice is the same as writing it once.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from plimsoll_lab.links import index
from plimsoll_lab.links.index import Item, Poll
from plimsoll_lab.links.source import Coalesced, Source, SourceProblem, coalesced

BATCH = 50


@dataclass(frozen=True)
class Switches:
    """How it works; the last two are known defects, off by default."""

    poll_every_s: float = 60.0
    threads: int = 2
    reindex_all: bool = False
    keep_versions: bool = False


@dataclass
class Tally:
    """What a source has come to so far. Written under `lock`."""

    state: str = "starting"
    polls: int = 0
    found: int = 0  # items that polls have found to be done; `retrieved` of them are done, `waiting` are not
    changes: int = 0
    retrieved: int = 0
    waiting: int = 0
    busy_ms: int = 0
    indexed: bool = False  # its base has been read
    set_back: int = 0  # how often it was, with all its configurations
    problem: str | None = None
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def shown(self) -> dict[str, Any]:
        """As /ldx/status shows it."""
        with self.lock:
            return {
                "state": self.state, "polls": self.polls, "found": self.found, "changes": self.changes,
                "retrieved": self.retrieved, "waiting": self.waiting, "busyMs": self.busy_ms, "problem": self.problem,
            }  # fmt: skip


class Indexer:
    """Follows all sources into the index behind `engine`."""

    def __init__(self, engine: Engine, sources: Sequence[Source], switches: Switches) -> None:
        self.switches = switches
        self.tallies: Mapping[str, Tally] = {source.name: Tally() for source in sources}
        self._engine = engine
        self._sources = list(sources)
        self._writing = threading.Lock()  # one writer at a time: SQLite allows no more, and items may be written twice
        self._emptied = 0
        self._emptied_before = {source.name: 0 for source in sources}  # what it was when the source's poll began
        self._ending = threading.Event()
        self._again = {source.name: threading.Event() for source in sources}
        self._threads = [threading.Thread(target=self._follow, args=(source,), daemon=True) for source in sources]

    def start(self) -> None:
        """Begin to poll."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End after what is being fetched now."""
        self._ending.set()
        for event in self._again.values():
            event.set()
        for thread in self._threads:
            thread.join(timeout=8)
        for source in self._sources:
            source.close()

    def reindex(self) -> None:
        """Empty the index and read every source from its base again, beginning now; of several at once the first does
        it for all."""
        asked = self._emptied
        with self._writing:
            if self._emptied != asked:
                return
            with self._engine.begin() as connection:
                index.forget(connection)
            # Once it is empty, not before: a poll that saw it full must not be taken for one that began afterwards.
            self._emptied += 1
        for event in self._again.values():
            event.set()

    def _follow(self, source: Source) -> None:
        again = self._again[source.name]
        with ThreadPoolExecutor(self.switches.threads, thread_name_prefix=source.name) as workers:
            while not self._ending.is_set():
                started = time.monotonic()
                again.clear()
                self._poll(source, workers)
                again.wait(max(0.0, started + self.switches.poll_every_s - time.monotonic()))

    def _poll(self, source: Source, workers: ThreadPoolExecutor) -> None:
        tally = self.tallies[source.name]
        started_ms, began = time.time_ns() // 1_000_000, time.monotonic()
        before = tally.shown()
        self._emptied_before[source.name] = self._emptied
        kind, reached, problem = "changes", None, None
        try:
            with self._engine.connect() as connection:
                last = index.last_change(connection, source.name)
            kind = "initial" if last is None else "all" if self.switches.reindex_all else "changes"
            tally.indexed = last is not None
            self._tell(tally, state=kind, problem=None)
            if (
                last is not None and source.newest_change() < last
            ):  # it was set back: what is indexed is of another time
                self._forget(source)
                kind, last = "initial", None
            if last is None or self.switches.reindex_all:
                reached = self._read_base(source, workers, last)
            else:
                changes = source.changes_after(last)
                self._carry_out(source, coalesced(changes), workers)
                reached = changes[0].number if changes else None
        except SourceProblem as error:
            problem = str(error)
        except DBAPIError as error:
            problem = f"the index cannot be written: {str(error.orig).splitlines()[0] if error.orig else 'unknown'}"
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            problem = f"what it answered is not as a source's ({type(error).__name__}: {error})"
        now = tally.shown()
        duration_ms = round(1000 * (time.monotonic() - began))
        done = {name: now[name] - before[name] for name in ("changes", "retrieved")}
        if problem:
            print(f"links: {source.name}: {problem}", file=sys.stderr, flush=True)
        if done["retrieved"] or reached is not None or problem:
            poll = Poll(kind, started_ms, done["changes"], done["retrieved"], duration_ms, problem)
            self._keep(source, poll, reached)
        with tally.lock:
            tally.polls += 1
            tally.indexed = tally.indexed or reached is not None
            tally.busy_ms += duration_ms
            tally.waiting = 0
            tally.state, tally.problem = ("unreachable" if problem else "idle"), problem

    def _forget(self, source: Source) -> None:
        print(f"links: {source.name} was set back; it is read from its base again", file=sys.stderr, flush=True)
        with self._writing, self._engine.begin() as connection:
            index.forget_source(connection, source.name)
        tally = self.tallies[source.name]
        with tally.lock:
            tally.set_back += 1

    def _read_base(self, source: Source, workers: ThreadPoolExecutor, last: int | None) -> int:
        """Process every member of the base, then the deletions since `last` (None: all is new); returns its cutoff."""
        reached = 0
        members: list[Coalesced] = []
        for cutoff, page in source.base_pages():
            reached = cutoff
            members += [Coalesced(member, False, 0) for member in page]
        self._carry_out(source, members, workers)
        # Asked for once the base is read: what was deleted just before that is neither in it nor told of later.
        newest = source.changes_after(last) if last is not None else []
        newest = [one for one in newest if one.number <= reached]
        gone = [one for one in coalesced(newest) if one.deleted]
        self._carry_out(source, gone, workers)
        self._tell(self.tallies[source.name], changes=len(newest) - _dealt(gone))
        return reached

    def _carry_out(self, source: Source, work: Sequence[Coalesced], workers: ThreadPoolExecutor) -> None:
        """Fetch and write all of it, by the source's threads. Raises SourceProblem of the first that failed."""
        tally = self.tallies[source.name]
        with tally.lock:
            tally.waiting += len(work)
            tally.found += len(work)
        size = min(BATCH, math.ceil(len(work) / self.switches.threads))
        begun = [workers.submit(self._process, source, part) for part in _batches(work, size)]
        problems = [done.exception() for done in begun]
        for problem in problems:
            if problem is not None:
                raise problem

    def _process(self, source: Source, batch: Sequence[Coalesced]) -> None:
        """One thread's turn: fetch each, write them together."""
        if self._ending.is_set():
            raise SourceProblem("it was told to end")
        items = [
            Item(source.name, one.resource, None if one.deleted else source.resource(one.resource)) for one in batch
        ]
        with self._writing:
            if self._is_emptied(source):  # what was fetched before may be gone, and no change will tell of it again
                return
            with self._engine.begin() as connection:
                index.put(connection, items, self.switches.keep_versions)
        tally = self.tallies[source.name]
        with tally.lock:
            tally.retrieved += len(batch)
            tally.changes += _dealt(batch)
            tally.waiting -= len(batch)

    def _is_emptied(self, source: Source) -> bool:
        """Whether the index was emptied since the source's poll began: its base is to be read again."""
        return self._emptied != self._emptied_before[source.name]

    def _keep(self, source: Source, poll: Poll, reached: int | None) -> None:
        try:
            with self._writing, self._engine.begin() as connection:
                if self._is_emptied(source):
                    reached = None
                index.keep_poll(connection, source.name, poll, reached, index.size_bytes(connection))
        except DBAPIError as error:
            print(f"links: the history cannot be written: {error.orig}", file=sys.stderr, flush=True)

    def _tell(self, tally: Tally, *, changes: int = 0, **state: Any) -> None:
        with tally.lock:
            tally.changes += changes
            for name, value in state.items():
                setattr(tally, name, value)


def _dealt(batch: Iterable[Coalesced]) -> int:
    return sum(one.changes for one in batch)


def _batches(work: Sequence[Coalesced], size: int) -> Iterator[Sequence[Coalesced]]:
    for first in range(0, len(work), max(1, size)):
        yield work[first : first + size]
