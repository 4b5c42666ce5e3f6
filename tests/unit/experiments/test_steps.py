"""What a second says besides the load itself."""

from __future__ import annotations

import pytest

from plimsoll.experiments.steps import stolen_share


@pytest.mark.parametrize(
    ("host", "thread", "stolen"),
    [
        ({"cpu_share": 0.5, "cpu_steal_share": 0.1, "cpu_steal_worst_core_share": 0.2}, 0.75, 0.2),
        ({"cpu_share": 0.5, "cpu_steal_share": 0.1, "cpu_steal_worst_core_share": 0.2}, 0.30, 0.0),
        ({"cpu_share": 0.8, "cpu_steal_share": 0.1, "cpu_steal_worst_core_share": 0.2}, 0.30, 0.2),
        ({"cpu_share": 0.9}, 0.99, 0.0),
    ],
)
def test_stolen_time_counts_only_where_cpu_time_was_short(host: dict, thread: float, stolen: float):
    rows = [
        {"source": "host", "values": host},
        {"source": "process:a", "values": {"busiest_thread_cores_used": thread}},
    ]
    assert stolen_share(rows) == stolen
