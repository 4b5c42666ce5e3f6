"""Did the generator itself spoil a run? Facts of its seconds in, plain sentences out.

A trouble that comes and goes with the seconds counts where it lasts: in a tenth of the seconds and in at least two of
them. The thresholds and their reasons stand in docs/measurement.md, "When the generator is the limit".

What bounds the load that it can send (LIMITING) makes all figures another load's; what only delays it (DELAYING) adds
to response times, and leaves throughput and failures as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.listed_names import listed
from plimsoll.plain_text import plain
from plimsoll.probes.machine import remedies
from plimsoll.runs.readings.declared_caps import UNKNOWN_VUS, DeclaredCap
from plimsoll.runs.readings.failures import requests_words
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.readings.script_caps import UNSERVED_SHARE, binding_cap
from plimsoll.runs.readings.standstill import STOOD_STILL_S, Standstill
from plimsoll.words import (
    change_words,
    count_words,
    counted_words,
    ms_words,
    number,
    share_words,
    size_words,
    time_words,
)

THREAD_BUSY = 0.90
WAITING = 0.20
LEAST_WAITED = 0.02  # of the time, and longer than it ran: then its lateness is others' doing
HOST_FULL, OF_FULL_HOST = 0.9, 0.5
FOREIGN, FOREIGN_CORES = "foreign_work", "foreign_cores"
LEAST_CORES, LEAST_HOST_SHARE = 0.2, 0.10  # of foreign processes, as of foreign work in a search
OF_ALL = 0.1  # of what foreign processes took, from which on one is named
THROTTLED = 0.05
STOLEN = 0.05
STALLED = 0.01
LEAST_STALL_MS = 5.0
LEAST_LAG_MS = 1.0
OF_MEDIAN = 0.10
OF_P99 = 0.50
_LEAST_RESPONSES = 100  # of fewer, p99 is the slowest one
NEAR = 0.90
MEMORY_LEFT = 0.05
STOOD_STILL_SHARE = 0.05  # of the load; as much as a step may be short of its arrivals
LIMITING = ("vus", "files", "ports", "names", "stood_still", "script_cap", "thread", "starved", "flow")
BEHIND_SHARE = 0.05  # of the arrivals that were unfinished at one time, from which on a load was not made as planned
MOSTLY = 0.5
DELAYING = ("quota", "waiting", "steal", "stall", "lag")
_LASTS_SHARE, _LASTS_SECONDS = 0.10, 2


@dataclass(frozen=True)
class Diagnosis:
    """What happened, with numbers and what follows from it, and the remedy. `spoils`: figures of the run are not the
    target's alone; else a limit came near."""

    name: str
    words: str
    remedy: str
    spoils: bool = True

    @property
    def limits(self) -> bool:
        """Whether the generator could not have sent more, or did not send what was asked for."""
        return self.spoils and self.name in LIMITING


@dataclass(frozen=True)
class Lasting:
    """In how many of the seconds a value was over its limit, and its mean in these."""

    seconds: int
    of: int
    mean: float

    def words(self) -> str:
        """ "in 7 of 10 s"."""
        return f"in {self.seconds} of {self.of} s"


def lasting(values: Sequence[float], limit: float) -> Lasting | None:
    """The seconds over the limit, if they are too many for chance; None else."""
    over = [value for value in values if value >= limit]
    enough = max(min(_LASTS_SECONDS, len(values)), _LASTS_SHARE * len(values))
    return Lasting(len(over), len(values), sum(over) / len(over)) if over and len(over) >= enough else None


def diagnose(
    facts: GeneratorSeconds,
    busiest_destination: tuple[str, int] | None = None,
    caps: Sequence[DeclaredCap] = (),
) -> list[Diagnosis]:
    """Every trouble, the gravest kind first; empty for a healthy run.

    `busiest_destination`: the address to which most local ports were held at the end, and how many; `caps`: that the
    script declares, where they are known.
    """
    refused = [*_files(facts), *_ports(facts, busiest_destination), *_names(facts)]
    found = [*_stood_still(facts), *_vus(facts), *refused, *clock_set(facts)]
    if not any(one.spoils for one in found):
        found += _script_cap(facts, caps)
    # Requests that fail at once, one after the other, fill a thread: that says nothing more.
    flooded = any(one.spoils and one.name in ("files", "ports") for one in found)
    found += (not flooded and _starved(facts)) or list(_taken(facts))
    if not flooded:
        found += [*_steal(facts), *_full(facts), *_stalls(facts)]
        found += [] if any(one.name in _LATE_BY for one in found) else _lag(facts)
    return [*found, *_memory(facts)]


# Troubles that explain why the loop was late.
_LATE_BY = ("thread", "quota", "steal", "waiting", "stall", "starved", "stood_still")
_WHY_STILL = {
    "stopped": "its process was stopped (a signal, docker pause, a frozen control group), or the machine paused",
    "starved": "other work kept it from every processor",
    "quota": "the container's CPU quota was used up",
    "steal": "the hypervisor took its processors",
    "suspended": "the machine slept",
}


def unread_words(facts: GeneratorSeconds, where: str = "this answer") -> list[str]:
    """That seconds of the run cannot be read, or come twice, as where its files were damaged, and are so in `where`;
    nothing where all are there once."""
    words = []
    if gaps := facts.unread():
        count = sum(last - first + 1 for first, last in gaps)
        which = listed([f"{first} to {last}" if last > first else str(first) for first, last in gaps], 4)
        words.append(
            f"{_seconds(count)} of the run cannot be read: its files are damaged there (second {which}). What was "
            f"measured then is missing in {where}."
        )
    if facts.repeated:
        words.append(
            f"{_seconds(facts.repeated)} of the run come again in its files, which were changed: what was measured "
            f"then counts twice in {where}."
        )
    return words


def damage_words(files: Sequence[str], where: str = "this answer") -> list[str]:
    """That these files of a run, others than those of its seconds, have lines that cannot be read."""
    return [
        f"A part of {name} cannot be read: it was changed or is damaged. What it held is missing in {where}."
        for name in files
    ]


def _seconds(count: int) -> str:
    return "1 second" if count == 1 else f"{count:,} seconds"


def standstill_words(found: Sequence[Standstill]) -> str:
    """ "The generator stood still for 5.0 s from second 5: …"; of several all, with their sum."""
    longest = max(found, key=lambda one: one.length_s)
    text = f"The generator {longest.words}"
    if len(found) > 1:
        text += f", and {time_words(sum(one.length_s for one in found))} in {len(found)} pieces together"
    return f"{text}: {_WHY_STILL[longest.cause]}"


def _stood_still(facts: GeneratorSeconds) -> Iterator[Diagnosis]:
    """It did not live for a part of the load: nothing was sent, and no answer was read."""
    found = facts.standstills()
    if not found:
        return
    lost = f" {counted_words(facts.dropped, 'arrival')} were dropped." if facts.dropped else ""
    yield Diagnosis(
        "stood_still",
        f"{standstill_words(found)}. Meanwhile nothing was sent and no answer was read; what was due then was sent "
        f"afterwards, at once.{lost}",
        remedies.STOOD_STILL,
        spoils=sum(one.length_s for one in found) >= STOOD_STILL_SHARE * facts.seconds or facts.dropped > 0,
    )


def clock_set(facts: GeneratorSeconds) -> Iterator[Diagnosis]:
    """That the wall clock was set while the load went on."""
    jump_s = max([*facts.of("clock_jump_s"), *(ms / 1000 for ms in facts.of("clock_jump_ms"))], key=abs, default=0.0)
    if abs(jump_s) >= STOOD_STILL_S:
        yield Diagnosis(
            "clock",
            f"The wall clock jumped by {change_words(jump_s)} s during the run: it was set, or the machine was paused "
            "and went on. Times of requests are not measured by it; values of probes may lie in other seconds.",
            remedies.CLOCK,
            spoils=False,
        )


def _script_cap(facts: GeneratorSeconds, caps: Sequence[DeclaredCap]) -> Iterator[Diagnosis]:
    """An option of the script was the limit, and the target was not slow (runs/readings/script_caps.py)."""
    unserved = facts.late + facts.dropped
    if unserved < UNSERVED_SHARE * facts.planned and facts.most_behind < BEHIND_SHARE * facts.planned:
        return
    found = binding_cap(caps or (UNKNOWN_VUS,), facts.behind, facts.calm)
    if found is not None:
        lost = f" {unserved:,} of {counted_words(facts.planned, 'arrival')} found no free VU." if unserved else ""
        yield Diagnosis("script_cap", f"{found.words}{lost}", found.remedy)


def _starved(facts: GeneratorSeconds) -> list[Diagnosis]:
    """It had work all the time, and a processor for a part of it: it could not have sent more."""
    lived = facts.lived()
    wanting = lasting([one.wanting for one in lived], THREAD_BUSY)
    kept = [one.kept_away for one in lived if one.wanting >= THREAD_BUSY]
    if wanting is None or sum(kept) < WAITING * len(kept):
        return []
    # A thread that its quota stops waits in the queue of its core as well: most of that wait is the quota's then.
    quota = facts.mean("throttled_share") >= MOSTLY * facts.mean("waiting_share")
    cores = facts.last("quota_cores") if quota else None
    of_cores = f" of {cores:g} cores" if cores else ""
    who = f"the container's CPU quota{of_cores}" if quota else "other work on this machine"
    words = (
        f"The generator had work for {share_words(min(1.0, wanting.mean))} of the time {wanting.words()}, and {who} "
        f"kept a thread of it from its core for {share_words(sum(kept) / len(kept))}: it could not have sent more."
    )
    return [Diagnosis("starved", words, remedies.QUOTA if quota else remedies.OWN_CORES)]


def _vus(facts: GeneratorSeconds) -> Iterator[Diagnosis]:
    denied = facts.most("denied_vus")
    if denied:
        yield Diagnosis(
            "vus",
            f"{count_words(denied)} of the VUs that the script asks for never ran: this machine's free memory, open "
            "files or local ports do not allow them (the limits are printed when a run starts).",
            remedies.MORE_VUS,
        )


def _files(facts: GeneratorSeconds) -> Iterator[Diagnosis]:
    refused, limit, opened = facts.total("refused_files"), facts.last("open_files_limit"), facts.most("open_files")
    allowed = f" ({count_words(limit)} are allowed)" if limit else ""
    if refused:
        yield Diagnosis(
            "files",
            f"{count_words(refused)} connections could not be opened because the generator had no free file descriptor"
            f"{allowed}: these requests failed here and never reached the target.",
            remedies.OPEN_FILES,
        )
    elif limit and opened and opened >= NEAR * limit:
        words = (
            f"The generator had {count_words(opened)} of {count_words(limit)} allowed files open: more VUs would have "
            "failed here."
        )
        yield Diagnosis("files", words, remedies.OPEN_FILES, spoils=False)


def _ports(facts: GeneratorSeconds, busiest: tuple[str, int] | None) -> Iterator[Diagnosis]:
    refused, ports, waiting = facts.total("refused_ports"), facts.last("local_ports"), facts.most("time_wait")
    held = f"{busiest[1]:,} of {count_words(ports)} held to {busiest[0]}" if busiest and ports else ""
    ended = f"{count_words(waiting)} in TIME_WAIT" if waiting else ""
    state = ", ".join(part for part in (held, ended) if part)
    if refused:
        yield Diagnosis(
            "ports",
            f"{counted_words(refused, 'connection')} could not be opened because no local port was free"
            f"{f' ({state})' if state else ''}: these requests failed here and never reached the target.",
            remedies.LOCAL_PORTS,
        )
    elif busiest and ports and busiest[1] >= NEAR * ports:
        words = f"Local ports were nearly used up ({state}): more new connections would have failed here."
        yield Diagnosis("ports", words, remedies.LOCAL_PORTS, spoils=False)


def _names(facts: GeneratorSeconds) -> Iterator[Diagnosis]:
    if facts.unknown_names:
        yield Diagnosis(
            "names",
            f"{requests_words(facts.unknown_names)} failed because the name of their host could not be looked up "
            "(DNS): they never reached the target.",
            remedies.NAMES,
        )


def _taken(facts: GeneratorSeconds) -> Iterator[Diagnosis]:
    """The quota or others on this machine had the processor when a thread wanted it."""
    quota = lasting(facts.of("throttled_share"), THROTTLED)
    waiting = lasting(facts.of("waiting_share"), WAITING)
    if quota:
        cores = facts.last("quota_cores")
        yield Diagnosis(
            "quota",
            f"The container's CPU quota{f' of {cores:g} cores' if cores else ''} held the generator up for "
            f"{share_words(quota.mean)} of the time {quota.words()}: requests were sent and answers read late.",
            remedies.QUOTA,
        )
    elif waiting:
        yield Diagnosis(
            "waiting",
            f"Other work on this machine kept a thread of the generator from its core for {share_words(waiting.mean)} "
            f"of the time {waiting.words()}: requests were sent and answers read late.",
            remedies.OWN_CORES,
        )


def _steal(facts: GeneratorSeconds) -> Iterator[Diagnosis]:
    """The hypervisor had the processor, and the generator was late for it."""
    stolen, late = lasting(facts.of("host_steal_share"), STOLEN), Lateness.of(facts)
    if stolen and late.shows:
        yield Diagnosis(
            "steal",
            f"The hypervisor took {share_words(stolen.mean)} of this machine's processors away {stolen.words()}, and "
            f"the generator was late by {ms_words(late.p99_ms)} at p99: response times contain those pauses.",
            remedies.STEAL,
        )


def _full(facts: GeneratorSeconds) -> Iterator[Diagnosis]:
    """The generator itself had the processor all the time."""
    busy = lasting(facts.of("busiest_thread_share"), THREAD_BUSY)
    beside = ", and response times contain waiting for it" if facts.answers else ""
    if busy:
        threads = int(facts.last("threads") or 1)
        which = "The generator's only thread" if threads == 1 else f"The busiest of the generator's {threads} threads"
        yield Diagnosis(
            "thread",
            f"{which} was {share_words(busy.mean)} busy {busy.words()}: it could not have sent more{beside}.",
            remedies.more_threads(threads, facts.last("usable_cores") or threads),
        )


def _stalls(facts: GeneratorSeconds) -> Iterator[Diagnosis]:
    """Turns of the loop so long that answers for other VUs were read late."""
    stalled = lasting(facts.of("stalled_share"), STALLED)
    longest, threads = facts.most("longest_turn_ms") or 0.0, int(facts.last("threads") or 1)
    alone = facts.vus_max <= threads
    if stalled is None or alone or longest < max(LEAST_STALL_MS, OF_MEDIAN * (facts.response_ms(0.50) or 0.0)):
        return
    script_ms, p99_ms = facts.script_mean_ms, facts.most("script_p99_ms")
    cores = facts.last("usable_cores") or threads
    if script_ms is not None and p99_ms is not None and p99_ms >= LEAST_STALL_MS:
        what = "The script kept a thread of the generator"
        time = f"; an iteration's script computed for {ms_words(script_ms)} in the mean, {ms_words(p99_ms)} at p99"
        remedy = remedies.cheaper_script(threads, cores)
    else:
        # A turn is also long where the processor was taken from it meanwhile.
        if 2 * sum(map(facts.mean, ("waiting_share", "host_steal_share", "throttled_share"))) >= stalled.mean:
            return
        what, time = "Work without a pause (as handshakes or large bodies at once) kept a thread of the generator", ""
        remedy = remedies.fewer_vus_a_thread(threads, cores)
    yield Diagnosis(
        "stall",
        f"{what} from its other VUs for up to {ms_words(longest)} at a time, {share_words(stalled.mean)} of the time "
        f"{stalled.words()}{time}: answers that came meanwhile were read that much late.",
        remedy,
    )


def _lag(facts: GeneratorSeconds) -> Iterator[Diagnosis]:
    late, others = Lateness.of(facts), _others_words(facts)
    if late.shows:
        yield Diagnosis(
            "lag",
            f"The generator itself was late, by {ms_words(late.p50_ms)} at the median and {ms_words(late.p99_ms)} at "
            f"p99, beside response times of {ms_words(late.response_p50_ms)} and {ms_words(late.response_p99_ms)} that "
            "contain it." + others,
            remedies.OWN_CORES,
        )
    elif others:
        yield Diagnosis("others", others.strip(), remedies.OWN_CORES, spoils=False)


def _others_words(facts: GeneratorSeconds) -> str:
    """That others had the cores: where it waited longer for one than it ran, or all were busy and hardly by it."""
    waited, ran = facts.mean("waiting_share"), facts.mean("busiest_thread_share")
    if waited >= LEAST_WAITED and waited > ran:
        return f" Other work on this machine had the core that it wanted for {share_words(waited)} of the time."
    busy, cores = facts.mean("host_busy_share"), facts.last("usable_cores") or 1.0
    own = facts.mean("cpu_s") / cores
    if busy >= HOST_FULL and own < OF_FULL_HOST * busy:
        return (
            f" The cores of this machine were {share_words(busy)} busy, {share_words(own)} of them by the generator: "
            "the target, if it runs here, and other work had the rest."
        )
    return ""


def foreign_work(facts: GeneratorSeconds, names: Mapping[str, float]) -> Iterator[Diagnosis]:
    """Processes that the target, on this machine, has no connection to took cores while all were busy."""
    taken, cores = facts.median(FOREIGN_CORES) or 0.0, facts.last("usable_cores") or 1.0
    if full_share(facts) and taken >= max(LEAST_CORES, LEAST_HOST_SHARE * cores):
        counted = [name for name in names if names[name] >= OF_ALL * sum(names.values())]
        most = listed([plain(name) for name in sorted(counted, key=lambda name: -names[name])], 3)
        yield Diagnosis(
            FOREIGN,
            f"Other work{f' ({most})' if most else ''} took {number(taken)} of this machine's {cores:g} cores while "
            "all were busy: the target, which runs here too and has no connection to it, had to wait for them.",
            remedies.OWN_CORES,
            spoils=False,
        )


def full_share(facts: GeneratorSeconds) -> float:
    """Share of the seconds in which all cores of this machine were busy; 0 where that did not last."""
    full = lasting(facts.of("host_busy_share"), HOST_FULL)
    return full.seconds / full.of if full is not None else 0.0


@dataclass(frozen=True)
class Lateness:
    """How late the generator's loop was, the median of the seconds' own, so that single hiccups do not count; beside
    the response times of all seconds."""

    p50_ms: float
    p99_ms: float
    response_p50_ms: float
    response_p99_ms: float
    responses: int

    @classmethod
    def of(cls, facts: GeneratorSeconds) -> Lateness:
        """That of a run; times that nobody measured are 0."""
        return cls(
            p50_ms=facts.median("lag_p50_ms") or 0.0,
            p99_ms=facts.median("lag_p99_ms") or 0.0,
            response_p50_ms=facts.response_ms(0.50) or 0.0,
            response_p99_ms=facts.response_ms(0.99) or 0.0,
            responses=facts.answers,
        )

    @property
    def shows(self) -> bool:
        """Whether the median or p99 of response times is the generator's to a good part; of none, nothing is."""
        if not self.responses:
            return False
        median_shows = self.p50_ms > max(LEAST_LAG_MS, OF_MEDIAN * self.response_p50_ms)
        if self.responses < _LEAST_RESPONSES:
            return median_shows
        return median_shows or self.p99_ms > max(LEAST_LAG_MS, OF_P99 * self.response_p99_ms)


def _memory(facts: GeneratorSeconds) -> Iterator[Diagnosis]:
    free, whole = min(facts.of("memory_free_bytes"), default=None), facts.last("memory_bytes")
    if free is not None and whole and free < MEMORY_LEFT * whole:
        own = facts.most("rss_bytes") or 0.0
        yield Diagnosis(
            "memory",
            f"Memory was nearly used up: {size_words(free)} of {size_words(whole)} left, {size_words(own)} were the "
            "generator's. A machine without memory stops its processes, or kills them.",
            remedies.MEMORY,
            spoils=False,
        )
