"""The tracker's asynchronous consumer: it puts issues into the text index at a set rate (`--index-per-s`), off by
default.

Large trackers index beside their requests: a create answers at once, and a search by text finds the issue somewhat
later, much later if more comes in than the indexer does. What an experiment must find: with more than `per_s` issues a
second put in, the share that is left over, 1 - per_s ÷ (issues put in a second).

The rate is that of elapsed time, whatever else the tracker does: a turn does as many issues as have come due since the
last, each turn is one transaction, and requests are served between turns. It falls below `per_s` only where the
processor is too slow for it. An empty queue leaves no credit. What waits is in the database (`text_queue.py`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from sqlalchemy.exc import DBAPIError

from plimsoll_lab.database import Database
from plimsoll_lab.serving import Say, say
from plimsoll_lab.tracker import text_queue

TURN_S = 0.02
MOST_A_TURN = 100


class TextIndexer:
    """Indexes `per_s` issues a second (above 0) while some wait; `done` counts them since it was made."""

    def __init__(
        self,
        database: Database,
        per_s: float,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        complain: Say = say,
    ) -> None:
        self.per_s = per_s
        self.done = 0
        self._database = database
        self._clock = clock
        self._sleep = sleep
        self._complain = complain
        self._refused = False

    async def keep_indexing(self) -> None:
        """Work until cancelled. What the database refuses is tried again, and told once until it works again."""
        credit, at_s = 0.0, self._clock()
        while True:
            await self._sleep(0.0 if credit >= 1 else max(TURN_S, (1 - credit) / self.per_s))
            now_s = self._clock()
            credit, at_s = credit + (now_s - at_s) * self.per_s, now_s
            due = min(int(credit), MOST_A_TURN)
            if due:
                credit = credit - due if await self._index(due) == due else 0.0

    async def _index(self, due: int) -> int:
        try:
            took = await self._database.run(text_queue.index_next, due)
        except DBAPIError as error:
            if not self._refused:
                self._complain(f"Issues wait for the text index, which is tried again: {str(error.orig).strip()}")
            self._refused = True
            return 0
        self._refused = False
        self.done += took
        return took
