"""A MariaDB server of the tests' own: in a folder of its own, on a free port, stopped by its id.

It only has to be installed (`make mariadb`).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from typing import Any

import pymysql
from database_server import DatabaseServer

MISSING = "There is no MariaDB server on this machine. Install Debian's package mariadb-server."
LIMIT_S = 60


class MariadbServer(DatabaseServer):
    """`settings` go to its command line. The account "root" has every right and no password."""

    account, end_signal = "mysql", signal.SIGKILL

    def __init__(self, *settings: str, measures: bool = True) -> None:
        found = [shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin") for name in _PROGRAMS]
        if None in found:
            raise FileNotFoundError(MISSING)
        self._installer, self._server = map(str, found)
        super().__init__()
        self._settings = [f"--performance-schema={'ON' if measures else 'OFF'}", *settings]

    def dsn(self, user: str = "root", database: str = "shop", password: str = "") -> str:
        """Where it answers."""
        secret = f":{password}" if password else ""
        return f"mysql://{user}{secret}@127.0.0.1:{self.port}/{database}"

    def connect(self, user: str = "root", password: str = "", database: str | None = None) -> Any:
        """A connection of pymysql."""
        return pymysql.connect(
            host="127.0.0.1", port=self.port, user=user, password=password, database=database, autocommit=True
        )

    def _install(self) -> None:
        command = [self._installer, "--no-defaults", f"--datadir={self.folder}/data", "--skip-test-db"]
        normal = ["--auth-root-authentication-method=normal", f"--tmpdir={self.folder}"]
        with (self.folder / "install.log").open("wb") as log:
            subprocess.run([*command, *normal], check=True, cwd=self.folder, stdout=log, stderr=log, **self._owner)

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        command = [
            self._server, "--no-defaults", f"--datadir={self.folder}/data", f"--socket={self.folder}/socket",
            f"--port={self.port}", "--bind-address=127.0.0.1", f"--pid-file={self.folder}/pid", "--skip-log-bin",
            f"--tmpdir={self.folder}", "--innodb-flush-log-at-trx-commit=0", *self._settings,
        ]  # fmt: skip
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, **self._owner)
        until = time.monotonic() + LIMIT_S
        while True:
            try:
                self.connect().close()
                return
            except pymysql.err.OperationalError:
                if self._process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"MariaDB does not run: {(self.folder / 'log').read_text()}") from None
                time.sleep(0.1)


_PROGRAMS = ("mariadb-install-db", "mariadbd")
