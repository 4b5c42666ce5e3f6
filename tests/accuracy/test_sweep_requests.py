"""Which request of a sweep depends on its parameter: how often one is named by chance, and how often the right one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from plimsoll.findings.trials.sweep_requests import request_dependencies

OVER = {"R": ("5", "10", "20")}
REQUESTS = 6


def cells(draw: np.random.Generator, exponent: float, host: float) -> list[dict[str, Any]]:
    """Three trials a value; the first request goes with R^exponent, all scatter by 5% and, together, by `host`."""
    found = []
    for r in map(float, OVER["R"]):
        slowed = np.exp(host * draw.standard_normal(3))
        scatter = np.exp(0.05 * draw.standard_normal((3, REQUESTS)))
        law = np.where(np.arange(REQUESTS) == 0, r**exponent, 1.0)
        times = 5 * law * scatter * slowed[:, None]
        trials = [{f"GET /{place}": float(ms) for place, ms in enumerate(row)} for row in times]
        found.append({"parameters": {"R": f"{r:g}"}, "requests_ms": trials})
    return found


def named(draw: np.random.Generator, exponent: float, host: float) -> set[str]:
    found = request_dependencies(cells(draw, exponent, host), OVER)
    assert found is not None
    return {one["request"] for one in found}


@pytest.mark.parametrize("host", [0.0, 0.3])
def test_the_request_that_grows_is_named_and_the_others_are_not(host: float) -> None:
    """R^0.25: 1.4 times as long at four times R. Seeds chosen beforehand; by chance in 5% of sweeps at most."""
    draw = np.random.default_rng(7)
    by_chance = sum(bool(named(draw, 0.0, host)) for _ in range(200))
    right = [named(draw, 0.25, host) for _ in range(100)]
    assert by_chance <= 17, "more than 17 of 200 is more than 5% allow (99%)"
    assert sum("GET /0" in one for one in right) >= 85
    assert sum(bool(one - {"GET /0"}) for one in right) <= 11
