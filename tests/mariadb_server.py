"""A MariaDB server of the tests' own: in a folder of its own, on a free port, stopped by its id.

It only has to be installed (`make mariadb`).
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import pymysql

from plimsoll.lab.ports import free_port

MISSING = "There is no MariaDB server on this machine. Install Debian's package mariadb-server."
LIMIT_S = 60


class MariadbServer:
    """A context that runs a server; `settings` go to its command line. It can be stopped, paused and started again.

    Root starts it as the user mysql. The account "root" has every right and no password.
    """

    def __init__(self, *settings: str, measures: bool = True) -> None:
        found = [shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin") for name in _PROGRAMS]
        if None in found:
            raise FileNotFoundError(MISSING)
        self._install, self._server = map(str, found)
        self.folder = Path(tempfile.mkdtemp(prefix="plimsoll-mariadb-"))
        self.port = free_port()
        self._settings = [f"--performance-schema={'ON' if measures else 'OFF'}", *settings]
        self._owner: dict[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def dsn(self, user: str = "root", database: str = "shop", password: str = "") -> str:
        """Where it answers."""
        secret = f":{password}" if password else ""
        return f"mysql://{user}{secret}@127.0.0.1:{self.port}/{database}"

    def connect(self, user: str = "root", password: str = "", database: str | None = None) -> Any:
        """A connection of pymysql."""
        return pymysql.connect(
            host="127.0.0.1", port=self.port, user=user, password=password, database=database, autocommit=True
        )

    def __enter__(self) -> MariadbServer:
        try:
            if os.geteuid() == 0:
                owner = pwd.getpwnam("mysql")
                os.chown(self.folder, owner.pw_uid, owner.pw_gid)
                self._owner = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
            command = [self._install, "--no-defaults", f"--datadir={self.folder}/data", "--skip-test-db"]
            normal = ["--auth-root-authentication-method=normal", f"--tmpdir={self.folder}"]
            with (self.folder / "install.log").open("wb") as log:
                subprocess.run(
                    [*command, *normal], check=True, cwd=self.folder, stdout=log, stderr=log, **self._owner
                )  # fmt: skip
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

    def stop(self) -> None:
        """End it, whatever its sessions do."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)
        self._process.kill()
        self._process.wait(timeout=30)
        self._process = None

    def pause(self) -> None:
        """Have it hang until `resume`."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """End the hanging."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)


_PROGRAMS = ("mariadb-install-db", "mariadbd")
