"""What hardware it needs, from runs whose demand is known: the numbers, what cannot be told, and wrong input."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from capacity_runs import FACTS, LOADS, run_of, sizing_of, step

import plimsoll
from plimsoll.errors import InputError, InputErrors
from plimsoll.findings.capacity.finding import capacity_findings
from plimsoll.findings.capacity.further import further_findings
from plimsoll.findings.sizing.carries import carried_on
from plimsoll.findings.sizing.facts import sizing_facts
from plimsoll.findings.sizing.finding import QUESTION
from plimsoll.runs.format.lines import read_lines
from plimsoll.runs.reader import RunReader
from plimsoll.runs.snapshot import Snapshot
from plimsoll.runs.writer import RunFacts, RunWriter

MIB = 2**20


def size_at(finding: dict, times: int) -> dict:
    return next(one for one in finding["sizing"]["sizes"] if one["times"] == times)["hosts"][0]


def test_a_capacity_run_says_the_cores_of_the_expected_load_and_of_its_multiples() -> None:
    found = sizing_of(*run_of(LOADS, thread=False), expected_level=500)
    for times in (1, 2, 5, 10):
        truth, cpu = 0.006 * 50 * times, size_at(found, times)["cpu"]
        assert cpu["interval"][0] <= truth <= cpu["interval"][1]
        assert cpu["minimum"] == cpu["used"] == pytest.approx(truth, rel=0.06)
        assert cpu["recommended"] == pytest.approx(cpu["interval"][1] / 0.7)
        assert cpu["whole_cores"] == math.ceil(cpu["recommended"])
    assert found["answer"].startswith("For 500 users (50 operations/s): CPU at")
    assert " This load is the expected load, and 30% are left as a reserve. " in found["answer"]
    assert any("CPU per operation that stays" in note for note in found["notes"])


def test_without_an_expected_load_it_sizes_for_what_was_carried() -> None:
    found = sizing_of(*run_of(LOADS, bad=800))
    assert found["sizing"]["level"] == 700 and "This load is what it carried" in found["answer"]


def test_one_level_has_one_rate_whatever_overloaded_steps_finish_and_chance_draws() -> None:
    """etcd carried "735 operations/s" and was sized for "653 operations/s" of the same level: overloaded steps, which
    finish less than was asked, told the throughput of all levels."""
    loads = [(level, rate if level < 800 else 0.6 * rate) for level, rate in LOADS]
    main, run = run_of([(level, 1.07 * rate if level == 700 else rate) for level, rate in loads], bad=800)
    found = sizing_of(main, run)
    assert main["capacity"]["rate_per_s"] == pytest.approx(0.1 * 700)  # as declared; 7% more were drawn
    assert found["sizing"]["per_s"] == pytest.approx(0.1 * 700)
    assert sizing_of(main, run, expected_level=500)["sizing"]["per_s"] == pytest.approx(0.1 * 500)


def test_a_declared_load_has_its_declared_rate_also_where_nothing_was_proven_to_be_carried() -> None:
    """A first study's 6.44 users were "0.25 operations/s", where its draft had 0.12/s: 14 arrivals had told it."""
    drawn = [step(at, 100.0 * at, 1.3 * 10.0 * at, "undecided") for at in range(1, 6)]
    _, run = run_of(LOADS)
    facts = {**FACTS, "open": True, "good": None, "bad": None, "steps": drawn}
    [main] = capacity_findings(facts, run)
    found = sizing_of(main, run, expected_level=500)
    assert found["sizing"]["per_s"] == pytest.approx(FACTS["rate_per_level_s"] * 500)
    assert "For 500 users (50 operations/s)" in found["answer"]


def test_steps_in_which_a_few_requests_fail_at_any_load_tell_what_an_operation_costs() -> None:
    """A registry's quota refused 1% of the searches from a minute on: all steps after it were left out, the carried
    one too, and the use of two seconds each before it was drawn out over it: 1.2 cores for what one core carried."""
    main, run = run_of(LOADS, bad=800, thread=False)
    for share, points in ((0.013, 7), (0.4, 3)):
        main["steps"] = [one | {"error_share": share} if one["level"] >= 400 else one for one in main["steps"]]
        found = sizing_of(main, run)
        assert found["sizing"]["level"] == 700
        assert found["evidence"][0]["count"] == points


def test_one_busy_thread_needs_more_processes_and_not_more_cores() -> None:
    found = sizing_of(*run_of(LOADS), expected_level=1000)
    rows = {row[0]: row for table in found["tables"] if table["title"] == "By process" for row in table["rows"]}
    assert "processes of app, whose one busy thread uses one core" in found["answer"]
    assert rows["database"][-1] == "cannot tell: it used 0.24 cores at most"
    counts = [int(count) for count in rows["app"][-1].split(" / ")]
    assert counts == sorted(counts) and counts[0] == 1 and counts[-1] >= math.ceil(0.004 * 1000 / 0.7)


def with_memory(run, memory_of) -> None:
    """Give the rows of the process app the memory of (second, throughput)."""
    for row in run.rows:
        if row["source"] == "process:app":
            per_s = row["values"]["cpu_cores_used"] / 0.004
            row["values"]["rss_bytes"] = memory_of(row["second"], per_s)
        elif row["source"] == "process:database":
            row["values"]["rss_bytes"] = 50.0 * MIB


def test_memory_that_does_not_grow_with_load_is_the_same_at_every_size() -> None:
    main, run = run_of(LOADS)
    with_memory(run, lambda second, per_s: (100 + second % 3) * MIB)
    found = sizing_of(main, run, expected_level=500)
    for times in (1, 10):
        assert size_at(found, times)["memory"]["minimum"] == 152 * MIB
        assert size_at(found, times)["memory"]["recommended"] == pytest.approx(152 * MIB / 0.7)


def test_memory_that_grows_with_load_is_extrapolated_with_an_interval() -> None:
    order = [1, 3, 6, 12, 9, 10, 2, 11, 5]
    main, run = run_of([(100.0 * at, 10.0 * at) for at in order])
    with_memory(run, lambda second, per_s: (100 + per_s + second % 2) * MIB)
    memory = size_at(sizing_of(main, run, expected_level=1000), 5)["memory"]
    assert memory["interval"][0] <= (100 + 500 + 50.5) * MIB <= memory["interval"][1]


def test_memory_that_grew_with_time_cannot_be_told_beyond_the_load_measured() -> None:
    order = [1, 3, 6, 12, 9, 10, 2, 11, 5]
    main, run = run_of([(100.0 * at, 10.0 * at) for at in order])
    with_memory(run, lambda second, per_s: (100 + second) * MIB)
    found = sizing_of(main, run, expected_level=1000)
    assert size_at(found, 1)["memory"]["minimum"] == pytest.approx((100 + 89 + 50) * MIB)
    assert size_at(found, 2)["memory"]["used"] is None
    assert "the memory of app grew with time" in size_at(found, 2)["memory"]["cannot_tell"]
    assert any("plimsoll hold" in words for words in found["next"])


def test_a_limit_that_is_no_hardware_is_said() -> None:
    main, run = run_of(LOADS, bad=800)
    main["limited_by"] = {"kind": "pool", "where": "8 connections to the database"}
    notes = sizing_of(main, run)["notes"]
    assert any("stopped at 70 operations/s because of pool, 8 connections to the database" in note for note in notes)


def test_a_run_without_processes_is_not_sized() -> None:
    main, run = run_of(LOADS)
    run.rows = [row for row in run.rows if not row["source"].startswith("process:")]
    assert all(one["question"] != QUESTION for one in further_findings(main, run))


def test_another_host_that_tells_no_processes_is_sized_as_a_whole() -> None:
    main, run = run_of(LOADS)
    for row in run.rows:
        if row["source"] == "host":
            row["source"], row["values"]["memory_used_bytes"] = "host:db1", 300.0 * MIB
    found = sizing_of(main, run, expected_level=500)
    hosts = {one["host"]: one for one in found["sizing"]["sizes"][0]["hosts"]}
    assert set(hosts) == {None, "db1"}
    assert hosts["db1"]["cpu"]["used"] == pytest.approx(0.02 + 0.006 * 50, rel=0.06)
    assert found["tables"][0]["columns"][0] == "Host" and " on db1; memory at least 300 MiB" in found["answer"]


def written(folder: Path, experiment: str = "capacity", *, ends: bool = True) -> Path:
    """A run directory of LOADS, in which ten items come with each operation."""
    writer = RunWriter.create(folder, RunFacts(experiment, level_unit="users"))
    steps = [step(at, level, rate) for at, (level, rate) in enumerate(LOADS)]
    for at, one in enumerate(steps):
        one["volume_end"] = 1000.0 * (at + 1)
        for second in range(10 * at, 10 * at + 10):
            values = {"cpu_cores_used": 0.004 * LOADS[at][1], "rss_bytes": 80.0 * MIB, "processes": 2.0}
            writer.append_resource({"second": second, "t_unix": 1.0, "source": "process:app", "values": values})
            size = {"size_bytes": 1e6 + 500.0 * 1000 * at, "files": 1.0}
            writer.append_resource({"second": second, "t_unix": 1.0, "source": "files:data", "values": size})
    result = {**FACTS, "open": True, "good": 1200.0, "bad": None, "steps": steps}
    writer.append_event("experiment_started", second=0.0, experiment=experiment, unit="users", open=True)
    if experiment == "capacity":
        writer.append_event("capacity_result", result=result)
    if ends:
        writer.finish("finished")
    return writer.path


def grown(folder: Path) -> Path:
    """A run of grow in which an item takes 2,000 bytes of memory and 700 on disk."""
    writer = RunWriter.create(folder, RunFacts("grow", level_unit="vus"))
    writer.append_event("grow_settings", second=0.0, volume_before=500.0)
    for at in range(1, 21):
        items = 100 * at
        for source, values in (
            ("process:app", {"rss_bytes": 80.0 * MIB + 2000.0 * items, "cpu_cores_used": 0.5}),
            ("files:disk", {"size_bytes": 700.0 * items}),
        ):
            writer.append_resource({"second": 3 * at - 1, "t_unix": 1.0, "source": source, "values": values})
        writer.append_event("grow_window", second=3.0 * at, loaded=items, items=100, draining=False)
    writer.finish("finished")
    return writer.path


def test_size_answers_again_with_another_load_and_reserve_and_writes_it_once_into_the_run(tmp_path: Path) -> None:
    run = written(tmp_path)
    plimsoll.size(run)
    sized = plimsoll.size(run, plimsoll.SizeChoices(expected=2000, reserve=0.5))
    cpu = size_at(sized.findings[0], 1)["cpu"]
    assert cpu["used"] == pytest.approx(0.8, rel=0.07)
    assert cpu["recommended"] == pytest.approx(2 * cpu["interval"][1])
    kept = [one for one in RunReader(run).findings() if one["question"] == QUESTION]
    assert len(kept) == 1 and kept[0]["sizing"]["reserve"] == 0.5
    page = sized.report.read_text(encoding="utf-8")
    assert "Hardware by load" in page and "What hardware does it need?" in page


def test_a_throughput_may_be_asked_for_instead_of_a_level(tmp_path: Path) -> None:
    sized = plimsoll.size(written(tmp_path), plimsoll.SizeChoices(per_s=50))
    assert sized.findings[0]["sizing"]["level"] is None
    assert size_at(sized.findings[0], 1)["cpu"]["used"] == pytest.approx(0.2, rel=0.03)


def test_so_many_cores_carry_what_their_use_allows(tmp_path: Path) -> None:
    finding = plimsoll.size(written(tmp_path), plimsoll.SizeChoices(cores=(0.25, 2.0))).findings[0]
    small, large = finding["sizing"]["carries"]
    assert small["interval"][0] < 62.5 < small["interval"][1] and small["usable_share"] == 1.0
    assert large["interval"][0] < 500 < large["interval"][1]
    with pytest.raises(InputErrors, match=r"--cores -1 is not above 0"):
        plimsoll.size(written(tmp_path), plimsoll.SizeChoices(cores=(-1.0,)))


def test_of_a_quota_that_stopped_the_run_only_the_share_that_it_could_use_counts() -> None:
    main, run = run_of(LOADS, bad=1300, thread=False)
    main["capacity"] |= {"bad": 1300.0, "rate_per_s": 120.0}
    main["limited_by"] = {"kind": "cpu_quota", "where": "app"}
    rows = [{"second": second, "source": "cgroup:app", "values": {"cpu_limit_cores": 0.8}} for second in range(120)]
    run.rows += rows
    facts = sizing_facts(run, main["steps"])
    found = carried_on(1.6, main, facts)
    assert found["usable_share"] == pytest.approx(0.72 / 0.8, rel=0.01)
    assert found["per_s"] == pytest.approx(240, rel=0.06)


def test_more_cores_than_its_one_thread_can_use_carry_no_more() -> None:
    main, run = run_of(LOADS, database=0.0)
    facts = sizing_facts(run, main["steps"])
    facts.parts = [part for part in facts.parts if part.label == "app"]
    assert carried_on(4.0, main, facts)["per_s"] == carried_on(1.0, main, facts)["per_s"]


def test_disk_by_items_comes_from_steps_whose_data_volume_is_known(tmp_path: Path) -> None:
    [disk] = [
        one for one in plimsoll.size(written(tmp_path)).findings[0]["sizing"]["per_item"] if one["kind"] == "disk"
    ]
    assert disk["bytes_per_item"] == pytest.approx(500) and disk["where"] == "data"


def test_a_run_of_grow_beside_it_tells_what_an_item_takes(tmp_path: Path) -> None:
    choices = plimsoll.SizeChoices(expected=1000, items=1_000_000)
    finding = plimsoll.size([written(tmp_path / "a"), grown(tmp_path / "b")], choices).findings[0]
    by_item = {(one["kind"], one["where"]): one["bytes_per_item"] for one in finding["sizing"]["per_item"]}
    assert by_item["memory", "app"] == pytest.approx(2000) and by_item["disk", "disk"] == pytest.approx(700)
    memory = size_at(finding, 1)["memory"]["minimum"]
    assert memory == pytest.approx(80 * MIB + 2000 * (1_000_000 - 12_000), rel=1e-6)


def test_items_that_nothing_tells_the_memory_of_are_not_guessed(tmp_path: Path) -> None:
    path = written(tmp_path)
    rows = (path / "events.jsonl").read_text(encoding="utf-8").replace('"volume_end":', '"volume_gone":')
    (path / "events.jsonl").write_text(rows, encoding="utf-8")
    memory = size_at(plimsoll.size(path, plimsoll.SizeChoices(items=1e6)).findings[0], 1)["memory"]
    assert memory["used"] is None and "how the memory of app grows with items is not known" in memory["cannot_tell"]


def test_growth_with_items_that_is_within_chance_is_not_extrapolated(tmp_path: Path) -> None:
    path = grown(tmp_path / "b")
    text, number = [], 0
    for row in read_lines(path / "resources.jsonl.zst"):
        if row["source"] == "process:app":
            number += 1
            row["values"]["rss_bytes"] = (80.0 + (number * 7 % 5)) * MIB
        text.append(json.dumps(row))
    (path / "resources.jsonl.zst").write_text("\n".join(text) + "\n", encoding="utf-8")
    for table in path.glob("*.parquet"):
        table.unlink()
    choices = plimsoll.SizeChoices(expected=1000, items=1_000_000)
    finding = plimsoll.size([written(tmp_path / "a"), path], choices).findings[0]
    memory = size_at(finding, 1)["memory"]
    assert memory["used"] is None and "grows with items is within chance" in memory["cannot_tell"]


def test_a_hold_is_sized_by_blocks_of_its_load_with_the_scatter_as_interval(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RunFacts("hold", level_unit="users"))
    for second in range(100):
        writer.append_snapshot(Snapshot(second, t_unix=float(second), level=40.0, done=50 + second % 3))
        values = {"cpu_cores_used": 0.2 + 0.01 * (second % 7), "rss_bytes": 90.0 * MIB, "processes": 1.0}
        writer.append_resource({"second": second, "t_unix": 1.0, "source": "process:app", "values": values})
    held = step(0, 40.0, 51.0, "undecided") | {"step_kind": "expected", "end_s": 100}
    writer.append_event("experiment_started", second=0.0, experiment="hold", unit="users", open=True)
    about = {"unit": "users", "open": True, "status": "finished", "reason": "", "level": 40.0, "duration_s": 100.0}
    writer.append_event(
        "hold_result", second=100.0, result={**about, "warm_up_s": 0.0, "load_s": 100.0, "steps": [held]}
    )
    writer.finish("finished")
    finding = plimsoll.size(writer.path).findings[0]
    assert (
        finding["answer"].startswith("For 40 users (51 operations/s): ")
        and "is the load that was held" in finding["answer"]
    )
    here, ahead = size_at(finding, 1), size_at(finding, 10)
    assert here["cpu"]["used"] == pytest.approx(0.23, rel=0.02)
    assert here["cpu"]["interval"][1] - here["cpu"]["interval"][0] < 0.03
    assert ahead["cpu"]["interval"][1] > 2.3 * 1.2 and ahead["memory"]["used"] is None
    assert here["memory"]["minimum"] == 90 * MIB


def test_all_that_is_wrong_with_what_is_asked_comes_at_once(tmp_path: Path) -> None:
    choices = plimsoll.SizeChoices(expected=-1, per_s=float("nan"), items=0, reserve=0.95)
    with pytest.raises(InputErrors) as raised:
        plimsoll.size([tmp_path, tmp_path / "none"], choices)
    words = [str(error) for error in raised.value.errors]
    assert len(words) == 7
    for part in ("--expected -1", "--rate nan", "--items 0", "reserve of 95%", "given together", "no run directory"):
        assert any(part in one for one in words), part


def test_runs_that_do_not_tell_hardware_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputErrors, match="a run of compare, which does not tell hardware"):
        plimsoll.size(written(tmp_path / "a", "compare"))
    with pytest.raises(InputErrors, match="one run of capacity, hold or drain is needed, given: none"):
        plimsoll.size(grown(tmp_path / "b"))
    with pytest.raises(
        InputErrors, match=r"one run of capacity, hold or drain is needed, given: .*capacity.*, .*capacity"
    ):
        plimsoll.size([written(tmp_path / "c"), written(tmp_path / "d")])
    with pytest.raises(InputErrors, match="is still running"):
        plimsoll.size(written(tmp_path / "e", ends=False))


def test_a_reserve_that_is_no_share_is_refused() -> None:
    from plimsoll.cli.flags.budgets import share_of

    assert share_of("30%", "--reserve", "30%") == pytest.approx(0.3) and share_of(" 0.25 ", "", "") == 0.25
    with pytest.raises(InputError, match="--reserve 'much' is no share"):
        share_of("much", "--reserve", "30%")


def test_a_rate_may_be_of_an_hour_or_a_day() -> None:
    from plimsoll.cli.size import _per_s

    assert [_per_s(text) for text in ("55", "55/s", "198000/h", "8.64e6/d")] == [55, 55, 55, 100]
    with pytest.raises(InputError, match="--rate '5/week' is no rate"):
        _per_s("5/week")


ONE_CORE = {"kind": "cpu", "where": "target process app", "utilisation": 0.92, "resource": "app", "one_core": True}


def process_cells(found: dict) -> dict[str, str]:
    return {row[0]: row[-1] for table in found["tables"] if table["title"] == "By process" for row in table["rows"]}


def stopped_at(main: dict, per_s: float, limited: dict) -> None:
    main["capacity"] |= {"bad": 1300.0, "rate_per_s": per_s}
    main["limited_by"] = limited


def test_a_process_that_stopped_the_run_at_one_core_needs_more_processes_and_not_more_cores() -> None:
    """A Python service ended near 200/s at 0.92 of one core, and was sized with "4 whole cores: more cores serve it"
    for 500/s."""
    main, run = run_of(LOADS, thread=False, database=0.0)
    stopped_at(main, 120.0, ONE_CORE)
    found = sizing_of(main, run, expected_level=600)
    needs = [math.ceil(times * 60 / (120 * 0.7)) for times in (1, 2, 5, 10)]
    assert process_cells(found)["app"] == " / ".join(map(str, needs))
    assert (
        "From 2 times that load on it needs 2 processes of app, one of which uses no more than one core"
        in (found["answer"])
    )
    assert "stopped this run at 120 operations/s" in found["answer"]
    assert found["answer"].endswith("More cores alone do not help.")
    [app] = [one for one in found["sizing"]["processes"] if one["label"] == "app"]
    assert app["more_cores_help"] is False and app["processes_by_times"]["10"] == needs[-1]
    facts = sizing_facts(run, main["steps"])
    facts.parts = [part for part in facts.parts if part.label == "app"]
    assert carried_on(4.0, main, facts)["per_s"] == carried_on(1.0, main, facts)["per_s"]


def test_more_cores_serve_a_process_only_where_it_was_seen_to_use_more_than_one() -> None:
    main, run = run_of(LOADS, thread=False, database=0.02)
    cells = process_cells(sizing_of(main, run, expected_level=500))
    assert cells["app"] == "cannot tell: it used 0.48 cores at most"
    assert cells["database"] == "more cores serve it: it used 2.4 at once"


@pytest.mark.parametrize(
    ("limited", "words"),
    [
        ({"kind": "pool", "where": "pool jdbc", "size": 8.0}, "needs about 34 instead of 8."),
        ({"kind": "lock", "where": "locks of app"}, "needs 4.17 times as much of it as this run had."),
    ],
)
def test_a_limit_that_cores_do_not_lift_is_needed_in_proportion_and_the_answer_says_so(limited, words) -> None:
    main, run = run_of(LOADS, thread=False)
    stopped_at(main, 120.0, limited)
    found = sizing_of(main, run, expected_level=500)
    assert "More cores alone do not help above 120 operations/s, where" in found["answer"]
    assert f"stopped this run. 10 times that load {words} " in found["answer"]
    assert set(process_cells(found).values()) == {f"more cores alone do not help: {limited['where']} stopped it"}


def test_a_limit_that_is_not_known_promises_nothing_of_more_cores() -> None:
    main, run = run_of(LOADS, thread=False)
    stopped_at(main, 120.0, {"kind": "unknown", "where": None})
    found = sizing_of(main, run, expected_level=500)
    assert "was not found. Whether more cores lift it cannot be told. 10 times that load" in found["answer"]
    assert all(cell.startswith("cannot tell") for cell in process_cells(found).values())


def test_a_quota_that_stopped_the_run_is_to_be_raised() -> None:
    main, run = run_of(LOADS, thread=False)
    stopped_at(main, 120.0, {"kind": "cpu_quota", "where": "CPU quota of app"})
    told = " The CPU quota of app stopped this run at 120 operations/s: raise it to these cores. 10 times that load"
    assert told in sizing_of(main, run, expected_level=500)["answer"]


def test_no_more_is_recommended_than_was_used_where_the_load_was_held_and_the_reserve() -> None:
    noisy = [(100.0 * at, 10.0 * at) for at in (2, 4, 8, 16)]
    main, run = run_of(noisy, thread=False, database=0.0)
    for row in run.rows:
        if row["source"] == "process:app":
            row["values"]["cpu_cores_used"] *= 1.6 if row["second"] // 10 == 2 else 1.0
    cpu = size_at(sizing_of(main, run, expected_level=200), 1)["cpu"]
    assert cpu["recommended"] <= 0.004 * 20 / 0.7 * 1.001


def short_run(*, seconds: int) -> tuple[dict, object]:
    """Three steps with the CPU of an interrupted run (1d7d), whose last one finished 111 of 153/s."""
    main, run = run_of([(40.0, 47.0), (80.0, 86.0), (160.0, 110.7)], thread=False, database=0.0)
    cores = (0.236, 0.452, 1.051)
    for row in run.rows:
        if row["source"] == "process:app":
            row["values"]["cpu_cores_used"] = cores[row["second"] // 10]
    main["steps"] = [
        one | {"verdict": "probe", "step_kind": "probe", "end_s": one["measured_from_s"] + seconds}
        for one in main["steps"]
    ]
    main["steps"][-1]["planned_per_s"] = 153.3
    return main, run


def test_a_few_seconds_of_an_interrupted_run_do_not_tell_hardware_and_what_does_is_said() -> None:
    found = sizing_of(*short_run(seconds=2), expected_level=20)
    for need in ("cpu", "memory"):
        assert size_at(found, 1)[need]["recommended"] is None
    assert "CPU: cannot tell, only 4 s of a load that was carried were measured" in found["answer"]
    assert any("hold that load for a minute" in words for words in found["next"])


def test_a_probe_that_finished_less_than_came_does_not_tell_what_an_operation_costs() -> None:
    found = sizing_of(*short_run(seconds=9), expected_level=20)
    assert [one["per_s"] for one in found["sizing"]["processes"][0]["measured"]] == [47.0, 86.0]
    assert size_at(found, 1)["cpu"]["recommended"] < 0.236 / 0.7


def test_an_interval_too_wide_to_tell_the_cores_is_no_answer() -> None:
    main, run = short_run(seconds=9)
    main["steps"][-1]["planned_per_s"] = 110.7
    cpu = size_at(sizing_of(main, run, expected_level=160), 10)["cpu"]
    assert cpu["recommended"] is None and "the steps measured put it between" in cpu["cannot_tell"]


def kept_memory() -> tuple[dict, object]:
    """As run 94d2: two overloads, each of which left more memory, and the expected load after them."""
    points = [(40, 43, 150), (80, 80, 161), (224, 142, 169), (160, 160, 264), (179, 176, 264), (224, 160, 330)]
    points += [(202, 202, 396), (20, 20, 399)]
    main, run = run_of([(float(level), float(rate)) for level, rate, _ in points], thread=False, database=0.0)
    for one in main["steps"]:
        one["verdict"] = "bad" if one["level"] == 224 else "good"
    for row in run.rows:
        if row["source"].startswith("process:"):
            label = row["source"].partition(":")[2]
            row["values"]["rss_bytes"] = MIB * (float(points[row["second"] // 10][2]) if label == "app" else 1.0)
    return main, run


def test_memory_of_a_load_is_not_that_of_an_overload_which_came_before_it() -> None:
    """20 users were said to need 399 MiB, which two overloads at 224 users had left, of 150 MiB before."""
    found = sizing_of(*kept_memory(), expected_level=20)
    assert size_at(found, 1)["memory"]["used"] == 151 * MIB
    assert size_at(found, 2)["memory"]["used"] == 151 * MIB
    at_200 = size_at(found, 10)["memory"]
    assert at_200["used"] is None and at_200["after_more_load"]
    assert "only after an overload or more load" in at_200["cannot_tell"]
    assert any("Start the target afresh" in words for words in found["next"])
    cells = {row[0]: row[2] for table in found["tables"] if table["title"] == "By process" for row in table["rows"]}
    assert cells["app"] == "399 MiB at most, from 150 MiB; it keeps what overloads and higher loads took"


def test_what_an_item_takes_is_not_printed_where_the_interval_holds_zero(tmp_path: Path) -> None:
    path = grown(tmp_path / "b")
    text = []
    for number, row in enumerate(read_lines(path / "resources.jsonl.zst")):
        if row["source"] == "process:app":
            row["values"]["rss_bytes"] = (80.0 + (number * 7 % 5)) * MIB
        text.append(json.dumps(row))
    (path / "resources.jsonl.zst").write_text("\n".join(text) + "\n", encoding="utf-8")
    finding = plimsoll.size([written(tmp_path / "a"), path]).findings[0]
    [rows] = [table["rows"] for table in finding["tables"] if table["title"] == "Growth with items"]
    cells = {row[0]: row[1] for row in rows}
    assert cells["memory, app"] == "cannot tell: within chance of nothing"
    assert cells["disk, disk"].startswith("700 B (")


@pytest.mark.parametrize(("carried", "at"), [(49.0, " at 49 operations/s"), (None, "")])
def test_where_what_stopped_the_run_was_not_found_no_cores_are_promised(carried: float | None, at: str) -> None:
    """As seen of a server with one lock, whose CPU did hardly anything, in a Python process of one busy thread."""
    main, run = run_of(LOADS, bad=800)
    main["limited_by"] = {"kind": "unknown", "where": None}
    main["capacity"]["rate_per_s"] = carried
    words = sizing_of(main, run)["answer"]
    assert f"What stopped this run{at} was not found. Whether more cores lift it cannot be told." in words
