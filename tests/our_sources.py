"""The Python files of the tool and of the lab."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOL, LAB = ROOT / "python" / "plimsoll", ROOT / "lab" / "plimsoll_lab"


def of_our_packages() -> Iterator[tuple[Path, str]]:
    """Each file with its name within the tool, or, of the lab, with that package in front."""
    for file in TOOL.rglob("*.py"):
        yield file, file.relative_to(TOOL).as_posix()
    for file in LAB.rglob("*.py"):
        yield file, file.relative_to(LAB.parent).as_posix()
