"""Pools as the limit: those that tell how full they are, and those of common clients, known by their effect.

A client's pool tells nothing by itself. Its effect does: the connections from caller to callee stay at one number, they
are at work, more requests than that are inside the caller, and the callee has room. By Little's law a pool of N that
holds each for S seconds finishes N / S a second, however idle what it leads to is. So the pool comes before a statement
that just takes its time, and behind one that lacks an index or fills the database's cores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from plimsoll.findings.limits.dependency import Calls
from plimsoll.findings.limits.limit import NEAR_CEILING, Limit, Scope, to_try
from plimsoll.findings.resources import TARGET_CORES, Means, are_cores_of_others, hosts
from plimsoll.words import count_words, counted_words, number, share_words

FULL = 0.95
STEADY, STEADY_CONNECTIONS = 0.02, 0.1  # of the number, or that many: what comes and goes is no pool
MORE_INSIDE = 1.3
AT_WORK = 0.7  # of a pool's connections, on average, from which on it is full again and again
ROOM = 0.85  # share of the cores below which a callee could do more
DATABASES = ("postgresql", "mysql")


def full_pools(here: Means, low: Means, words: str) -> list[Limit]:
    """Pools that tell of themselves, and databases that allow no more connections."""
    found = []
    for label, values in _of("pool", here):
        share, waiting = values.get("used_share", 0.0), values.get("waiting", 0.0)
        if share >= FULL or (waiting >= 1 and share >= 0.8):
            size = (
                f"{count_words(values['used'])} of {count_words(values['limit'])}"
                if {"used", "limit"} <= values.keys()
                else share_words(share)
            )
            text = f"{size} were in use {words}, and {count_words(waiting)} waited for one."
            then = low.get(f"pool:{label}", {}).get("used_share")
            remedy = _larger("the pool", values.get("limit"))
            found.append(Limit("pool", f"pool {label}", max(share, FULL), then, text, remedy, size=values.get("limit")))
    for kind in DATABASES:
        for label, values in _of(kind, here):
            share = values.get("connections_share", 0.0)
            if share >= FULL:
                text = f"{share_words(share)} of the connections that {label} allows were taken {words}."
                then = low.get(f"{kind}:{label}", {}).get("connections_share")
                most = values.get("connections_max")
                more = to_try(most) if most else "by half"
                remedy = (
                    f"raise max_connections of {label} {more}, or have its callers share fewer (a pool, a pooler); if "
                    "it carries no more, what the connections wait for is the limit"
                )
                found.append(Limit("pool", f"connections of {label}", share, then, text, remedy))
    return found


def steady_connections(calls: Iterable[Calls], here: Means, unfinished: float, words: str) -> list[Limit]:
    """Connections to a service whose number stood still while more requests than that were inside; of a database whose
    callers' sockets were not seen, its own count of them."""
    known = list(calls)
    found = [limit for call in known if (limit := _of_call(call, here, unfinished, words)) is not None]
    return [*found, *_of_databases(here, [call.connections for call in known], unfinished, words)]


def _of_call(call: Calls, here: Means, unfinished: float, words: str) -> Limit | None:
    count = call.connections
    if not _is_steady(count) or unfinished < 2 * round(count):
        return None
    database = next((values for values in _databases(here) if _is_at_work(values, count)), None)
    least = count + 0.5 if database is not None else MORE_INSIDE * count + 1
    if call.inside is not None and call.inside < least:
        return None  # each request that is worked on has its connection: nobody waits for one
    if call.waiting_share is not None and call.waiting_share < 0.5:
        return None  # they mostly idle
    is_busy = call.waiting_share is not None and call.waiting_share >= 0.5
    busy = ", which waited for answers," if is_busy else ""
    text = (
        f"{call.label} had {_count_words(count)} to {call.address_words}{busy} {words}, no more and no fewer, while "
        f"{counted_words(unfinished, 'iteration')} were under way: they may be a pool that is "
        f"full.{_database_words(database, here)}"
    )
    where = f"connections of {call.label} to {call.address}"
    remedy = _larger(f"the pool of {call.label}", round(count))
    return Limit("pool", where, FULL, None, text, remedy, Scope.CONNECTIONS, call.label, size=count)


def _of_databases(here: Means, known: Sequence[float], unfinished: float, words: str) -> Iterator[Limit]:
    """Databases with room, all of whose few connections are at work: a pool of callers that were not seen. `known`: the
    numbers of connections of callers that were."""
    for kind in DATABASES:
        for label, values in _of(kind, here):
            count, most = values.get("connections", 0.0), values.get("connections_max", 0.0)
            if not _is_steady(count) or not _is_at_work(values, count) or count > most / 2 or not has_room(here):
                continue
            if unfinished < 2 * round(count) or any(abs(size - count) <= 1 for size in known):
                continue
            text = (
                f"{label} had {_count_words(count)} {words}, no more and no fewer, while {count_words(unfinished)} "
                "iterations were under way: they may be a pool of its callers that is "
                f"full.{_database_words(values, here)}"
            )
            remedy = _larger("the pool before it", round(count))
            where = f"connections to {label}"
            yield Limit("pool", where, FULL, None, text, remedy, Scope.CONNECTIONS, "", size=count)


def before_their_pool(found: Sequence[Limit], here: Means) -> list[Limit]:
    """The limits with each pool before the statement for which its connections wait, where the database has room: the
    statement takes its time, and the pool lets no more of it be under way."""
    ordered = list(found)
    if not has_room(here):
        return ordered
    actives = [values["connections_active"] for values in _databases(here) if "connections_active" in values]
    for pool in [one for one in ordered if one.kind == "pool" and one.size is not None]:
        if not any(AT_WORK * (pool.size or 0.0) <= active <= (pool.size or 0.0) + 1 for active in actives):
            continue
        first = next((at for at, one in enumerate(ordered) if one.scope is Scope.STATEMENT), None)
        if first is not None and first < ordered.index(pool):
            ordered.remove(pool)
            ordered.insert(first, pool)
    return ordered


def has_room(here: Means) -> bool:
    """Whether cores and disks of every host that was read, and the cores that the target may use, had room; not where
    nothing was read of them."""
    own, host = here.get(TARGET_CORES, {}), here.get("host", {})
    read = [host, *hosts(here).values()]
    shares = [0.0 if values is host and are_cores_of_others(here) else values.get("cpu_share") for values in read]
    shares.append(0.0 if are_cores_of_others(here, within=True) else own.get("cpu_share"))
    known = [share for share in shares if share is not None]
    disks = [values.get("disk_busy_share", 0.0) for values in read]
    quotas = [values.get("cpu_limit_share", 0.0) for _, values in _of("cgroup", here)]
    return bool(known) and max(known) < ROOM and max([*disks, *quotas], default=0.0) < NEAR_CEILING


def _databases(here: Means) -> list[dict[str, float]]:
    return [values for kind in DATABASES for _, values in _of(kind, here)]


def _is_at_work(database: Mapping[str, float], count: float) -> bool:
    """Whether most of so many connections were at work in the database, and no other ones."""
    active = database.get("connections_active", 0.0)
    return AT_WORK * count <= active <= count + 0.5 and database.get("lock_waits", 0.0) < active / 2


def _is_steady(count: float) -> bool:
    return count >= 0.9 and abs(count - round(count)) <= max(STEADY * count, STEADY_CONNECTIONS)


def _database_words(database: Mapping[str, float] | None, here: Means) -> str:
    if database is None:
        return ""
    most = f" of the {count_words(database['connections_max'])} that it allows" if "connections_max" in database else ""
    host = here.get("host", {})
    idle = f", while the host's cores were {share_words(host['cpu_share'])} busy" if "cpu_share" in host else ""
    return f" The database had {number(database['connections_active'])} at work{most}{idle}."


def _count_words(count: float) -> str:
    return "1 connection" if round(count) == 1 else f"{count_words(count)} connections"


def _of(kind: str, means: Means) -> Iterator[tuple[str, dict[str, float]]]:
    for source, values in means.items():
        if source.startswith(f"{kind}:"):
            yield source.partition(":")[2], values


def _larger(pool: str, size: float | None) -> str:
    """The remedy of a pool of that size, where it is known."""
    more = to_try(size) if size else "by half"
    return f"make {pool} larger, {more}; if it carries no more, what it leads to is the limit"
