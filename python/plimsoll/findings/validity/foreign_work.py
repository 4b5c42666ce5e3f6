"""Work of others on the host: CPU time that neither the target nor the generator used, and time that the hypervisor
took.

What others use of a full host is capacity that the target did not have: what it carried is that of what was left. Not
so where its threads slept: none can have lost more of its time than that in which it ran or waited for a core. The
generator's process includes the probes. Known where a process of the target was probed on this host.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.findings.resources import Means, host_of, processes, target_cores
from plimsoll.runs.readings.ready_threads import most_ready_share
from plimsoll.words import number, share_words

HOST_BUSY = 0.90
NAMED_CORES, NAMED_SHARE = 0.2, 0.10  # of the host; less is the kernel's own work for network and timers
LARGE_SHARE = 0.20  # of the host: the capacity may be a fifth greater without it
STOLEN_SHARE = 0.10
THREAD_FULL = 0.95
HARDLY = 0.10  # of the time of any thread of the target: its throughput is at most that much smaller
OF_WHAT_WAS_LEFT = "so the target had only what was left"
FASTER, MORE = "may answer faster than this run shows", "may carry more than this run shows"
_OF_THROUGHPUT = ("throughput", "counts")
_MAY = {"throughput": MORE, "response_time": FASTER, "mean_time": FASTER, "counts": "may do more than this run shows"}


@dataclass(frozen=True)
class ForeignWork:
    """`cores` of the host's `of` that others used, or the hypervisor took (`stolen`); `took_capacity`: the host was
    full, and it was enough to make the target's capacity another one; `waited`: the greatest share of the time in which
    a thread of the target ran or waited for a core, NaN where that is not known."""

    cores: float
    of: float
    stolen: bool
    took_capacity: bool
    waited: float = math.nan

    def spoils(self, rests_on: str) -> bool:
        """Whether what rests on that would be another one without it."""
        return self.took_capacity and not (rests_on in _OF_THROUGHPUT and self.waited <= HARDLY)

    def words(self, level: str, rests_on: str) -> str:
        """ "At 592/s: other processes used 1.1 of the host's 2 cores, so the target had only what was left …";
        `rests_on`: what the experiment answers (validity.py)."""
        return f"At {level}: {self.clause(rests_on)}"

    def clause(self, rests_on: str) -> str:
        """The same without its place."""
        who = "the hypervisor took" if self.stolen else "other processes used"
        text = f"{who} {number(self.cores)} of the host's {self.of:g} cores"
        if not self.took_capacity:
            return f"{text}."
        if not self.spoils(rests_on):
            waited = (
                f"no thread of the target ran or waited for one in more than {share_words(self.waited)} of the time"
            )
            return f"{text}; {waited}."
        return f"{text}, {OF_WHAT_WAS_LEFT}{f' and {_MAY[rests_on]}' if rests_on in _MAY else ''}."

    @property
    def remedy(self) -> str:
        """What to do about it."""
        if self.stolen:
            return "Move to a quieter host, or to a machine with cores of its own."
        return (
            "Stop what else runs on the host and run it again; if it belongs to the target, name it in "
            "target.processes of a study."
        )


def foreign_work(seen: Means, generator_cores: float | None) -> list[ForeignWork]:
    """What others took in a step, from its probe means; none where it is small or not known."""
    host = seen.get("host", {})
    cores, busy = host.get("cores"), host.get("cpu_share")
    if not cores or busy is None:
        return []
    stolen = host.get("cpu_steal_share", 0.0)
    full = busy + stolen > HOST_BUSY and not _is_one_full_thread(seen)
    found = []
    known = target_cores(seen)
    if known is not None and generator_cores is not None:
        others = busy * cores - known - generator_cores
        if others >= max(NAMED_CORES, NAMED_SHARE * cores):
            found.append(ForeignWork(others, cores, False, full and others >= LARGE_SHARE * cores, _waited(seen)))
    if stolen >= STOLEN_SHARE:
        found.append(ForeignWork(stolen * cores, cores, True, full))
    return found


def _is_one_full_thread(seen: Means) -> bool:
    """Whether the target is at the ceiling of one thread, which had a whole core: others took nothing from it."""
    return any(values.get("busiest_thread_cores_used", 0.0) >= THREAD_FULL for values in _here(seen).values())


def _waited(seen: Means) -> float:
    here = _here(seen)
    return most_ready_share(here, {label: seen.get(f"waits:{label}", {}) for label in here})


def _here(seen: Means) -> dict[str, Mapping[str, float]]:
    """The target's processes on this host."""
    return {label: values for label, values in processes(seen).items() if not host_of(label, values)}
