"""Objectives that a draft suggests are limits that users would set, not twice what a short log happened to show."""

from __future__ import annotations

import re

import pytest

from plimsoll.drafts.draft import Draft, DraftOperation
from plimsoll.drafts.study_text import study_of


@pytest.mark.parametrize(
    ("p95_ms", "limit"),
    [(0.3, "100ms"), (4.69, "100ms"), (60.0, "200ms"), (240.0, "500ms"), (900.0, "2s"), (1e6, "60s"), (None, "500ms")],
)
def test_a_limit_is_a_round_one_with_room_and_none_that_nobody_feels(p95_ms: float | None, limit: str) -> None:
    """Seen: of a log of 27 s p95<=9.4ms and p95<=19ms, which a busy minute missed."""
    one = DraftOperation("stats", "getStats", "GET", "/stats", 60.0, p95_ms=p95_ms)
    text = study_of(Draft("a log", None, (), (one,)), "shop")
    assert re.findall(r'operation: stats, objective: "p95<=(.+)"', text) == [limit]
