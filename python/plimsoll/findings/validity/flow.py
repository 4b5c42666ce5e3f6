"""Do the counts and the times of each level agree? A check of the measurement itself, whatever the target did.

  * What arrived has ended or is inside: arrivals − completions − those dropped or cut = change of those unfinished.
  * Each completion has a time.
  * The mean number inside is throughput × mean time (Little 1961), inside the target and with the wait before an
    arrival began; of a closed load, VUs = throughput × (response time + think time).

What does not add up is a fault of the measurement: times that were cut or stretched, completions that were lost or
counted twice. Conclusions on times and throughput are then invalid for that level (docs/decisions/0019).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.runs.readings.flow_seconds import METRICS, FlowSecond
from plimsoll.stats.throughput.littles_law import LawGap, law_gap, unaccounted
from plimsoll.words import amount_words, change_words, level_words, number, share_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

# Counts bear no chance; a thread may end an iteration while its second is told.
LOST_SHARE, LOST_LEAST = 0.01, 5
REMEDY = (
    "Run it again. If it does not add up again, report the run directory as a fault of Plimsoll; where the generator "
    "was stopped or starved meanwhile, give it cores of its own (--isolate)."
)
VOID = ("throughput", "response_time", "mean_time", "counts")
IN_A_RUN = "In this run"
_EDGE_S = 1  # of a plain run, in which the load begins


@dataclass(frozen=True)
class FlowFault:
    """What does not add up at a `level` (None: in a whole run): `counted` by the generator and `told` by its
    completions, in arrivals; the difference as a `share` of the greater."""

    kind: str
    level: float | None
    counted: float
    told: float
    share: float
    words: str

    def to_json(self) -> dict[str, Any]:
        """As a finding holds it."""
        return asdict(self)


def fault_of(
    seconds: Sequence[FlowSecond],
    before: FlowSecond,
    after: Sequence[FlowSecond] = (),
    *,
    is_open: bool | None = None,
    stood_still: bool = False,
    level: float | None = None,
    at: str = IN_A_RUN,
) -> FlowFault | None:
    """The first fault of these seconds, which follow on each other and on `before`; `after`: what followed, which tells
    what never ended. `is_open`: whether arrivals come by a plan (None: if any time counts from one). `stood_still`: the
    generator did, so that times from the plan hold what nobody counted inside."""
    if not any(one.inside_all.count for one in seconds) or not any(one.planned for one in seconds):
        return None  # a source that does not say what arrived, or what it took
    if is_open is None:
        is_open = any(one.waited_all.count for one in seconds)
    lost = _lost(seconds, before, level, at)
    if lost is not None:
        return lost
    mixed = len({one.epoch for one in (before, *seconds)}) > 1
    behind = any(one.earlier for one in (before, *seconds))
    whole = mixed or not behind
    waited = is_open and not stood_still and not any(one.dropped for one in seconds)
    checks = []
    if whole or not is_open:
        checks.append(("inside", whole, "in_flight" if whole else "own"))
    if waited and any(one.waited_all.count for one in seconds):
        checks.append(("waited", whole, "unfinished" if whole else "own"))
    for side, every, count in checks:
        ended = [getattr(one, f"{side}_all" if every else side) for one in seconds]
        rhythms = max(1, max(one.rhythms for one in seconds)) if is_open else 0
        longest_s = max(one.longest_s for one in ended)
        gap = law_gap(
            [float(getattr(one, count)) for one in (before, *seconds)],
            [one.total_s for one in ended],
            [one.count for one in ended],
            [one.longest_s for one in ended],
            late_s=sum(one.late_s for one in seconds) if side == "waited" else 0.0,
            hung=_hung(seconds, after, longest_s),
            # Users who wait are as many whether they hang or not; of other tools' seconds nobody says since when.
            hung_before=0.0 if seconds[0].epoch and is_open and not mixed else float(before.unfinished),
            blind_s=sum(one.gap_s for one in seconds),
            rhythms=rhythms,
        )
        if gap is not None and gap.is_fault:
            words = _gap_words(gap, at, waits=side == "waited", is_open=is_open)
            return FlowFault("littles_law", level, gap.inside, gap.told, gap.share, words)
    return None


def _lost(seconds: Sequence[FlowSecond], before: FlowSecond, level: float | None, at: str) -> FlowFault | None:
    """Arrivals that are not accounted for, or completions without a time."""
    came = sum(one.planned for one in seconds)
    done = sum(one.done for one in seconds)
    left = done + sum(one.dropped + one.interrupted for one in seconds)
    stay = [float(one.unfinished) for one in (before, *seconds)]
    missing = unaccounted(stay, [one.planned for one in seconds], [left])
    timed = sum(one.inside_all.count for one in seconds)
    # An arrival that is handed to a VU is counted when that begins, which a generator that is late lets wait.
    handed = came / len(seconds) * (before.gap_s + seconds[-1].gap_s)
    if abs(missing) > max(LOST_LEAST, LOST_SHARE * max(came, left)) + handed:
        told = came - missing
        why = "completions were lost" if missing > 0 else "completions were counted twice, or arrivals lost"
        words = (
            f"{at}: {number(came)} arrivals were counted, but {number(left)} ended and those unfinished changed by "
            f"{change_words(stay[-1] - stay[0])}, which makes {number(told)}: {why}."
        )
        return FlowFault("arrivals", level, came, told, abs(missing) / max(came, told), words)
    if abs(timed - done) > max(LOST_LEAST, LOST_SHARE * max(timed, done)):
        why = "times were lost" if timed < done else "times were counted twice"
        words = f"{at}: {amount_words(done, 'iteration')} ended and {number(timed)} have a time: {why}."
        return FlowFault("times", level, done, timed, abs(timed - done) / max(timed, done), words)
    return None


def _hung(seconds: Sequence[FlowSecond], after: Sequence[FlowSecond], longest_s: float) -> float:
    """How many arrivals of the last second's epoch may have got stuck: those unfinished well after the longest
    iteration. Where nothing followed, or epochs are not numbered, all that were unfinished at the end."""
    epoch, end = seconds[-1].epoch, seconds[-1].second
    later = [one for one in after if one.second <= end + 2 * longest_s + 1]
    if not epoch or not later or any(one.epoch < epoch for one in later):
        return float(seconds[-1].unfinished)
    return float(later[-1].unfinished_of(epoch) + sum(one.cut.get(epoch, 0) for one in later))


def _gap_words(gap: LawGap, at: str, *, waits: bool, is_open: bool) -> str:
    """Both numbers, and what the law says of them."""
    what = "were inside or waited to begin" if waits else "were inside"
    name = "response time" if waits else "time inside" if is_open else "time of an iteration, thinking included"
    product = f"{number(gap.per_s)}/s × {number(1000 * gap.mean_s)} ms"
    return (
        f"{at}: {amount_words(gap.inside, 'iteration')} {what} on average, but throughput × {name} ({product}) makes "
        f"{number(gap.told)}, {share_words(gap.share)} apart. By Little's law they are equal: times or completions are "
        "wrong."
    )


def flow_of_run(run: RunReader | None) -> list[FlowSecond]:
    """All seconds of a run; none without one."""
    from plimsoll.runs.readings.flow_blocks import flow_seconds

    return [] if run is None else [second for block in run.blocks(METRICS) for second in flow_seconds(block)]


def of_step(flow: Sequence[FlowSecond], step: Mapping[str, Any]) -> slice:
    """The place of the step's measured seconds; the run's first second is left out, as nothing is known before it."""
    begin, end = float(step["measured_from_s"]), float(step["end_s"])
    inside = [at for at, one in enumerate(flow) if at >= _EDGE_S and begin <= one.second < end]
    return slice(inside[0], inside[-1] + 1) if inside else slice(0, 0)


def faults_of_steps(
    flow: Sequence[FlowSecond],
    steps: Sequence[Mapping[str, Any]],
    unit: str,
    *,
    is_open: bool | None,
    stood_still: bool = False,
) -> list[FlowFault | None]:
    """The fault of each step's measured seconds, in the order of the steps."""
    found: list[FlowFault | None] = []
    for step in steps:
        place, level = of_step(flow, step), float(step["level"])
        found.append(
            fault_of(
                flow[place],
                flow[place.start - 1],
                flow[place.stop :],
                is_open=is_open,
                stood_still=stood_still,
                level=level,
                at=f"At {level_words(level, unit)}",
            )
            if place.stop
            else None
        )
    return found


def fault_of_trial(flow: Sequence[FlowSecond], trial: Mapping[str, Any], stood_still: bool) -> FlowFault | None:
    """The fault of a trial's measured seconds; trials lie one behind the other in a run, each of a load of its own."""
    start, begin, end = (float(trial[key]) for key in ("start_s", "measured_from_s", "end_s"))
    own = [one for one in flow if start <= one.second < end]
    measured = [one for one in own if one.second >= max(begin, start + _EDGE_S)]
    if not measured or len(own) == len(measured):
        return None
    return fault_of(measured, own[-len(measured) - 1], stood_still=stood_still, at=f"In trial {trial['trial']}")


def fault_of_run(flow: Sequence[FlowSecond], stood_still: bool = False) -> FlowFault | None:
    """Of a plain run: the seconds between its first and the last in which anything came, which the load may have left
    in the middle."""
    last = max((at for at, one in enumerate(flow) if one.planned), default=0)
    if last <= _EDGE_S:
        return None
    return fault_of(flow[_EDGE_S:last], flow[_EDGE_S - 1], flow[last:], stood_still=stood_still)


def with_flow(
    health: Mapping[str, Any],
    flow: Sequence[FlowSecond],
    steps: Sequence[Mapping[str, Any]],
    unit: str,
    *,
    is_open: bool | None = None,
    decisive: Iterable[int] | None = None,
) -> dict[str, Any]:
    """The generator's `health` (findings/validity/generator.py), with `flow_faults` where there is any among the steps.

    A fault at a `decisive` step (its place; None: each is) takes away what rests on times or throughput; another is a
    note.
    """
    found = faults_of_steps(flow, steps, unit, is_open=is_open, stood_still=bool(health["stood_still_s"]))
    deciding = set(range(len(steps)) if decisive is None else decisive)
    void = [one.words for at, one in enumerate(found) if one is not None and at in deciding]
    notes = [f"{one.words} That level says nothing." for at, one in enumerate(found) if one and at not in deciding]
    if not any(found):
        return dict(health)
    told = dict(health) | {"flow_faults": [one.to_json() for one in found if one is not None]}
    told["notes"] = [*health["notes"], *dict.fromkeys(notes)]
    if not void:
        return told
    void = list(dict.fromkeys(void))
    return told | {
        "healthy": False,
        "reasons": [*health["reasons"], *void],
        "remedies": [*health["remedies"], REMEDY],
        "validity": [_without(one, void) for one in health["validity"]],
    }


def _without(validity: Mapping[str, Any], because: Sequence[str]) -> dict[str, Any]:
    """A validity that is invalid if it rests on times or counts."""
    if validity["rests_on"] not in VOID:
        return dict(validity)
    name = str(validity["words"]).partition(":")[0]
    reasons = [*(validity.get("because") or ()), *because]
    return {**validity, "verdict": "invalid", "words": f"{name}: invalid", "because": reasons}
