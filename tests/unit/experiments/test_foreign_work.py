"""Which work on the host is foreign: hand-made seconds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import pytest

from plimsoll.experiments.steps.foreign_work import Cores, ForeignWork, HostSeconds, Second, cores_of, foreign_work
from plimsoll.runs.snapshot import Snapshot

HOST = {"cores": 4.0, "cpu_cores_used": 3.8, "cpu_share": 0.95}
TARGET = {"restarts": 0.0, "cpu_cores_used": 1.5, "busiest_thread_cores_used": 0.4}


def rows(host: dict = HOST, **processes: dict) -> list[dict]:
    given = {"host": host} | {f"process:{name}": values for name, values in processes.items()}
    return [{"source": source, "values": values} for source, values in given.items()]


def second(own: float, others: float, *, queue: int = 0, done: int = 100) -> Second:
    return Second(done, queue, Cores(4.0, own, others, own + others >= 3.4))


def run(*parts: Iterable[Second]) -> ForeignWork:
    return foreign_work([one for part in parts for one in part], 0.0)


CALM = [second(2.0, 0.05)] * 30
LOW = [second(0.1, 0.05, done=10)] * 10


def test_others_used_what_neither_the_target_nor_the_generator_did():
    found = cores_of(rows(app=TARGET, database=TARGET | {"cpu_cores_used": 0.5}), 0.3)
    assert found == Cores(4.0, 2.0, pytest.approx(1.5), True)


def test_processes_of_other_hosts_are_not_of_this_one():
    elsewhere = {"cpu_cores_used": 3.0}
    assert cores_of(rows(app=TARGET, **{"db@far": elsewhere}), 0.3).own == 1.5
    assert cores_of(rows(**{"db@far": elsewhere}), 0.3) is None


def test_work_of_others_is_not_known_without_the_host_or_the_rate_of_each_process():
    assert cores_of(rows({"load_1m": 1.0}, app=TARGET), 0.1) is None
    assert cores_of(rows(), 0.1) is None
    assert cores_of(rows(app=TARGET, just_started={"restarts": 1.0}), 0.1) is None


def test_rows_of_several_probes_of_a_process_are_one_process():
    assert cores_of([*rows(app=TARGET), {"source": "process:app", "values": {"heap_bytes": 1.0}}], 0.3).own == 1.5


def test_only_what_ran_on_the_targets_own_cores_counts():
    usable = {"source": "target_cores", "values": {"usable_cores": 2.0, "cpu_share": 1.0}}
    found = cores_of([*rows(HOST | {"cpu_share": 0.7, "cpu_cores_used": 2.8}, app=TARGET), usable], 0.1)
    assert (found.others, found.short) == (pytest.approx(0.5), True)


def test_work_of_a_process_of_the_target_that_may_run_elsewhere_is_not_taken_off_its_own_cores():
    usable = {"source": "target_cores", "values": {"usable_cores": 2.0, "cpu_share": 1.0, "free_peer": 1.0}}
    peer = TARGET | {"cpu_cores_used": 0.8}
    found = cores_of([*rows(HOST | {"cpu_cores_used": 3.8}, app=TARGET, peer=peer), usable], 0.1)
    assert (found.own, found.others) == (pytest.approx(2.3), pytest.approx(0.5))


def test_a_target_with_a_full_thread_lost_nothing_to_others():
    assert not cores_of(rows(app=TARGET | {"busiest_thread_cores_used": 0.98}), 0.1).short


def test_rates_over_more_than_a_second_are_not_those_of_their_last_second():
    seen = HostSeconds()
    snapshot = Snapshot(second=0, t_unix=0.0, level=1.0, vus=0, vus_max=1, planned=9, started=9, done=9, series=())
    for place, given in enumerate((rows(app=TARGET), rows(app=TARGET), None, rows(app=TARGET))):
        seen.add(replace(snapshot, second=place), given)
    assert [one.cores is not None for one in seen._seconds] == [False, True, False, False]


def test_work_that_came_took_its_share_of_what_the_target_would_have_had_while_cpu_time_was_short():
    found = run(LOW, CALM, [second(2.2, 1.7)] * 5, [second(1.0, 1.7)] * 5)
    assert found.lost[40:45] == pytest.approx(1.65 / 3.85, abs=0.01)
    assert not found.lost[:40].any() and not found.lost[45:].any()
    assert found.cores[45:] == pytest.approx(1.65, abs=0.01)


def test_a_target_that_waits_for_something_else_than_cpu_loses_nothing_to_others():
    """Eight workers that sleep take a tenth of a core, overloaded or not. That others took the rest of the host was
    said to have cost it nine tenths of what it would have done."""
    behind = [second(0.1, 0.05, queue=queue, done=50) for queue in (100, 160, 220, 280, 340)]
    beside = [second(0.1, 3.8, queue=queue, done=50) for queue in (120, 180, 240)]
    asleep = [second(0.1, 0.05, done=50)] * 10
    assert run(asleep, beside).lost[-3:] == pytest.approx(0.9), "as if it had wanted all of the host"
    assert not run(asleep, behind, asleep, beside).lost.any()


def test_ticks_of_cpu_time_are_no_work_that_others_took():
    """Seen: a target that slept took 0, 0.01 or 0.02 cores in a second. Beside a busy host it was said to have lost
    nine tenths of what it would have done, and nothing but its declared load was decided, of 16 times of it."""
    ticks = [0.0, 0.01, 0.02, 0.01, 0.0, 0.03]
    alone = [second(own, 0.05, queue=200 + 50 * place, done=100) for place, own in enumerate(ticks)]
    beside = [second(own, 3.9, queue=200 + 50 * place, done=100) for place, own in enumerate(ticks)]
    assert not run([second(0.01, 0.05)] * 20, alone, beside).lost.any()


def test_a_target_has_not_lost_more_than_the_kernel_saw_it_wait():
    alone = [replace(one, cores=replace(one.cores, ready=0.1)) for one in [second(0.1, 0.05)] * 20]
    beside = [replace(one, cores=replace(one.cores, ready=0.07)) for one in [second(0.1, 3.9, queue=300)] * 5]
    assert run(alone, [second(0.1, 3.9, queue=300)] * 5).lost[-5:] == pytest.approx(0.9)
    assert run(alone, beside).lost[-5:] == pytest.approx(0.07)
    hungry = [replace(one, cores=replace(one.cores, ready=0.98)) for one in [second(1.0, 2.9, queue=300)] * 5]
    assert run(alone, hungry).lost[-5:] == pytest.approx(2.85 / 3.85, abs=0.01)


def test_a_dear_probe_tells_of_the_seconds_since_it_looked_last():
    beside = [second(0.1, 3.9, queue=300)] * 2
    told = replace(beside[0], cores=replace(beside[0].cores, ready=0.05))
    assert run([second(0.1, 0.05)] * 20, beside, [told]).lost[-3:] == pytest.approx(0.05)
    assert run([second(0.1, 0.05)] * 20, [told], beside).lost[-2:] == pytest.approx(0.9), "nothing is known of later"


@pytest.mark.parametrize(
    ("known_cores", "ready"),
    [(1.45, 0.6), (1.31, 0.6), (1.2, None), (None, None)],
)
def test_how_long_threads_waited_counts_only_where_they_are_those_that_worked(
    known_cores: float | None, ready: float | None
) -> None:
    waits = {"busiest_thread_ready_share": 0.6, "known_threads_cores_used": known_cores}
    given = {name: value for name, value in waits.items() if known_cores is not None}
    found = cores_of([*rows(app=TARGET), {"source": "waits:app", "values": given}], 0.3)
    assert found.ready == ready if ready is not None else math.isnan(found.ready)
    both = cores_of([*rows(app=TARGET, database=TARGET), {"source": "waits:app", "values": waits}], 0.3)
    assert math.isnan(both.ready), "of the other nobody knows"


def test_work_that_goes_with_the_load_is_not_foreign():
    levels = [second(per_s / 100, 0.1 + per_s / 150, done=per_s) for per_s in range(10, 260, 5)]
    assert not run(levels).cores.any()


def test_work_that_is_there_all_the_time_is_the_usual():
    assert not run([second(2.0, 1.6)] * 40, [second(0.1, 1.6, done=10)] * 10).cores.any()


def test_a_helper_that_works_harder_in_each_overload_is_taken_for_foreign_only_once():
    overload = [second(2.0, 1.7, queue=queue) for queue in (100, 200, 300)]
    once = run(LOW, CALM, overload, LOW)
    assert once.lost[40:43].all()
    assert not run(LOW, CALM, overload, LOW, overload, LOW).cores.any()


def test_foreign_work_in_two_overloads_of_several_is_foreign():
    alone = [second(3.8, 0.05, queue=queue) for queue in (100, 200, 300)]
    beside = [second(2.0, 1.7, queue=queue) for queue in (100, 200, 300)]
    assert run(LOW, CALM, alone, LOW, beside, LOW, alone, beside).lost.any()


def test_a_helper_that_works_harder_from_a_short_queue_on_is_no_foreign_work():
    wanders = [second(2.2, 1.3 if queue > 12 else 0.05, queue=queue) for queue in (2, 9, 16, 5, 11, 14, 3, 20, 8, 13)]
    overload = [second(2.0, 1.7, queue=queue) for queue in (10, 60, 110, 160, 210, 180, 90, 30)]
    assert not run(LOW, CALM, overload, LOW, wanders, overload, LOW).cores.any()


def test_foreign_work_that_comes_before_the_queue_it_makes_and_goes_before_it_drains_stays_foreign():
    beside = [second(2.0, 1.7, queue=queue) for queue in (0, 60, 120, 180)]
    drains = [second(3.8, 0.05, queue=queue) for queue in (240, 180, 120, 60)]
    assert run(LOW, CALM, beside, drains, CALM, beside, drains, CALM, beside, drains, LOW).cores.any()


def test_work_that_is_seen_without_an_overload_as_well_is_foreign():
    beside = [second(2.0, 1.7, queue=queue) for queue in (100, 200, 300)]
    at_rest = [second(0.1, 1.7, done=10)] * 3
    assert run(LOW, CALM, beside, at_rest, LOW, beside).lost.any()
