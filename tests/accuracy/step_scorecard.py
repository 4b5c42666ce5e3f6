"""A6 in a step of a capacity search: a target that changes while a level is held must not be said to carry it.

M/M/1 and M/M/4 with a capacity of 300/s in virtual time, of which the search knows the plateau of before. The work of a
request grows (or shrinks) in a straight line by `share` within the measured seconds. A step that is not called good is
right: it is unsteady, falls behind, or is undecided, and is held again in each case. A change of a fifth within 30 s is
only published: at 90 requests/s even a straight line through the seconds, at 1%, shows it in 28% of steps.

A1 in a step that nothing else is known beside: looked at each second from 10 s on, up to 60 s, is a level above the
capacity called good by its own queue, and how soon is one below?
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from score_line import Job, Line, Lines
from simulators import OpenQueue

from plimsoll.experiments.steps.evidence import Context
from plimsoll.experiments.steps.judge import judge
from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.stats.throughput.plateau import Plateau

CAPACITY_PER_S = 300.0
WARM_UP_S = 3
REPEAT = 300
LONGEST_S = 60


def step(servers: int, load: float, seconds: int, share: float, seed: int) -> Judgement:
    """One step at `load` of the capacity, judged when it ends."""
    begun = np.clip((np.arange(seconds + WARM_UP_S + 60) - WARM_UP_S) / seconds, 0, 1)
    source = OpenQueue(servers, servers / CAPACITY_PER_S, seed, speeds=1 / (1 + share * begun))
    source.set_level(load * CAPACITY_PER_S)
    seen = Measurement(source.level)
    for snapshot in source.snapshots(WARM_UP_S + seconds):
        if snapshot.second < WARM_UP_S:
            seen.unfinished_start = float(snapshot.backlog + snapshot.in_flight)
        else:
            seen.add(snapshot)
    return judge(seen, Context(1.0, 0.048, seconds, Plateau(CAPACITY_PER_S, 0.01)))


def lines(servers: int, load: float, seconds: int, repeat: int, first_seed: int) -> Lines:
    """Not called good with a change, and how often a step without one is held again for nothing."""
    where = f"M/M/{servers}, step of {seconds} s at {load:g} of 300/s"
    made: Lines = []
    for share in (0.5, 0.2, -0.3):
        hits = sum(step(servers, load, seconds, share, first_seed + n).verdict != "good" for n in range(repeat))
        target = 0.95 if share == 0.5 else None
        made.append(
            Line("A6", f"{where}, work {share:+.0%} within it: bounds nothing", hits, repeat, repeat, "≥", target)
        )
    alarms = sum(step(servers, load, seconds, 0.0, first_seed + n).unsteady for n in range(repeat))
    return [*made, Line("A6", f"{where}, steady: held again for nothing", alarms, repeat, repeat, "≤", 0.02)]


def good_after_s(servers: int, load: float, seed: int) -> int | None:
    """Seconds until a step at `load` of the capacity shows by itself that it is carried; None if not within 60 s."""
    source = OpenQueue(servers, servers / CAPACITY_PER_S, seed)
    source.set_level(load * CAPACITY_PER_S)
    seen = Measurement(source.level)
    for snapshot in source.snapshots(1 + LONGEST_S):
        if snapshot.second < 1:
            seen.unfinished_start = float(snapshot.in_flight)
            continue
        seen.add(snapshot)
        context = Context(1.0, 0.048, 10, idle_s=servers / CAPACITY_PER_S)
        if len(seen.seconds) >= 10 and judge(seen, context).verdict == "good":
            return len(seen.seconds)
    return None


def own_lines(servers: int, repeat: int, first_seed: int) -> Lines:
    """False "good" at and above the capacity; how often 60 s tell below it."""
    made: Lines = []
    for load, sense, target in ((1.03, "≤", 0.01), (1.0, None, None), (0.95, None, None), (0.92, "≥", 0.95)):
        found = [good_after_s(servers, load, first_seed + n) for n in range(repeat)]
        told = sorted(one for one in found if one is not None)
        after = f" (median {told[len(told) // 2]} s)" if load < 1 and told else ""
        what = f"M/M/{servers}, step at {load:g} of 300/s, its own queue looked at for 60 s: called carried{after}"
        made.append(Line("A1", what, len(told), repeat, repeat, *((sense, target) if sense else ())))
    return made


def jobs(scale: float, first_seed: int) -> Iterator[Job]:
    """300 steps a line at scale 1."""
    repeat = max(20, math.ceil(REPEAT * scale))
    for servers, load, seconds in ((1, 0.3, 30), (1, 0.6, 30), (1, 0.9, 30), (1, 0.6, 60), (1, 0.9, 60), (4, 0.6, 60)):
        yield Job(
            f"A6 step M/M/{servers} {load:g} {seconds} s", partial(lines, servers, load, seconds, repeat, first_seed)
        )
    for servers in (1, 16):
        yield Job(f"A1 step's own evidence M/M/{servers}", partial(own_lines, servers, repeat, first_seed))
