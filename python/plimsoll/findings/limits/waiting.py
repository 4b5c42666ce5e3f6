"""Limits that show in no core and no disk: quotas and memory limits of control groups, pools, queues for workers, and
what requests wait for.

A quota is a ceiling as hard as a core's. What waits is named only where nothing hard is near its ceiling: work queues
up before whatever is slow, so that a full pool is as often a symptom as a cause. Of what waits, the farther is named
before the nearer: workers that all wait for another service are no lack of workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from plimsoll.findings.limits.dependency import Calls, calls_of, dependency_limits, possible_dependencies
from plimsoll.findings.limits.limit import NEAR_CEILING, Limit, Scope, to_try
from plimsoll.findings.limits.locks import disk_waits, lock_limits
from plimsoll.findings.limits.network import network_limits
from plimsoll.findings.limits.pools import full_pools, steady_connections
from plimsoll.findings.resources import Means
from plimsoll.words import count_words, counted_words, number, share_words, size_words

FULL = 0.95
THROTTLED_PERIODS = 0.10
LEAST_QUEUE = 3.0
LEAST_STALL = 0.10  # of the time that tasks waited for memory


def group_limits(here: Means, low: Means, words: str, before: str) -> list[Limit]:
    """CPU quotas and memory limits of control groups that were reached in the overloaded step."""
    found = []
    for label, values in _of("cgroup", here):
        then = low.get(f"cgroup:{label}", {})
        share = values.get("cpu_limit_share")
        if share is not None and (
            share >= NEAR_CEILING or values.get("cpu_throttled_periods_share", 0.0) >= 3 * THROTTLED_PERIODS
        ):
            cores, held = values.get("cpu_limit_cores", 0.0), values.get("cpu_throttled_periods_share", 0.0)
            quiet = f"; {share_words(then['cpu_limit_share'])} {before}" if "cpu_limit_share" in then else ""
            text = (
                f"It used {share_words(share)} of its quota of {number(cores)} cores {words}, and was held up in "
                f"{share_words(held)} "
            )
            text += f"of the periods{quiet}."
            more = f"{to_try(cores, 'cores')} " if cores else ""
            remedy = (
                f"raise the quota {more}(cpu.max, CPUQuota= of its service, --cpus of its container), or start more "
                f"processes of {label} with quotas of their own"
            )
            low_share = then.get("cpu_limit_share")
            where, used = f"CPU quota of {label}", min(1.0, share)
            found.append(Limit("cpu_quota", where, used, low_share, text, remedy, Scope.QUOTA, label))
        found += _disk_limit(label, values, then, words, before)
        found += [*memory_limits(label, values, words), *_memory_high(label, values, then, words, before)]
    return found


def _disk_limit(
    label: str, values: Mapping[str, float], then: Mapping[str, float], words: str, before: str
) -> Iterator[Limit]:
    """What the control group may read or write."""
    share = values.get("disk_limit_share", 0.0)
    if share < NEAR_CEILING:
        return
    bytes_per_s, operations = values.get("disk_limit_bytes_per_s"), values.get("disk_limit_operations_per_s")
    size = f"{size_words(bytes_per_s)}/s" if bytes_per_s else f"{counted_words(operations or 0, 'operation')}/s"
    quiet = f", {share_words(then['disk_limit_share'])} {before}" if "disk_limit_share" in then else ""
    text = f"It used {share_words(share)} of the {size} that its control group may read or write {words}{quiet}."
    more = to_try(bytes_per_s / 2**20, "MiB/s") if bytes_per_s else to_try(operations or 0.0, "operations/s")
    remedy = f"raise the limit {more} (io.max, blkio.throttle), or have it write less for an operation"
    yield Limit("disk", f"disk limit of {label}", min(1.0, share), then.get("disk_limit_share"), text, remedy)


def memory_limits(label: str, values: Mapping[str, float], words: str) -> list[Limit]:
    """The memory limit of a control group in which processes were killed, or which was hit."""
    kills, hits = values.get("oom_kills_per_s", 0.0), values.get("memory_limit_hits_per_s", 0.0)
    share = values.get("memory_share", 0.0)
    if not kills and not (hits and share >= FULL):
        return []
    limit = values.get("memory_limit_bytes")
    size = f" of {size_words(limit)}" if limit else ""
    what = (
        "a process was killed for want of memory"
        if kills
        else f"{share_words(share)} of it was used and the limit was hit"
    )
    more = f" {to_try(limit / 2**20, 'MiB')}" if limit else ""
    text = f"Limit{size}: {what} {words}."
    remedy = (
        f"raise the limit{more} (memory.max, MemoryMax= of its service, --memory of its container), or have it hold "
        "less at a time"
    )
    return [Limit("memory_limit", f"memory limit of {label}", 1.0 if kills else share, None, text, remedy)]


def _memory_high(
    label: str, values: Mapping[str, float], then: Mapping[str, float], words: str, before: str
) -> Iterator[Limit]:
    """memory.high, above which nothing is killed: the kernel holds the tasks up until memory was given back. A group
    may live at it at no cost, so that where the kernel tells how long tasks waited for memory, they must have."""
    share, hits = values.get("memory_high_share", 0.0), values.get("memory_high_hits_per_s", 0.0)
    if not hits or share < FULL:
        return
    waited, calm = values.get("memory_pressure_share"), then.get("memory_pressure_share")
    if waited is not None and waited < max(LEAST_STALL, 2 * (calm or 0.0)):
        return
    size = size_words(values["memory_high_bytes"])
    held = f"; its tasks waited for memory in {share_words(waited)} of the time" if waited is not None else ""
    quiet = f", {share_words(calm)} {before}" if waited is not None and calm is not None else ""
    text = (
        f"It used {share_words(share)} of {size} (memory.high), from where on the kernel holds it up, {words}, and was "
        f"held up {number(hits)} times a second{held}{quiet}."
    )
    more = to_try(values["memory_high_bytes"] / 2**20, "MiB")
    remedy = f"raise memory.high {more} (MemoryHigh= of its service), or have it hold less at a time"
    yield Limit("memory_limit", f"memory.high of {label}", min(1.0, share), None, text, remedy)


def waiting_limits(here: Means, low: Means, unfinished: float, words: str, before: str) -> list[Limit]:
    """What work waited for, the likeliest cause first: pools that were full, answers of other services, the network,
    disks, workers, locks.

    `unfinished`: iterations that were under way at the end of the step."""
    calls = [call for label, values in _of("sockets", here) for call in calls_of(label, values, here)]
    pools = [*full_pools(here, low, words), *steady_connections(calls, here, unfinished, words)]
    locks = lock_limits(here, low, unfinished, words, before)
    services = dependency_limits(calls, words)
    # A lock inside the service that is waited for, or called in an order that is not known, is the better name for it;
    # one before a full pool is its queue.
    called = {call.service for call in calls if call.is_waited_for or call.waiting_share is None} - {""}
    pooled = {limit.owner for limit in pools if limit.scope is Scope.CONNECTIONS}
    within = [lock for lock in locks if lock.owner in called]
    others = [lock for lock in locks if lock not in within and lock.owner not in pooled]
    return [
        *within,
        *pools,
        *services,
        *network_limits(here, low, calls, unfinished, words, before),
        *disk_waits(here, low, unfinished, words, before),
        *_queues(here, low, calls, words, before),
        *others,
    ]


def _of(kind: str, means: Means) -> Iterator[tuple[str, dict[str, float]]]:
    for source, values in means.items():
        if source.startswith(f"{kind}:"):
            yield source.partition(":")[2], values


def _queues(here: Means, low: Means, calls: Iterable[Calls], words: str, before: str) -> list[Limit]:
    """Workers that are all taken, each followed by what they may wait for."""
    found = []
    for label, values in _of("sockets", here):
        queue, then = values.get("accept_queue", 0.0), low.get(f"sockets:{label}", {}).get("accept_queue")
        if queue >= LEAST_QUEUE and queue >= 2 * (then or 0.0):
            quiet = f", {count_words(then)} {before}" if then is not None else ""
            text = f"{count_words(queue)} connections waited to be accepted {words}{quiet}: its workers were all taken."
            remedy = (
                f"give {label} more workers (threads, processes); if it carries no more, look at what they wait for"
            )
            found.append(Limit("workers", f"workers of {label}", 1.0, None, text, remedy))
            found += possible_dependencies(calls, label, words)
    return found
