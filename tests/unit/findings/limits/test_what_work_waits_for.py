"""Other services, the network, locks, disks, databases and the generator as the limit of an overloaded step."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.findings.capacity.words import next_steps
from plimsoll.findings.limits.database import Statements
from plimsoll.findings.limits.what_stops import limiting_resource
from plimsoll.findings.validity.generator import generator_health, limit_of_generator

LOW: dict[str, Any] = {"level": 10, "verdict": "good", "reasons": [], "start_s": 0, "measured_from_s": 1, "end_s": 5}
BAD: dict[str, Any] = {
    "level": 100, "verdict": "bad", "reasons": [], "in_flight_end": 60, "backlog_end": 40,
    "start_s": 6, "measured_from_s": 7, "end_s": 16,
}  # fmt: skip
IDLE = {"host": {"cpu_share": 0.3, "cpu_cores_used": 0.6}, "process:app": {"cpu_cores_used": 0.2, "processes": 1}}
Values = dict[str, dict[str, float]]


def limited(
    here: Values, low: Values | None = None, statements: Statements | None = None, **bad: Any
) -> dict[str, Any]:
    step = {**BAD, **bad}
    seen = [{**IDLE, **(low or {})}, {**IDLE, **here}]
    return limiting_resource(step, [LOW, step], seen, "users", statements=statements)


def calls(waiting: float, answered: float, count: float = 20.0, inside: float = 22.0) -> dict[str, float]:
    return {
        "connections_in": inside, "requests_inside": inside, "requests_answered": 0.0, "connections_out": count,
        "connections_to_127.0.0.1:7000": count, "awaiting_127.0.0.1:7000": waiting,
        "answered_by_127.0.0.1:7000": answered,
    }  # fmt: skip


def test_a_service_that_most_requests_wait_for_comes_before_the_workers_that_wait() -> None:
    app = {**calls(2.0, 0.0), "accept_queue": 30.0}
    found = limited({"sockets:app": app, "sockets:stock": {"listens_on_7000": 1.0}})
    assert found["kind"] == "dependency" and found["where"] == "stock at 127.0.0.1:7000, called by app"
    assert "20 of the 22 requests" in found["evidence"] and "stock at 127.0.0.1:7000" in found["remedy"]
    assert found["runner_up"]["kind"] == "workers"


def test_a_service_that_answers_at_once_is_no_limit() -> None:
    assert limited({"sockets:app": calls(0.2, 2.0)})["kind"] == "unknown"


def test_where_the_order_of_data_is_not_known_nothing_is_said_of_who_waits() -> None:
    assert limited({"sockets:app": calls(0.1, 0.0, count=20.4)})["kind"] == "unknown"


def test_connections_that_all_wait_while_more_requests_are_inside_are_a_full_pool() -> None:
    found = limited({"sockets:app": calls(2.0, 0.0, count=4.0, inside=60.0)})
    assert found["kind"] == "pool" and "4 connections to 127.0.0.1:7000, which waited for answers" in found["evidence"]


def test_connections_that_idle_are_no_pool_that_is_full() -> None:
    assert limited({"sockets:app": calls(0.0, 3.0, count=4.0, inside=60.0)})["kind"] == "unknown"


def test_a_lock_in_the_service_that_is_waited_for_is_named_first() -> None:
    found = limited(
        {
            "sockets:app": calls(2.0, 0.0),
            "sockets:stock": {"listens_on_7000": 1.0},
            "waits:stock": {"threads_seen": 21.0, "threads_on_locks": 19.0},
        }
    )
    assert (found["kind"], found["where"], found["runner_up"]["kind"]) == ("lock", "locks of stock", "dependency")


WAITS = {"threads_seen": 60.0, "threads_on_locks": 58.0, "threads_on_disk": 0.0}


def test_threads_that_wait_for_a_lock_while_little_cpu_is_used() -> None:
    found = limited({"waits:app": WAITS}, {"waits:app": {"threads_seen": 4.0, "threads_on_locks": 0.0}})
    assert found["kind"] == "lock" and "58 of 60 threads of app" in found["evidence"]
    assert "0.2 CPU cores" in found["evidence"] and "stack dump" in found["remedy"]


@pytest.mark.parametrize(
    ("here", "low"),
    [
        ({"waits:app": WAITS}, {"waits:app": {"threads_seen": 60.0, "threads_on_locks": 57.0}}),  # an idle pool
        ({"waits:app": {**WAITS, "threads_seen": 200.0, "threads_on_locks": 20.0}}, {}),
        ({"waits:app": WAITS, "process:app": {"cpu_cores_used": 1.4, "processes": 2}}, {}),  # they wait for a core
    ],
)
def test_threads_that_idle_are_few_or_wait_for_a_core_are_no_lock(here: Values, low: Values) -> None:
    assert limited(here, low)["kind"] == "unknown"


def test_threads_of_idle_connections_do_not_hide_a_lock_that_all_work_waits_for() -> None:
    assert limited({"waits:app": {"threads_seen": 400.0, "threads_on_locks": 55.0}})["kind"] == "lock"


def test_threads_that_wait_for_a_lock_before_a_full_pool_are_its_queue() -> None:
    found = limited({"sockets:app": calls(2.0, 0.0, count=4.0, inside=60.0), "waits:app": WAITS})
    assert found["kind"] == "pool" and found["runner_up"] is None


def test_a_thread_that_others_keep_from_its_core_is_the_cpu_and_its_queue_no_lock() -> None:
    here = {
        "waits:app": {**WAITS, "busiest_thread_ready_share": 0.97},
        "process:app": {"cpu_cores_used": 0.7, "busiest_thread_cores_used": 0.65, "processes": 1.0},
    }
    found = limited(here, {"waits:app": {"busiest_thread_ready_share": 0.3}})
    assert found["kind"] == "cpu" and "busiest thread waits for a core" in found["where"]
    assert found["runner_up"] is None and found["utilisation"] == 0.65
    assert "used 0.65 cores and waited for a core in 32% of the time" in found["evidence"]


def test_the_core_that_services_share_is_full_so_threads_that_sleep_in_one_of_them_are_no_lock() -> None:
    here = {
        "waits:app": WAITS,
        "target_cores": FULL_CORE,
        "process:app": {"cpu_cores_used": 0.3, "busiest_thread_cores_used": 0.3, "processes": 1},
        "process:store": {"cpu_cores_used": 0.6, "busiest_thread_cores_used": 0.6, "processes": 1},
    }
    found = limited(here, {"waits:app": {"threads_on_locks": 0.0}, "target_cores": {"cpu_share": 0.2}})
    assert found["where"] == "the target's one core" and found["runner_up"] is None


def test_answers_that_do_not_get_away_are_the_network() -> None:
    low = {"sockets:app": {"connections_in": 8.0, "connections_sending": 0.4}}
    found = limited({"sockets:app": {"connections_in": 40.0, "connections_sending": 38.0}}, low)
    assert found["kind"] == "network" and "38 of 40 connections" in found["evidence"]
    assert limited({"sockets:app": {"connections_in": 90.0, "connections_sending": 8.0}}, low)["kind"] == "unknown"


def test_few_left_at_a_steps_end_are_not_all_that_were_under_way() -> None:
    """Users who think at the same time: 20 requests of 84 ms were under way on average, 3 at the end."""
    here, low = {"sockets:app": {"connections_in": 177.0, "connections_sending": 2.0}}, {"sockets:app": {}}
    few = {"in_flight_end": 3, "backlog_end": 0}
    assert limited(here, low, **few, requests_per_s=244.0, mean_ms=84.0)["kind"] == "unknown"
    assert limited(here, low, **few, requests_per_s=244.0, mean_ms=8.0)["kind"] == "network"


def test_a_disk_limit_is_a_ceiling_and_threads_that_wait_for_a_disk_are_seen() -> None:
    group = {"disk_limit_share": 0.98, "disk_limit_bytes_per_s": 2.0 * 2**20}
    found = limited({"cgroup:app": group}, {"cgroup:app": {"disk_limit_share": 0.2}})
    assert (
        found["kind"] == "disk" and "98% of the 2 MiB/s" in found["evidence"] and "20% at 10 users" in found["evidence"]
    )
    threads = {"waits:app": {"threads_seen": 20.0, "threads_on_disk": 15.0}}
    assert limited(threads)["where"] == "disk that app waits for"


POSTGRESQL, MARIADB = "postgresql:db", "mysql:db"
KINDS = pytest.mark.parametrize("source", [POSTGRESQL, MARIADB])


def database(source: str = POSTGRESQL, **values: float) -> Values:
    return {source: {"connections_active": 8.0, "connections_share": 0.1, "lock_waits": 0.0, **values}}


@KINDS
def test_sessions_that_wait_for_a_row_are_a_lock_of_the_database(source: str) -> None:
    blocked = Statements(waits={source: "UPDATE a waits for UPDATE b"})
    found = limited(database(source, lock_waits=7.0, longest_lock_wait_s=0.2), statements=blocked)
    assert found["kind"] == "database_lock" and "7 of 8 sessions" in found["evidence"]
    assert "the longest 200 ms on average. UPDATE a waits for UPDATE b." in found["evidence"]
    assert "hold the row for less time" in found["remedy"]
    assert limited(database(source, lock_waits=1.0))["kind"] == "unknown"


def test_lock_waits_of_less_than_a_second_are_told_by_what_mysql_counts_of_them() -> None:
    # the longest is in whole seconds there
    here = database(MARIADB, lock_waits=7.0, longest_lock_wait_s=0.0, lock_waits_per_s=40.0, lock_wait_ms_per_s=6800.0)
    assert "held in the step at 100 users, 170 ms each on average." in limited(here)["evidence"]
    here[MARIADB] |= {"lock_waits_per_s": 0.0, "lock_wait_ms_per_s": 0.0}  # none ended
    assert "held in the step at 100 users." in limited(here)["evidence"]


class Told:
    """The part of a RunReader that tells events."""

    def __init__(self, *events: dict[str, Any]) -> None:
        self._events = events

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        return [one for one in self._events if kind in (None, one["kind"])]


def test_who_waited_for_whom_is_read_of_the_notes_of_both_kinds_of_databases() -> None:
    held = "a session waits for a lock that another holds"
    notes = (
        f"{POSTGRESQL}: {held} (idle in transaction): UPDATE x waits for UPDATE y",
        f"{MARIADB}: {held}: UPDATE t SET a = f('…') WHERE id = … waits for a session that is idle in its transaction",
        f"{MARIADB}: {held}: a later one waits for it",
        "host: nothing waits for anything",
    )
    waits = Statements.of(Told(*({"kind": "note", "message": note} for note in notes))).waits
    assert waits == {
        POSTGRESQL: "UPDATE x waits for UPDATE y",
        MARIADB: "UPDATE t SET a = f('…') WHERE id = … waits for a session that is idle in its transaction",
    }


ROWS = [
    {"id": "1", "share": 0.9, "total_ms": 40_000.0, "calls": 800},
    {"id": "2", "share": 0.1, "total_ms": 4_000.0, "calls": 9000},
]
INDEX = "CREATE INDEX ON orders (customer);"
COSTS = [{"id": "1", "share": 0.9, "cost_before": 5_000.0, "cost_after": 8.0}]
ADVICE = [
    {
        "sql": INDEX, "statements": COSTS, "proven": True, "why_unproven": "", "table_rows": 200_000.0, "needs": "",
        "kept_share": 0.002, "is_order": False,
    }
]  # fmt: skip
PROVEN = "not proven by a run. The planner's cost with a hypothetical index falls from 5,000 to 8, a factor of 625"
TEXTS = {"1": "SELECT * FROM orders WHERE customer = $1", "2": "SELECT 1"}


def statements(
    ended_s: float = 16.0,
    rows: list[dict[str, Any]] = ROWS,
    advice: list[dict[str, Any]] = ADVICE,
    source: str = POSTGRESQL,
    texts: dict[str, str] = TEXTS,
) -> Statements:
    step = {
        "source": source, "second": 16.1, "ended_s": ended_s, "statements": rows,
        "tables": [{"table": "orders", "rows_read": 9_000_000, "written": 0}],
    }  # fmt: skip
    return Statements([step], {source: {"source": source, "advice": advice}}, texts)


def test_the_statements_of_a_step_are_those_told_behind_its_end_however_late() -> None:
    run = Told(
        {"kind": "step_ended", "second": 5.0, "end_s": 5.0},
        {"kind": "database_step", "second": 5.2, "source": MARIADB, "statements": []},
        {"kind": "step_ended", "second": 16.0, "end_s": 16.0},
        {"kind": "database_step", "second": 26.0, "source": POSTGRESQL, "statements": ROWS[1:]},
        {"kind": "database_step", "second": 27.0, "source": MARIADB, "statements": ROWS},
    )
    found = Statements.of(run)
    assert [(found.in_step(MARIADB, step) or {})["statements"] for step in (LOW, BAD)] == [[], ROWS]
    limit = limited(database(MARIADB), statements=found)  # 40 s of work in a window of 21 s
    assert limit["kind"] == "database_statement" and "90% of the time" in limit["evidence"]
    assert "1.9 of it under way" in limit["evidence"]


def test_one_statement_that_keeps_the_database_busy_is_named_with_its_index_before_the_cpu_that_it_fills() -> None:
    full = {
        "host": {"cpu_share": 0.97, "cpu_cores_used": 1.94},
        "process:postgres": {"cpu_cores_used": 1.7, "processes": 9},
    }
    found = limited({**database(), **full}, statements=statements())
    assert found["kind"] == "database_statement" and "90% of the time of db" in found["evidence"]
    assert "3.96 of it under way" in found["evidence"] and "FROM orders" in found["evidence"]
    assert (
        found["remedy"] == f"run {INDEX.rstrip(';')}. Its predicted effect is {PROVEN}"
        and found["runner_up"]["kind"] == "cpu"
    )


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"proven": False, "why_unproven": "no hypopg"}, "no hypopg"),
        (
            {"statements": [COSTS[0] | {"cost_after": None}, COSTS[0] | {"id": "7"}]},
            "the planner was asked of another statement only",
        ),
    ],
)
def test_an_index_that_is_not_proven_for_this_statement_says_so(more: dict[str, Any], why: str) -> None:
    found = limited(database(), statements=statements(advice=[ADVICE[0] | {"needs": "CREATE EXTENSION x;"} | more]))
    assert found["remedy"].startswith(
        f"run CREATE EXTENSION x; {INDEX.rstrip(';')}. Its predicted effect is not proven: {why}; "
    )
    assert found["remedy"].endswith("expected is that it reads about 0.2% of its 200,000 rows in place of all")


SCANNED = [{**ROWS[0], "rows": 800 * 20, "rows_examined": 800 * 50_000, "no_index_calls": 800}, ROWS[1]]
DIGEST = {"1": "SELECT `id` FROM `orders` WHERE `customer` = ?", "2": "SELECT ?"}


def test_a_statement_of_mariadb_without_an_index_is_named_with_what_it_read_and_the_index_that_is_evident() -> None:
    full = {"process:mariadbd": {"cpu_cores_used": 0.98, "busiest_thread_cores_used": 0.98, "processes": 1}}
    given = statements(rows=SCANNED, advice=[], source=MARIADB, texts=DIGEST)
    found = limited({**database(MARIADB), **full}, statements=given)
    assert (found["kind"], found["where"]) == ("database_statement", "a statement in db")
    assert "used no index in 100% of its calls, and read 50,000 rows for the 20" in found["evidence"]
    assert found["remedy"].startswith("run ALTER TABLE `orders` ADD INDEX (`customer`), if EXPLAIN shows no index")
    assert found["runner_up"]["kind"] == "cpu"


def test_a_statement_of_mariadb_that_uses_an_index_is_named_without_one_to_make() -> None:
    served = [{**SCANNED[0], "no_index_calls": 0}, ROWS[1]]
    found = limited(database(MARIADB), statements=statements(rows=served, advice=[], source=MARIADB, texts=DIGEST))
    assert found["kind"] == "database_statement" and "index" not in found["evidence"] + found["remedy"]


def test_databases_of_both_kinds_with_one_label_are_told_apart() -> None:
    given = statements(rows=SCANNED, source=MARIADB, texts=DIGEST)
    given.steps[0]["source"] = POSTGRESQL  # what the other one did
    assert limited(database(MARIADB), statements=given)["kind"] == "unknown"


def test_a_change_without_an_index_is_why_rows_are_locked() -> None:
    update = {"1": "UPDATE `orders` SET `state` = ? WHERE `customer` = ?", "2": "SELECT ?"}
    given = statements(rows=SCANNED, advice=[], source=MARIADB, texts=update)
    found = limited(database(MARIADB, lock_waits=7.0), statements=given)
    assert found["kind"] == "database_lock" and "InnoDB locks each that it reads: UPDATE `orders`" in found["evidence"]
    assert found["remedy"].startswith("give that statement an index (ALTER TABLE … ADD INDEX …)")
    assert "which is not proven, as no planner was asked; or hold the row for less time" in found["remedy"]


@KINDS
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rows": [{**ROWS[0], "total_ms": 900.0}]}, {}),  # it runs, and is no burden
        ({"rows": [{**ROWS[0], "share": 0.2}]}, {}),
        ({"ended_s": 30.0}, {}),  # of another step
        ({}, {"lock_waits": 7.0}),
    ],
)
def test_a_statement_that_is_cheap_rare_or_waits_itself_is_not_named(
    source: str, given: dict[str, Any], told: dict[str, float]
) -> None:
    found = limited(database(source, **told), statements=statements(source=source, **given))
    assert found["kind"] in ("unknown", "database_lock")


def test_a_host_that_others_fill_is_named_after_what_the_target_waits_for() -> None:
    here = {"host": {"cpu_share": 0.98, "cpu_cores_used": 1.96}, "waits:app": WAITS}
    found = limited(here)
    assert found["kind"] == "lock" and found["runner_up"]["where"] == "host, all cores"
    mine = {**here, "process:app": {"cpu_cores_used": 0.85, "busiest_thread_cores_used": 0.2, "processes": 2}}
    assert limited(mine)["where"] == "host, all cores"


FULL_CORE = {"usable_cores": 1.0, "cpu_share": 0.98}


def test_processes_that_share_the_cores_the_target_may_use_are_named_together() -> None:
    here = {
        "target_cores": FULL_CORE,
        "process:app": {"cpu_cores_used": 0.36, "busiest_thread_cores_used": 0.36, "processes": 1},
        "process:store": {"cpu_cores_used": 0.55, "busiest_thread_cores_used": 0.5, "processes": 1},
    }
    found = limited(here, {"target_cores": {"usable_cores": 1.0, "cpu_share": 0.2}})
    assert (found["kind"], found["where"]) == ("cpu", "the target's one core")
    assert found["evidence"] == (
        "The one core that the target may use was 98% busy in the step at 100 users, 20% at 10 users; of it "
        "store 0.55, app 0.36."
    )
    assert "store takes most" in found["remedy"]


def test_a_process_that_fills_the_target_s_core_alone_comes_before_it() -> None:
    app = {"cpu_cores_used": 0.95, "busiest_thread_cores_used": 0.94, "processes": 1}
    found = limited({"target_cores": FULL_CORE, "process:app": app})
    assert found["where"] == "target process app, its busiest thread"
    assert found["runner_up"]["where"] == "the target's one core"


def test_cores_of_the_target_that_others_fill_come_after_what_it_waits_for() -> None:
    found = limited({"target_cores": FULL_CORE, "waits:app": WAITS})
    assert found["kind"] == "lock" and found["runner_up"]["where"] == "the target's one core"


def test_what_was_not_read_in_the_step_is_taken_from_another_overloaded_one() -> None:
    other = {**BAD, "level": 200}
    seen: list[Values] = [IDLE, {**IDLE, "waits:app": {}}, {**IDLE, "waits:app": WAITS}]
    assert limiting_resource(BAD, [LOW, BAD, other], seen, "users")["kind"] == "lock"


def test_errors_are_named_with_what_they_were() -> None:
    found = limited({}, reasons=["40.0% of the requests failed"], error_share=0.4, error_causes={"429": 312})
    assert found["kind"] == "errors" and "429: 312" in found["evidence"]


def test_a_generator_that_could_send_no_more_is_the_limit_and_one_that_was_late_is_not() -> None:
    busy = generator_health([{**BAD, "generator_share": 0.97}], [{}])
    limit = limit_of_generator(busy)
    assert limit is not None and "97% busy" in limit["evidence"]
    found = limiting_resource(BAD, [LOW, BAD], [IDLE, {**IDLE, "waits:app": WAITS}], "users", generator=limit)
    assert found["kind"] == "generator" and found["runner_up"]["kind"] == "lock"
    late = generator_health([{**BAD, "lag_p99_ms": 40.0, "p50_ms": 50.0}], [{}])
    assert late["healthy"] and limit_of_generator(late) is None
    times = {one["quantile"]: one["verdict"] for one in late["validity"] if one["rests_on"] == "response_time"}
    assert set(times.values()) == {"invalid"} and "say nothing of the target" in late["notes"][1]


def test_the_next_step_is_the_remedy_of_this_very_limit() -> None:
    finding = {
        "limited_by": limited(database(), statements=statements()), "generator": {"remedies": []},
        "objectives": [], "steps": [],
    }  # fmt: skip
    result = {"status": "finished", "good": 95, "bad": 100, "width_goal": 0.1}
    assert "run CREATE INDEX ON orders (customer). " in " ".join(next_steps(result, finding))
