"""Reports of runs, made when they are asked for and kept in memory: nothing is written into a run directory."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from pathlib import Path

from plimsoll.runs.directory import FINDINGS, MANIFEST
from plimsoll.runs.kept.labels import NOTES

MOST_KEPT = 4  # a report is one to three MB


class Reports:
    """One is made at a time: each takes a core for seconds."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Path, tuple[int, ...]], str] = OrderedDict()
        self._lock = threading.Lock()

    def page(self, run: Path) -> str:
        """The report of a run as HTML. RunDirectoryError if it cannot be read."""
        from plimsoll.report.drawing import Drawing
        from plimsoll.report.html import render
        from plimsoll.report.run_evidence import read_run

        key = (run, tuple(_changed(run / name) for name in (MANIFEST, FINDINGS, NOTES)))
        with self._lock:
            if key not in self._kept:
                with Drawing() as drawing:
                    self._kept[key] = render(read_run(run), drawing.svg, drawing.library)
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
            return self._kept[key]


def _changed(path: Path) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
