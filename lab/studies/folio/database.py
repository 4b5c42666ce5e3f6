#!/usr/bin/env python3
"""The inventory without its search indexes on a PostgreSQL server of its own, watched by the database probe.

    ./database.py serve       makes the database on first use, then serves until it is stopped; database.yaml does this
    ./database.py indexes     makes the two indexes that are missing, in the database that serves
    ./database.py sql "…"     any other statement

Everything is in the folder .lab-postgresql beside this file; removing that removes all. PostgreSQL comes from the
system's package (Debian: apt-get install postgresql postgresql-15-hypopg).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import own_postgresql  # noqa: E402

PRELOAD = "shared_preload_libraries=pg_stat_statements"
# As `plimsoll lab inventory` makes them without --missing-index.
TEXT = " || ".join(
    f"setweight(to_tsvector('simple'::regconfig, {field}_words), '{weight}')"
    for field, weight in (("title", "A"), ("contributors", "B"), ("identifiers", "C"), ("subjects", "D"))
)
INDEXES = (
    f"CREATE INDEX IF NOT EXISTS instances_text ON instances USING gin (({TEXT}))",
    "CREATE INDEX IF NOT EXISTS instances_by_title ON instances (title_sort, id)",
    "ANALYZE instances",
)


def main() -> int:
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("verb", choices=("serve", "indexes", "sql"))
    top.add_argument("statement", nargs="*")
    top.add_argument(
        "--folder", type=Path, default=HERE / ".lab-postgresql", help="where all of it is kept (default %(default)s)"
    )
    top.add_argument("--port", type=int, default=8780, help="of the inventory (default %(default)s)")
    top.add_argument("--database-port", type=int, default=8784, help="of PostgreSQL (default %(default)s)")
    top.add_argument("--instances", type=int, default=4_000, help="seeded on first use (default %(default)s)")
    chosen = top.parse_args()
    return own_postgresql.told("database.py", lambda: _done(chosen))


def _done(chosen: argparse.Namespace) -> int:
    if chosen.verb == "serve":
        return _serve(chosen)
    for statement in INDEXES if chosen.verb == "indexes" else chosen.statement:
        _sql(chosen.database_port, "inventory", statement)
    return 0


def _serve(chosen: argparse.Namespace) -> int:
    folder: Path = chosen.folder.resolve()
    is_complete = folder / "complete"
    if not is_complete.exists():
        own_postgresql.create(folder / "postgresql", "inventory")
    own_postgresql.exit_when_terminated()
    with own_postgresql.running(folder / "postgresql", chosen.database_port, [PRELOAD]):
        if not is_complete.exists():
            _prepare(chosen.database_port)
            is_complete.touch()
        dsn = f"postgresql://inventory@127.0.0.1:{chosen.database_port}/inventory"
        words = ["lab", "inventory", "--missing-index", "--port", str(chosen.port), "--dsn", dsn]
        words += ["--instances", str(chosen.instances), "--data", str(folder / "data")]
        return own_postgresql.served(["plimsoll", *words])


def _prepare(port: int) -> None:
    _sql(port, "postgres", "CREATE DATABASE inventory")
    _sql(port, "inventory", "CREATE EXTENSION pg_stat_statements")
    if subprocess.run(_psql(port, "inventory", "CREATE EXTENSION hypopg"), check=False).returncode != 0:
        print("without hypopg, the advice on indexes is not proven", file=sys.stderr)


def _sql(port: int, database: str, statement: str) -> None:
    subprocess.run(_psql(port, database, statement), check=True)


def _psql(port: int, database: str, statement: str) -> list[str]:
    connect = ["-h", "127.0.0.1", "-p", str(port), "-U", "inventory", "-d", database]
    return [own_postgresql.program("psql"), "-q", "-v", "ON_ERROR_STOP=1", *connect, "-c", statement]


if __name__ == "__main__":
    sys.exit(main())
