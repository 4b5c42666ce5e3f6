"""For how long a target's threads ran or waited for a core, where that is known of all that worked.

No thread can have lost a greater share of its time to others' work than that: of a target whose threads sleep, hardly
any. Values are those of the probes `process` and `waits` (docs/probes), of a second or their means.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

UNSEEN_CORES, UNSEEN_SHARE = 0.05, 0.1  # of a process's CPU: used by threads that came since the last look
Values = Mapping[str, float]


def most_ready_share(processes: Mapping[str, Values], waits: Mapping[str, Values]) -> float:
    """The greatest share of the time in which a thread of any of these processes ran or waited for a core, in [0, 1];
    NaN where it is not known of one, or others than the known threads worked. Both by label of the process."""
    each = [_ready_share(values, waits.get(label, {})) for label, values in processes.items()]
    return math.nan if not each or any(map(math.isnan, each)) else max(each)


def _ready_share(process: Values, waits: Values) -> float:
    used, seen = process.get("cpu_cores_used"), waits.get("known_threads_cores_used")
    if used is None or seen is None or used - seen > UNSEEN_CORES + UNSEEN_SHARE * used:
        return math.nan
    return waits["busiest_thread_ready_share"]
