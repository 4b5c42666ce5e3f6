"""A PostgreSQL server of the tests' own: in a folder of its own, on a free port, stopped by its id.

It only has to be installed (`make postgresql`); hypopg is used where it is installed beside it.
"""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

from plimsoll.lab.ports import free_port
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


class PostgresqlServer:
    """A context that runs a server; `settings` go to its command line. It can be stopped, paused and started again.

    Root starts it as the user postgres, since PostgreSQL does not run as root. The superuser is "plimsoll".
    """

    def __init__(self, *settings: str, preload: str = "pg_stat_statements") -> None:
        self._programs = programs()
        self.folder = Path(tempfile.mkdtemp(prefix="plimsoll-postgresql-"))
        self.port = free_port()
        self._settings = [
            f"port={self.port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}", "fsync=off",
            f"shared_preload_libraries={preload}", *settings,
        ]  # fmt: skip
        self._owner: dict[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def dsn(self, user: str = "plimsoll", database: str = "postgres", password: str | None = None) -> str:
        """Where it answers; passwords are not asked for."""
        secret = f":{password}" if password else ""
        return f"postgresql://{user}{secret}@127.0.0.1:{self.port}/{database}"

    def __enter__(self) -> PostgresqlServer:
        try:
            if os.geteuid() == 0:
                owner = pwd.getpwnam("postgres")
                os.chown(self.folder, owner.pw_uid, owner.pw_gid)
                self._owner = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
            data = str(self.folder / "data")
            command = [str(self._programs / "initdb"), "-D", data, "-A", "trust", "-U", "plimsoll", "-E", "UTF8", "-N"]
            subprocess.run(
                [*command, "--locale=C"], check=True, cwd=self.folder, stdout=subprocess.DEVNULL, **self._owner
            )
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

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

    def stop(self) -> None:
        """End it as a fast shutdown, which ends sessions."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)
        self._process.send_signal(signal.SIGINT)
        self._process.wait(timeout=30)
        self._process = None


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
