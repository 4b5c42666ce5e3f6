"""A job that comes back by itself: a known defect, off by default (`--job-every`, `--job-work`).

The YouTrack report saw the processor busy every 60 to 90 seconds and took it for a scheduled task. This is one: each
time it reads the issues, descriptions included, to sum them up by reporter, a chunk after the other, until it has
worked for its stated time. It works in turns of TURN_S, between which the tracker serves requests, so that a request
that arrives meanwhile waits for a turn or two: slower, but answered.

What an experiment must find: its period (`every_s`) and that requests are slow for about `work_s` of it, or longer
where requests take their turns. With SQLite the job uses the tracker's only core; with PostgreSQL one of its
connections.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from plimsoll.errors import InputError
from plimsoll_lab.database import Database
from plimsoll_lab.tracker import queries

DEFAULT_WORK_MS = 1500.0
CHUNK_ISSUES = 2000
TURN_S = 0.05


@dataclass(frozen=True)
class Cadence:
    """A job begins every `every_s` and works for `work_s`, both in seconds."""

    every_s: float
    work_s: float

    @staticmethod
    def of(every_s: float | None, work_ms: float | None) -> Cadence | None:
        """From the command line; None where no job is wanted. Raises InputError where the two do not fit."""
        if every_s is None:
            if work_ms is not None:
                raise InputError("--job-work is given without a job", "Give --job-every SECONDS as well.")
            return None
        found = Cadence(every_s, (DEFAULT_WORK_MS if work_ms is None else work_ms) / 1000)
        if found.work_s >= found.every_s:
            raise InputError(
                f"a job of {1000 * found.work_s:g} ms every {every_s:g} s would never pause",
                "Give a larger --job-every, or a smaller --job-work.",
            )
        return found


class BackgroundJob:
    """Works on `database` at a fixed cadence, counted from when `keep_coming` begins; a time that it misses because it
    still works is left out."""

    def __init__(
        self,
        database: Database,
        cadence: Cadence,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.cadence = cadence
        self.done = 0
        self.working = False
        self._database = database
        self._clock = clock
        self._sleep = sleep
        self._next_issue = 1

    async def keep_coming(self) -> None:
        """Work at each time of the cadence, the first after one period, until cancelled."""
        began_s, every_s = self._clock(), self.cadence.every_s
        turn = 1
        while True:
            await self._sleep(max(0.0, began_s + turn * every_s - self._clock()))
            await self.work()
            turn = int((self._clock() - began_s) // every_s) + 1

    async def work(self) -> None:
        """Once: turns until they have taken `work_s` together. What requests take in between does not count."""
        self.working, worked_s = True, 0.0
        try:
            while worked_s < self.cadence.work_s:
                worked_s += await self._turn(min(TURN_S, self.cadence.work_s - worked_s))
                await self._sleep(0)
            self.done += 1
        finally:
            self.working = False

    async def _turn(self, length_s: float) -> float:
        """Chunks for that long at least, at a stretch where the database runs them on the event loop; how long."""
        began_s = self._clock()
        while (took_s := self._clock() - began_s) < length_s:
            self._next_issue = await self._database.run(queries.sum_up, self._next_issue, CHUNK_ISSUES)
        return took_s
