"""The probe on a real MariaDB server: statements of a step, numbers each second, locks, and what may be wrong."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from mariadb_server import MariadbServer

from plimsoll.errors import InputError
from plimsoll.probes import ProbeUnavailable
from plimsoll.probes.mysql import MysqlProbe
from plimsoll_lab.ports import free_port


@pytest.fixture
def own_server() -> Iterator[MariadbServer]:
    """A server that a test may stop."""
    with MariadbServer() as server:
        server.connect().cursor().execute("CREATE DATABASE shop")
        yield server


def counted(shop: Any) -> None:
    """A statement is counted after its answer was sent; when the next one of its session begins it is."""
    shop.execute("DO 0")


def statements_of(events: list) -> dict[str, dict]:
    """{text: counters} of the last event, which ends a step or a run."""
    texts = {details["id"]: details["text"] for kind, details in events if kind == "database_statement"}
    return {texts[one["id"]]: one for one in events[-1][1]["statements"]}


def test_a_step_has_its_statements_with_share_calls_rows_and_what_they_read(shop: Any, watch) -> None:
    probe = watch()
    assert probe.check() == []
    shop.execute("SELECT id FROM orders WHERE customer = 1")  # before the step: not in it
    counted(shop)
    assert probe.run_started() == []
    assert probe.step_started() == []
    for number in range(20):
        shop.execute(f"SELECT id FROM orders WHERE customer = {number}")
        shop.execute(f"SELECT note FROM orders WHERE id = {number}")
    shop.execute("UPDATE orders SET note = 'hidden constant' WHERE id = 3")
    counted(shop)
    events = probe.step_ended()
    assert events[-1][0] == "database_step"
    found = statements_of(events)
    words = ("`customer`", "SELECT `note`", "UPDATE")
    scan, key, update = (next(one for text, one in found.items() if word in text) for word in words)
    assert (scan["calls"], scan["rows"], scan["rows_examined"], scan["no_index_calls"]) == (20, 1000, 100_000, 20)
    assert (key["calls"], key["rows"], update["rows"]) == (20, 20, 1)
    assert "no_index_calls" not in key
    assert scan["share"] > key["share"] and scan["mean_ms"] == pytest.approx(scan["total_ms"] / 20)
    assert sum(one["share"] for one in found.values()) == pytest.approx(1)
    assert not any("hidden constant" in text for text in found)
    [table] = events[-1][1]["tables"]
    assert (table["table"], table["rows_read"], table["written"]) == ("orders", 100_000, 1)
    whole = probe.run_ended()
    assert whole[-1][0] == "database_run" and whole[-1][1]["server"].startswith("MariaDB 1")
    assert whole[-1][1]["statements"][0]["id"] == scan["id"]
    told = [details["id"] for kind, details in (*events, *whole) if kind == "database_statement"]
    assert len(told) == len(set(told))  # texts come once


def test_a_second_has_connections_cache_and_rates(shop: Any, watch, mariadb_server: MariadbServer) -> None:
    probe = watch()
    first = probe.sample()
    assert "statements_per_s" not in first
    others = [mariadb_server.connect() for _ in range(3)]
    for _ in range(10):
        shop.execute("SELECT count(*) FROM orders WHERE customer = 5")
    values = probe.sample()
    assert values["connections"] == first["connections"] + 3
    assert values["connections_max"] == 151 and 0 < values["connections_share"] < 1
    assert values["statements_per_s"] > 0 and values["sequential_rows_per_s"] > 0
    assert 0 <= values["cache_hit_share"] <= 1
    assert values["lock_waits"] == 0 and values["sessions_blocking"] == 0
    for one in others:
        one.close()


def test_who_waits_for_whose_lock_is_counted_and_noted_without_data(shop: Any, watch, mariadb_server) -> None:
    probe = watch()
    holding, waiting = mariadb_server.connect(database="shop"), mariadb_server.connect(database="shop")
    holding.begin()
    holding.cursor().execute("UPDATE orders SET note = 'secret one' WHERE id = 7")
    thread = threading.Thread(
        target=lambda: waiting.cursor().execute('UPDATE orders SET note = "secret two" WHERE id = 7')
    )
    thread.start()
    values: dict[str, float] = {}
    until = time.monotonic() + 20
    while values.get("sessions_blocking", 0) < 1 and time.monotonic() < until:
        time.sleep(0.15)  # InnoDB keeps what it tells for a tenth of a second
        values = probe.sample()
    assert (values["lock_waits"], values["sessions_blocking"], values["transactions_open"]) == (1, 1, 2)
    assert values["connections_idle_in_transaction"] == 1
    holding.rollback()
    thread.join()
    notes = probe.take_notes()
    assert notes == [
        "a session waits for a lock that another holds: UPDATE orders SET note = '…' WHERE id = … waits for a session "
        "that is idle in its transaction"
    ]
    holding.close(), waiting.close()


def test_an_account_without_rights_is_told_each_grant_and_gets_the_rest(shop: Any, watch) -> None:
    shop.execute("CREATE OR REPLACE USER 'poor'@'%' IDENTIFIED BY 'pl4nted-s3cret'")
    probe = watch("poor", password="pl4nted-s3cret")
    missing = probe.check()
    assert len(missing) == 2
    assert missing[0].endswith("Run GRANT SELECT ON performance_schema.* TO 'poor'@'%';")
    assert missing[1].endswith("Run GRANT PROCESS ON *.* TO 'poor'@'%';")
    probe.run_started()
    values = probe.sample()
    assert values["connections"] > 0 and "longest_transaction_s" not in values
    details = probe.run_ended()[-1][1]
    assert "statements" not in details and details["missing"] == missing
    for words in missing:
        shop.execute(words.rpartition("Run ")[2])
    again = watch("poor", password="pl4nted-s3cret")
    assert again.check() == []
    again.run_started()
    shop.execute("SELECT id FROM orders WHERE customer = 2")
    counted(shop)
    assert statements_of(again.run_ended())
    assert "longest_transaction_s" in again.sample()


def test_digests_that_were_switched_off_are_told_with_what_switches_them_on(shop: Any, watch) -> None:
    shop.execute("UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME = 'statements_digest'")
    [words] = watch().check()
    shop.execute(words.rpartition("Run ")[2])
    assert watch().check() == []


def test_a_truncate_in_the_middle_is_noticed_and_what_comes_after_is_counted(shop: Any, watch) -> None:
    probe = watch()
    shop.execute("SELECT id FROM orders WHERE customer = 3")
    probe.run_started()
    shop.execute("TRUNCATE performance_schema.events_statements_summary_by_digest")
    shop.execute("SELECT id FROM orders WHERE customer = 4")
    counted(shop)
    events = probe.run_ended()
    assert events[-1][1]["was_reset"] is True
    assert any(one["calls"] == 1 and "`customer`" in text for text, one in statements_of(events).items())


def test_without_a_database_all_are_counted_but_not_our_own_statements(shop: Any, watch) -> None:
    shop.execute("CREATE DATABASE IF NOT EXISTS other")
    probe = watch(database="")
    probe.run_started()
    probe.sample()
    shop.execute("SELECT id FROM orders WHERE customer = 4")
    counted(shop)
    events = probe.run_ended()
    assert [text for text in statements_of(events) if "`customer`" in text]
    assert not [text for text in statements_of(events) if "schema" in text.lower() or "STATUS" in text]
    assert any("names no database" in note for note in events[-1][1]["notes"])
    assert events[-1][1]["tables"][0]["table"] == "shop.orders"


def test_the_session_can_change_nothing(shop: Any, watch) -> None:
    probe = watch()
    with pytest.raises(ProbeUnavailable, match="READ ONLY"):
        probe._connection.ask(lambda session: session.run("CREATE TABLE shop.made_by_us (a INT)"), 2.0)


def test_a_server_that_does_not_measure_is_told_so_and_its_seconds_are_read() -> None:
    with MariadbServer(measures=False) as server:
        probe = MysqlProbe(server.dsn(database=""))
        [words] = probe.check()
        assert "performance_schema is OFF" in words and "restart" in words
        probe.run_started()
        assert probe.sample()["connections"] == 0
        assert "statements" not in probe.run_ended()[-1][1]
        probe.close()


def test_a_server_that_is_not_there_is_a_mistake_told_before_the_load() -> None:
    probe = MysqlProbe(f"mysql://u:s3cr3t-passw0rd@127.0.0.1:{free_port()}/x", key="probes.mysql[0].dsn")
    with pytest.raises(InputError, match=r"probes.mysql\[0\].dsn: the server cannot be reached: .*refused") as told:
        probe.check()
    assert "Correct its dsn" in str(told.value) and "s3cr3t" not in str(told.value)
    probe.close()


def test_a_wrong_password_is_told_without_it(mariadb_server: MariadbServer, shop: Any) -> None:
    probe = MysqlProbe(mariadb_server.dsn("poor", password="wr0ng-s3cret"))
    with pytest.raises(InputError, match="Access denied for user 'poor'") as told:
        probe.check()
    assert "wr0ng-s3cret" not in str(told.value)
    probe.close()


def test_a_server_that_stops_leaves_a_gap_and_is_read_again(own_server: MariadbServer) -> None:
    now = [0.0]
    probe = MysqlProbe(own_server.dsn(), clock=lambda: now[0])
    probe.run_started()
    probe.sample()
    own_server.stop()
    with pytest.raises(ProbeUnavailable, match="cannot be reached"):
        probe.sample()
    own_server.start()
    now[0] += 30
    assert "connections" in probe.sample()
    assert probe.run_ended()[-1][0] == "database_run"
    probe.close()


def test_a_server_that_hangs_holds_nobody_up_and_is_read_again(own_server: MariadbServer) -> None:
    probe = MysqlProbe(own_server.dsn())
    probe.sample()
    own_server.pause()
    for _ in range(3):
        with pytest.raises(ProbeUnavailable, match="does not answer in time"):
            probe.sample()
    own_server.resume()
    values: dict[str, float] = {}
    until = time.monotonic() + 60
    while not values and time.monotonic() < until:
        try:
            values = probe.sample()
        except ProbeUnavailable:
            time.sleep(0.2)
    assert "connections" in values
    probe.close()


def test_a_statement_that_takes_too_long_is_ended_and_the_next_is_answered(shop: Any, watch: Callable) -> None:
    probe = watch()
    with pytest.raises(ProbeUnavailable, match="did not answer in time"):
        probe._connection.ask(lambda session: session.rows("SELECT sleep(30), benchmark(1000000000, 1)"), 0.5)
    assert "connections" in probe.sample()
