"""For the scripts that start a study's target: a PostgreSQL server in its folder, the target itself, how to refuse.

The server is that of the system's package (Debian: apt-get install postgresql).
"""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

READY_S = 60


def told(file: str, work: Callable[[], int]) -> int:
    """The exit code of `work`; 2 where a program or the system refused, said with what to do."""
    try:
        return work()
    except subprocess.CalledProcessError as error:
        return refused(file, f"{' '.join(map(str, error.cmd))} ended with {error.returncode}.", "Its words are above.")
    except (OSError, RuntimeError) as error:
        return refused(file, str(error), "Put that right and start again.")


def refused(file: str, what: str, step: str) -> int:
    """Say what is wrong and what to do; 2, the exit code of wrong input."""
    print(f"{file}: {what} {step}", file=sys.stderr)
    return 2


def create(folder: Path, user: str) -> None:
    """An empty server in FOLDER/data whose superuser `user` needs no password on this host. What was there goes."""
    data = folder / "data"
    if data.exists():
        shutil.rmtree(data)
    folder.mkdir(parents=True, exist_ok=True)
    owner = _owner()
    if owner:
        os.chown(folder, owner["user"], owner["group"])
    words = ["-D", data, "-A", "trust", "-U", user, "-E", "UTF8", "--locale=C"]
    subprocess.run([program("initdb"), *words], check=True, cwd=folder, stdout=subprocess.DEVNULL, **owner)


@contextmanager
def running(folder: Path, port: int, settings: Sequence[str] = ()) -> Iterator[None]:
    """The server of the folder on 127.0.0.1, while the block runs. RuntimeError if it does not start."""
    settings = [f"port={port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={folder}", *settings]
    options = [word for setting in settings for word in ("-c", setting)]
    server = subprocess.Popen([program("postgres"), "-D", folder / "data", *options], cwd=folder, **_owner())
    try:
        # By its socket in the folder: another server may answer on the port, and ours then ends.
        ready = [program("pg_isready"), "-h", folder, "-p", str(port), "-q"]
        deadline = time.monotonic() + READY_S
        while subprocess.run(ready, check=False).returncode != 0:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL does not start on port {port}; its words are above")
            time.sleep(0.1)
        yield
    finally:
        server.send_signal(signal.SIGINT)  # fast shutdown, which ends sessions
        server.wait(timeout=60)


def served(
    command: Sequence[str | Path], environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> int:
    """The exit code of the target's own server, which runs in `folder` until it ends or Ctrl-C or an exit of this
    process ends it."""
    server = subprocess.Popen(command, env=environment, cwd=folder)
    try:
        return server.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        server.terminate()
        server.wait(timeout=30)


def exit_when_terminated() -> None:
    """From here on SIGTERM ends this process as an exit does, with what `running` and `served` do at their end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))


def program(name: str) -> str:
    """A program of PostgreSQL, of the newest version that is installed."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), key=lambda path: int(path.split("/")[4]))
    path = found[-1] if found else shutil.which(name)
    if path is None:
        raise RuntimeError(f"there is no {name} here: install PostgreSQL (Debian: apt-get install postgresql)")
    return path


def _owner() -> dict[str, Any]:
    """PostgreSQL refuses to be root; then it runs as the user that its package made."""
    if os.geteuid() != 0:
        return {}
    entry = pwd.getpwnam("postgres")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
