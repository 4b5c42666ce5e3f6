"""What the probe does when the database is not as it should be: no server, no extension, no right, locks, resets."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import psycopg
import pytest
from postgresql_server import PostgresqlServer, run_details

from plimsoll.errors import InputError
from plimsoll.probes import ProbeUnavailable
from plimsoll.probes.postgresql import PostgresqlProbe
from plimsoll.probes.sampler import Sampler
from plimsoll_lab.ports import free_port


@pytest.fixture
def own_server() -> Iterator[PostgresqlServer]:
    """A server that a test may stop."""
    with PostgresqlServer() as server:
        yield server


def test_a_server_that_is_not_there_is_a_mistake_told_before_the_load():
    probe = PostgresqlProbe(f"postgresql://u:s3cr3t-passw0rd@127.0.0.1:{free_port()}/x", key="probes.postgresql[0].dsn")
    with pytest.raises(
        InputError, match=r"probes.postgresql\[0\].dsn: the server cannot be reached: .*refused"
    ) as told:
        probe.check()
    assert "Correct its dsn" in str(told.value)
    assert "s3cr3t" not in str(told.value)
    probe.close()


def test_a_database_that_is_not_there_is_named(postgresql_server: PostgresqlServer):
    probe = PostgresqlProbe(postgresql_server.dsn(database="nowhere"))
    with pytest.raises(InputError, match='database "nowhere" does not exist'):
        probe.check()
    probe.close()


def test_without_the_extension_the_rest_goes_on(postgresql_server: PostgresqlServer, watch):
    with psycopg.connect(postgresql_server.dsn(), autocommit=True) as owner:
        owner.execute("DROP DATABASE IF EXISTS bare")
        owner.execute("CREATE DATABASE bare")
    probe = watch(database="bare")
    [sentence] = probe.check()
    assert 'CREATE EXTENSION pg_stat_statements; in the database "bare"' in sentence
    probe.run_started()
    assert probe.sample()["connections_max"] == 100
    with psycopg.connect(postgresql_server.dsn(database="bare"), autocommit=True) as owner:
        owner.execute("CREATE TABLE t AS SELECT i FROM generate_series(1, 2000) i")
        owner.execute("SELECT sum(i) FROM t")
        owner.execute("SELECT pg_stat_force_next_flush()")
        found = run_details(probe)
    assert [one["table"] for one in found["tables"]] == ["public.t"]
    assert "statements" not in found
    assert found["missing"] == [sentence]


def test_a_server_that_did_not_load_the_library_is_told_so():
    with PostgresqlServer(preload="") as server:
        probe = PostgresqlProbe(server.dsn())
        assert "shared_preload_libraries" in probe.check()[0]
        with psycopg.connect(server.dsn(), autocommit=True) as owner:
            owner.execute("CREATE EXTENSION pg_stat_statements")
        probe.close()
        probe = PostgresqlProbe(server.dsn())
        [sentence] = probe.check()
        assert "must be loaded" in sentence
        assert "shared_preload_libraries" in sentence
        probe.run_started()
        assert probe.sample()["connections"] >= 0
        probe.close()


def test_a_role_without_rights_is_told_which_grant_it_needs(postgresql_server: PostgresqlServer, database, watch):
    database.execute("DROP ROLE IF EXISTS poor")
    database.execute("CREATE ROLE poor LOGIN")
    probe = watch(user="poor")
    [sentence] = probe.check()
    assert "GRANT pg_monitor TO poor;" in sentence
    probe.run_started()
    for _ in range(5):
        database.execute("SELECT * FROM item WHERE customer = 3")
    assert run_details(probe)["hidden_calls"] >= 5

    database.execute("GRANT pg_monitor TO poor")
    probe = watch(user="poor")
    assert probe.check() == []
    probe.run_started()
    for _ in range(5):
        database.execute("SELECT * FROM item WHERE customer = 3")
    found = run_details(probe)
    assert found["advice"] == []
    assert any("permission denied" in plan.get("note", "") for plan in found["plans"])
    assert any("GRANT pg_read_all_data TO poor;" in plan.get("note", "") for plan in found["plans"])

    database.execute("GRANT pg_read_all_data TO poor")
    probe = watch(user="poor")
    probe.run_started()
    for _ in range(5):
        database.execute("SELECT * FROM item WHERE customer = 3")
    assert [one["method"] for one in run_details(probe)["advice"]] == ["btree"]


def test_a_server_that_stops_leaves_a_gap_and_is_read_again(own_server: PostgresqlServer):
    rows: list[dict] = []
    told: list[str] = []
    seconds = [1000.0]
    probe = PostgresqlProbe(own_server.dsn(), clock=lambda: seconds[0])
    sampler = Sampler(
        [probe], rows.append, lambda kind, at, source, message: told.append(message), t0_unix=0.0,
        clock=lambda: seconds[0],
    )  # fmt: skip

    def second() -> None:
        sampler.sample_once()
        seconds[0] += 1.0

    second()
    second()
    own_server.stop()
    for _ in range(4):
        second()
    own_server.start()
    for _ in range(12):
        second()
    probe.close()
    assert 2 < len(rows) < 18
    assert rows[-1]["values"]["connections_max"] == 100
    assert "commits_per_s" in rows[-1]["values"]
    assert any("cannot be reached" in message for message in told)
    assert told[-1] == "postgresql:db can be read again"
    assert len(told) <= 4


def test_a_server_that_hangs_holds_nobody_up(own_server: PostgresqlServer):
    probe = PostgresqlProbe(own_server.dsn())
    probe.sample()
    with psycopg.connect(own_server.dsn(), autocommit=True) as other:
        text = "SELECT pid FROM pg_stat_activity WHERE application_name = 'plimsoll'"
        [backend] = other.execute(text).fetchone()
    os.kill(backend, signal.SIGSTOP)
    try:
        with pytest.raises(ProbeUnavailable, match="does not answer in time"):
            probe.sample()
    finally:
        os.kill(backend, signal.SIGCONT)
    until = time.monotonic() + 20
    while True:
        try:
            assert probe.sample()["connections_max"] == 100
            break
        except ProbeUnavailable:
            assert time.monotonic() < until
    probe.close()


def test_a_step_whose_end_cannot_be_read_is_told(own_server: PostgresqlServer):
    probe = PostgresqlProbe(own_server.dsn())
    assert probe.run_started() == []
    assert probe.step_started() == []
    own_server.stop()
    [(kind, details)] = probe.step_ended()
    assert kind == "database_lost"
    assert "a step's end" in details["message"]
    assert [kind for kind, _ in probe.run_ended()] == ["database_lost"]
    probe.close()


def test_who_waits_for_whose_lock_is_counted_and_noted_without_data(postgresql_server, database, watch: Callable):
    probe = watch()
    probe.sample()
    with psycopg.connect(postgresql_server.dsn(database="advice")) as holder:
        holder.execute("UPDATE item SET state = 'secret word' WHERE id = 1")

        def wait() -> None:
            with psycopg.connect(postgresql_server.dsn(database="advice")) as waiter:
                waiter.execute("UPDATE item SET name = 'other secret' WHERE id = 1")
                waiter.rollback()

        thread = threading.Thread(target=wait)
        thread.start()
        until = time.monotonic() + 20
        while (values := probe.sample())["lock_waits"] == 0:
            assert time.monotonic() < until
        holder.rollback()
        thread.join()
    assert values["lock_waits"] == 1
    assert values["sessions_blocking"] == 1
    assert values["connections_idle_in_transaction"] == 1
    [note] = probe.take_notes()
    assert "UPDATE item SET name = '…' WHERE id = … waits for UPDATE item SET state = '…'" in note
    assert "secret" not in note


def test_a_reset_in_the_middle_is_noticed(database, watch):
    probe = watch()
    database.execute("SELECT * FROM item WHERE customer = 1")
    probe.step_started()
    database.execute("SELECT pg_stat_statements_reset()")
    database.execute("SELECT * FROM item WHERE customer = 2")
    step = probe.step_ended()[-1][1]
    assert step["was_reset"]
    assert [one["calls"] for one in step["statements"]][:1] == [1]


def test_the_session_can_change_nothing_and_has_our_name(database, watch):
    probe = watch()
    probe.sample()
    [name] = database.execute(
        "SELECT application_name FROM pg_stat_activity WHERE query LIKE '%plimsoll%' AND pid <> pg_backend_pid()"
    ).fetchone()  # fmt: skip
    assert name == "plimsoll"
    with pytest.raises(ProbeUnavailable, match="read-only transaction"):
        probe._connection.ask(lambda session: session.run("CREATE TABLE made_by_us ()"), 2.0)


def test_unused_indexes_and_bloat_are_told(database, watch):
    probe = watch()
    probe.run_started()
    database.execute("SELECT 1")
    found = run_details(probe)
    assert [one["index"] for one in found["unused_indexes"]] == ["public.item_never_used"]
    assert {one["by"] for one in found["bloat"]} == {"estimate"}
    estimated = {one["name"]: one["share"] for one in found["bloat"]}
    database.execute("CREATE EXTENSION pgstattuple")
    try:
        probe = watch()
        probe.run_started()
        database.execute("SELECT 1")
        measured = {one["name"]: one for one in run_details(probe)["bloat"]}
    finally:
        database.execute("DROP EXTENSION pgstattuple")
    assert measured["public.item"]["by"] == "pgstattuple"
    assert measured["public.item"]["share"] == pytest.approx(estimated["public.item"], abs=0.15)
