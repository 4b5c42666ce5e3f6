"""Install a lock into an environment, with hashes: by uv, which takes seconds where pip takes minutes, else by pip.

    python supply/install.py ENVIRONMENT/bin/python LOCK

uv itself is installed beside this Python first, as supply/locks/development.txt has it. It is told which index pip is
told of; where it does not get through (a certificate, a mirror or a login that only pip knows), pip installs the same.
Both compile what they install: else each process does, and a start of the command takes twice as long.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

LOCKS = Path(__file__).with_name("locks")
UV = Path(sys.executable).with_name("uv")
PIP = ("-m", "pip", "--disable-pip-version-check")
TIMEOUT_S = "15"  # of one request, as an index that cannot be reached is no reason to wait


def main() -> None:
    python, lock = sys.argv[1:]
    if not (has_uv() and by_uv(python, lock)):
        sys.exit(by_pip(python, lock))


def has_uv() -> bool:
    """Whether uv is there; it is installed where it is not."""
    if UV.exists():
        return True
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as alone:
        alone.write(lines_of("uv", (LOCKS / "development.txt").read_text(encoding="utf-8")))
        alone.flush()
        by_pip(sys.executable, alone.name)
    return UV.exists()


def lines_of(package: str, lock: str) -> str:
    """The lines of a lock that say which version of a package, and its hashes."""
    found, is_of_it = [], False
    for line in lock.splitlines(keepends=True):
        if not line.startswith((" ", "#")):
            is_of_it = line.startswith(f"{package}==")
        if is_of_it:
            found.append(line)
    return "".join(found)


def by_uv(python: str, lock: str) -> bool:
    """Whether uv installed it."""
    environment = {"UV_HTTP_TIMEOUT": TIMEOUT_S, **os.environ}
    index = os.environ.get("PIP_INDEX_URL") or pip_says("global.index-url")
    if index:
        environment.setdefault("UV_DEFAULT_INDEX", index)
    certificates = os.environ.get("PIP_CERT") or pip_says("global.cert")
    if certificates:
        environment.setdefault("SSL_CERT_FILE", certificates)
    command = [str(UV), "pip", "install", "--quiet", "--compile-bytecode", "--python", python]
    command += ["--require-hashes", "--requirement", lock]
    return subprocess.run(command, env=environment, check=False).returncode == 0


def by_pip(python: str, lock: str) -> int:
    """pip's exit code."""
    command = [python, *PIP, "install", "--quiet", "--require-hashes", "--requirement", lock]
    return subprocess.run(command, check=False).returncode


def pip_says(setting: str) -> str:
    """What pip's configuration has for that; empty where it has nothing."""
    done = subprocess.run([sys.executable, *PIP, "config", "get", setting], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    main()
