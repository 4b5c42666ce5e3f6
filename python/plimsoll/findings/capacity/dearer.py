"""Did an operation cost the target more CPU from step to step? Then what it carries fell while it was searched.

CPU an operation is the demand of the utilisation law (Denning and Buzen 1978): the cores that a process uses ÷ the
operations done in a second. It is told per process, in CPU time of cores of equal speed
(probes/processes/core_speed.py), so that a host that became slower explains nothing; and from steps alone that loaded
the target alike and did not overload it, as the CPU for an operation depends on the load: below it, idling threads and
short batches cost more, beyond it, what waits does. A trend over the steps (stats/growth/trend.py, 99%) tells it from
chance.

What response times at low load show (experiments/capacity/ageing.py) needs a load that was held early and late, and
a target that was warm when it was held first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from plimsoll.findings.resources import Means, Step, core_speed, cpu_ms_of_processes, says_nothing
from plimsoll.stats.growth.trend import theil_sen

LOADED = 0.7  # of the throughput of the step that did most
LEAST_S = 8.0
LEAST_RATIO, LEAST_CERTAIN, CONFIDENCE = 1.25, 1.1, 0.99
LEAST_OF_WORK = 0.05  # that the growth of one process must be of the CPU of all


def dearer_process(steps: Sequence[Step], means: Sequence[Means]) -> dict[str, Any] | None:
    """The process whose CPU an operation rose most over the run, from which to which; None where none did by a
    quarter, or too few steps were alike to tell."""
    known = [(step, seen) for step, seen in zip(steps, means, strict=True) if _tells(step) and core_speed(seen)]
    most = max((step["done_per_s"] for step, _ in known), default=0.0)
    chosen = [(step, seen) for step, seen in known if step["done_per_s"] >= LOADED * most]
    if len(chosen) < 2:
        return None
    usual = sum(core_speed(seen) for _, seen in chosen) / len(chosen)
    costs_ms = [
        {label: ms * core_speed(seen) / usual for label, ms in cpu_ms_of_processes(seen, step["done_per_s"]).items()}
        for step, seen in chosen
    ]
    at_first, at_last = costs_ms[0], costs_ms[-1]
    risen = [
        (at_last[label] - at_first[label], label)
        for label in at_first
        if _is_risen([cost.get(label, 0.0) for cost in costs_ms])
    ]
    if not risen:
        return None
    rise_ms, label = max(risen)
    if rise_ms < LEAST_OF_WORK * sum(at_last.values()):
        return None
    return {
        "process": label,
        "from_ms": at_first[label],
        "to_ms": at_last[label],
        "share": rise_ms / sum(at_first.values()),
        "from_s": chosen[0][0]["end_s"],
        "to_s": chosen[-1][0]["measured_from_s"],
        "steps": len(chosen),
    }


def _tells(step: Step) -> bool:
    """Whether a step was held for long enough, and neither overloaded the target nor was disturbed."""
    is_held = step["verdict"] in ("good", "undecided") and step["end_s"] - step["measured_from_s"] >= LEAST_S
    return bool(is_held and step["done_per_s"] > 0 and not says_nothing(step))


def _is_risen(costs: Sequence[float]) -> bool:
    """Whether the costs, in the order of the steps, rise by a quarter and by more than chance explains."""
    if min(costs) <= 0:
        return False
    trend, spans = theil_sen([math.log(cost) for cost in costs], CONFIDENCE), len(costs) - 1
    return spans * trend.slope >= math.log(LEAST_RATIO) and spans * trend.low >= math.log(LEAST_CERTAIN)
