"""Those who look at a run: all are told the same, and none waits for ever."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from page_asked import second

from plimsoll.runs.writer import RunWriter
from plimsoll.ui.audience import Audience

END = {"status": "finished", "answer": "all well"}


async def taken(messages: AsyncIterator[str], until: str) -> list[tuple[str, Any]]:
    """The events that come, up to one of that kind."""
    found = []
    async for text in messages:
        fields = dict(line.split(": ", 1) for line in text.strip().splitlines())
        if "event" in fields:
            found.append((fields["event"], json.loads(fields["data"])))
            if fields["event"] == until:
                break
    return found


def kinds(events: list[tuple[str, Any]]) -> list[str]:
    return [kind for kind, _ in events]


def test_all_viewers_get_the_whole_and_then_what_is_new_and_the_end(writer: RunWriter) -> None:
    async def look() -> None:
        audience = Audience(writer.path, lambda path: END, every_s=0.02)
        first = audience.messages()
        events = await taken(first, "whole")
        assert events[-1][1]["course"]["columns"]["second"] == [1, 2, 3, 4, 5]
        late = audience.messages()
        assert kinds(await taken(late, "whole")) == ["whole"]
        writer.append_snapshot(second(5))
        for messages in (first, late):
            seconds: list[float] = []
            while not seconds:
                _, told = (await taken(messages, "second"))[-1]
                seconds += told["course"]["columns"]["second"]
            assert seconds == [6]
        writer.finish()
        for messages in (first, late):
            events = await taken(messages, "bye")
            assert kinds(events)[-2:] == ["ended", "bye"] and events[-2][1]["answer"] == "all well"
        assert audience.is_over

    asyncio.run(asyncio.wait_for(look(), 20))


def test_closing_tells_the_last_state_and_waits_for_nobody(writer: RunWriter) -> None:
    async def look() -> None:
        audience = Audience(writer.path, lambda path: END, every_s=60)
        messages, deaf = audience.messages(), audience.messages()
        await taken(messages, "whole")
        await taken(deaf, "whole")  # and reads no more
        writer.append_snapshot(second(5))
        writer.finish()
        await asyncio.wait_for(audience.close(), 2)
        assert kinds(await taken(messages, "bye"))[-2:] == ["ended", "bye"]

    asyncio.run(asyncio.wait_for(look(), 20))


def test_viewers_are_let_go_where_the_run_cannot_be_read_any_more(
    writer: RunWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look() -> None:
        audience = Audience(writer.path, lambda path: END, every_s=0.02)
        messages = audience.messages()
        await taken(messages, "whole")
        monkeypatch.setattr(audience, "_read", lambda: 1 / 0)
        assert kinds(await taken(messages, "bye"))[-1] == "bye" and audience.is_over
        assert audience._task is not None
        with contextlib.suppress(ZeroDivisionError):
            await audience._task

    asyncio.run(asyncio.wait_for(look(), 20))


def test_a_run_that_is_deleted_has_ended(writer: RunWriter, tmp_path: Path) -> None:
    async def look() -> None:
        audience = Audience(writer.path, lambda path: END, every_s=0.02)
        messages = audience.messages()
        await taken(messages, "whole")
        moved = writer.path.rename(tmp_path / "moved")
        assert kinds(await taken(messages, "bye"))[-1] == "bye"
        moved.rename(writer.path)

    asyncio.run(asyncio.wait_for(look(), 20))
