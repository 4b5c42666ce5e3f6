"""What the storage module does with its CPU and memory, seen from within: `--profiler`.

A thread looks at the stacks of all threads SAMPLES_PER_S times a second and counts the function that runs, and
tracemalloc follows every allocation. Both cost what profilers cost: requests take about twice as long, and every
block of memory is kept with its origin. So a load test of a profiled server tells of the profiler as well.
"""

from __future__ import annotations

import sys
import threading
import time
import tracemalloc
from collections import Counter
from pathlib import PurePath
from types import CodeType
from typing import Any

SAMPLES_PER_S = 200
SHOWN = 10
# Functions in which a thread waits for work, and does none.
_WAITING = (
    "wait",
    "get",
    "run_forever",
    "select",
    "_run_until",
    "acquire",
    "run",
    "_wait_for_tstate_lock",
    "_stop_with_input",
    "main",
)


class Profiler:
    """Counts since `start()`; `report()` shows the most frequent functions and the greatest origins of memory."""

    def __init__(self) -> None:
        self._counted: Counter[CodeType] = Counter()
        self._samples = 0
        self._stopped = threading.Event()

    def start(self) -> None:
        """Begin to watch; once."""
        tracemalloc.start(1)
        threading.Thread(target=self._watch, name="profiler", daemon=True).start()

    def stop(self) -> None:
        """End the thread and the tracing."""
        self._stopped.set()
        tracemalloc.stop()

    def report(self) -> dict[str, Any]:
        """{"samples", "functions": [{"function", "share"}], "memory": [{"place", "mb"}], "traced_mb", "peak_mb"}."""
        counted = self._counted.copy()
        busy = sum(counted.values())
        current, peak = tracemalloc.get_traced_memory()
        places = tracemalloc.take_snapshot().statistics("lineno")[:SHOWN] if tracemalloc.is_tracing() else []
        return {
            "samples": self._samples,
            "functions": [
                {"function": _name_of(code), "share": round(count / busy, 4)}
                for code, count in counted.most_common(SHOWN)
            ],
            "memory": [
                {"place": f"{PurePath(one.traceback[0].filename).name}:{one.traceback[0].lineno}",
                 "mb": round(one.size / 2**20, 3)}
                for one in places
            ],
            "traced_mb": round(current / 2**20, 3),
            "peak_mb": round(peak / 2**20, 3),
        }  # fmt: skip

    def _watch(self) -> None:
        own = threading.get_ident()
        while not self._stopped.is_set():
            time.sleep(1 / SAMPLES_PER_S)
            self._samples += 1
            for thread, frame in sys._current_frames().items():
                if thread != own and frame.f_code.co_name not in _WAITING:
                    self._counted[frame.f_code] += 1


def _name_of(code: CodeType) -> str:
    return f"{PurePath(code.co_filename).stem}.{code.co_qualname}"
