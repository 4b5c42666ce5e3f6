"""A trial as a user makes it: a small HTTP application, `plimsoll hold` on it, the advised command under
`plimsoll capacity --verify`, and `plimsoll hold` again, whose finding has the measured effect."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from cases import Case, case_of
from target import await_listening, free_port
from trial import ROOT, Mix, PostgresqlServer, compared, database, remedy

KINDS = ("equality and order", "lower case", "contents of JSON", "an index is there")
USERS, HOLD_S, AT_MOST_S = 10, 8, 180
SCRIPT = """import http from 'k6/http';
export function next() { http.get(`${__ENV.BASE_URL}/next`); }
"""
STUDY = """name: index-advice
target: {{url: "http://127.0.0.1:{port}"}}
workload: {{script: next.js, operations: [{{name: next, per_user_hour: 3600}}]}}
probes: {{core_speed: false, postgresql: [{{dsn: "env:TRIAL_DSN", label: tickets}}]}}
experiments:
  - hold: {{users: {users}, duration_s: {hold_s}, warm_up_s: 1, baseline_s: 0}}
"""


def application() -> Any:
    """The application, as ASGI: GET /next runs one statement of the case's mix. A process of its own; what it is comes
    by the environment."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    kind, seed, variation = json.loads(os.environ["TRIAL_CASE"])
    mix, here = Mix(case_of(kind, seed, variation)), threading.local()

    def answer(_: Request) -> PlainTextResponse:
        if not hasattr(here, "connection"):
            here.connection, here.random = mix.connect(os.environ["TRIAL_DSN"]), Random(threading.get_ident())
        return PlainTextResponse(str(mix.call(here.connection, here.random)))

    return Starlette(routes=[Route("/next", answer)])


def try_out(case: Case, server: PostgresqlServer, named: tuple[str, int, int]) -> dict[str, Any]:
    """The record as of a trial by the probe, with what `capacity --verify` and the last hold said of the effect."""
    with database(server, case) as dsn, tempfile.TemporaryDirectory(prefix="plimsoll-index-advice-") as name:
        folder, port = Path(name), free_port()
        (folder / "next.js").write_text(SCRIPT)
        (folder / "study.yaml").write_text(STUDY.format(port=port, users=USERS, hold_s=HOLD_S))
        with _served(dsn, port, named):
            before = [_held(folder, dsn) for _ in range(2)]
            advice = before[0]["advice"]
            if not advice:
                return compared(case, before, None)
            command = shlex.join(["psql", dsn, "-v", "ON_ERROR_STOP=1", "-q", *_each(advice)])
            flags = ["--verify", command, "--step", "4", "--width", "0.5", "--min-users", "5", "--max-users", "320"]
            verified = _asked(folder, dsn, "capacity", *flags)
            after = _held(folder, dsn)
    record = compared(case, before, after)
    told = [one["answer"] for one in verified if "remedy" in str(one.get("question", "")).lower()]
    return record | {
        "verified": told,
        "verified_effects_ms": _effects(_database(verified)),
        "effects_ms": _effects(after),
    }


def _each(advice: list[dict[str, Any]]) -> list[str]:
    """-c for every statement: psql runs each in a transaction of its own, as CREATE INDEX CONCURRENTLY needs."""
    return [word for one in advice for text in remedy(one) for word in ("-c", text)]


@contextmanager
def _served(dsn: str, port: int, named: tuple[str, int, int]) -> Iterator[None]:
    command = [sys.executable, "-m", "uvicorn", "--factory", "by_command:application", "--port", str(port)]
    served = subprocess.Popen(
        [*command, "--log-level", "warning"], cwd=Path(__file__).parent,
        env=_environment(dsn) | {"TRIAL_CASE": json.dumps(named)},
    )  # fmt: skip
    try:
        await_listening(port)
        yield
    finally:
        served.terminate()
        served.wait(timeout=30)


def _held(folder: Path, dsn: str) -> dict[str, Any]:
    """The database's part of the findings of a hold."""
    return _database(_asked(folder, dsn, "hold"))


def _database(findings: list[dict[str, Any]]) -> dict[str, Any]:
    found = next(one for one in findings if one["question"].startswith("What takes the database"))
    return dict(found["database"])


def _effects(of: dict[str, Any]) -> list[list[float]]:
    """Mean ms of the statements before and after, as the finding tells them."""
    return [[one["before_ms"], one["after_ms"]] for one in of["effects"]]


def _asked(folder: Path, dsn: str, verb: str, *flags: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "plimsoll", verb, "study.yaml", "--json", "-q", "--runs", "runs", *flags]
    ended = subprocess.run(
        command, cwd=folder, env=_environment(dsn), capture_output=True, text=True, timeout=AT_MOST_S, check=False
    )
    try:
        found: list[dict[str, Any]] = json.loads(ended.stdout)
    except json.JSONDecodeError:
        raise RuntimeError(f"plimsoll {verb}: {ended.stderr.strip()[-300:]}") from None
    return found


def _environment(dsn: str) -> dict[str, str]:
    return {**os.environ, "TRIAL_DSN": dsn, "PYTHONPATH": str(ROOT / "python")}
