"""The flat JSON document of /api/admin/telemetry: what the server tells of itself.

The keys that the YouTrack report shows have its names and its form (sizes as "130.5 MB"); the others are plain
numbers. Reading it is cheap: the size of SQLite's text index, which costs a scan, is kept for a minute.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, func, select, text

from plimsoll_lab.tracker import queries, text_queue
from plimsoll_lab.tracker.background import Background
from plimsoll_lab.tracker.schema import drafts

RATE_WINDOW_S = 60
TEXT_INDEX_SIZE_KEPT_S = 60.0


class RequestMeter:
    """Requests of the last minute, in whole seconds; memory is bounded by the window."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started_s = clock()
        self._seconds: deque[list[int]] = deque(maxlen=RATE_WINDOW_S)
        self.total = 0

    def count(self) -> None:
        """Count one request now."""
        second = int(self._clock())
        self.total += 1
        if self._seconds and self._seconds[-1][0] == second:
            self._seconds[-1][1] += 1
        else:
            self._seconds.append([second, 1])

    @property
    def uptime_s(self) -> float:
        return self._clock() - self._started_s

    @property
    def per_second(self) -> float:
        """Mean rate over the last minute, or since the start if that is less."""
        now = self._clock()
        recent = sum(number for second, number in self._seconds if second > now - RATE_WINDOW_S)
        return recent / max(1.0, min(RATE_WINDOW_S, self.uptime_s))


class Telemetry:
    """Puts the document together."""

    def __init__(
        self,
        meter: RequestMeter,
        age_recount: bool,
        background: Background,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.meter = meter
        self._age_recount = age_recount
        self._job, self._indexer = background.job, background.indexer
        self._clock = clock
        self._text_index: tuple[float, int] | None = None

    def read(self, connection: Connection) -> dict[str, Any]:
        """The document; sizes in bytes unless a unit is written."""
        sqlite = connection.dialect.name == "sqlite"
        stored = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        database_bytes = connection.execute(text(stored if sqlite else "SELECT pg_database_size(current_database())"))
        memory_bytes = resident_bytes()
        return {
            "textIndexSize": megabytes(self._text_index_bytes(connection)),
            "usedMemory": megabytes(memory_bytes),
            "databaseBackgroundThreads": 0,
            "pendingAsyncJobs": int(self._job is not None and self._job.working),
            "requestsPerSecond": f"{self.meter.per_second:.2f}",
            "requests": self.meter.total,
            "uptimeSeconds": round(self.meter.uptime_s, 3),
            "cpuSeconds": round(time.process_time(), 3),
            "usedMemoryBytes": memory_bytes,
            "databaseBytes": int(database_bytes.scalar_one()),
            "issues": queries.count_all(connection),
            "drafts": int(connection.execute(select(func.count()).select_from(drafts)).scalar_one()),
            "database": connection.dialect.name,
            "ageRecount": self._age_recount,
            "jobEverySeconds": self._job.cadence.every_s if self._job is not None else 0,
            "jobsDone": self._job.done if self._job is not None else 0,
            "indexPerSecond": self._indexer.per_s if self._indexer is not None else 0,
            **self.indexing(connection),
            "$type": "Telemetry",
        }

    def indexing(self, connection: Connection) -> dict[str, int]:
        """Issues that wait for the text index, and how many the indexer has done since the start; 0 without one."""
        if self._indexer is None:
            return {"issuesToIndex": 0, "issuesIndexed": 0}
        return {"issuesToIndex": text_queue.count_waiting(connection), "issuesIndexed": self._indexer.done}

    def _text_index_bytes(self, connection: Connection) -> int:
        now = self._clock()
        if self._text_index is None or now - self._text_index[0] > TEXT_INDEX_SIZE_KEPT_S:
            sqlite = connection.dialect.name == "sqlite"
            size = "SELECT sum(length(block)) FROM issues_text_data"
            statement = size if sqlite else "SELECT pg_relation_size('issues_text')"
            self._text_index = now, int(connection.execute(text(statement)).scalar_one() or 0)
        return self._text_index[1]


def megabytes(size_bytes: int) -> str:
    """As the report's document writes sizes: "130.5 MB" (of 10^6 bytes)."""
    return f"{size_bytes / 1e6:.1f} MB"


def resident_bytes() -> int:
    """Memory of this process that is resident; 0 where the kernel does not say (no /proc)."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
