"""Names of runs in addresses, and the run directories that they mean: those of one folder, and none beside it.

A run of a study lies in the study's directory, and that of one of many studies in theirs; its name is "STUDY:RUN".
"""

from __future__ import annotations

import os
from pathlib import Path

from plimsoll.runs.kept.catalogue import is_run

INSIDE = ":"
MOST_NAME, MOST_DEEP = 255, 3


class Folder:
    """The folder of runs; it may not be there yet."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.abspath(root))

    def find(self, name: str) -> Path | None:
        """The run directory of that name; None where there is none, or where a link would lead out of the folder."""
        parts = name.split(INSIDE)
        if len(parts) > MOST_DEEP or not all(map(_is_name, parts)):
            return None
        path = self.root
        for part in parts:
            path = path / part
            if path.is_symlink():
                return None
        return path if is_run(path) else None

    def name_of(self, path: Path) -> str | None:
        """The name of a run directory; None of one that is not in the folder."""
        try:
            parts = Path(os.path.abspath(path)).relative_to(self.root).parts
        except ValueError:
            return None
        name = INSIDE.join(parts)
        return name if self.find(name) is not None else None


def _is_name(text: str) -> bool:
    return 0 < len(text) <= MOST_NAME and text not in (".", "..") and not any(one in text for one in ("/", "\\", "\0"))
