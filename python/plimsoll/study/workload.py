"""Workload arithmetic: users → arrival rates (open) or users per group (closed), and k6 scenarios.

Open:    λ_i = users × per_user_hour_i / 3600        arrivals of operation i per second
Closed:  X   = users / (R + Z)                        interactive response time law (Lazowska et al. 1984, §3.4)
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from plimsoll.errors import InputError
from plimsoll.study.models import ClosedWorkload, Group, OpenWorkload

SECONDS_PER_HOUR = 3600.0
_K6_UNIT_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_K6_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|h|m|s)")


def arrivals_per_s(workload: OpenWorkload, users: float) -> dict[str, float]:
    """Arrivals per second of each operation at that many users (a float ≥ 0)."""
    _refuse_negative(users)
    return {item.name: users * item.per_user_hour / SECONDS_PER_HOUR for item in workload.operations}


def total_arrivals_per_s(workload: OpenWorkload, users: float) -> float:
    """Arrivals per second of all operations together."""
    return math.fsum(arrivals_per_s(workload, users).values())


def users_for_rate(workload: OpenWorkload, rate_per_s: float) -> float:
    """The inverse of `total_arrivals_per_s`: how many users make that rate."""
    _refuse_negative(rate_per_s)
    return rate_per_s / total_arrivals_per_s(workload, 1.0)


def shares(workload: OpenWorkload | ClosedWorkload) -> dict[str, float]:
    """Share of each operation in all arrivals (open), of each group in all users (closed); they add up to 1."""
    if isinstance(workload, OpenWorkload):
        parts = {item.name: item.per_user_hour for item in workload.operations}
    else:
        parts = {item.name: item.weight for item in workload.groups}
    whole = math.fsum(parts.values())
    return {name: part / whole for name, part in parts.items()}


def users_per_group(workload: ClosedWorkload, users: int) -> dict[str, int]:
    """Whole users for each group, adding up to `users` (largest remainder; ties go to the earlier group)."""
    _refuse_negative(users)
    exact = {name: users * share for name, share in shares(workload).items()}
    whole = {name: math.floor(value) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: whole[name] - exact[name])
    for name in by_remainder[: users - sum(whole.values())]:
        whole[name] += 1
    return whole


def scenarios_for(
    workload: OpenWorkload | ClosedWorkload,
    *,
    duration_s: float = 86_400.0,
    pre_allocated_vus: int = 50,
    max_vus: int | None = None,
) -> dict[str, Any]:
    """k6 options `{"scenarios": {…}}` at ONE user, rates and VUs as floats; the engine multiplies by the level.

    `duration_s` only has to outlast the run; without `max_vus` the engine's own cap holds. A closed group's think time
    is the scenario's `thinkTime`, which k6 does not have (docs/k6.md).
    """
    if isinstance(workload, OpenWorkload):
        scenarios = {
            item.name: {
                "executor": "constant-arrival-rate",
                "exec": item.exec or item.name,
                "rate": item.per_user_hour / SECONDS_PER_HOUR,
                "timeUnit": "1s",
                "duration": f"{duration_s:.0f}s",
                "preAllocatedVUs": pre_allocated_vus,
                **({"maxVUs": max_vus} if max_vus is not None else {}),
            }
            for item in workload.operations
        }
    else:
        share_of = shares(workload)
        scenarios = {
            item.name: {
                "executor": "constant-vus",
                "exec": item.exec or item.name,
                "vus": share_of[item.name],
                "duration": f"{duration_s:.0f}s",
                **_think_time(item),
            }
            for item in workload.groups
        }
    return {"scenarios": scenarios}


def _think_time(group: Group) -> dict[str, Any]:
    """The option thinkTime of a group, its times in ms; nothing where its users do not pause."""
    if group.mean_think_time_s == 0:
        return {}
    if group.think_time is None:
        return {"thinkTime": _ms(group.think_time_s)}
    times = {"mean": group.think_time.mean_s, "min": group.think_time.min_s, "max": group.think_time.max_s}
    given = {name: _ms(seconds) for name, seconds in times.items() if seconds is not None}
    return {"thinkTime": {"distribution": group.think_time.distribution, **given}}


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 6)


def most_closed_rate_per_s(workload: ClosedWorkload, users: float) -> float:
    """Iterations per second that think times alone allow, N Σ share_i / Z_i; infinite where a group does not pause."""
    share_of = shares(workload)
    pauses = {item.name: item.mean_think_time_s for item in workload.groups}
    return math.fsum(users * share_of[name] / pause if pause > 0 else math.inf for name, pause in pauses.items())


def rate_of_scenarios(options: Mapping[str, Any]) -> float:
    """Arrivals per second that k6 options with constant arrival rates declare, at level 1; the round trip of
    `scenarios_for`. Scenarios of VUs have no rate and count as 0."""
    scenarios = options["scenarios"].values()
    return math.fsum(float(one.get("rate") or 0.0) / k6_seconds(one.get("timeUnit") or "1s") for one in scenarios)


def k6_seconds(duration: str | float) -> float:
    """A duration as k6 writes it, in seconds: "1m30s", "250ms", bare milliseconds. ValueError for anything else."""
    if not isinstance(duration, str):
        return duration / 1000
    text = duration.strip()
    parts = _K6_DURATION_PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return float(text) / 1000
    return math.fsum(float(number) * _K6_UNIT_S[unit] for number, unit in parts)


def _refuse_negative(value: float) -> None:
    if not value >= 0:
        raise InputError(f"a load of {value} is below zero or no number", "Give a number of users of zero or more.")
