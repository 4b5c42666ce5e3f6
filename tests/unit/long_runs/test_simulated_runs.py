"""hold, grow and drain in virtual time: simulated targets of known behaviour, the run directory, the findings."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from findings_as_json import checked

import plimsoll
from plimsoll.errors import InputError, InputErrors
from plimsoll.experiments.long_runs.drain import DrainSettings, run_drain
from plimsoll.experiments.long_runs.grow import GrowSettings, earlier_load, run_grow
from plimsoll.experiments.long_runs.hold import HoldSettings, run_hold
from plimsoll.findings.drain.finding import drain_findings
from plimsoll.findings.exit_codes import exit_code
from plimsoll.findings.grow import grow_findings
from plimsoll.findings.hold.finding import hold_findings
from plimsoll.findings.of_run import EVENT, Facts, findings_of_run
from plimsoll.report.html import write_html
from plimsoll.runs import RunFacts, RunReader, RunWriter
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.verbs.own_runs import Again, judge_again

sys.path.insert(0, str(Path(__file__).parents[2] / "accuracy"))
from simulators import ClosedQueue, OpenQueue

TAGS = {"scenario": "create", "name": "POST /items"}


class Store:
    """Creates of which each costs cost_s(items) of one server; more than `limit` at a time fail. Level = at a time."""

    unit, open = "vus", False

    def __init__(self, cost_s, limit: int = 10**9, interrupt_at: int = 10**9, held: int = 0) -> None:
        self.cost_s, self.limit, self.interrupt_at, self.items = cost_s, limit, interrupt_at, held
        self.level, self.second, self.stopped, self.pauses_at = 0.0, 0, False, float("inf")
        self.random = np.random.default_rng(1)

    def start(self) -> None:
        pass

    def set_level(self, level: float) -> None:
        self.level = level

    def pause_at(self, at_s: float) -> bool:
        came, self.pauses_at = self.pauses_at <= self.second, at_s
        return came

    def now(self) -> float:
        return float(self.second)

    def snapshots(self, until_s: float) -> Iterator[Snapshot]:
        while self.second < until_s:
            if self.second >= self.interrupt_at:
                self.interrupt_at = 10**9
                raise KeyboardInterrupt
            cost = self.cost_s(self.items) * float(np.exp(0.03 * self.random.standard_normal()))
            on_s = min(1.0, max(0.0, self.pauses_at - self.second))
            done = round(on_s * min(self.level, 4) / 4 / cost) if self.level else 0
            failed = round(done * max(0.0, self.level - self.limit) / self.level) if self.level else 0
            self.items += done - failed
            times = Histogram.from_values(np.full(done, 1000 * max(self.level, 4) * cost)) if done else Histogram()
            series = (
                Series.of_trend("iteration_duration", TAGS, times),
                Series("http_req_failed", "rate", TAGS, passes=failed, total=done),
            )
            self.second += 1
            level = self.level
            if self.pauses_at <= self.second:
                self.level = 0.0
            yield Snapshot(self.second - 1, 1.79e9 + self.second, level, done=done, series=series)

    def drain(self, limit_s: float) -> float:
        self.level = 0.0
        return 0.0

    def stop(self, graceful: bool = True) -> None:
        self.stopped = True

    def volume(self) -> float:
        return float(self.items)


def writer(folder: Path, experiment: str, unit: Any = "vus", study: Any = None) -> RunWriter:
    return RunWriter.create(folder, RunFacts(experiment, level_unit=unit, study=study), tables=False)


def grown(folder: Path, store: Store, settings: GrowSettings) -> list[dict[str, Any]]:
    """Findings of a simulated load; its report can be made."""
    with writer(folder, "grow") as run:
        run_grow(store, settings, run, data_volume=store.volume)
        findings = checked(grow_findings(RunReader(run.path), run_path=str(run.path)))
        run.write_findings(findings)
    assert store.stopped
    text = write_html(run.path).read_text()
    assert "Time per item over the volume of data" in text and "Back pressure" in text
    return findings


def test_items_are_loaded_and_their_cost_is_linear(tmp_path: Path) -> None:
    store = Store(lambda n: (1 + n / 5_000) / 100, held=500)
    main, ageing, cliff = grown(tmp_path, store, GrowSettings(20_000))
    assert 20_000 <= main["load"]["loaded"] <= 20_000 * 1.01 and main["load"]["failed"] == 0
    assert "no create failed" in main["answer"] and exit_code(main) == 0
    assert "The target's own count agrees: 500 before" in main["notes"][0]
    assert ageing["ageing"]["family"] == "linear" and "grows linearly" in ageing["answer"]
    assert ageing["ageing"]["grows"] is True
    [linear] = [one for one in ageing["ageing"]["fits"] if one["family"] == "linear"]
    assert linear["units"] == {"a": "s", "b": "s per item"}
    assert linear["b"] == pytest.approx(1 / 5_000 / 100, rel=0.1)
    assert cliff["cliff"] is None


@pytest.mark.parametrize(("growth", "grows"), [(0.0, False), (0.1, None), (2.0, True)])
def test_a_load_of_half_a_minute_tells_how_a_create_ages(tmp_path: Path, growth: float, grows: bool | None) -> None:
    items = 24_000
    store = Store(lambda n: (1 + growth * n / items) / 1_000)
    main, ageing, cliff = grown(tmp_path, store, GrowSettings(items, most=8))
    assert main["load"]["loading_s"] < 60
    assert ageing["ageing"]["grows"] is grows
    assert cliff["answer"].startswith("No: ")
    if grows is None:
        assert "a host that slows during a load adds up to 15%" in ageing["answer"]
        assert ageing["ageing"]["family"] is None and ageing["next"]


def test_the_forecast_from_the_first_tenth_holds_the_time_it_took_and_narrows(tmp_path: Path) -> None:
    with writer(tmp_path, "grow") as run:
        result = run_grow(Store(lambda n: (1 + n / 20_000) / 100), GrowSettings(20_000), run)
    early = next(one for one in result.forecasts if one["loaded"] >= 2_000)
    late = next(one for one in result.forecasts if one["loaded"] >= 16_000)
    assert early["low_s"] <= result.loading_s <= early["high_s"]
    assert late["high_s"] - late["low_s"] < early["high_s"] - early["low_s"]


def test_a_cliff_is_named_where_it_is(tmp_path: Path) -> None:
    store = Store(lambda n: 0.01 if n < 6_000 else 0.02)
    _, _, cliff = grown(tmp_path, store, GrowSettings(14_000))
    assert cliff["cliff"]["between"][0] <= 6_400 and cliff["cliff"]["between"][1] >= 5_600
    assert cliff["cliff"]["rise"] == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize(
    ("from_items", "where"),
    [(5_000, "after the cliff"), (12_600, "up to the cliff"), (13_800, "up to the cliff")],
    ids=["early", "late", "at the end"],
)
def test_beside_a_cliff_the_ageing_is_told_of_the_side_that_tells_it(
    tmp_path: Path, from_items: int, where: str
) -> None:
    store = Store(lambda n: (1 + n / 5_000) / 100 * (1 if n < from_items else 1.6))
    _, ageing, cliff = grown(tmp_path, store, GrowSettings(14_000))
    assert cliff["cliff"]["between"][0] <= 1.1 * from_items and cliff["cliff"]["between"][1] >= 0.9 * from_items
    told = ageing["ageing"]
    assert told["grows"] is True and where in ageing["answer"]
    to_end = where == "after the cliff"
    assert told["from_volume"] > from_items if to_end else told["to_volume"] < from_items
    assert ("what follows the cliff is too little" in ageing["answer"]) is not to_end


@pytest.mark.parametrize("slower_host", [False, True])
def test_a_cliff_at_which_the_targets_cores_get_slower_may_be_the_hosts(tmp_path: Path, slower_host: bool) -> None:
    store = Store(lambda n: 0.01 if n < 6_000 else 0.015)
    with writer(tmp_path, "grow") as run:
        run_grow(store, GrowSettings(14_000), run, data_volume=store.volume)
        for event in RunReader(run.path).events("grow_window"):
            slow = slower_host and event["loaded"] > 6_000
            for second in range(int(event["second"] - event["seconds"]), int(event["second"])):
                values = {"work_per_cpu_s": (0.7 if slow else 1.0) * (100 + second % 7)}
                run.append_resource({"t_unix": 0, "second": second, "source": "core_speed", "values": values})
        *_, cliff = checked(grow_findings(RunReader(run.path)))
    if slower_host:
        assert cliff["cliff"]["cores_slower"] == pytest.approx(0.3, abs=0.02)
        assert "may be the host and not the data" in cliff["answer"] and "once more" in cliff["next"][0]
    else:
        assert cliff["cliff"]["cores_slower"] is None and "host" not in cliff["answer"]


def test_an_interrupted_load_goes_on_where_it_ended(tmp_path: Path) -> None:
    first = Store(lambda n: 0.005, interrupt_at=30)
    main, _, _ = grown(tmp_path / "a", first, GrowSettings(12_000))
    assert main["status"] == "interrupted" and exit_code(main) == 130 and "--resume" in main["next"][-1]
    loaded, windows, _ = earlier_load(RunReader(main["run"]))
    assert loaded == first.items == main["load"]["loaded"] and windows
    second = Store(lambda n: 0.005, held=loaded)
    resumed = GrowSettings(12_000, loaded=loaded, windows=windows, volume_before=0.0, resumed=main["run"])
    main, _, _ = grown(tmp_path / "b", second, resumed)
    assert main["load"]["loaded"] >= 12_000 and second.items < 12_400
    assert main["load"]["loading_s"] == pytest.approx(60, rel=0.25), "both runs' time"


def test_creates_that_always_fail_end_the_run(tmp_path: Path) -> None:
    store = Store(lambda n: 0.01, limit=0)
    with writer(tmp_path, "grow") as run:
        run_grow(store, GrowSettings(1_000), run)
        [main, *_] = checked(grow_findings(RunReader(run.path)))
    assert main["status"] == "failed" and not main["valid"] and "even with 1 at a time" in main["answer"]


def test_a_run_is_judged_again_from_what_it_holds(tmp_path: Path) -> None:
    facts = Facts(objectives=tuple(STUDY), same_host=True, kept_apart="by hand", notes=("Said before.",))
    with writer(tmp_path, "hold", "users") as run:
        run_hold(OpenQueue(1, 0.01, 3), HoldSettings(50, 60, 5, 0), None, run)
        run.append_event(EVENT, facts=facts.to_json())
        findings = checked(findings_of_run(RunReader(run.path), facts))
        run.write_findings(findings)
    before = RunReader(run.path).findings()
    assert Facts.of(RunReader(run.path)) == facts and "Said before." in before[0]["notes"]
    again, report = judge_again(run.path, Again())
    assert json.loads(json.dumps(again)) == before == RunReader(run.path).findings()
    assert report == run.path / "report.html"
    stricter = Again(objectives=({"operation": "work", "objective": "max<=0.001ms"},))
    main, *_ = judge_again(run.path, stricter, report=False)[0]
    assert [one["verdict"] for one in main["objectives"]] == ["failed"]
    assert Facts.of(RunReader(run.path)) == facts, "what it was asked for first stays"
    with pytest.raises(InputError, match="how far it would go"):
        judge_again(run.path, Again(cores=8))


def test_what_a_run_cannot_be_asked_again_is_told(tmp_path: Path) -> None:
    with writer(tmp_path, "grow") as run:
        run_grow(Store(lambda n: 0.01), GrowSettings(2_000), run)
        with pytest.raises(InputError, match="is still running"):
            judge_again(run.path, Again())
    with pytest.raises(InputErrors) as told:
        judge_again(run.path, Again(objectives=tuple(STUDY), budgets={"cpu": 0.5}, expected=5))
    assert len(told.value.errors) == 3
    [main, *_], _ = judge_again(run.path, Again(), report=False)
    assert main["load"]["loaded"] >= 2_000 and RunReader(run.path).findings()[0]["answer"] == main["answer"]


STUDY = [{"operation": "work", "objective": "p90<=100ms"}, {"operation": "work", "objective": "p90<=1ms"}]


def held(
    folder: Path, load: OpenQueue, alone: Any = None, seconds: float = 300, sample: Any = None
) -> list[dict[str, Any]]:
    """Findings of a simulated hold at level 50."""
    with writer(folder, "hold", "users") as run:
        run_hold(load, HoldSettings(50, seconds, 5, 20), alone, run, sample)
        findings = checked(hold_findings(RunReader(run.path), objectives=STUDY, run_path=str(run.path)))
        run.write_findings(findings)
    assert "Response time over the run" in write_html(run.path).read_text()
    return findings


def of(findings: list[dict[str, Any]], words: str) -> dict[str, Any]:
    return next(one for one in findings if words in one["question"])


def test_a_calm_target_is_stable_and_its_objectives_have_intervals(tmp_path: Path) -> None:
    findings = held(tmp_path, OpenQueue(1, 0.01, 3), ClosedQueue(1, 0.01, 0.0, 5))
    main = findings[0]
    assert main["stable"] and main["answer"].startswith("Nothing was found that gets worse or comes back, over 5 min")
    truth_ms = 20 * np.log(10)
    met, failed = main["objectives"]
    assert met["verdict"] == "met" and met["interval"][0] < truth_ms < met["interval"][1]
    assert failed["verdict"] == "failed" and exit_code(main) == 99
    assert of(findings, "overloaded")["answer"].startswith("Slow: one user alone"), (
        "1 ms is missed by one user alone too"
    )


def test_a_job_every_half_minute_is_found(tmp_path: Path) -> None:
    load = OpenQueue(1, 0.01, 3, stall_every_s=30, stall_s=1.0)
    found = of(held(tmp_path, load), "periodically")
    assert found["periodic"]["period_s"] == pytest.approx(30, rel=0.02) and found["answer"].startswith(
        "Yes: about every 30 s"
    )


def test_overload_shows_as_drift_and_memory_as_a_leak(tmp_path: Path) -> None:
    random = np.random.default_rng(1)

    def sample(second: int, t_unix: float) -> list[dict[str, Any]]:
        rss = 1e8 + 1e5 * second + 2e4 * random.standard_normal()
        return [{"t_unix": t_unix, "second": second, "source": "process:server", "values": {"rss_bytes": rss}}]

    findings = held(tmp_path, OpenQueue(1, 0.022, 3), seconds=200, sample=sample)
    assert of(findings, "slower")["answer"].startswith("Yes") and not findings[0]["stable"]
    [row] = of(findings, "leak")["memory"]
    assert row["leaks"] and row["interval"][0] <= 1e5 <= row["interval"][1]
    assert "gets slower" in findings[0]["answer"] and "Memory of server grows" in of(findings, "leak")["trouble"]


def test_an_interrupted_hold_says_what_was_measured(tmp_path: Path) -> None:
    main = held(tmp_path, OpenQueue(1, 0.01, 3, interrupt_at_s=60))[0]
    assert main["status"] == "interrupted" and "Interrupted" in main["answer"] and exit_code(main) == 130


class Fed(OpenQueue):
    """A target that feeds a consumer of `rate` items per second."""

    def __init__(self, rate: float, seed: int = 1, bytes_per_item: float = 100.0) -> None:
        super().__init__(16, 0.001, seed)
        self.rate, self.put, self.done, self.bytes_per_item = rate, 0.0, 0.0, bytes_per_item
        self.noise = np.random.default_rng(seed)

    def sample(self, second: int, t_unix: float) -> list[dict[str, Any]]:
        self.done = min(self.put, self.done + self.rate)
        size = 1e5 + self.bytes_per_item * self.done + 200 * self.noise.standard_normal()
        values = {"waiting": self.put - self.done, "taken_out": self.done, "index_bytes": size}
        return [{"t_unix": t_unix, "second": second, "source": "consumer", "values": values}]

    def _emit(self, planned: int, finished: list[tuple[float, float, bool]]) -> None:
        self.put += len(finished)
        super()._emit(planned, finished)


def drained(folder: Path, rate: float, bytes_per_item: float = 100.0) -> list[dict[str, Any]]:
    """Findings of a load of 50 items/s for two minutes."""
    load = Fed(rate, bytes_per_item=bytes_per_item)
    with writer(folder, "drain", "users") as run:
        run_drain(load, DrainSettings(50, 120, 5, 60), run, load.sample)
        findings = checked(drain_findings(RunReader(run.path), index_budget_bytes=1e6))
        run.write_findings(findings)
    assert "Backlog of the consumer" in write_html(run.path).read_text()
    return findings


def test_a_consumer_of_forty_does_not_keep_up_with_fifty(tmp_path: Path) -> None:
    main, time, index = drained(tmp_path, 40)
    assert main["keeps_up"] is False and exit_code(main) == 99
    assert main["consumer"]["busy_per_s"] == pytest.approx(40, rel=0.02)
    assert main["consumer"]["overload"] == pytest.approx(0.2, abs=0.05)
    assert "of the arrivals (95%: " in main["answer"]
    assert time["drain"]["alone_per_s"] == pytest.approx(40, rel=0.05)
    assert time["drain"]["drained_s"] == pytest.approx(time["drain"]["backlog"] / 40, abs=3)
    assert index["index"]["bytes_per_item"] == pytest.approx(100, rel=0.01) and "lasts for" in index["answer"]


def test_a_consumer_of_eighty_keeps_up_with_fifty(tmp_path: Path) -> None:
    main, *_ = drained(tmp_path, 80)
    assert main["keeps_up"] is True and exit_code(main) == 0 and "would have shown" in main["answer"]


class Working(Fed):
    """Its server takes 2 ms of CPU for each item put in, its indexer 10 ms for each done; both 0.02 cores at rest."""

    put_before = done_before = 0.0

    def sample(self, second: int, t_unix: float) -> list[dict[str, Any]]:
        rows = super().sample(second, t_unix)
        put, done = self.put - self.put_before, self.done - self.done_before
        self.put_before, self.done_before = self.put, self.done
        for label, cores in (("server", 0.02 + 0.002 * put), ("indexer", 0.02 + 0.010 * done)):
            values = {"cpu_cores_used": cores * (1 + 0.02 * self.noise.standard_normal()), "rss_bytes": 1e8}
            values |= {"busiest_thread_cores_used": values["cpu_cores_used"], "processes": 1.0}
            rows.append({"t_unix": t_unix, "second": second, "source": f"process:{label}", "values": values})
        return [*rows, {"t_unix": t_unix, "second": second, "source": "host", "values": {"cores": 4.0}}]


@pytest.fixture(scope="module", params=[40, 80], ids=["falls behind", "keeps up"])
def worked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of drain of a load of 50 items/s for a minute and its findings; the consumer does so many."""
    load = Working(request.param)
    with writer(tmp_path_factory.mktemp("worked"), "drain", "users") as run:
        run_drain(load, DrainSettings(50, 60, 5, 60), run, load.sample)
        run.write_findings(checked(drain_findings(RunReader(run.path))))
    return run.path


def test_what_an_item_costs_each_process_is_told_whether_the_consumer_keeps_up_or_not(worked: Path) -> None:
    found = of(RunReader(worked).findings(), "What does the consumer use?")
    used = {one["label"]: one for one in found["use"]["processes"]}
    for label, truth_ms in (("indexer", 10.0), ("server", 2.0)):
        low, high = used[label]["cpu_interval_ms"]
        assert low <= 1.01 * truth_ms and high >= 0.99 * truth_ms and high - low < 0.4 * truth_ms, label
        assert used[label]["cpu_ms_per_item"] == pytest.approx(truth_ms, rel=0.06)
        assert used[label]["rest_cores"] == pytest.approx(0.02, rel=0.2)
    assert found["use"]["host_cores"] == 4 and found["answer"].startswith("Under the load indexer 0.")
    drained = used["indexer"]["drain_cores"]
    assert drained is None or drained > 10 * used["server"]["rest_cores"], "it works on without load"


def test_a_run_of_drain_says_the_hardware_for_items_of_a_day(worked: Path) -> None:
    asked = plimsoll.SizeChoices(per_s=100.0, processes=("indexer",))
    [found] = checked(plimsoll.size(worked, asked).findings)
    assert found["sizing"]["noun"] == "item" and found["answer"].startswith("For 100 items/s: ")
    for size in found["sizing"]["sizes"]:
        truth = 0.02 + 0.010 * 100 * size["times"]
        cpu, [disk] = size["hosts"][0]["cpu"], size["disk"]
        assert cpu["interval"][0] <= truth <= cpu["interval"][1] and cpu["used"] == pytest.approx(truth, rel=0.12)
        assert cpu["recommended"] == pytest.approx(cpu["interval"][1] / 0.7)
        assert disk["bytes_per_day"] == pytest.approx(100 * 100 * size["times"] * 86_400, rel=0.05)
    [process] = found["sizing"]["processes"]
    assert process["label"] == "indexer" and process["cpu_ms_per_operation"] == pytest.approx(10, rel=0.06)
    assert "processes of indexer, whose one busy thread uses one core" in found["answer"]
    titles = {table["title"]: table for table in found["tables"]}
    assert titles["Hardware by load"]["columns"][1] == "Items/s" and "Disk by load" in titles
    everything = plimsoll.size(worked).findings[0]
    assert (
        everything["sizing"]["per_s"] == pytest.approx(50, rel=0.05)
        and "the load that was held" in everything["answer"]
    )
    with pytest.raises(InputErrors, match=r"no process of that label\. It saw indexer, server"):
        plimsoll.size(worked, plimsoll.SizeChoices(processes=("indxer",)))


def test_a_drain_says_the_hardware_for_the_load_that_was_held_by_itself(worked: Path) -> None:
    found = of(checked(findings_of_run(RunReader(worked))), "What hardware does it need?")
    asked = plimsoll.size(worked).findings[0]
    assert found["answer"] == asked["answer"] and "the load that was held" in found["answer"]
    assert found["sizing"] == asked["sizing"] and found["valid"] == asked["valid"]


def test_a_drain_of_which_no_process_was_seen_says_no_hardware(tmp_path: Path) -> None:
    with writer(tmp_path, "drain", "users") as run:
        load = Fed(80)
        run_drain(load, DrainSettings(50, 60, 5, 60), run, load.sample)
    questions = [one["question"] for one in findings_of_run(RunReader(run.path))]
    assert len(questions) > 2 and "What hardware does it need?" not in questions


def test_an_index_that_may_not_grow_at_all_is_not_said_to_grow(tmp_path: Path) -> None:
    index = drained(tmp_path, 80, bytes_per_item=0.0)[-1]
    assert index["answer"].startswith("It is not seen to grow with the items: ")
    assert "lasts for at least" in index["answer"] and index["index"]["items_left"] is None
    assert index["index"]["interval"][0] <= 0 <= index["index"]["interval"][1]


def test_seconds_that_come_late_because_the_process_was_kept_from_its_core_are_not_after_the_load(
    tmp_path: Path,
) -> None:
    class Late(Fed):
        """Its clock is half a minute ahead of its seconds when the load ends."""

        ended = False

        def set_level(self, level: float) -> None:
            self.ended = level == 0.0
            super().set_level(level)

        def now(self) -> float:
            return super().now() + (30.0 if self.ended else 0.0)

    load = Late(80)
    with writer(tmp_path, "drain", "users") as run:
        result = run_drain(load, DrainSettings(50, 60, 5, 60), run, load.sample)
    assert result.drained_at_s is not None and result.drained_at_s >= result.load_to_s


def test_counters_read_a_moment_apart_make_no_backlog_below_nothing(tmp_path: Path) -> None:
    class Ahead(Fed):
        def sample(self, second: int, t_unix: float) -> list[dict[str, Any]]:
            [row] = super().sample(second, t_unix)
            values = row["values"] | {"taken_out": row["values"]["taken_out"] + min(second, 40)}
            return [row | {"values": values}]

    load = Ahead(80)
    with writer(tmp_path, "drain", "users") as run:
        run_drain(load, DrainSettings(50, 60, 5, 10), run, load.sample)
        [main, *_] = checked(drain_findings(RunReader(run.path)))
    assert main["consumer"]["backlog_end"] >= 0 and "to -" not in main["answer"]


def test_counters_and_a_backlog_that_contradict_each_other_prove_nothing(tmp_path: Path) -> None:
    class Empty(Fed):
        def sample(self, second: int, t_unix: float) -> list[dict[str, Any]]:
            [row] = super().sample(second, t_unix)
            return [row | {"values": row["values"] | {"taken_out": 0.1 * row["values"]["taken_out"]}}]

    load = Empty(80)
    with writer(tmp_path, "drain", "users") as run:
        run_drain(load, DrainSettings(50, 60, 5, 10), run, load.sample)
        [main, *_] = checked(drain_findings(RunReader(run.path)))
    assert "the readings contradict each other" in main["answer"] and "falls behind" not in main["answer"]


def test_a_consumer_that_is_lost_under_load_is_not_called_drained(tmp_path: Path) -> None:
    class Lost(Fed):
        def sample(self, second: int, t_unix: float) -> list[dict[str, Any]]:
            rows = super().sample(second, t_unix)
            return rows if second < 40 else []

    load = Lost(80)
    with writer(tmp_path, "drain", "users") as run:
        result = run_drain(load, DrainSettings(50, 60, 5, 30), run, load.sample)
        main, time, *_ = checked(drain_findings(RunReader(run.path)))
    assert result.drained_at_s is None
    assert any("could not be read from 40 s on" in note for note in main["notes"])
    assert time["answer"].startswith("It cannot be told") and time["drain"]["drained_s"] is None


def test_one_second_without_a_reading_does_not_end_the_wait(tmp_path: Path) -> None:
    class Gaps(Fed):
        def sample(self, second: int, t_unix: float) -> list[dict[str, Any]]:
            rows = super().sample(second, t_unix)
            return [] if second % 13 == 0 else rows

    load = Gaps(40)
    with writer(tmp_path, "drain", "users") as run:
        result = run_drain(load, DrainSettings(50, 60, 5, 60), run, load.sample)
        main, time, *_ = checked(drain_findings(RunReader(run.path)))
    assert result.drained_at_s is not None and time["drain"]["drained_s"] > 5
    assert not any("could not be read" in note for note in main["notes"])


def test_a_consumer_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    with writer(tmp_path, "drain", "users") as run:
        run_drain(OpenQueue(1, 0.001, 1), DrainSettings(5, 20, 2, 5), run)
        [main] = checked(drain_findings(RunReader(run.path)))
    assert not main["valid"] and "neither the backlog nor the items done" in main["answer"]
