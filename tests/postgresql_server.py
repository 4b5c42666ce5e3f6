"""A PostgreSQL server of the tests' own: in a folder of its own, on a free port, stopped by its id.

It only has to be installed (`make postgresql`); hypopg is used where it is installed beside it.
"""

from __future__ import annotations

import glob
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

from database_server import DatabaseServer

from plimsoll.probes.postgresql import PostgresqlProbe

MISSING = "There is no PostgreSQL server on this machine. Install Debian's package postgresql."


def programs() -> Path:
    """The folder of initdb and postgres, of the newest version; FileNotFoundError if there is none."""
    found = [path for path in glob.glob("/usr/lib/postgresql/*/bin") if (Path(path) / "initdb").exists()]
    if found:
        return Path(max(found, key=lambda path: int(Path(path).parent.name)))
    alone = shutil.which("initdb")
    if alone is None:
        raise FileNotFoundError(MISSING)
    return Path(alone).resolve().parent


class PostgresqlServer(DatabaseServer):
    """`settings` go to its command line. The superuser is "plimsoll"; a stop is a fast shutdown."""

    account, end_signal = "postgres", signal.SIGINT

    def __init__(self, *settings: str, preload: str = "pg_stat_statements") -> None:
        self._programs = programs()
        super().__init__()
        self._settings = [
            f"port={self.port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}", "fsync=off",
            f"shared_preload_libraries={preload}", *settings,
        ]  # fmt: skip

    def dsn(self, user: str = "plimsoll", database: str = "postgres", password: str | None = None) -> str:
        """Where it answers; passwords are not asked for."""
        secret = f":{password}" if password else ""
        return f"postgresql://{user}{secret}@127.0.0.1:{self.port}/{database}"

    def _install(self) -> None:
        data = str(self.folder / "data")
        command = [str(self._programs / "initdb"), "-D", data, "-A", "trust", "-U", "plimsoll", "-E", "UTF8", "-N"]
        subprocess.run(
            [*command, "--locale=C"], check=True, cwd=self.folder, stdout=subprocess.DEVNULL, **self._owner
        )  # fmt: skip

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        options = [word for setting in self._settings for word in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._programs / "postgres"), "-D", str(self.folder / "data"), *options],
                cwd=self.folder, stdout=subprocess.DEVNULL, stderr=log, **self._owner,
            )  # fmt: skip
        ready = [str(self._programs / "pg_isready"), "-h", "127.0.0.1", "-p", str(self.port), "-t", "1", "-q"]
        while subprocess.run(ready, check=False).returncode != 0:
            if self._process.poll() is not None:
                raise RuntimeError(f"PostgreSQL ended at once: {(self.folder / 'log').read_text()}")


def own_database(dsn: str, name: str) -> str:
    """A new database beside that of `dsn`, and its DSN: targets in one database would be in each other's way."""
    import psycopg

    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name}")  # type: ignore[call-overload]
        connection.execute(f"CREATE DATABASE {name}")  # type: ignore[call-overload]
    return f"{dsn.rsplit('/', 1)[0]}/{name}"


def run_details(probe: PostgresqlProbe) -> dict[str, Any]:
    """The event database_run of a probe whose run ends."""
    events = probe.run_ended()
    assert events[-1][0] == "database_run", events
    return events[-1][1]
