"""The connection to a watched database: its thread's CPU time is counted, whatever becomes of the question."""

from __future__ import annotations

import time

import pytest

from plimsoll.probes.database_link import DatabaseLink


class Link(DatabaseLink[str]):
    is_open = True

    def connect(self) -> str:
        return "session"

    def limit(self, session: str, limit_s: float) -> None:
        pass

    def disconnect(self) -> None:
        pass

    def descriptor(self) -> int | None:
        return None

    def is_drivers(self, error: BaseException) -> bool:
        return False

    def is_late(self, error: BaseException) -> bool:
        return False


def burn(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_the_cpu_time_of_questions_is_counted_also_of_one_that_fails() -> None:
    link = Link(())
    assert link.cpu_s == 0.0
    link.ask(lambda _: burn(0.02), 1.0)
    once = link.cpu_s
    assert once >= 0.02

    def fails(_: str) -> None:
        burn(0.02)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        link.ask(fails, 1.0)
    assert link.cpu_s >= once + 0.02
    link.close()
