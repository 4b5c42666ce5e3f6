"""Cores, disks and memory as the limit: of a process, of the cores that the target may use, of a host.

A thread, a process and a host each have their own ceiling: a program with one busy thread stops at one core of eight.
A thread is its own limit only by the CPU that it used. One that waits for a core (starved_thread.py) shows that the
cores are full which it may use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.findings.limits.core_sets import full_sets
from plimsoll.findings.limits.limit import NEAR_CEILING, Limit, Scope
from plimsoll.findings.limits.starved_thread import CROWDED, Starved, starved_threads, waiting_thread
from plimsoll.findings.resources import FREE, TARGET_CORES, Means, host_of, hosts, processes, target_cores_words
from plimsoll.words import count_words, number, share_words

PINNED_CLOSE = 0.06
MEMORY_CEILING = 0.95
SWAP_BYTES = 64e6
MOST_NAMED, LEAST_NAMED = 4, 0.05


@dataclass(frozen=True)
class Seen:
    """The means of an overloaded step and of the lowest load, and these two in words ("in the step at 100 users", "at
    10 users"). `kept_apart`: how this run itself kept the target from the generator's cores, in words."""

    here: Means
    low: Means
    words: str
    before: str
    kept_apart: str | None = None

    @property
    def usable_cores(self) -> float | None:
        """Cores that the target may use, where those are fewer than the host has."""
        return self.here.get(TARGET_CORES, {}).get("usable_cores")


def core_limits(seen: Seen, quotas: bool = False) -> list[Limit]:
    """Those near their ceiling. `quotas`: whether a CPU quota of the target is used up, for which threads wait too."""
    starved = starved_threads(seen.here, seen.low)
    cores = _target_cores(seen, starved)
    found = [
        _process_limit(label, values, seen, cores is not None and seen.usable_cores == 1)
        for label, values in processes(seen.here).items()
    ]
    found += [cores, *full_sets(seen.here, seen.low, seen.words, seen.before)]
    of_host = _host_limits(seen, "", seen.here.get("host", {}), seen.low.get("host", {}), starved)
    found += of_host
    for name, values in hosts(seen.here).items():
        found += _host_limits(seen, name, values, hosts(seen.low).get(name, {}), ())
    limits = [limit for limit in found if limit is not None]
    are_full = quotas or any(limit.is_of_cores for limit in limits)
    at_a_core = {limit.owner for limit in limits if limit.scope.is_of_process}
    if not are_full:
        limits += [waiting_thread(one, seen.words, seen.before) for one in starved if one.label not in at_a_core]
    return limits


def as_full_before(limit: Limit) -> Limit:
    """Cores that were as full at low load: what waits may wait for one of them, though this load does not fill them."""
    evidence = f"{limit.evidence} These cores were as full before this load: other work fills them."
    return replace(limit, evidence=evidence, remedy="free the host of other work, and measure again")


def as_filled_by_others(limit: Limit) -> Limit:
    """Cores whose time went to other work than the target's: more of them, or less CPU an operation, is no cure."""
    evidence = f"{limit.evidence} Most of that was other work than the target's."
    return replace(limit, evidence=evidence, remedy="free the host of other work, and measure again")


def _target_cores(seen: Seen, starved: Sequence[Starved]) -> Limit | None:
    """The cores that the target may use, where those are fewer than the host has."""
    cores = seen.here.get(TARGET_CORES, {})
    count, share = cores.get("usable_cores"), cores.get("cpu_share", 0.0)
    if count is None or share < (CROWDED if starved else NEAR_CEILING):
        return None
    then = seen.low.get(TARGET_CORES, {}).get("cpu_share")
    used = _used_words(seen.here, within=True)
    which = "The one core" if count == 1 else f"The {count_words(count)} cores"
    quiet = f", {share_words(then)} {seen.before}" if then is not None else ""
    by = f"; of it {used}" if used else ""
    text = (
        f"{which} that {_confined_words(seen.here)} may use {'was' if count == 1 else 'were'} {share_words(share)} "
        "busy "
    )
    text += f"{seen.words}{quiet}{by}."
    text += _starved_words(starved)
    own = _by_use(seen.here, within=True)
    one, some = count == 1, "one" if count == 1 else count_words(count)
    most = f", and {own[0][1]} takes most of {'it' if one else 'them'}" if own and used else ""
    remedy = "give the target more cores"
    if seen.kept_apart is not None:
        text += f" This run gave the target {'that core' if one else 'those cores'} ({seen.kept_apart})."
        remedy += f" (--isolate gave it {some}{most}): run the generator on another host, or leave --isolate out"
    else:
        remedy += f" (its affinity or cpuset allows {some}{most})"
    return Limit("cpu", target_cores_words(count), share, then, text, remedy, Scope.TARGET_CORES)


def _host_limits(
    seen: Seen, name: str, here: Mapping[str, float], low: Mapping[str, float], starved: Sequence[Starved]
) -> list[Limit | None]:
    """All cores, the busiest disk and memory of a host; `name`: empty for this one."""
    host = f"host {name}" if name else "host"
    found = [_host_cores(seen, name, here, low, starved), _host_disk(seen, name, here, low)]
    if here.get("memory_share", 0.0) >= MEMORY_CEILING and here.get("swap_used_bytes", 0.0) >= SWAP_BYTES:
        swapped = here["swap_used_bytes"] / 2**20
        of = f"Memory of the {host}" if name else "Memory"
        text = (
            f"{of} was {share_words(here['memory_share'])} full {seen.words} and {count_words(swapped)} MiB were "
            "swapped out."
        )
        remedy = (
            f"give the {host} more memory, or have what runs there hold less; what is swapped out is read from disk"
        )
        found.append(Limit("memory", host, here["memory_share"], None, text, remedy, owner=name))
    return found


def _host_cores(
    seen: Seen, name: str, here: Mapping[str, float], low: Mapping[str, float], starved: Sequence[Starved]
) -> Limit | None:
    """All cores of a host; from CROWDED on where a thread waited for one of them, as one was full then."""
    share = here.get("cpu_share")
    if share is None or share < (CROWDED if starved else NEAR_CEILING):
        return None
    host = f"host {name}" if name else "host"
    then = f", {share_words(low['cpu_share'])} {seen.before}" if "cpu_share" in low else ""
    used = "" if name else _used_words(seen.here)
    by = f"; of its cores {used}" if used else ""
    text = f"CPU of the {host} was {share_words(share)} busy {seen.words}{then}{by}.{_starved_words(starved)}"
    cores = f" than its {count_words(here['cores'])}" if "cores" in here else ""
    remedy = f"give the {host} more cores{cores}, or have an operation take less CPU"
    limit = Limit("cpu", f"{host}, all cores", share, low.get("cpu_share"), text, remedy, Scope.HOST_CORES, name)
    # At low load nothing waited for a core: a host that was as busy then was not full.
    return replace(limit, low=None) if starved and (limit.low or 0.0) < NEAR_CEILING else limit


def _host_disk(seen: Seen, name: str, here: Mapping[str, float], low: Mapping[str, float]) -> Limit | None:
    share = here.get("disk_busy_share")
    if share is None or share < NEAR_CEILING:
        return None
    host = f"host {name}" if name else "host"
    then = f", {share_words(low['disk_busy_share'])} {seen.before}" if "disk_busy_share" in low else ""
    what = f"The busiest disk{f' of the {host}' if name else ''}"
    remedy = f"give the {host} a faster disk, or have an operation read and write less (caches, batched writes)"
    text = f"{what} was {share_words(share)} busy {seen.words}{then}."
    where = f"{host}, the busiest disk"
    return Limit("disk", where, share, low.get("disk_busy_share"), text, remedy, Scope.HOST_DISK, name)


def _process_limit(label: str, here: Mapping[str, float], seen: Seen, is_at_its_core: bool) -> Limit | None:
    """A thread, a process of several, or a whole set of cores at its ceiling, the narrowest first. `is_at_its_core`:
    the one core that the target may use is full, so that a process at one core is no more than that."""
    low = processes(seen.low).get(label, {})
    count = max(1.0, here.get("processes", 1.0))
    cheaper = "Or have an operation take less CPU there (probes.profile shows what takes it)"
    ceilings = (
        (
            "busiest_thread_cores_used",
            1.0,
            f"target process {label}, its busiest thread",
            "one core is all a thread can use",
            f"have more than one thread or process of {label} do this work: more cores alone change nothing. {cheaper}",
        ),
        (
            "busiest_process_cores_used",
            1.0,
            f"target process {label}",
            "as if it may use no more than one core",
            f"let {label} use more than one core (its affinity, a lock of its interpreter), or start more processes of "
            f"it. {cheaper}",
        ),
        (
            "cpu_cores_used",
            count,
            f"target process {label}, {count_words(count)} processes",
            "about one core for each process",
            f"start more processes of {label} than {count_words(count)}, if the host has cores left. {cheaper}",
        ),
    )
    for name, ceiling, where, why, remedy in ceilings:
        used = here.get(name)
        is_thread = name == "busiest_thread_cores_used"
        if used is None or (count > 1 and name == "busiest_process_cores_used"):
            continue
        if name == "cpu_cores_used" and "processes" not in here:  # of another host: how many it may use is not known
            continue
        share = used / ceiling
        if share < NEAR_CEILING or (not is_thread and share > 1 + PINNED_CLOSE):
            continue
        if not is_thread and is_at_its_core and ceiling == 1:
            continue
        then = f", {number(low[name])} {seen.before}" if name in low else ""
        text = (
            f"It used {number(used)} of {count_words(ceiling)} CPU core{'s' if ceiling > 1 else ''} "
            f"{seen.words}{then}: {why}."
        )
        if is_thread and is_at_its_core:
            gave = ", which this run gave it (--isolate)" if seen.kept_apart is not None else ""
            text += f" The target may use one core alone{gave}: whether a second one would help was not seen."
            remedy = (
                f"give the target a second core{' (leave --isolate out)' if gave else ''}; if it carries no more, have "
                f"more than one thread or process of {label} do this work. {cheaper}"
            )
        before = low[name] / ceiling if name in low else None
        scope = Scope.THREAD if is_thread else Scope.PROCESS
        return Limit("cpu", where, min(1.0, share), before, text, remedy, scope, label)
    return None


def _by_use(here: Means, within: bool = False) -> list[tuple[float, str]]:
    """(cores used, label) of the target's processes on this host, or of those that may use its own cores alone, the
    greatest first."""
    free = here.get(TARGET_CORES, {}) if within else {}
    own = (
        (values.get("cpu_cores_used", 0.0), label)
        for label, values in processes(here).items()
        if not host_of(label, values) and f"{FREE}{label}" not in free
    )
    return sorted(own, reverse=True)


def _used_words(here: Means, within: bool = False) -> str:
    """ "postgres 0.90, shop 0.58": who of the target used the cores of this host."""
    used = _by_use(here, within)[:MOST_NAMED]
    return ", ".join(f"{label} {number(cores)}" for cores, label in used if cores >= LEAST_NAMED)


def _confined_words(here: Means) -> str:
    """Who may use no other cores than the target's: "the target", unless some of its processes may."""
    free = [label for label in processes(here) if f"{FREE}{label}" in here.get(TARGET_CORES, {})]
    return " and ".join(sorted(label for _, label in _by_use(here, within=True))) if free else "the target"


def _starved_words(starved: Sequence[Starved]) -> str:
    return "".join(f" {one.words}." for one in starved)
