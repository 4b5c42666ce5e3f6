"""Another tool's samples at one load are asked what a hold of our own is asked: drift, periods, bursts, what limits."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from findings_as_json import checked

from plimsoll.verbs.analysis import Analysed, AnalysisChoices, analyze

T0 = 1_790_000_000
HEADER = "timeStamp,elapsed,label,responseCode,threadName,success,bytes,allThreads\n"
DRIFT, PERIODIC, BURSTS = (
    "Does it get slower over time?",
    "Does something slow it down periodically?",
    "Do requests fail in bursts?",
)
PER_S = 20


def calm(second: int) -> float:
    return 40.0


def samples(
    seconds: int, mean_ms: Callable[[int], float], fails: Callable[[int], bool]
) -> list[tuple[float, int, bool]]:
    """(start in s since 1970, time in ms, failed), PER_S a second, times exponential about `mean_ms`."""
    choose = random.Random(7)
    found = []
    for second in range(seconds):
        for place in range(PER_S):
            ms = int(0.75 * mean_ms(second) + choose.expovariate(4 / mean_ms(second)))
            found.append((T0 + second + place / PER_S, ms, fails(second) and place < 10))
    return found


def jtl(
    folder: Path,
    seconds: int = 300,
    mean_ms: Callable[[int], float] = calm,
    fails: Callable[[int], bool] = lambda second: False,
    users: Callable[[int], int] = lambda second: 12,
) -> Path:
    lines = [
        f"{1000 * at:.0f},{ms},GET /a,{500 if failed else 200},Shop 1-1,{str(not failed).lower()},100,"
        f"{users(int(at) - T0)}\n"
        for at, ms, failed in samples(seconds, mean_ms, fails)
    ]
    (folder / "r.jtl").write_text(HEADER + "".join(lines))
    return folder / "r.jtl"


def analysed(path: Path, **choices: Any) -> Analysed:
    [answer] = analyze([path], AnalysisChoices(path.parent / "runs", report=False, **choices))
    checked(answer.findings)
    return answer


def by_question(answer: Analysed) -> dict[str, dict[str, Any]]:
    return {one["question"]: one for one in answer.findings}


def main_of(answer: Analysed) -> dict[str, Any]:
    return by_question(answer)["Is it stable at the load that it held longest?"]


def test_a_calm_load_is_stable_and_says_what_was_left_out_and_what_cannot_be_asked(tmp_path: Path) -> None:
    answer = analysed(jtl(tmp_path))
    found, main = by_question(answer), main_of(answer)
    assert main["stable"] and main["answer"].startswith("Stable over 4 min 30 s at 12 users")
    assert "The first 30 s" in main["notes"][0] and "limited_by" not in main and main["next"] == []
    assert found[DRIFT]["answer"].startswith("No drift beyond chance")
    assert found[PERIODIC]["answer"].startswith("No period") and found[BURSTS]["answer"].startswith("No: none of")
    cannot = " ".join(answer.findings[-1]["cannot"])
    for words in ("leaks memory", "restarted", "What limits the target", "scales with users", "generator's own health"):
        assert words in cannot
    assert all(one["valid"] and one["run"] for one in answer.findings)


def test_a_drift_is_found_and_its_next_steps_name_no_flag_of_our_own_runs(tmp_path: Path) -> None:
    answer = analysed(jtl(tmp_path, mean_ms=lambda second: 40 + second / 10))
    drift = by_question(answer)[DRIFT]
    assert drift["answer"].startswith("Yes: the mean response time changed by +")
    assert not main_of(answer)["stable"] and "it gets slower" in main_of(answer)["answer"]
    assert drift["next"] and not any("(target." in step or "--" in step for step in drift["next"])


def test_a_periodic_job_is_found_with_its_period_and_its_cost(tmp_path: Path) -> None:
    answer = analysed(jtl(tmp_path, mean_ms=lambda second: 120.0 if second % 30 < 3 else 40.0))
    periodic = by_question(answer)[PERIODIC]["periodic"]
    assert periodic["period_s"] == pytest.approx(30, abs=0.5)
    assert periodic["width_s"] == pytest.approx(3, abs=1)
    assert main_of(answer)["limited_by"]["kind"] == "periodic_job"


def test_a_burst_of_failures_is_found_where_it_was(tmp_path: Path) -> None:
    answer = analysed(jtl(tmp_path, fails=lambda second: 120 <= second < 130))
    [burst] = by_question(answer)[BURSTS]["bursts"]
    assert 119 <= burst["start_s"] <= 121 and 129 <= burst["end_s"] <= 132 and burst["failed"] == 100
    main = main_of(answer)
    assert main["limited_by"]["kind"] == "errors"
    remedy = main["limited_by"]["remedy"]
    assert main["next"] == [f"{remedy[:1].upper()}{remedy[1:]}."]


def test_resources_beside_it_tell_a_leak_and_what_is_full(tmp_path: Path) -> None:
    rows = "".join(f"{T0 + second},95,{200e6 + 1e5 * second:.0f}\n" for second in range(0, 300, 5))
    (tmp_path / "r.csv").write_text("time,db cpu (%),api rss (bytes)\n" + rows)
    answer = analysed(jtl(tmp_path), resources=(tmp_path / "r.csv",))
    leak = by_question(answer)["Does it leak memory?"]
    assert leak["answer"].startswith("api grows by") and leak["memory"][0]["bytes_per_s"] == pytest.approx(
        1e5, rel=0.02
    )
    assert not any("leaks memory" in text for text in answer.findings[-1]["cannot"])
    assert not any("What limits" in text for text in answer.findings[-1]["cannot"])


@pytest.mark.parametrize(
    ("seconds", "users", "why"),
    [
        (40, lambda second: 12, "no load was held for 45 s or more (the longest: 39 s at 12 users)"),
        (200, lambda second: 1 + second, "no load was held"),
    ],
)
def test_where_no_load_was_held_that_is_said(
    tmp_path: Path, seconds: int, users: Callable[[int], int], why: str
) -> None:
    answer = analysed(jtl(tmp_path, seconds, users=users))
    assert len(answer.findings) == 2
    assert (
        f"Whether it gets slower, slows down periodically or fails in bursts: {why}." in answer.findings[-1]["cannot"]
    )


def vegeta(folder: Path, listed: list[tuple[float, int, bool]]) -> Path:
    rows = [
        f"{at * 1e9:.0f},{500 if failed else 200},{ms * 1_000_000},10,20,,,a,{number},GET,http://x/a,\n"
        for number, (at, ms, failed) in enumerate(listed)
    ]
    (folder / "v.csv").write_text("".join(rows))
    return folder / "v.csv"


def test_an_open_tool_that_held_a_rate_is_asked_at_that_rate(tmp_path: Path) -> None:
    listed = samples(240, lambda second: 120.0 if second % 30 < 3 else 40.0, lambda second: 100 <= second < 110)
    answer = analysed(vegeta(tmp_path, listed))
    assert "at 20 requests/s" in main_of(answer)["answer"]
    assert by_question(answer)[PERIODIC]["periodic"]["period_s"] == pytest.approx(30, abs=0.5)
    assert len(by_question(answer)[BURSTS]["bursts"]) == 1
    assert any("the load is open" in text for text in answer.findings[-1]["cannot"])


def test_an_open_tool_whose_rate_changed_held_none(tmp_path: Path) -> None:
    listed = samples(120, calm, lambda second: False)
    answer = analysed(vegeta(tmp_path, listed + [(at + 0.01, ms, failed) for at, ms, failed in listed[1200:]]))
    assert any("the rate changed" in text for text in answer.findings[-1]["cannot"])


def test_k6_samples_of_a_constant_number_of_vus_are_asked_the_same(tmp_path: Path) -> None:
    lines = []
    for second in range(200):
        lines.append({"metric": "vus", "time": T0 + second, "value": 5, "tags": {}})
    for at, ms, _ in samples(200, lambda second: 40 + second / 10, lambda second: False):
        tags = {"name": "home", "status": "200", "expected_response": "true"}
        lines.append({"metric": "http_req_duration", "time": at + ms / 1000, "value": ms, "tags": tags})
    text = "".join(
        json.dumps(
            {"metric": one["metric"], "type": "Point", "data": {key: one[key] for key in ("time", "value", "tags")}},
            separators=(",", ":"),
        )
        + "\n"
        for one in lines
    )
    (tmp_path / "k6.json").write_text(text)
    answer = analysed(tmp_path / "k6.json")
    assert by_question(answer)[DRIFT]["answer"].startswith("Yes") and "5 VUs" in main_of(answer)["answer"]


def test_locusts_history_has_bursts_and_no_times_to_tell_a_drift_from(tmp_path: Path) -> None:
    names = "Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%,99.9%,99.99%,100%"
    totals = "Total Request Count,Total Failure Count,Total Median Response Time,Total Average Response Time"
    rest = "Total Min Response Time,Total Max Response Time,Total Average Content Size"
    lines, failed = [f"{names},{totals},{rest}"], 0
    for second in range(200):
        failed += 5 if 100 <= second < 110 else 0
        counts = f"{20 * (second + 1)},{failed},5,5.0,1,9,10"
        lines += [f"{T0 + second},4,{who},0,0{',N/A' * 11},{counts}" for who in ("GET,home", ",Aggregated")]
    (tmp_path / "l.csv").write_text("\n".join(lines) + "\n")
    answer = analysed(tmp_path / "l.csv")
    [burst] = by_question(answer)[BURSTS]["bursts"]
    assert burst["failed"] == 50 and DRIFT not in by_question(answer) and PERIODIC not in by_question(answer)
    assert any("no times of single requests" in text for text in answer.findings[-1]["cannot"])


def test_gatlings_log_of_users_that_stay_is_asked_the_same(tmp_path: Path) -> None:
    rows = ["RUN\tshop.Simulation\tshop\t1790000000000\t \t3.9.5"]
    rows += [f"USER\tshop\tSTART\t{1000 * T0}"] * 3
    for at, ms, failed in samples(200, calm, lambda second: 100 <= second < 110):
        start = round(1000 * at)
        rows.append(f"REQUEST\t\thome\t{start}\t{start + ms}\t{'KO' if failed else 'OK'}\t ")
    rows += [f"USER\tshop\tEND\t{1000 * (T0 + 200)}"] * 3
    (tmp_path / "simulation.log").write_text("\n".join(rows) + "\n")
    answer = analysed(tmp_path / "simulation.log")
    assert "at 3 users" in main_of(answer)["answer"] and len(by_question(answer)[BURSTS]["bursts"]) == 1
    assert by_question(answer)[DRIFT]["answer"].startswith("No drift")


def staircase(second: int) -> int:
    return (1, 2, 4, 8, 16, 32, 64)[min(6, second // 20)]


def test_levels_that_were_held_have_the_scaling_law_and_what_stops_them(tmp_path: Path) -> None:
    """N ÷ (1 + 0.05 (N − 1)) × 10/s; the database's CPU in proportion, full at the end."""
    lines, cpu = [], []
    for second in range(140):
        users = staircase(second)
        per_s = round(10 * users / (1 + 0.05 * (users - 1)))
        at = 1000 * (T0 + second)
        lines += [f"{at + n * 1000 // per_s},5,GET /a,200,Shop 1-1,true,100,{users}\n" for n in range(per_s)]
        cpu.append(f"{T0 + second},{98 * per_s / 155:.1f}\n")
    (tmp_path / "r.jtl").write_text(HEADER + "".join(lines))
    (tmp_path / "cpu.csv").write_text("time,db cpu (%)\n" + "".join(cpu))
    answer = analysed(tmp_path / "r.jtl", resources=(tmp_path / "cpu.csv",))
    found = by_question(answer)
    assert found["How does throughput scale with users?"]["scalability"]["contention"] == pytest.approx(0.05, abs=0.01)
    levels = found["Up to which load does throughput rise?"]
    assert levels["limited_by"]["kind"] == "cpu" and levels["limited_by"]["where"] == "host db, all cores"
    assert "What stops it: CPU of host db, all cores." in levels["answer"]
    remedy = levels["limited_by"]["remedy"]
    assert levels["next"][-1] == f"{remedy[:1].upper()}{remedy[1:]}."


def test_a_resource_that_is_not_full_is_not_named_as_the_limit(tmp_path: Path) -> None:
    (tmp_path / "cpu.csv").write_text(
        "time,db cpu (%)\n" + "".join(f"{T0 + second},{min(40, 2 * staircase(second))}\n" for second in range(140))
    )
    lines = []
    for second in range(140):
        users = staircase(second)
        per_s = min(10 * users, 160)
        at = 1000 * (T0 + second)
        lines += [f"{at + n * 1000 // per_s},5,GET /a,200,Shop 1-1,true,100,{users}\n" for n in range(per_s)]
    (tmp_path / "r.jtl").write_text(HEADER + "".join(lines))
    levels = by_question(analysed(tmp_path / "r.jtl", resources=(tmp_path / "cpu.csv",)))[
        "Up to which load does throughput rise?"
    ]
    assert levels["limited_by"]["kind"] == "unknown" and levels["limited_by"]["where"] is None
    assert "What stops it: cannot tell." in levels["answer"] and "40%" in levels["limited_by"]["evidence"]
    assert levels["next"][-1].startswith("To see what it waits for") and "(probes" not in levels["next"][-1]
    assert (levels["capacity"]["good"], levels["capacity"]["bad"]) == (16, 32)  # 16 users get all of 160/s
