"""Whether an operation cost a process more CPU from step to step: on steps of real products, and on made ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from capacity_runs import Rows

from plimsoll.findings.capacity.dearer import dearer_process
from plimsoll.findings.capacity.finding import capacity_findings

# Of searches in the gauntlet, 2026-11-27 and 28: begin, end, operations/s, verdict, speed of the core, CPU an operation
# in ms of each process.
PARSE_SERVER = [
    (4, 6, 8.0, "probe", 2690, {"target": 14.38, "postgres": 1.87}),
    (13, 21, 96.0, "bad", 3000, {"target": 8.0, "postgres": 1.94}),
    (30, 50, 104.5, "undecided", 2685, {"target": 6.52, "postgres": 2.19}),
    (52, 93, 97.4, "bad", 2695, {"target": 6.89, "postgres": 2.55}),
    (101, 121, 92.8, "undecided", 2728, {"target": 7.02, "postgres": 2.79}),
    (123, 141, 92.3, "good", 2870, {"target": 6.33, "postgres": 2.73}),
    (143, 157, 88.9, "undecided", 2629, {"target": 6.99, "postgres": 3.16}),
    (163, 183, 89.0, "good", 2779, {"target": 6.89, "postgres": 3.11}),
    (185, 205, 97.8, "undecided", 3053, {"target": 5.76, "postgres": 2.85}),
    (207, 227, 96.5, "undecided", 3010, {"target": 5.93, "postgres": 2.92}),
    (229, 289, 89.8, "good", 3070, {"target": 5.92, "postgres": 3.13}),
]
ETCD = [
    (45, 55, 473.8, "good", 3064, {"target": 1.42}),
    (57, 67, 525.7, "good", 2732, {"target": 1.57}),
    (69, 79, 687.2, "good", 3265, {"target": 1.18}),
    (81, 111, 774.0, "undecided", 3094, {"target": 1.23}),
    (113, 120, 472.1, "bad", 2640, {"target": 2.07}),
    (129, 159, 682.6, "undecided", 2873, {"target": 1.42}),
    (163, 173, 735.3, "good", 3522, {"target": 1.06}),
    (205, 227, 792.0, "undecided", 3174, {"target": 1.19}),
    (230, 240, 561.2, "undecided", 2622, {"target": 1.74}),
]
MINISERVE = [
    (29, 39, 167.7, "good", 2937, {"target": 3.84}),
    (41, 62, 224.2, "undecided", 2864, {"target": 4.22}),
    (64, 74, 160.4, "good", 2767, {"target": 4.49}),
    (95, 118, 210.8, "undecided", 3146, {"target": 3.81}),
    (140, 150, 210.6, "good", 3033, {"target": 3.97}),
    (152, 171, 208.4, "undecided", 2804, {"target": 4.33}),
    (173, 193, 227.1, "undecided", 3018, {"target": 4.21}),
    (195, 225, 214.1, "undecided", 2912, {"target": 4.51}),
    (229, 289, 206.1, "good", 2873, {"target": 4.08}),
]


def found(rows: list[tuple[float, float, float, str, float | None, dict[str, float]]]) -> dict[str, Any] | None:
    steps = [
        {"measured_from_s": begin, "end_s": end, "done_per_s": done, "verdict": verdict}
        for begin, end, done, verdict, _, _ in rows
    ]
    means = [
        {f"process:{label}": {"cpu_cores_used": ms * done / 1000} for label, ms in costs.items()}
        | ({"core_speed": {"work_per_cpu_s": speed}} if speed else {})
        for _, _, done, _, speed, costs in rows
    ]
    return dearer_process(steps, means)


def made(drawn: np.random.Generator, growth: float, scatter: float, steps: int = 9) -> list[Any]:
    """Steps of a target of two processes on a host whose speed wanders; the work of the database grows."""
    rows = []
    for number in range(steps):
        speed = float(3000 * drawn.lognormal(0, 0.08))
        work = {"app": 6.0, "base": 2.0 * growth ** (number / (steps - 1))}
        costs = {label: float(ms * drawn.lognormal(0, scatter) * 3000 / speed) for label, ms in work.items()}
        rows.append((30 * number, 30 * number + 20, float(drawn.uniform(85, 105)), "good", speed, costs))
    return rows


def test_the_database_of_parse_server_costs_more_from_step_to_step() -> None:
    """A hold of the same product for eight minutes: 1.8 ms in the first half minute, 4.0 in the last one."""
    change = found(PARSE_SERVER)
    assert change is not None and change["process"] == "postgres" and change["steps"] == 8
    assert change["to_ms"] > 1.5 * change["from_ms"] and 0.1 < change["share"] < 0.2
    assert (change["from_s"], change["to_s"]) == (50, 229)


@pytest.mark.parametrize("rows", [ETCD, MINISERVE], ids=["etcd", "miniserve"])
def test_products_that_stay_the_same_are_not_said_to_change(rows: list[Any]) -> None:
    assert found(rows) is None


@pytest.mark.parametrize("scatter", [0.02, 0.05, 0.15])
def test_chance_is_no_growth(scatter: float) -> None:
    drawn = np.random.default_rng(3)
    assert sum(found(made(drawn, 1.0, scatter)) is not None for _ in range(300)) <= 3


def test_what_grows_by_half_is_found() -> None:
    drawn = np.random.default_rng(4)
    changes = [found(made(drawn, 1.6, 0.05)) for _ in range(100)]
    assert sum(change is not None and change["process"] == "base" for change in changes) >= 95


def test_a_cheap_process_that_grows_says_nothing_of_the_target() -> None:
    rows = [(30 * n, 30 * n + 20, 90.0, "good", 3000, {"app": 6.0, "cron": 0.1 * 1.1**n}) for n in range(9)]
    assert found(rows) is None


@pytest.mark.parametrize(
    "rows",
    [
        [],
        PARSE_SERVER[:3],
        [row for row in PARSE_SERVER if row[3] == "bad"],
        [(*row[:4], None, row[5]) for row in PARSE_SERVER],
        [(*row[:2], 0.0, *row[3:]) for row in PARSE_SERVER],
        [(*row[:5], {}) for row in PARSE_SERVER],
    ],
    ids=["none", "few", "overloaded", "speed unknown", "nothing done", "no process"],
)
def test_nothing_is_said_where_nobody_knows(rows: list[Any]) -> None:
    assert found(rows) is None


def test_the_answer_says_it_and_no_more_time_is_advised() -> None:
    drawn = np.random.default_rng(5)
    rows, levels = made(drawn, 1.8, 0.02), [8.0] * 9 + [10.0]
    rows.append((300, 320, 90.0, "bad", 3000, {"app": 6.0, "base": 3.6}))
    steps = [
        {
            "level": level, "step_kind": "hold", "start_s": begin, "measured_from_s": begin, "end_s": end,
            "verdict": verdict, "reasons": [""], "planned_per_s": done, "done_per_s": done, "requests_per_s": done,
            "p50_ms": 5, "p90_ms": 9, "p99_ms": 12, "mean_ms": 6, "samples": 2000, "errors": 0, "dropped": 0,
            "error_share": 0.0, "backlog_end": 0, "in_flight_end": 3, "generator_share": 0.1, "drained": True,
            "lag_p99_ms": 0.2,
        }
        for (begin, end, done, verdict, _, _), level in zip(rows, levels, strict=True)
    ]  # fmt: skip
    resources = [
        {"second": second, "source": source, "values": values}
        for begin, end, done, _, speed, costs in rows
        for second in range(begin, end)
        for source, values in [
            ("core_speed", {"work_per_cpu_s": speed}),
            *((f"process:{label}", {"cpu_cores_used": ms * done / 1000}) for label, ms in costs.items()),
        ]
    ]
    result = {
        "unit": "users", "open": True, "status": "finished", "good": 8.0, "bad": 10.0, "width": 0.2, "width_goal": 0.1,
        "reason": "The bracket is wider than the goal of 10%: spent.",
        "more_time": "with 20 min it would be narrow (--for 20m)",
        "estimate": None, "estimate_sd": None, "rate_per_level_s": 11.0, "rate_arrivals": 100, "load_s": 320,
        "max_level": None, "min_level": None, "step_s": 20, "steps": steps,
    }  # fmt: skip
    [finding] = capacity_findings(result, Rows(resources))
    assert "An operation became dearer meanwhile: base took" in finding["answer"]
    assert finding["capacity"]["dearer"]["process"] == "base"
    assert "which more time does not narrow" in finding["notes"][0]
    assert any("made the target slower" in step for step in finding["next"])
    assert "--for" not in " ".join([*finding["next"], *finding["notes"]])
