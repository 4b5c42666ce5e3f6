"""The folio report's kinds of statements on PostgreSQL, before and after the index that Plimsoll names.

    python benches/folio_database.py [ROWS [SECONDS]]        200000 rows and 120 s of load if left out

A table of JSONB documents, an application that searches keywords in concatenated fields, exports all ids of a search,
lists by title and counts, and `plimsoll hold` on it with the PostgreSQL probe. Then the advised indexes are made and
the same load is held again. It prints the statements by share of the database's time before and after, and ends with 1
if the search is not ranked first, its index not named or the index's effect not measured.
"""

from __future__ import annotations

import html
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg
from target import ROOT, await_listening, free_port

sys.path.insert(0, str(ROOT / "tests"))
from postgresql_server import PostgresqlServer

import plimsoll
from plimsoll.plans.load import Choices

SCHEMA = """
CREATE EXTENSION pg_stat_statements; CREATE EXTENSION unaccent; CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE FUNCTION f_unaccent(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT public.unaccent('public.unaccent', $1) $$;
CREATE FUNCTION values_of(list jsonb, field text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT string_agg(item->>field, ' ') FROM jsonb_array_elements(list) item $$;
CREATE FUNCTION joined(VARIADIC parts text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT array_to_string(parts, ' ') $$;
CREATE TABLE instance (id uuid PRIMARY KEY, jsonb jsonb NOT NULL);
"""
# 2,000 words, of which the first are frequent, as in titles
FILL = """
INSERT INTO instance
SELECT md5(i::text)::uuid, jsonb_build_object(
  'title', (SELECT string_agg('w' || floor(2000 * power(random(), 3)), ' ') FROM generate_series(1, 7 + 0 * i)),
  'contributors', jsonb_build_array(jsonb_build_object('name', 'name' || mod(i, 9973), 'primary', true)),
  'identifiers', jsonb_build_array(jsonb_build_object('value', 'isbn' || i, 'type', mod(i, 7))),
  'languages', jsonb_build_array('l' || mod(i, 40)), 'note', repeat(md5(i::text), 6))
FROM generate_series(1, %s) i
"""
MATCH = (
    "to_tsvector('simple', f_unaccent(joined(jsonb->>'title', values_of(jsonb->'contributors', 'name'), "
    "values_of(jsonb->'identifiers', 'value')))) @@ to_tsquery('simple', f_unaccent(%s))"
)
TITLE = "left(lower(f_unaccent(jsonb->>'title')), 600)"
STATEMENTS = {
    "search": f"SELECT jsonb, id FROM instance WHERE {MATCH} ORDER BY {TITLE} LIMIT 100",
    "ids": f"SELECT id FROM instance WHERE {MATCH}",
    "count": f"SELECT count(*) FROM (SELECT id FROM instance WHERE {MATCH} LIMIT 100000) found",
    "titles": f"SELECT id, jsonb->>'title' FROM instance ORDER BY {TITLE} LIMIT 100 OFFSET %s",
    "one": "SELECT jsonb FROM instance WHERE id = %s",
}
SCRIPT = """
import http from 'k6/http';
import { check } from 'k6';
const word = () => `w${300 + Math.floor(Math.random() * 1500)}`;
function get(path, name) {
  const answer = http.get(`${__ENV.BASE_URL}${path}`, { tags: { name }, timeout: '60s' });
  check(answer, { ok: (r) => r.status === 200 });
}
export function search() { get(`/search?${word()}`, 'search'); }
export function ids() { get(`/ids?${word()}`, 'ids'); }
export function count() { get(`/count?${word()}`, 'count'); }
export function titles() { get(`/titles?${100 * Math.floor(Math.random() * 50)}`, 'titles'); }
export function one() { get(`/one?${1 + Math.floor(Math.random() * 20000)}`, 'one'); }
"""
STUDY = """
target: {{url: "http://127.0.0.1:{port}", processes: [{{label: database, port: {database}}}]}}
probes: {{postgresql: [{{dsn: "env:FOLIO_DSN", label: folio}}], core_speed: false}}
workload:
  script: folio.js
  model: closed
  groups:
    - {{name: search, weight: 1, think_time_s: 2}}
    - {{name: ids, weight: 1, think_time_s: 2}}
    - {{name: count, weight: 1, think_time_s: 2}}
    - {{name: titles, weight: 1, think_time_s: 2}}
    - {{name: one, weight: 1, think_time_s: 0.2}}
"""
USERS = 5


def application() -> Any:
    """The application, as ASGI: /search?word, /ids?word, /count?word, /titles?offset, /one?number."""
    import hashlib
    import threading

    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    here = threading.local()

    def answer(request: Request) -> PlainTextResponse:
        if not hasattr(here, "connection"):
            here.connection = psycopg.connect(
                os.environ["FOLIO_DSN"], autocommit=True, application_name="folio", cursor_factory=psycopg.ClientCursor
            )
        name, value = request.path_params["name"], request.url.query
        given: Any = value
        if name == "titles":
            given = int(value)
        elif name == "one":
            given = hashlib.md5(value.encode()).hexdigest()
        rows = here.connection.execute(STATEMENTS[name], (given,)).fetchall()
        return PlainTextResponse(str(len(rows)))

    return Starlette(routes=[Route("/{name}", answer)])


def held(folder: Path, seconds: float) -> dict[str, Any]:
    """Hold the load once; the finding of the database, printed."""
    answer = plimsoll.hold(
        folder / "study.yaml",
        Choices(runs=folder / "runs"),
        users=USERS,
        duration_s=seconds,
        warm_up_s=10,
        baseline_s=30,
    )
    found = next(one for one in answer.findings if one["question"].startswith("What takes the database"))
    print(f"\n{found['answer']}\n")
    for text in [*found["sentences"], *found["notes"]]:
        print(f"- {text}")
    for one in found["database"]["effects"]:
        times = f"{one['before_ms']:,.1f} → {one['after_ms']:,.1f} ms, {one['factor']:,.0f} times less"
        print(f"- measured: {times}: {one['text'][:80]}")
    print(f"\nreport: {answer.report} ({answer.report.stat().st_size:,} bytes)")
    return found["database"] | {"report": html.unescape(answer.report.read_text(encoding="utf-8"))}


def show(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Statements by share before, and the same after."""
    later = {one["text"]: one for one in after["statements"]}
    print("\n| share before | mean before, ms | calls | share after | mean after, ms | calls | statement |")
    print("|---|---|---|---|---|---|---|")
    for one in before["statements"][:6]:
        then = later.get(one["text"])
        rest = "– | – | –" if then is None else f"{then['share']:.1%} | {then['mean_ms']:,.1f} | {then['calls']}"
        print(f"| {one['share']:.1%} | {one['mean_ms']:,.1f} | {one['calls']} | {rest} | {one['text'][:90]} |")


def missing(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What the two runs should have told and did not, in sentences."""
    advice = [one["sql"] for one in before["advice"]]
    checks = {
        "The statement of the largest share is a search.": "to_tsvector" in before["statements"][0]["text"],
        "An index for the search is advised.": any("to_tsvector" in sql for sql in advice),
        "The effect of the index was measured.": any(one["factor"] > 1 for one in after["effects"]),
        "The first report names the index.": all(sql in before["report"] for sql in advice),
        "The second report has the measured effect.": "Measured effect of advised indexes" in after["report"],
    }
    return [words for words, holds in checks.items() if not holds]


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 120.0
    keep = Path(tempfile.mkdtemp(prefix="plimsoll-folio-"))
    with PostgresqlServer("shared_buffers=1GB", "max_parallel_workers_per_gather=0") as server:
        os.environ["FOLIO_DSN"] = server.dsn()
        with psycopg.connect(server.dsn(), autocommit=True) as owner:
            owner.execute(SCHEMA)
            for extension in ("hypopg",):
                try:
                    owner.execute(f"CREATE EXTENSION {extension}")
                except psycopg.errors.Error as error:
                    print(f"{extension}: {str(error).splitlines()[0]}")
            began = time.monotonic()
            owner.execute(FILL % rows)
            owner.execute("VACUUM ANALYZE instance")
            print(f"{rows:,} rows in {time.monotonic() - began:.0f} s; PostgreSQL {owner.info.server_version}")
        port = free_port()
        (keep / "folio.js").write_text(SCRIPT)
        (keep / "study.yaml").write_text(STUDY.format(port=port, database=server.port))
        served = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", "--factory", "folio_database:application", "--port", str(port),
             "--log-level", "warning"],
            cwd=Path(__file__).parent,
        )  # fmt: skip
        try:
            await_listening(port)
            before = held(keep, seconds)
            with psycopg.connect(server.dsn(), autocommit=True) as owner:
                for one in before["advice"]:
                    began = time.monotonic()
                    owner.execute(one["sql"])
                    owner.execute("ANALYZE instance")
                    print(f"\nmade in {time.monotonic() - began:.0f} s: {one['sql']}")
            after = held(keep, seconds)
        finally:
            served.terminate()
            served.wait(timeout=30)
        show(before, after)
    if wrong := missing(before, after):
        sys.exit("Not so: " + " ".join(wrong))
    print("\nThe slow search is ranked first, its index named, and the index's effect measured, in the reports.")


if __name__ == "__main__":
    main()
