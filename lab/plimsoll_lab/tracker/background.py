"""What the tracker does beside its requests: a job (a known defect) and the indexer, each off by default."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from plimsoll_lab.serving import KeepGoing
from plimsoll_lab.tracker.background_job import BackgroundJob
from plimsoll_lab.tracker.text_indexer import TextIndexer


@dataclass(frozen=True)
class Background:
    """Those that are on; None where one is off."""

    job: BackgroundJob | None = None
    indexer: TextIndexer | None = None

    def keep_going(self) -> KeepGoing | None:
        """What keeps them at work until cancelled; None if there is none."""
        parts: list[KeepGoing] = []
        if self.job is not None:
            parts.append(self.job.keep_coming)
        if self.indexer is not None:
            parts.append(self.indexer.keep_indexing)
        if not parts:
            return None

        async def together() -> None:
            await asyncio.gather(*(part() for part in parts))

        return together
