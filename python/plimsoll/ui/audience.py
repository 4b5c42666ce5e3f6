"""Those who look at a run: all are told once a second what it is by now, as server-sent events.

A run is read once, however many look. Nobody is waited for: who is slow gets the whole state later in place of what it
missed, and who comes back after a broken connection gets it at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from plimsoll.runs.directory import json_text
from plimsoll.ui.followed_run import FollowedRun

EVERY_S = 1.0
LOOK_AGAIN_S = 0.5
LAST_LOOKS, LAST_LOOK_S = 3, 0.1
KEPT_S = 60.0  # a run that nobody looks at any more, should somebody reload
Ending = Callable[[Path], dict[str, Any]]


class Audience:
    """The viewers of one run. `ending` says how it ended, `following` which run the verb has begun last, beside which
    this process is; None where there is no such verb."""

    def __init__(
        self, path: Path, ending: Ending, following: Callable[[], Path] | None = None, every_s: float = EVERY_S
    ) -> None:
        self._run = FollowedRun(path)
        self._following = following
        self._ending, self._every_s = ending, every_s
        self._changed = asyncio.Condition()
        self._lock = asyncio.Lock()
        self._told = self._told_notes = 0
        self._rows_changed = -1
        self._text = ""  # what a viewer gets who had everything before
        self._before = -1
        self.ended: dict[str, Any] | None = None
        self.viewers = 0
        self.is_closed = False
        self._turn = 0
        self._task: asyncio.Task[None] | None = None

    @property
    def is_over(self) -> bool:
        """Whether nobody else is told anything by it: the run has ended, or nobody looked for long."""
        return self.is_closed or self.ended is not None

    async def messages(self) -> AsyncIterator[str]:
        """To one viewer, until the run has ended or the page's process ends."""
        self.viewers += 1
        try:
            if self._task is None:
                await self._look()
                self._task = asyncio.create_task(self._follow())
            yield "retry: 1000\n\n"
            number, turn = self._run.course.number, self._turn
            yield _event("whole", self._whole(), number)
            while self.ended is None and not self.is_closed:
                async with self._changed:
                    while self._turn == turn and not self.is_closed:
                        await self._changed.wait()
                turn = self._turn
                if number == self._before:
                    yield self._text
                else:
                    yield _event("whole", self._whole(), self._run.course.number)
                number = self._run.course.number
            if self.ended is not None:
                yield _event("ended", self.ended, number)
                if self._following is not None and await self._followed_by_another():
                    yield _event("next", {}, number)
            yield _event("bye", {}, number)  # else a browser would ask again
        finally:
            self.viewers -= 1

    async def _followed_by_another(self) -> bool:
        """Whether the verb begins another run, as a study does, before it ends."""
        assert self._following is not None
        while not self.is_closed:
            if self._following() != self._run.path:
                return True
            async with self._changed:
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), LOOK_AGAIN_S)
        return False

    async def close(self) -> None:
        """Tell the last state, and no more. Of a process that was killed the last files are closed one by one."""
        for _ in range(LAST_LOOKS):
            with suppress(Exception):
                await self._look()
            if self.ended is not None:
                break
            await asyncio.sleep(LAST_LOOK_S)
        self.is_closed = True
        async with self._changed:
            self._changed.notify_all()
        if self._task is not None:
            self._task.cancel()

    async def _follow(self) -> None:
        idle_s = 0.0
        try:
            while self.ended is None and idle_s < KEPT_S:
                await asyncio.sleep(self._every_s)
                idle_s = 0.0 if self.viewers else idle_s + self._every_s
                if self.viewers:
                    await self._look()
        finally:  # also where the run cannot be read any more: viewers ask again, and none waits for ever
            if self.ended is None:
                self.is_closed = True
                async with self._changed:
                    self._changed.notify_all()

    async def _look(self) -> None:
        """Read what is new, to the end of what is there; and how the run ended, once it has."""
        async with self._lock:
            self._before, each_s = self._run.course.number, self._run.course.each_s
            await asyncio.to_thread(self._read)
            if self._run.course.each_s != each_s:
                self._before = -1  # all points changed
            self._text = _event("second", self._second(), self._run.course.number)
            self._turn += 1
        async with self._changed:
            self._changed.notify_all()

    def _read(self) -> None:
        self._run.look_to_end()
        if self._run.state != "running":
            self._run.look_to_end()  # what was written between the last second and the end
            self.ended = self._ending(self._run.path) | {"state": self._run.now()["state_words"]}

    def _whole(self) -> dict[str, Any]:
        return {
            "about": self._run.about(),
            "now": self._run.now(),
            "course": self._run.course.whole(),
            "rows": self._run.rows(),
            "unit": self._run.steps.unit,
            "notes": self._run.notes,
        }

    def _second(self) -> dict[str, Any]:
        told: dict[str, Any] = {"now": self._run.now(), "course": self._run.course.since(max(0, self._before))}
        if self._run.rows_changed != self._rows_changed:
            self._rows_changed = self._run.rows_changed
            told |= {"rows": self._run.rows(), "unit": self._run.steps.unit}
        if self._run.notes_changed != self._told_notes:
            self._told_notes = self._run.notes_changed
            told["notes"] = self._run.notes
        return told


def _event(kind: str, data: dict[str, Any], number: int) -> str:
    return f"id: {number}\nevent: {kind}\ndata: {json_text(data)}\n\n"
