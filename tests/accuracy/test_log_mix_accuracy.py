"""Rates, mix, users and values come back from logs of simulated users whose behaviour is known.

Users come at random, stay for a random time (exponential), and make requests at random meanwhile (Poisson), by a known
mix. A user who is about to go makes no more requests, which a log cannot show: gaps within sessions are shorter than
rests by the factor λ / (λ + 1 / stay), so that is what the rate is held to; users × rate is held to the load itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

import plimsoll

BEGAN_S = datetime(2026, 11, 28, 10, tzinfo=UTC).timestamp()
MIX = {"/issues/{id}": 30.0, "/issues": 15.0, "/": 10.0, "/users/me": 6.0, "/reports/{id}": 4.0, "POST /issues": 3.0}
PER_USER_HOUR = sum(MIX.values())
STATES = {"open": 0.7, "closed": 0.3}


def _lines(random: Random, users: float, stay_s: float, hours: float) -> Iterator[tuple[float, str]]:
    """Each with its second since the beginning; the first users come long before it."""
    came_s, number = -8 * stay_s, 0
    while came_s < 3600 * hours:
        came_s += random.expovariate(users / stay_s)
        goes_s, at_s = came_s + random.expovariate(1 / stay_s), came_s
        number += 1
        address = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
        while (at_s := at_s + random.expovariate(PER_USER_HOUR / 3600)) < goes_s:
            if 0 <= at_s < 3600 * hours:
                yield at_s, _line(random, address, at_s)


def _line(random: Random, address: str, at_s: float) -> str:
    [target] = random.choices(list(MIX), list(MIX.values()))
    method = "POST" if target.startswith("POST ") else "GET"
    target = target.removeprefix("POST ")
    if target == "/reports/{id}":
        target = f"/reports/how-to-{random.choice('abcdefghijklmnop')}-{random.choice('abcdefghijklmnop')}"
    elif target == "/issues" and method == "GET":
        target = f"/issues?state={random.choices(list(STATES), list(STATES.values()))[0]}"
    target = target.replace("{id}", str(int(random.expovariate(1 / 300))))
    status = 500 if random.random() < 0.02 else 200
    moment = datetime.fromtimestamp(BEGAN_S + at_s, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
    return (
        f'{address} - - [{moment}] "{method} {target} HTTP/1.1" {status} 512 "-" "Firefox" {random.expovariate(20):.3f}'
    )


@pytest.mark.parametrize(("users", "stay_s", "hours"), [(40, 1200.0, 3.0), (150, 300.0, 2.0), (10, 3000.0, 12.0)])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_behaviour_of_users_comes_back(tmp_path: Path, users: int, stay_s: float, hours: float, seed: int) -> None:
    lines = sorted(_lines(Random(seed), users, stay_s, hours))
    log = tmp_path / "access.log"
    log.write_text("\n".join(line for _, line in lines))
    draft = plimsoll.new(access_log=log, output=tmp_path / "load")
    assert draft.activity is not None and draft.expected_users is not None

    as_seen = 1 + 3600 / stay_s / PER_USER_HOUR
    for one in draft.operations:
        assert one.requests is not None and one.share is not None
        tolerance = 0.04 + 3 / one.requests**0.5
        assert one.per_user_hour == pytest.approx(MIX[one.template] * as_seen, rel=tolerance)
        assert one.share == pytest.approx(MIX[one.template] / PER_USER_HOUR, rel=3 / one.requests**0.5)
        assert one.failed_share == pytest.approx(0.02, abs=3 * (0.02 / one.requests) ** 0.5)
    assert {one.template for one in draft.operations} == {target for target in MIX if not target.startswith("POST")}
    [write] = [one for one in draft.left_out if one.kind == "write"]
    assert write.per_user_hour == pytest.approx(3 * as_seen, rel=0.04 + 3 / write.requests**0.5)

    busiest = max(_in_hour(lines, at * 300.0) for at in range(int(12 * (hours - 1)) + 1))
    load = draft.expected_users * draft.activity.requests / draft.activity.hours
    assert load == pytest.approx(busiest, rel=0.06)

    issues = next(one for one in draft.operations if one.template == "/issues")
    states = Counter(row["query"] for row in issues.rows)
    assert states["?state=open"] / states.total() == pytest.approx(0.7, abs=0.09)


def _in_hour(lines: list[tuple[float, str]], begin_s: float) -> int:
    return sum(1 for at_s, _ in lines if begin_s <= at_s < begin_s + 3600)
