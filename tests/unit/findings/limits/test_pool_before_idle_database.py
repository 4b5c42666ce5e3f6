"""A small pool before a database with room is the limit, and the statement that just takes its time the runner-up."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.findings.limits.database import Statements
from plimsoll.findings.limits.what_stops import limiting_resource

LOW: dict[str, Any] = {"level": 10, "verdict": "good", "reasons": [], "start_s": 0, "measured_from_s": 1, "end_s": 5}
BAD: dict[str, Any] = {
    "level": 100, "verdict": "bad", "reasons": [], "in_flight_end": 20, "backlog_end": 0,
    "start_s": 6, "measured_from_s": 7, "end_s": 16,
}  # fmt: skip
SLEEP = [{"id": "1", "share": 0.97, "total_ms": 16_900.0, "calls": 420}]
Values = dict[str, dict[str, float]]


def statements(advice: list[dict[str, Any]] | None = None) -> Statements:
    step = {"source": "postgresql:db", "second": 16.1, "ended_s": 16.0, "statements": SLEEP, "tables": []}
    run = {"postgresql:db": {"source": "postgresql:db", "advice": advice or []}}
    return Statements([step], run, {"1": "SELECT pg_sleep($1)"})


def means(**more: dict[str, float]) -> Values:
    """A shop with a pool of 2 and a database that idles at 1.7 of 50 connections."""
    found: Values = {
        "host": {"cores": 2.0, "cpu_share": 0.3, "cpu_cores_used": 0.6},
        "process:shop": {"cpu_cores_used": 0.3, "processes": 1.0},
        "sockets:shop": {
            "connections_in": 22.0, "requests_inside": 4.0, "requests_answered": 18.0, "connections_out": 2.0,
            "connections_to_127.0.0.1:5432": 2.0, "awaiting_127.0.0.1:5432": 0.1, "answered_by_127.0.0.1:5432": 0.0,
        },
        "sockets:postgres": {"listens_on_5432": 1.0, "connections_in": 3.0},
        "postgresql:db": {
            "connections": 2.0, "connections_active": 1.7, "connections_max": 50.0, "connections_share": 0.04,
            "lock_waits": 0.0,
        },
    }  # fmt: skip
    for source, values in more.items():
        found[source] = {**found.get(source, {}), **values}
    return found


def limited(here: Values, given: Statements | None = None, **bad: Any) -> dict[str, Any]:
    step = {**BAD, **bad}
    low = {"host": {"cpu_share": 0.1}}
    return limiting_resource(step, [LOW, step], [low, here], "users", statements=given or statements())


def test_the_pool_is_named_with_its_size_and_the_statement_beside_it() -> None:
    found = limited(means())
    assert (found["kind"], found["where"]) == ("pool", "connections of shop to 127.0.0.1:5432")
    assert "shop had 2 connections" in found["evidence"] and "1.7 at work of the 50 that it allows" in found["evidence"]
    assert "from 2 to 3" in found["remedy"]
    assert found["runner_up"]["kind"] == "database_statement"


def test_a_pool_whose_client_was_not_probed_is_known_by_the_database_s_own_count() -> None:
    here = {name: values for name, values in means().items() if name not in ("sockets:shop", "process:shop")}
    found = limited(here)
    assert (found["kind"], found["where"]) == ("pool", "connections to db")
    assert found["runner_up"]["kind"] == "database_statement"


def test_one_more_connection_in_a_second_does_not_hide_the_pool() -> None:
    here = means(**{"sockets:shop": {"connections_to_127.0.0.1:5432": 2.09}})
    assert limited(here)["kind"] == "pool"


def test_cores_that_others_fill_do_not_say_that_the_database_has_no_room() -> None:
    found = limited(means(host={"cpu_share": 1.0, "cpu_cores_used": 2.0}))
    assert found["kind"] == "pool" and found["runner_up"]["kind"] == "database_statement"
    assert "host, all cores" in found["evidence"]  # which others fill


@pytest.mark.parametrize(
    "more",
    [
        {"host": {"cpu_share": 0.97, "cpu_cores_used": 1.94}, "process:shop": {"cpu_cores_used": 1.2}},
        {"host": {"disk_busy_share": 0.97}},
        {"host:db1": {"cpu_share": 0.99, "cores": 4.0}},
    ],
)
def test_where_the_database_has_no_room_a_larger_pool_is_not_the_first_thing_to_try(
    more: dict[str, dict[str, float]],
) -> None:
    assert limited(means(**more))["kind"] != "pool"


def test_a_statement_that_lacks_an_index_comes_before_the_pool_that_it_fills() -> None:
    advice = [
        {
            "sql": "CREATE INDEX ON orders (customer);", "proven": True, "why_unproven": "", "table_rows": 2e5,
            "statements": [{"id": "1", "share": 0.97, "cost_before": 5e3, "cost_after": 8.0}], "needs": "",
            "kept_share": 0.002, "is_order": False,
        }
    ]  # fmt: skip
    found = limited(means(), statements(advice))
    assert found["kind"] == "database_statement" and found["runner_up"]["kind"] == "pool"


def test_connections_that_are_mostly_idle_or_for_which_nobody_waits_are_no_full_pool() -> None:
    idle = means(**{"postgresql:db": {"connections": 9.0, "connections_active": 1.7}})
    idle["sockets:shop"]["connections_to_127.0.0.1:5432"] = 9.0
    assert limited(idle)["kind"] == "database_statement"
    assert limited(means(), in_flight_end=3)["kind"] == "database_statement"
