"""What limits a held load: errors, a leak, a job that comes back, a load that it does not keep up with, or nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from plimsoll.findings.hold.limits import hold_limit
from plimsoll.findings.hold.series import HoldSeries
from plimsoll.findings.hold.stability import leak_finding

HELD: dict[str, Any] = {
    "level": 50, "verdict": "undecided", "reasons": [], "planned_per_s": 50.0, "done_per_s": 49.8,
    "start_s": 0, "measured_from_s": 2, "end_s": 42, "error_share": 0.0,
}  # fmt: skip
ALONE = {**HELD, "level": 1, "planned_per_s": 1.0, "done_per_s": 1.0}
CALM: list[dict[str, Any]] = [
    {"question": "Does it leak memory?", "answer": "No.", "memory": []},
    {"question": "Does something slow it down periodically?", "answer": "No period was found.", "periodic": None},
    {"question": "Do requests fail in bursts?", "answer": "No."},
]
PROCESS = {"process:app": {"cpu_cores_used": 0.2, "processes": 1.0}}


def limit(
    held: dict[str, Any] = HELD, details: list[dict[str, Any]] = CALM, **sources: dict[str, float]
) -> dict[str, Any]:
    here = {**PROCESS, **{name.replace("_", ":", 1): values for name, values in sources.items()}}
    return hold_limit(held, ALONE, [here, PROCESS], details, "users")


def leaking(bytes_per_s: float) -> list[dict[str, Any]]:
    row = {"process": "app", "leaks": True, "bytes_per_s": bytes_per_s, "now_bytes": 50e6, "words": "app grows."}
    return [{"question": "Does it leak memory?", "trouble": "Memory grows", "memory": [row]}, *CALM[1:]]


def test_a_load_that_is_kept_up_with_is_limited_by_nothing_however_busy_a_resource_is() -> None:
    assert limit()["kind"] == "none"
    assert limit(sockets_app={"accept_queue": 30.0})["kind"] == "none"


def test_a_leak_is_the_limit_if_it_grew_much_in_the_time_and_not_if_a_program_warms_up() -> None:
    found = limit(details=leaking(1e6))
    assert (
        found["kind"] == "leak" and found["where"] == "memory of app, which grows" and "heap profile" in found["remedy"]
    )
    assert limit(details=leaking(8e3))["kind"] == "none"


def test_a_job_that_comes_back_is_named_with_its_period() -> None:
    pulse = {
        "question": "Does something slow it down periodically?", "trouble": "Every 12 s",
        "answer": "Yes: about every 12 s.", "evidence": [{"words": "z = 9."}], "periodic": {"period_s": 12.0},
    }  # fmt: skip
    found = limit(details=[CALM[0], pulse, CALM[2]])
    assert (found["kind"], found["where"]) == ("periodic_job", "a job every 12 s")


def test_errors_come_first_and_a_killed_process_before_them() -> None:
    failing = {"question": "Do requests fail in bursts?", "trouble": "8% fail", "answer": "No bursts: 8% fail."}
    found = limit(details=[leaking(1e6)[0], CALM[1], failing])
    assert found["kind"] == "errors" and found["runner_up"]["kind"] == "leak"
    killed = limit(
        details=[CALM[0], CALM[1], failing], cgroup_app={"oom_kills_per_s": 0.1, "memory_limit_bytes": 2.0**28}
    )
    assert killed["kind"] == "memory_limit" and killed["runner_up"]["kind"] == "errors"


def test_a_load_that_is_not_kept_up_with_has_the_limit_of_a_capacity() -> None:
    found = limit(
        {**HELD, "done_per_s": 30.0, "in_flight_end": 60, "backlog_end": 40}, sockets_app={"accept_queue": 30.0}
    )
    assert found["kind"] == "workers"


def memory_of(values: np.ndarray) -> dict[str, Any]:
    seconds = np.arange(float(values.size))
    series = HoldSeries(seconds, seconds, seconds, seconds, seconds, {}, [], {"app": (seconds, values)})
    return leak_finding(series, None)


def test_memory_that_climbs_all_the_time_leaks_though_its_scatter_adds_up() -> None:
    draw = np.random.default_rng(5)
    climbing = memory_of(30e6 + np.cumsum(draw.gamma(2.0, 4e6, 46)))
    assert climbing["memory"][0]["leaks"] and climbing["memory"][0]["bytes_per_s"] > 4e6
    assert not memory_of(30e6 + np.cumsum(draw.normal(0, 1e5, 46)))["memory"][0]["leaks"]
    assert not memory_of(np.concatenate([np.linspace(30e6, 300e6, 23), np.full(23, 300e6)]))["memory"][0]["leaks"]


def test_memory_whose_steps_remember_each_other_is_judged_by_its_quarters() -> None:
    """Its second half has too few independent seconds for an interval of a drift."""
    mib = [73, 82, 90, 97, 104, 112, 120, 128, 136, 144, 155, 165, 175, 183, 191, 198, 206, 213, 223, 230]
    mib += [239, 247, 254, 261, 270, 276, 284, 294, 301, 308, 317, 327, 338, 345, 354, 363, 370, 379, 388, 396]
    found = memory_of(np.array(mib) * 2.0**20)["memory"][0]
    assert found["leaks"] and all(np.isfinite(found["interval"]))
    assert "inf" not in found["words"]
