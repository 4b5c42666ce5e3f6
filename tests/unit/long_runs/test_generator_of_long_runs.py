"""hold, grow and drain say of their generator whether their answer is the target's: simulated runs with planted
troubles of the generator, and healthy ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from findings_as_json import checked
from test_simulated_runs import Fed, Store, held, writer

from plimsoll.experiments.long_runs.drain import DrainSettings, run_drain
from plimsoll.experiments.long_runs.grow import GrowSettings, earlier_load, run_grow
from plimsoll.experiments.long_runs.hold import HoldSettings, run_hold
from plimsoll.findings.drain.finding import drain_findings
from plimsoll.findings.exit_codes import EXIT_INVALID, exit_code
from plimsoll.findings.grow import grow_findings
from plimsoll.findings.hold.finding import hold_findings
from plimsoll.findings.of_run import Facts, doubts_of, findings_of_run
from plimsoll.findings.validity.generator import NOT_ALONE
from plimsoll.runs import RunReader
from plimsoll.runs.snapshot import Snapshot

from simulators import ClosedQueue, OpenQueue  # isort: skip  # its folder is on the path since test_simulated_runs

HEALTHY: dict[str, Any] = {
    "cpu_s": 0.3, "lag_p50_ms": 0.05, "lag_p99_ms": 0.4, "threads": 1, "busiest_thread_share": 0.3,
    "stalled_share": 0.0, "longest_turn_ms": 0.9, "refused_files": 0,
}  # fmt: skip
LATE = {"lag_p50_ms": 6.0, "lag_p99_ms": 16.0}
VERY_LATE = {"lag_p99_ms": 150.0}
FULL = {"cpu_s": 0.97, "busiest_thread_share": 0.97}
SCRIPT = {"stalled_share": 0.4, "longest_turn_ms": 55.0, "script_timed": 100, "script_p99_ms": 52.0}
REFUSED = {"refused_files": 3}
Trouble = Callable[[int], dict[str, Any]]


class Seen(Store):
    """A store of 100 creates per second, four at a time of 40 ms, whose generator has a trouble in some seconds."""

    def __init__(self, trouble: Trouble, limit: int = 10**9, dies_at: int = 10**9) -> None:
        super().__init__(lambda n: 0.01, limit)
        self.trouble, self.dies_at, self.drained_to = trouble, dies_at, 0

    def snapshots(self, until_s: float) -> Iterator[Snapshot]:
        for snapshot in super().snapshots(until_s):
            if snapshot.second >= self.dies_at:
                raise RuntimeError("killed")
            trouble = self.trouble(snapshot.second)
            yield replace(snapshot, vus_max=int(self.level), generator=HEALTHY | trouble)

    def now(self) -> float:
        return max(super().now(), float(self.drained_to))

    def drain(self, limit_s: float) -> float:
        self.drained_to = self.second + 5
        return super().drain(limit_s)


def grown(folder: Path, store: Seen, settings: GrowSettings | None = None) -> list[dict[str, Any]]:
    with writer(folder, "grow") as run:
        run_grow(store, settings or GrowSettings(4_000), run)
        return findings_of_run(RunReader(run.path), Facts(same_host=True, kept_apart="pinned to different cores"))


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (lambda second: LATE, "late at 4 VUs: lag 6 ms at the median, more than a tenth of the median response time"),
        (lambda second: {"lag_p99_ms": 25.0}, "late at 4 VUs: lag p99 25 ms, more than half of the median response"),
        (
            lambda second: LATE if second >= 26 else {},
            "late at 4 VUs: lag 7 ms in the mean of a part of it, more than",
        ),
        (lambda second: FULL, "The generator's threads were 97% busy at 4 VUs: it could not have sent more."),
        (lambda second: FULL if second % 4 == 0 else {}, "At 4 VUs: The generator's only thread was 97% busy in 1"),
        (lambda second: SCRIPT, "At 4 VUs: The script kept a thread of the generator from its other VUs"),
        (lambda second: REFUSED if second == 9 else {}, "At 4 VUs: 3 connections could not be opened"),
    ],
)
def test_a_load_that_the_generator_limited_is_marked_invalid(tmp_path: Path, trouble: Trouble, words: str) -> None:
    findings = grown(tmp_path, Seen(trouble))
    [main, ageing, cliff] = findings
    assert not (main["valid"] or ageing["valid"] or cliff["valid"]) and exit_code(main) == EXIT_INVALID
    [reason] = main["invalid_because"]
    assert words in reason and main["generator"]["reasons"] == [reason]
    assert main["answer"].startswith(f"{NOT_ALONE} 4,0") and main["next"][0] == main["generator"]["remedies"][0]


def test_what_is_no_fault_of_a_closed_loop_leaves_a_load_valid(tmp_path: Path) -> None:
    calm = {"lag_p99_ms": 15.0, "cpu_s": 0.7, "busiest_thread_share": 0.7}
    for place, store in enumerate([Seen(lambda second: calm), Seen(lambda second: {}, limit=3)]):
        main, ageing, cliff = grown(tmp_path / str(place), store)
        assert main["valid"] and ageing["valid"] and cliff["valid"] and main["invalid_because"] == []
        assert NOT_ALONE not in main["answer"]
    assert main["load"]["failed"] > 0, "back pressure"
    assert any("on the same host" in one and "pinned to different cores" in one for one in main["notes"])
    [main, *_] = grown(tmp_path / "alone", Seen(lambda second: SCRIPT), GrowSettings(500, most=1))
    assert main["valid"], "a thread with one VU keeps nobody waiting"


def test_what_the_generator_does_while_the_last_creates_end_does_not_count(tmp_path: Path) -> None:
    store = Seen(lambda second: {})
    store.trouble = lambda second: REFUSED if store.drained_to else {}
    main, *_ = grown(tmp_path, store)
    assert main["valid"] and store.second == store.drained_to


def test_a_killed_load_is_judged_as_far_as_it_came(tmp_path: Path) -> None:
    store = Seen(lambda second: LATE, dies_at=30)
    store.drain = lambda limit_s: 0.0  # type: ignore[method-assign]
    with pytest.raises(RuntimeError), writer(tmp_path, "grow") as run:
        store.stop = lambda graceful=True: (_ for _ in ()).throw(RuntimeError("killed"))  # type: ignore[method-assign]
        run_grow(store, GrowSettings(4_000), run)
    [main, *_] = checked(grow_findings(RunReader(run.path)))
    assert main["status"] == "interrupted" and "late at 4 VUs" in main["invalid_because"][0]


def test_a_resumed_load_keeps_the_doubts_of_the_run_that_it_went_on_from(tmp_path: Path) -> None:
    [main, *_] = grown(tmp_path / "a", Seen(lambda second: LATE), GrowSettings(2_000))
    earlier = RunReader(main["run"])
    doubts = doubts_of(earlier)
    loaded, windows, _ = earlier_load(earlier)
    assert doubts == tuple(main["invalid_because"]) != ()
    settings = GrowSettings(4_000, loaded=loaded, windows=windows, resumed="runs/a", doubts=doubts)
    [main, *_] = grown(tmp_path / "b", Seen(lambda second: {}), settings)
    assert main["generator"]["healthy"] and not main["valid"] and main["invalid_because"] == [f"In runs/a: {doubts[0]}"]
    assert "--resume" in main["next"][0]


class FedBy(Fed):
    """A consumer of 60 items per second, fed by a generator with a trouble under load, or without."""

    def __init__(self, under_load: dict[str, Any], without: dict[str, Any], dies_at_s: int = 10**9) -> None:
        super().__init__(60)
        self.of_load = {True: HEALTHY | under_load, False: HEALTHY | without}
        self.dies_at_s = dies_at_s

    def _emit(self, planned: int, finished: list[tuple[float, float, bool]]) -> None:
        if self.second >= self.dies_at_s:
            raise RuntimeError("killed")
        self.generator = self.of_load[self.level > 0]
        super()._emit(planned, finished)


def drained(folder: Path, load: FedBy) -> list[dict[str, Any]]:
    with writer(folder, "drain", "users") as run:
        run_drain(load, DrainSettings(50, 60, 5, 60), run, load.sample)
        return findings_of_run(
            RunReader(run.path), Facts(index_budget_bytes=1e6, same_host=True, kept_apart="pinned to different cores")
        )


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (VERY_LATE, "The generator itself was late at 50 users: lag p99 150 ms, more than a tenth of the second."),
        (FULL, "The generator's threads were 97% busy at 50 users"),
        (REFUSED, "At 50 users: 180 connections could not be opened"),
    ],
)
def test_a_consumer_is_not_said_to_keep_up_with_what_the_generator_did_not_send(
    tmp_path: Path, trouble: dict[str, Any], words: str
) -> None:
    main, time, index = drained(tmp_path, FedBy(trouble, {}))
    [reason] = main["invalid_because"]
    assert not main["valid"] and words in reason and exit_code(main) == EXIT_INVALID
    assert main["answer"].startswith(NOT_ALONE) and main["next"][0] == main["generator"]["remedies"][0]
    assert time["valid"] and index["valid"], "these are of the consumer alone"


def test_a_consumer_s_answer_is_valid_where_the_generator_was_well_under_load(tmp_path: Path) -> None:
    main, *others = drained(
        tmp_path, FedBy(LATE | {"stalled_share": 0.1, "longest_turn_ms": 20.0}, VERY_LATE | REFUSED)
    )
    assert main["valid"] and main["invalid_because"] == [] and NOT_ALONE not in main["answer"], (
        "16 ms spoil no count of items by the second"
    )
    assert all(one["valid"] for one in others)
    assert any("on the same host" in one and "pinned to different cores" in one for one in main["notes"])


def test_a_killed_drain_is_judged_as_far_as_it_came(tmp_path: Path) -> None:
    load = FedBy(VERY_LATE, {}, dies_at_s=50)
    with pytest.raises(RuntimeError), writer(tmp_path, "drain", "users") as run:
        run_drain(load, DrainSettings(50, 60, 5, 60), run, load.sample)
    [main, *_] = checked(drain_findings(RunReader(run.path)))
    assert main["status"] == "interrupted" and "late at 50 users" in main["invalid_because"][0]


def machine(troubled: Callable[[int], bool]) -> Callable[[int, float], list[dict[str, Any]]]:
    """Rows of the generator's machine: a quota of one core that holds it up in some seconds."""

    def sample(second: int, t_unix: float) -> list[dict[str, Any]]:
        values = {"open_files_limit": 1000.0, "quota_cores": 1.0, "throttled_share": 0.2 if troubled(second) else 0.0}
        return [{"t_unix": t_unix, "second": second, "source": "generator", "values": values}]

    return sample


def queues() -> tuple[OpenQueue, ClosedQueue]:
    """A calm target under load, and one user alone."""
    return OpenQueue(1, 0.01, 3), ClosedQueue(1, 0.01, 0.0, 5)


def test_a_hold_tells_what_its_generator_and_the_machine_of_it_did_in_the_measured_seconds(tmp_path: Path) -> None:
    load, alone = queues()
    load.generator |= REFUSED
    main, *others = held(tmp_path, load, alone, 30, machine(lambda second: True))
    [files] = main["generator"]["reasons"]
    assert files.startswith("At 50 users: 90 connections could not be opened") and "(1,000 are allowed)" in files
    assert not main["valid"] and main["invalid_because"] == [files] and main["answer"].startswith(NOT_ALONE)
    assert {one["question"] for one in others if one["valid"]} == {"Does it leak memory?", "Did it restart?"}
    [slower] = [one for one in others if one["question"] == "Does it get slower over time?"]
    quota = slower["invalid_because"][1]
    assert "CPU quota of 1 cores held the generator up for 20% of the time in 30 of 30 s" in quota


def test_what_the_generator_did_while_one_user_was_alone_does_not_count(tmp_path: Path) -> None:
    load, alone = queues()
    alone.generator |= REFUSED | LATE
    main, *_ = held(tmp_path, load, alone, 30, machine(lambda second: second < 20))
    assert main["steps"][0]["end_s"] >= 20 and main["steps"][0]["step_kind"] == "baseline"
    assert main["generator"]["reasons"] == [] and main["valid"]


def test_a_turn_of_the_loop_counts_beside_the_response_times_of_the_hold(tmp_path: Path) -> None:
    turns = {"stalled_share": 0.1, "longest_turn_ms": 15.0}
    for mean_s, told in ((0.3, False), (0.03, True)):
        load = OpenQueue(100, mean_s, 3)
        load.generator |= turns
        main, *_ = held(tmp_path / str(told), load, None, 30)
        assert main["valid"] and main["generator"]["reasons"] == []
        errors = [one.get("error", 0.0) for one in main["validity"] if one.get("quantile") == 0.99]
        assert (errors == [15.0]) is told, f"15 ms beside {mean_s} s"


def test_a_killed_hold_tells_that_its_generator_was_late(tmp_path: Path) -> None:
    class Dying(OpenQueue):
        def _advance(self) -> None:
            if self.second >= 40:
                raise RuntimeError("killed")
            super()._advance()

    load = Dying(1, 0.01, 3)
    load.generator |= LATE
    with pytest.raises(RuntimeError), writer(tmp_path, "hold", "users") as run:
        run_hold(load, HoldSettings(50, 60, 5, 0), None, run)
    [main, *others] = checked(hold_findings(RunReader(run.path)))
    assert main["status"] == "interrupted" and main["valid"] and "whether it gets slower" in main["answer"]
    [slower] = [one for one in others if one["question"] == "Does it get slower over time?"]
    assert not slower["valid"] and "late at 50 users" in slower["invalid_because"][0]


def test_a_hold_that_was_killed_under_load_tells_one_length_of_it(tmp_path: Path) -> None:
    """Seen: "it ended before the load was put on", beside 9 s and 4 s of it on the page."""

    class Dying(OpenQueue):
        def _advance(self) -> None:
            if self.second >= 9:
                raise RuntimeError("killed")
            super()._advance()

    with pytest.raises(RuntimeError), writer(tmp_path, "hold", "users") as run:
        run_hold(Dying(1, 0.01, 3), HoldSettings(50, 60, 5, 8), OpenQueue(1, 0.01, 3), run)
    [main] = checked(hold_findings(RunReader(run.path)))
    held = main["steps"][-1]
    assert held["step_kind"] == "expected" and not main["valid"]
    seconds = held["end_s"] - held["measured_from_s"]
    assert f"only {seconds:.0f} s were measured under load" in main["answer"], main["answer"]


def test_a_leak_is_right_however_late_the_generator_was(tmp_path: Path) -> None:
    """Seen: 1.5 ms of lag at 61 operations/s voided a leak of 7,930 MiB an hour, exit code 3."""
    load = OpenQueue(8, 0.005, 3)
    load.generator |= {"lag_p50_ms": 0.1, "lag_p99_ms": 2.5}

    def leaking(second: int, t_unix: float) -> list[dict[str, Any]]:
        values = {"rss_bytes": 1e8 + second * 7930 * 2**20 / 3600, "cpu_cores_used": 0.3}
        return [{"t_unix": t_unix, "second": second, "source": "process:shop", "values": values}]

    main, *others = held(tmp_path, load, None, 90, leaking)
    [leak] = [one for one in others if one["question"] == "Does it leak memory?"]
    assert leak["valid"] and leak["memory"][0]["process"] == "shop" and "Not stable" in main["answer"]
    assert main["valid"] and exit_code(main) != EXIT_INVALID and main["invalid_because"] == []


@pytest.mark.parametrize("where", ["load", "baseline"])
def test_a_standstill_is_told_wherever_it_was(tmp_path: Path, where: str) -> None:
    load, alone = queues()
    stopped = load if where == "load" else alone
    calm = dict(stopped.generator)
    advance = stopped._advance

    def advanced() -> None:
        at = stopped.second
        stopped.generator = calm | ({"lag_max_ms": 4000.0} if at == (40 if where == "load" else 5) else {})
        advance()

    stopped._advance = advanced  # type: ignore[method-assign]
    with writer(tmp_path, "hold", "users") as run:
        run_hold(load, HoldSettings(50, 60, 5, 15), alone, run)
        [main, *_] = findings_of_run(RunReader(run.path))
    told = " ".join([*main["notes"], *main["invalid_because"]])
    assert "The generator stood still for 4 s from second" in told
    assert main["valid"] is (where == "baseline")
