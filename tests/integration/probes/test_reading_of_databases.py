"""A number of a real database, with limits."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy

from plimsoll.probes.consumer.reading import reading
from plimsoll.probes.probe import ProbeUnavailable


def test_a_query_that_takes_too_long_is_ended_and_the_next_one_is_answered(
    postgresql_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines = []
    make = sqlalchemy.create_engine

    def kept(*arguments: Any, **options: Any) -> sqlalchemy.Engine:
        engines.append(make(*arguments, **options))
        return engines[-1]

    monkeypatch.setattr(sqlalchemy, "create_engine", kept)
    monkeypatch.setattr("plimsoll.probes.consumer.reading.LIMIT_S", 1.0)
    with pytest.raises(ProbeUnavailable, match="statement timeout"):
        reading(f"sql:{postgresql_dsn} SELECT 1 FROM pg_sleep(60)")()
    assert reading(f"sql:{postgresql_dsn} SELECT 17")() == 17
    for engine in engines:
        engine.dispose()
