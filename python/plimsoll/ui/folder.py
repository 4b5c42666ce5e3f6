"""Names of runs in addresses, and the run directories that they mean: those of one folder, and none beside it.

A run of a study lies in the study's directory; its name is "STUDY:RUN".
"""

from __future__ import annotations

import os
from pathlib import Path

from plimsoll.runs.directory import MANIFEST
from plimsoll.runs.kept.catalogue import is_run

INSIDE = ":"
MOST_NAME = 255


class Folder:
    """The folder of runs; it may not be there yet."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.abspath(root))

    def find(self, name: str) -> Path | None:
        """The run directory of that name; None where there is none, or where a link would lead out of the folder."""
        outer, _, inner = name.partition(INSIDE)
        if not _is_name(outer) or not is_run(self.root / outer):
            return None
        path = self.root / outer
        if not inner:
            return path
        return _run_inside(path / inner) if _is_name(inner) else None

    def name_of(self, path: Path) -> str | None:
        """The name of a run directory; None of one that is not in the folder."""
        try:
            parts = Path(os.path.abspath(path)).relative_to(self.root).parts
        except ValueError:
            return None
        name = INSIDE.join(parts)
        return name if 1 <= len(parts) <= 2 and self.find(name) is not None else None


def _is_name(text: str) -> bool:
    return (
        0 < len(text) <= MOST_NAME
        and text not in (".", "..")
        and not any(one in text for one in ("/", "\\", "\0", INSIDE))
    )


def _run_inside(path: Path) -> Path | None:
    is_real = path.is_dir() and not path.is_symlink()
    return path if is_real and (path / MANIFEST).is_file() and not (path / MANIFEST).is_symlink() else None
