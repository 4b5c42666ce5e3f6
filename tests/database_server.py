"""What the tests' own database servers share: a folder of its own, a free port, an account, stopped by its id."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from plimsoll_lab.ports import free_port


class DatabaseServer(ABC):
    """A context that runs a server, which can be stopped, paused and started again. Root starts it as `account`."""

    account: str
    end_signal: signal.Signals

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=f"plimsoll-{self.account}-"))
        self.port = free_port()
        self._owner: dict[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def _install(self) -> None:
        """Make its data."""

    @abstractmethod
    def start(self) -> None:
        """Start it and wait until it takes connections."""

    def __enter__(self) -> Self:
        try:
            if os.geteuid() == 0:
                owner = pwd.getpwnam(self.account)
                os.chown(self.folder, owner.pw_uid, owner.pw_gid)
                self._owner = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
            self._install()
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

    def stop(self) -> None:
        """End it, whatever its sessions do."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)
        self._process.send_signal(self.end_signal)
        self._process.wait(timeout=30)
        self._process = None

    def pause(self) -> None:
        """Have it hang until `resume`; returns when none of its threads runs, as one may still answer."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        tasks = Path(f"/proc/{self._process.pid}/task")
        while not all((task / "stat").read_text().rpartition(")")[2].split()[0] == "T" for task in tasks.iterdir()):
            time.sleep(0.01)

    def resume(self) -> None:
        """End the hanging."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)
