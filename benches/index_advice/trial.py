"""One trial: a database of its own, the load watched by the product's probe, the advised indexes made, the load again.

The load runs three times: twice without a change, which gives the advice and the noise, and once with what was advised.
"""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import psycopg
from rivals import executed_ms, of_rivals
from tickets import PLANTED, Case, Statement

sys.path.insert(0, str(Path(__file__).parents[1]))
from target import ROOT

sys.path.insert(0, str(ROOT / "tests"))
from postgresql_server import PostgresqlServer

from plimsoll.findings.database.index_effect import needs_analyze
from plimsoll.probes.postgresql import PostgresqlProbe
from plimsoll.probes.postgresql.statement_text import fingerprint
from plimsoll.probes.probe import ProbeUnavailable

CLIENTS, LOOK_EVERY_S, WARM_UP_S = 2, 0.25, 0.5
LEAST_NOISE = 0.10


class Mix:
    """The application: draws statements by their weights. `serial` never gives a number twice."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._serial = itertools.count(1)

    def connect(self, dsn: str) -> psycopg.Connection:
        """A connection that sends values as the case says: within the text, or as parameters."""
        is_text = self._case.parameters["sent"] == "constants"
        made = psycopg.ClientCursor if is_text else psycopg.Cursor
        return psycopg.connect(dsn, autocommit=True, application_name="tickets", cursor_factory=made)

    def call(self, connection: psycopg.Connection, random: Random) -> int:
        """One statement of the mix; how many rows it gave."""
        statements = self._case.statements
        [one] = random.choices(statements, [each.weight for each in statements])
        values = one.values(random, next(self._serial))
        cursor = connection.execute(one.text, values or None)
        return len(cursor.fetchall()) if cursor.description else 0


@contextmanager
def database(server: PostgresqlServer, case: Case) -> Iterator[str]:
    """The DSN of a new database with the tables of the case, analysed; dropped at the end."""
    with psycopg.connect(server.dsn(), autocommit=True) as owner:
        owner.execute("DROP DATABASE IF EXISTS trial WITH (FORCE)")
        collation = case.parameters["collation"]
        owner.execute(f"CREATE DATABASE trial TEMPLATE template0 LC_COLLATE '{collation}' LC_CTYPE 'C.UTF-8'")
        try:
            with psycopg.connect(server.dsn(database="trial"), autocommit=True) as made:
                for extension in ("pg_stat_statements", "hypopg"):
                    made.execute(f"CREATE EXTENSION {extension}")
                for text in case.setup:
                    made.execute(text)
                made.execute("VACUUM ANALYZE")
            yield server.dsn(database="trial")
        finally:
            owner.execute("DROP DATABASE trial WITH (FORCE)")


def try_out(case: Case, server: PostgresqlServer, seconds: float, *, is_run: bool = False) -> dict[str, Any]:
    """What the advice was and what it brought: see `compared`; and, where the case has rivals, how the statement's runs
    with them compare. `is_run`: the probe may make indexes for runs of its own."""
    with database(server, case) as dsn:
        mix = Mix(case)
        _load(mix, dsn, WARM_UP_S, None)
        before = [watched(mix, dsn, seconds, dsn if is_run and not number else None) for number in range(2)]
        advice = before[0]["advice"]
        rivals = of_rivals(dsn, case) if case.target.rivals else {}
        make(dsn, advice)
        if rivals:
            rivals["advised_ms"] = executed_ms(dsn, case)
        if advice:
            _load(mix, dsn, WARM_UP_S, None)
        after = watched(mix, dsn, seconds) if advice else None
    return compared(case, before, after) | rivals


def watched(mix: Mix, dsn: str, seconds: float, trial_dsn: str | None = None) -> dict[str, Any]:
    """The event database_run of a load, with the `text` of each of its statements."""
    probe = PostgresqlProbe(dsn, trial_dsn=trial_dsn)
    try:
        events = probe.run_started()
        _load(mix, dsn, seconds, probe)
        events += probe.run_ended()
    finally:
        probe.close()
    kind, run = events[-1]
    if kind != "database_run":
        raise RuntimeError(f"the probe lost the database: {run}")
    texts = {details["id"]: details["text"] for kind, details in events if kind == "database_statement"}
    return run | {"statements": [one | {"text": texts.get(one["id"], "")} for one in run["statements"]]}


def _load(mix: Mix, dsn: str, seconds: float, probe: PostgresqlProbe | None) -> None:
    """CLIENTS that call one after the other, the same draws each time; the probe looks on from this thread."""
    until, mistakes = time.monotonic() + seconds, []

    def client(number: int) -> None:
        random = Random(number)
        try:
            with mix.connect(dsn) as connection:
                while time.monotonic() < until:
                    mix.call(connection, random)
        except psycopg.Error as error:
            mistakes.append(str(error))

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    while probe is not None and time.monotonic() < until:
        time.sleep(LOOK_EVERY_S)
        with suppress(ProbeUnavailable):  # a gap, as in any run
            probe.sample()
    for thread in threads:
        thread.join()
    if mistakes:
        raise RuntimeError(f"the load failed: {mistakes[0]}")


def make(dsn: str, advice: list[dict[str, Any]]) -> None:
    """Make what was advised as it stands there; where the finding says ANALYZE (an expression), that too."""
    with psycopg.connect(dsn, autocommit=True) as owner:
        for one in advice:
            for text in remedy(one):
                owner.execute(text)


def remedy(one: dict[str, Any]) -> list[str]:
    """The statements that the finding's next step names."""
    return [
        *filter(None, [one["needs"]]),
        one["sql"],
        *([f"ANALYZE {one['table']};"] if needs_analyze(one["sql"]) else []),
    ]


def compared(case: Case, before: list[dict[str, Any]], after: dict[str, Any] | None) -> dict[str, Any]:
    """The record: what was advised and predicted, mean ms a call of the statement in question and of the whole load
    in the runs before and in the one after, and the verdict."""
    ids = {one["id"] for one in before[0]["statements"] if _is(case.target, one)}
    advice = before[0]["advice"]
    costs = [item for one in advice for item in one["statements"] if item["id"] in ids]
    record: dict[str, Any] = {
        "advised": [
            {name: one[name] for name in ("sql", "proof", "why_unproven", "share", "values")} for one in advice
        ],
        "for_target": bool(costs),
        "proven": bool(costs) and all(item["cost_after"] is not None or item["time_after_ms"] for item in costs),
        "costs": [[item["cost_before"], item["cost_after"]] for item in costs],
        "why_none": _why_none(before[0], ids),
        "before_ms": [mean_ms(run, case.target) for run in before],
        "load_before_ms": [mean_ms(run) for run in before],
        "after_ms": mean_ms(after, case.target) if after else None,
        "load_after_ms": mean_ms(after) if after else None,
        "calls": [_calls(run, case.target) for run in (*before, *([after] if after else []))],
    }
    return record | {"verdict": verdict(case.part, record)}


def verdict(part: str, record: dict[str, Any]) -> str:
    """Of a planted case "right" (confirmed beforehand by the planner or a run, and faster), "said" (said that neither
    confirmed it, and faster),
    "said, not faster", "missed", "not faster"; of a healthy one "none", "not slower" or "slower"."""
    if part != PLANTED:
        if not record["advised"]:
            return "none"
        most = band(record["load_before_ms"])[1]
        return "slower" if record["load_after_ms"] > most else "not slower"
    if not record["for_target"]:
        return "missed"
    is_faster = record["after_ms"] is not None and record["after_ms"] < band(record["before_ms"])[0]
    if record["proven"]:
        return "right" if is_faster else "not faster"
    return "said" if is_faster else "said, not faster"


def band(before_ms: list[float]) -> tuple[float, float]:
    """What two runs without a change leave open: their range, widened by their difference, by LEAST_NOISE at least."""
    low, high = min(before_ms), max(before_ms)
    share = max(LEAST_NOISE, 1 - low / high)
    return low * (1 - share), high * (1 + share)


def mean_ms(run: dict[str, Any], statement: Statement | None = None) -> float | None:
    """Mean time of a call by pg_stat_statements, of one statement or of all; None where it was not called."""
    some = [one for one in run["statements"] if statement is None or _is(statement, one)]
    calls = sum(one["calls"] for one in some)
    return round(sum(one["total_ms"] for one in some) / calls, 5) if calls else None


def _why_none(run: dict[str, Any], ids: set[str]) -> list[str]:
    plans = [plan for plan in run.get("plans") or () if plan["id"] in ids]
    said = [scan["why"] for plan in plans for scan in plan["scans"] if "why" in scan]
    return said + [plan["note"] for plan in plans if "note" in plan]


def _calls(run: dict[str, Any], statement: Statement) -> int:
    return sum(int(one["calls"]) for one in run["statements"] if _is(statement, one))


def _is(statement: Statement, one: dict[str, Any]) -> bool:
    """A driver that types its parameters has several entries for one statement."""
    return fingerprint(statement.text.replace("%s", "$1").replace("%%", "%")) == fingerprint(one["text"])
