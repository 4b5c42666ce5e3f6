"""Starts a target of the lab as a process, waits for its ready line, and stops it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

END_S = 30


@dataclass
class LabProcess:
    """A target that serves, and what its ready line says."""

    process: subprocess.Popen[str]
    ready: dict[str, Any]
    _errors: IO[str]

    @property
    def url(self) -> str:
        return str(self.ready["url"])

    def first_user(self) -> dict[str, str]:
        """The first of users.json."""
        found: dict[str, str] = json.loads(Path(self.ready["users"]).read_text())[0]
        return found

    def errors(self) -> str:
        """What it wrote to standard error so far."""
        self._errors.seek(0)
        return self._errors.read()


def lab_command(target: str, *options: object) -> list[str]:
    return [sys.executable, "-m", "plimsoll_lab", target, *map(str, options)]


@contextlib.contextmanager
def lab_process(target: str, *options: object, cwd: Path | None = None) -> Iterator[LabProcess]:
    """The target on a free port, unless `options` name one, until the end of the context. If it does not get ready,
    that is an AssertionError with what it said."""
    command = lab_command(target, "--port", 0, *options)
    with (
        tempfile.TemporaryFile("a+") as errors,  # appended to by the process, wherever it is being read
        subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            served = LabProcess(process, json.loads(line or "{}"), errors)
            assert line, served.errors()
            yield served
        finally:
            process.terminate()
            try:
                process.wait(timeout=END_S)
            finally:
                process.kill()


def ended_process(target: str, *options: object) -> subprocess.CompletedProcess[str]:
    """A target that ends by itself."""
    return subprocess.run(lab_command(target, *options), capture_output=True, text=True, check=False, timeout=60)
