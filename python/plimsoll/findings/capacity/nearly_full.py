"""What was nearly full at the highest level that was carried, where no level was proven to be too much.

Nothing limited the target there. But users who wait for answers ask for no more than it gives: a closed load then finds
no level that is too much, though work already waits for the resource named here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plimsoll.findings.capacity.run_resources import ONE_THREAD_SHARE
from plimsoll.findings.limits.cores import PINNED_CLOSE
from plimsoll.findings.limits.limit import Limit, Scope
from plimsoll.findings.resources import Means, Step, are_cores_of_others, processes
from plimsoll.words import level_words, number, share_words

NEARLY = 0.80  # of what there is: from there on waiting times grow steeply (1 ÷ (1 − utilisation) is 5)
SLOWER = 3.0  # times the mean response time of the lowest level: work waits


def nearly_full(
    facts: Mapping[str, Any], steps: Sequence[Step], means: Sequence[Means], limited: dict[str, Any]
) -> dict[str, Any]:
    """`limited` with `nearly_full` and its evidence, where it names nothing and a resource was nearly full."""
    pairs = [(step, seen) for step, seen in zip(steps, means, strict=True) if seen]
    held = [(step, seen) for step, seen in pairs if (step["level"], step["verdict"]) == (facts["good"], "good")]
    if limited["kind"] != "none" or not held:
        return limited
    top, here = max(held, key=lambda pair: pair[0]["end_s"] - pair[0]["measured_from_s"])
    lowest, low = min(pairs, key=lambda pair: pair[0]["level"])
    if lowest["level"] >= top["level"]:
        return limited
    words = f"at {level_words(top['level'], facts['unit'])}", f"at {level_words(lowest['level'], facts['unit'])}"
    slower = _slower(top, lowest)
    found = [one for one in _resources(here, low, words, slower is not None) if one.rose and one.utilisation >= NEARLY]
    if not found:
        return limited
    first = max(found, key=lambda one: one.utilisation).to_json()
    if slower is not None:
        more = f" A response took {slower[0]} {words[0]}, {slower[1]} {words[1]}."
        first["evidence"] += more
    return limited | {"evidence": f"No level was proven to be too much. {first['evidence']}", "nearly_full": first}


def _slower(top: Step, lowest: Step) -> tuple[str, str] | None:
    """The mean response times, where that of the highest level is clearly longer: work waits."""
    here, low = top.get("mean_ms"), lowest.get("mean_ms")
    if not here or not low or here < SLOWER * low:
        return None
    return f"{number(here)} ms", f"{number(low)} ms"


def _resources(here: Means, low: Means, words: tuple[str, str], waits: bool) -> Iterator[Limit]:
    """Processes of one core, the cores of this host and its disk. `waits`: whether responses are slow, without which a
    process that uses nearly a core is only one that uses nearly a core."""
    for label, values in processes(here).items():
        yield from _of_process(label, values, processes(low).get(label, {}), words, waits)
    host, then = here.get("host", {}), low.get("host", {})
    if "cpu_share" in host and not are_cores_of_others(here):
        share, before = host["cpu_share"], then.get("cpu_share", 0.0)
        text = f"CPU of the host was {share_words(share)} busy {words[0]}, {share_words(before)} {words[1]}."
        yield Limit("cpu", "all cores of the host", share, before, text, "", Scope.HOST_CORES)
    if "disk_busy_share" in host:
        share, before = host["disk_busy_share"], then.get("disk_busy_share", 0.0)
        text = f"The busiest disk was {share_words(share)} busy {words[0]}, {share_words(before)} {words[1]}."
        yield Limit("disk", "the busiest disk of the host", share, before, text, "", Scope.HOST_DISK)


def _of_process(
    label: str, here: Mapping[str, float], low: Mapping[str, float], words: tuple[str, str], waits: bool
) -> Iterator[Limit]:
    used, thread = here.get("cpu_cores_used"), here.get("busiest_thread_cores_used", 0.0)
    if used is None or here.get("processes", 1.0) > 1:
        return
    is_thread = thread >= ONE_THREAD_SHARE * used
    if not is_thread and (not waits or used > 1 + PINNED_CLOSE):
        return
    where = f"one core of target process {label}"
    then = low.get("cpu_cores_used", 0.0)
    why = "One thread did most of it" if is_thread else "That may be all it can use (a lock of its interpreter)"
    text = f"Target process {label} used {number(used)} of 1 CPU core {words[0]}, {number(then)} {words[1]}. {why}."
    yield Limit("cpu", where, min(1.0, used), then, text, "", Scope.THREAD if is_thread else Scope.PROCESS, label)
