"""docs/tutorial.md as a reader does it: its files, its commands in their order, and the limit that it plants."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from markdown_pages import ROOT, fences

from plimsoll_lab.ports import free_port

PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
SERVICE = "python3 shop.py"


@dataclass
class Reader:
    """Who follows the page in a folder; the page's port is one that is free here."""

    folder: Path
    port: int = field(default_factory=free_port)
    service: subprocess.Popen[bytes] | None = None
    printed: list[str] = field(default_factory=list)

    def save(self, title: str, code: str) -> None:
        """A file of the page, or a function of `shop.py` that it writes anew."""
        code = code.replace("8000", str(self.port))
        name = "shop.py" if title == "sell" else title
        place = self.folder / name
        if title == "sell":
            before = place.read_text(encoding="utf-8")
            changed = re.sub(r"def sell\(\):\n(?:    .*\n)+", lambda _: code, before)
            assert changed != before
            code = changed
        place.write_text(code, encoding="utf-8")

    def type(self, command: str) -> None:
        """A line of the page: the service in a terminal of its own, else a command that has to end well."""
        command = command.replace("8000", str(self.port))
        if command == SERVICE:
            self.stop()
            self.service = subprocess.Popen([sys.executable, *command.split()[1:]], cwd=self.folder)
            wait_for(self.port)
            return
        words = shlex.split(command)
        assert words[0] == "plimsoll"
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=self.folder, capture_output=True, text=True, timeout=400, env=os.environ
        )
        assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
        self.printed.append(done.stdout)

    def stop(self) -> None:
        if self.service is not None:
            self.service.terminate()
            self.service.wait(10)

    def answers(self) -> list[dict[str, Any]]:
        """The first finding of each capacity, in their order."""
        runs = sorted((self.folder / "runs").glob("*-capacity-*"))
        return [json.loads((run / "findings.json").read_text(encoding="utf-8"))[0] for run in runs]


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    reader = Reader(tmp_path)
    yield reader
    reader.stop()


def wait_for(port: int) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        with socket.socket() as connection:
            if connection.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nothing listens on {port}")


def limits(finding: dict[str, Any]) -> set[str]:
    """What the answer names as the limit, proven or, on a busy machine, seen in a short step."""
    limit = finding["limited_by"]
    short = limit.get("in_short_step") or {}
    return {limit["kind"], short.get("kind", "")}


def test_the_tutorial_names_its_lock_and_proves_the_fix(reader: Reader) -> None:
    for language, title, code in fences(PAGE):
        named = re.search(r'title="([^"]+)"', title)
        if named is not None:
            reader.save(named[1], code)
        elif language == "console":
            for line in code.splitlines():
                reader.type(line.removeprefix("$ "))
    before, after = reader.answers()
    assert "lock" in limits(before), before["limited_by"]
    # 4 ms under one lock are 250 sales a second at most, 6.25 times the 40 that are declared.
    most = 6.25
    assert before["capacity"]["good"] < most
    assert "lock" not in limits(after), after["limited_by"]
    assert after["capacity"]["good"] > most
    assert "checks_succeeded...: 100.00%" in reader.printed[0]
    assert "3 runs in runs" in reader.printed[-1]
