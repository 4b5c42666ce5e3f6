"""The seconds of a block are those of its snapshots, one by one."""

from __future__ import annotations

import random
from dataclasses import asdict

import pytest
from test_minutes import second_of

from plimsoll.runs.format.minute_blocks import Block
from plimsoll.runs.readings.flow_blocks import flow_seconds
from plimsoll.runs.readings.flow_seconds import METRICS, flow_second
from plimsoll.runs.snapshot import Snapshot


def with_iterations(snapshot: Snapshot) -> dict:
    """The second as plain data, its requests' times as those of iterations."""
    names = {"http_req_duration": METRICS[0], "http_req_response_time": METRICS[1]}
    data = snapshot.to_json()
    return data | {"series": [one | {"metric": names.get(one["metric"], one["metric"])} for one in data["series"]]}


@pytest.mark.parametrize("seed", range(5))
def test_a_block_gives_what_its_seconds_give(seed: int) -> None:
    draw = random.Random(seed)
    seconds = [Snapshot.from_json(with_iterations(second_of(draw, second))) for second in range(100)]
    wanted = [asdict(flow_second(one)) for one in seconds]
    found = [asdict(one) for one in flow_seconds(Block.of_snapshots(seconds))]
    assert any(one["inside"] != one["inside_all"] for one in wanted) and any(one["rhythms"] > 1 for one in wanted)
    for one, other in zip(found, wanted, strict=True):
        for name, value in other.items():
            assert one[name] == (pytest.approx(value) if isinstance(value, dict | float) else value), name


def test_a_block_without_iterations_has_none() -> None:
    [second] = flow_seconds(Block.of_snapshots([Snapshot(3, planned=2)]))
    assert second == flow_second(Snapshot(3, planned=2))
