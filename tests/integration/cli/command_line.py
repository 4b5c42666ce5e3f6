"""The command as a user runs it, for tests."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from plimsoll.runs.directory import began
from plimsoll.runs.format.lines import placed_lines

TESTKIT = Path(__file__).parents[3] / "target" / "release" / "plimsoll-testkit"
LIMIT_S = 90.0


MINUTE_OF_LOAD = """import http from 'k6/http';
import { sleep } from 'k6';
export const options = { vus: 2, duration: '60s' };
export default function () { http.get(__ENV.BASE_URL); sleep(0.02); }
"""


class Cli:
    """Runs `plimsoll` in a folder of its own. What is still running at the end of the test is killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._running: list[subprocess.Popen[str]] = []

    def write(self, **files: str) -> None:
        """Write files; `script_js="…"` becomes script.js."""
        for name, text in files.items():
            (self.folder / name.replace("__", "/").replace("_", ".")).write_text(text)

    def command(self, *arguments: object) -> list[str]:
        """The command line with those arguments."""
        return [sys.executable, "-m", "plimsoll", *map(str, arguments)]

    def __call__(self, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run to the end."""
        command = self.command(*arguments)
        return subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, timeout=LIMIT_S, check=False, **options
        )

    def begin(self, *arguments: object) -> subprocess.Popen[str]:
        """Start and leave running, as the leader of its own group."""
        return self.begin_after(None, *arguments)

    def begin_after(self, program: str | None, *arguments: object) -> subprocess.Popen[str]:
        """The same, started by another program, as `nohup`."""
        command = [*([program] if program else []), *self.command(*arguments)]
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._running.append(process)
        return process

    def runs(self, folder: str = "runs") -> list[Path]:
        """The run directories that have a manifest, oldest first."""
        return sorted((path.parent for path in (self.folder / folder).glob("*/manifest.json")), key=began)

    def end(self) -> None:
        for process in self._running:
            if process.poll() is None:
                process.kill()
            process.communicate()


def wait_until(condition: Callable[[], Any], what: str) -> Any:
    """Poll until the condition holds; fails the test with `what` after LIMIT_S."""
    deadline = time.monotonic() + LIMIT_S
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited in vain for: {what}"
        time.sleep(0.02)
    return value


def seconds_written(run_directory: Path) -> int:
    """Whole seconds in series.jsonl.zst."""
    return sum(1 for _ in placed_lines(run_directory / "series.jsonl.zst"))


def lives(pid: int) -> bool:
    """Whether that process runs and is no zombie."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def working_in(folder: Path) -> list[psutil.Process]:
    """The processes whose working directory that is, zombies left out."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if Path(process.cwd()) == folder.resolve() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def assert_one_clear_message(text: str) -> None:
    """No traceback, no line twice, and it begins with the program's name."""
    assert "Traceback" not in text
    lines = [line for line in text.splitlines() if line.strip()]
    assert lines and lines[0].startswith("plimsoll"), text
    assert len(lines) == len(set(lines)), text
