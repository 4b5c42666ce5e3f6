"""A folder as somebody might hand it over with results: modules in it are named like those that programs import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from plimsoll.own_programs import HOME

NAMES = ("types", "json", "psutil", "random", "subprocess", "runpy", "numpy", "plimsoll/__init__", "plimsoll/__main__")
LATER = ("psutil", "random", "numpy", "typer")  # nothing imports them before the command has begun


def hostile_folder(folder: Path, names: tuple[str, ...] = NAMES) -> Path:
    """Make the folder; each module of it that is run leaves a file in the folder `ran` beside it."""
    folder.mkdir(exist_ok=True)
    ran = folder.with_name("ran")
    ran.mkdir(exist_ok=True)
    for name in (*names, "sitecustomize", "usercustomize"):
        file = folder / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"open({str(ran / name.replace('/', '.'))!r}, 'w').close()\n")
    return folder


def ran_in(folder: Path) -> list[str]:
    """Which of its modules were run."""
    return sorted(path.name for path in folder.with_name("ran").iterdir())


def command_script(folder: Path) -> list[str]:
    """The command `plimsoll` as pip installs it, but for the rest of this very package, in `folder`."""
    script = folder / "plimsoll-command"
    script.write_text(f"import sys\nsys.path.insert(1, {HOME!r})\nfrom plimsoll.__main__ import main\nmain()\n")
    return [sys.executable, str(script)]


def ended(command: list[str], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command run to its end there, without PYTHONPATH unless one is given."""
    given: dict[str, Any] = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | environment
    return subprocess.run(command, cwd=cwd, env=given, capture_output=True, text=True, check=False, timeout=400)
