"""Was it the target, or the generator? Health of the load generator in the steps that decide the answer.

What it did, and which conclusions that takes away (validity.py):
  * it could not have sent more (a full or starved thread, no file or port, too few VUs), or did not send what was asked
    for (it stood still): throughput, times and counts of a level that was not carried; what was carried was carried;
  * the host's CPU was over 90% busy while the generator took over 10% of the host and was not kept apart, or others
    took a fifth (foreign_work.py): the same, as the target had what was left;
  * its lag was above both 1 ms and a tenth of the response time at the same percentile (p50, p90, p99), or of the
    median in the mean of a part of the load, its CPU quota held it up or its loop stalled: response times alone.

Long runs are judged alike over the seconds of their load, as far as their answers rest on the same (RestsOn).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from plimsoll.findings.capacity.words import GENERATOR_LIMITED, why_not
from plimsoll.findings.resources import Means, Step, means_of_steps, target_cores
from plimsoll.findings.validity.foreign_work import HOST_BUSY, ForeignWork, foreign_work
from plimsoll.findings.validity.self_diagnosis import LEAST_LAG_MS, THREAD_BUSY, Diagnosis, diagnose, standstill_words
from plimsoll.findings.validity.validity import ALL, RestsOn, Validity, error_at, of_time
from plimsoll.runs.metric_names import RESPONSE_METRICS
from plimsoll.runs.readings.failures import says_failing
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.snapshot import Snapshot
from plimsoll.words import amount_words, level_words, ms_words, number, share_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

GENERATOR_TAKES = 0.10
LAG_OF_RESPONSE = 0.10  # at the same percentile
# What is judged here by the step's own figures, or as a disturbance of the target, is left to that.
DIAGNOSED = ("stood_still", "vus", "files", "ports", "names", "starved", "quota", "stall")
# Of these, what keeps the load of a level from being made at all, however well the target did.
NOT_MADE = ("stood_still", "vus", "files", "ports", "names")
ONLY_LATE = ("quota", "stall")
REFUSED = ("files", "ports", "names")  # requests that failed here
RARE_LAG_OF_MEDIAN = 0.50  # of a lag p99 in means, to which it adds little
# What a second's lag p99 adds to its mean beyond its median: 0.08 where lag is exponential, 0.01 to 0.5 in all.
RARE_SHARE = 0.1
LEAST_SPELL_S = 2
MOST_PARTS, SHORTEST_PART_S = 5, 10  # of a load, in each of which lateness counts where an answer rests on means
COUNTED_MS = 1000.0
NOT_ALONE = f"The numbers below are not the target's alone, because {GENERATOR_LIMITED}."
_STANDS = ("memory", "cpu_per_operation")  # whatever the generator did, as long as there was a load


class Problem(NamedTuple):
    """Why figures are not the target's alone, what to do, whether the generator could not have sent more, and whether
    the load of the level was not made, however much of it the target would have carried; `refused`: requests failed
    here; `only_late`: it delayed, and took nothing."""

    reason: str
    remedy: str
    limits: bool = False
    not_made: bool = False
    refused: bool = False
    only_late: bool = False


def seconds_of_steps(
    snapshots: Iterable[Snapshot], rows: Iterable[Mapping[str, Any]], steps: Sequence[Step]
) -> list[GeneratorSeconds]:
    """What the generator and its machine did in the measured seconds of each step; the run is read once."""
    windows = [(float(step["measured_from_s"]), float(step["end_s"])) for step in steps]
    facts = [GeneratorSeconds() for _ in steps]
    for snapshot in snapshots:
        for (start_s, end_s), of_step in zip(windows, facts, strict=True):
            if start_s <= snapshot.second < end_s:
                of_step.add(snapshot)
    for row in rows:
        second = row.get("second")
        for (start_s, end_s), of_step in zip(windows, facts, strict=True):
            if isinstance(second, int | float) and start_s <= second < end_s:
                of_step.add_row(row)
    return facts


def figures_of(facts: GeneratorSeconds) -> dict[str, Any]:
    """The generator's own figures of these seconds, named as those of a step that an experiment judged."""
    cores = facts.mean("cpu_s")
    return {
        "generator_share": cores / max(1.0, facts.last("threads") or 1.0),
        "generator_cores": cores,
        "lag_p50_ms": facts.median("lag_p50_ms") or 0.0,
        "lag_p90_ms": _lag_of_spells_ms(facts, 0.90),
        "lag_p99_ms": facts.median("lag_p99_ms") or 0.0,
        "lag_of_spells_ms": _lag_of_spells_ms(facts, 0.99),
        "lag_mean_ms": _mean_lag_ms(facts),
        "p50_ms": facts.response_ms(0.50),
        "p90_ms": facts.response_ms(0.90),
        "p99_ms": facts.response_ms(0.99),
    }


def _lag_of_spells_ms(facts: GeneratorSeconds, quantile: float) -> float:
    """How late, at least, a share 1 - `quantile` of all events was because some seconds were: half of the events of a
    second are later than its lag p50. One second alone is a hiccup."""
    each = sorted(facts.of("lag_p50_ms"), reverse=True)
    seconds = max(LEAST_SPELL_S, math.ceil(2 * (1 - quantile) * len(each) - 1e-9))
    return each[seconds - 1] if len(each) >= seconds else 0.0


def _mean_lag_ms(facts: GeneratorSeconds) -> float:
    """Mean lateness over the fifth of the load in which it was greatest. A median of the seconds would not see what
    lasts for less than half of them, and that looks like a target that slows down on the way."""
    both = zip(facts.of("lag_p50_ms"), facts.of("lag_p99_ms"), strict=False)
    each = [usual + RARE_SHARE * (rare - usual) for usual, rare in both]
    parts = max(1, min(MOST_PARTS, len(each) // SHORTEST_PART_S))
    edges = [len(each) * place // parts for place in range(parts + 1)]
    return max(sum(each[start:end]) / max(1, end - start) for start, end in pairwise(edges))


def health_of_load(
    run: RunReader,
    load: Step,
    *,
    rests_on: RestsOn = "throughput",
    same_host: bool | None = None,
    kept_apart: str | None = None,
    unit: str = "users",
) -> dict[str, Any]:
    """`generator_health` over one stretch of a run: `load` has level, measured_from_s and end_s, and
    the figures of a step where an experiment made one of it."""
    metric = run.first_metric(RESPONSE_METRICS)
    seconds = seconds_of_steps(run.whole_seconds([metric or ""]), run.resources(), [load])
    return generator_health(
        [{**figures_of(seconds[0]), **load}],
        means_of_steps(run.resources(), [load]),
        seconds,
        rests_on=rests_on,
        same_host=same_host,
        kept_apart=kept_apart,
        unit=unit,
    )


def generator_health(
    steps: Sequence[Step],
    means: Sequence[Means],
    seconds: Sequence[GeneratorSeconds] = (),
    *,
    rests_on: RestsOn = "throughput",
    same_host: bool | None = None,
    kept_apart: str | None = None,
    unit: str = "users",
    asked_of: RestsOn | None = None,
) -> dict[str, Any]:
    """Judge `steps`, the deciding ones, with their probe `means` (of the generator's host) and their `seconds`, where
    these are known.

    `rests_on`: what is asked, which decides `healthy`, reasons and remedies: of throughput, a step that was carried
    was, unless its load was not made; where the level changed within the steps ("mean_time"), a thread that was full
    for a part of them counts, and means bear lateness at p99 that percentiles do not; where items are counted, lateness
    counts beside a second. `same_host`: whether target and generator share a host (None: yes if a process of the target
    was probed here, else not known); `kept_apart`: how, in words ("pinned to different cores"); `unit`: of the steps'
    levels; `asked_of`: what the experiment answers, for the words, if not what it rests on.
    Keys: healthy, cpu (share of its threads), host_share, lag_p99_ms, same_host, target_cores, generator_cores,
    foreign_cores, stood_still_s, reasons, remedies, limits (of what was seen, that for which it could not have sent
    more), validity (of each kind of conclusion), notes (what was seen and took nothing away), words.
    """
    judged = _Judged(steps, means, seconds, unit, kept_apart is not None, asked_of or rests_on)
    reasons, remedies = judged.against(rests_on)
    worst_lag = max((float(step.get("lag_p99_ms") or 0.0) for step in steps), default=0.0)
    target = [cores for seen in means if (cores := target_cores(seen)) is not None]
    shared = same_host if same_host is not None else (True if target else None)
    host_shares = [share for s, m in zip(steps, means, strict=True) if (share := _host_share(s, m)) is not None]
    still = [one for facts in seconds for one in facts.standstills()]
    health = {
        "healthy": not reasons,
        "cpu": _rounded(max((float(step.get("generator_share") or 0.0) for step in steps), default=0.0)),
        "host_share": _rounded(max(host_shares, default=None)),
        "generator_cores": _rounded(max((float(step.get("generator_cores") or 0.0) for step in steps), default=0.0)),
        "target_cores": _rounded(max(target, default=None)),
        "foreign_cores": _rounded(judged.foreign_cores),
        "stood_still_s": round(sum(one.length_s for one in still), 3),
        "lag_p99_ms": _rounded(worst_lag),
        "same_host": shared,
        "kept_apart": kept_apart,
        "reasons": reasons,
        "remedies": remedies,
        "limits": judged.limits,
        "validity": [one.to_json() for one in judged.validity()],
    }
    told = [f"{standstill_words(still)}."] if still and not any("stood still" in text for text in reasons) else []
    told += [text for text in judged.foreign_words() if text not in reasons]
    return health | {"words": _same_host_words(health), "notes": [*told, *_error_words(judged)]}


class _Judged:
    """The deciding steps with what was seen in each: the problems, and which conclusions they take away."""

    def __init__(
        self,
        steps: Sequence[Step],
        means: Sequence[Means],
        seconds: Sequence[GeneratorSeconds],
        unit: str,
        kept_apart: bool,
        asked_of: RestsOn,
    ) -> None:
        self.steps, self.means, self.kept_apart, self.asked_of = steps, means, kept_apart, asked_of
        self.seconds = [*seconds, *(GeneratorSeconds() for _ in range(len(steps) - len(seconds)))]
        self.levels = [level_words(step["level"], unit) for step in steps]
        self.diagnoses = [diagnose(one) for one in self.seconds]
        self._foreign: list[tuple[ForeignWork, str]] = []
        self.foreign_cores: float | None = None
        self.limits: list[str] = []
        for place, (step, seen) in enumerate(zip(steps, means, strict=True)):
            for one in foreign_work(seen, step.get("generator_cores")):
                self._foreign.append((one, self.levels[place]))
                self.foreign_cores = max(self.foreign_cores or 0.0, one.cores)
            for problem in self._all(place, "throughput"):
                if problem.limits and problem.reason not in self.limits:
                    self.limits.append(problem.reason)

    def foreign_words(self) -> list[str]:
        """What others took in each step."""
        return [one.words(level, self.asked_of) for one, level in self._foreign]

    def against(self, rests_on: RestsOn, lag: bool = True) -> tuple[list[str], list[str]]:
        """Reasons for which what rests on that is not the target's alone, and their remedies, each once. Without `lag`,
        what only delays is left out: of a response time it is an error, which differs from percentile to percentile."""
        places = range(len(self.steps))
        found = [problem for place in places for problem in self._of_step(place, rests_on, lag=lag)]
        return list(dict.fromkeys(one.reason for one in found)), list(dict.fromkeys(one.remedy for one in found))

    def validity(self) -> Iterator[Validity]:
        """Of each kind of conclusion that these steps allow."""
        for rests_on in ALL:
            reasons = tuple(self.against(rests_on, lag=rests_on != "response_time")[0])
            if rests_on == "response_time":
                yield from self._of_times(reasons)
            elif rests_on == "mean_time" and not reasons:
                yield max((self._of_time(place, None) for place in range(len(self.steps))), key=_gravity,
                          default=Validity("mean_time"))  # fmt: skip
            else:
                yield Validity(rests_on, "invalid", because=reasons) if reasons else Validity(rests_on)

    def _of_times(self, reasons: tuple[str, ...]) -> Iterator[Validity]:
        for quantile in (0.5, 0.9, 0.99):
            if reasons or not self.steps:
                yield Validity("response_time", "invalid" if reasons else "valid", None, None, quantile, reasons)
            else:
                yield max((self._of_time(place, quantile) for place in range(len(self.steps))), key=_gravity)

    def _of_time(self, place: int, quantile: float | None) -> Validity:
        """Of a time at one step; of a mean without a quantile."""
        step, facts = self.steps[place], self.seconds[place]
        still = facts.standstills()
        touched = sum(one.length_s for one in still) / max(1, facts.seconds)
        if quantile is not None and still and touched > (1 - quantile) / 2:
            return Validity("response_time", "invalid", None, None, quantile, (f"{standstill_words(still)}.",))
        name = "p50_ms" if quantile is None else f"p{100 * quantile:g}_ms"
        error_ms = error_at(step, quantile)
        if quantile == 0.99:
            error_ms = max(error_ms, _turn_ms(facts, self.diagnoses[place]))
        value_ms = step.get(name)
        if value_ms is None:
            value_ms = step.get("p50_ms")  # it is no less
        return of_time(error_ms, value_ms, "mean_time" if quantile is None else "response_time", quantile)

    def _of_step(self, place: int, rests_on: RestsOn, lag: bool) -> Iterator[Problem]:
        """The problems of one step that take away what rests on that."""
        for one in self._all(place, rests_on):
            if _matters(one, self.steps[place], rests_on) and (lag or not one.only_late):
                yield one

    def _all(self, place: int, rests_on: RestsOn) -> Iterator[Problem]:
        step, seen, level = self.steps[place], self.means[place], self.levels[place]
        for work in foreign_work(seen, step.get("generator_cores")):
            if work.spoils(rests_on):
                told = self.asked_of if work.spoils(self.asked_of) else rests_on
                yield Problem(work.words(level, told), work.remedy)
        yield from _problems(step, seen, level, rests_on, self.kept_apart)
        yield from _diagnosed(self.diagnoses[place], level, _names(step, rests_on))


def _matters(problem: Problem, step: Step, rests_on: RestsOn) -> bool:
    """Whether it takes away what rests on that."""
    if rests_on in _STANDS:
        return False
    if rests_on == "failures" or (rests_on == "throughput" and _stopped_by_failures(step)):
        return problem.refused
    if rests_on == "throughput" and step.get("verdict") == "good":
        return problem.not_made
    return True


def _stopped_by_failures(step: Step) -> bool:
    """Whether a step was not carried because requests failed, which no generator makes the target do."""
    return step.get("verdict") == "bad" and says_failing(step.get("reasons") or ())


def _gravity(one: Validity) -> tuple[int, float]:
    return ("valid", "within", "invalid").index(one.verdict), one.error or 0.0


def _turn_ms(facts: GeneratorSeconds, diagnoses: Iterable[Diagnosis]) -> float:
    """How long answers may have lain unread behind turns of the loop, where those lasted and others shared a thread."""
    stalled = any(one.name == "stall" for one in diagnoses) if facts.seconds else False
    return (facts.median("longest_turn_ms") or 0.0) if stalled else 0.0


def _error_words(judged: _Judged) -> list[str]:
    """Error bars worth a sentence: above what every machine has."""
    found = [one for one in judged.validity() if one.rests_on == "response_time"]
    large = [one for one in found if (one.error or 0.0) >= LEAST_LAG_MS]
    if not large:
        return []
    sizes = ", ".join(f"{ms_words(one.error or 0.0)} at p{100 * (one.quantile or 0.0):g}" for one in large)
    text = f"The generator's lag is part of response times: up to {sizes}."
    gone = [f"p{100 * (one.quantile or 0.0):g}" for one in large if one.verdict == "invalid"]
    return [text, *([f"At {', '.join(gone)} they say nothing of the target."] if gone else [])]


def not_alone(health: Mapping[str, Any]) -> str:
    """The sentence before numbers that are not the target's alone."""
    return NOT_ALONE.replace(GENERATOR_LIMITED, why_not(health))


def limit_of_generator(health: Mapping[str, Any]) -> dict[str, Any] | None:
    """The generator as what limited the load, in the JSON of a limit; None where it was late at most, or competed with
    the target for the host's cores."""
    if not health["limits"]:
        return None
    remedy = next(iter(health["remedies"]), None)
    cap = health.get("script_cap")
    where = f"the script's {cap['option']}" if cap else "the load generator"
    found = {"kind": "generator", "where": where, "utilisation": None, "evidence": health["limits"][0]}
    return found | ({"remedy": remedy} if remedy else {})


def _names(step: Step, rests_on: RestsOn) -> Sequence[str]:
    """What is diagnosed of the seconds of that step."""
    if rests_on in ("throughput", "failures", *_STANDS):  # what only delays takes none of these away
        return [*(name for name in DIAGNOSED if name not in ONLY_LATE), *([] if _is_full(step) else ["thread"])]
    if rests_on == "counts":  # a stall only delays; where by so much that it shows in counts, the lag tells
        return [name for name in DIAGNOSED if name != "stall"]
    return (*DIAGNOSED, "thread") if rests_on == "mean_time" and not _is_full(step) else DIAGNOSED


def _diagnosed(diagnoses: Iterable[Diagnosis], level: str, names: Sequence[str]) -> Iterator[Problem]:
    for one in diagnoses:
        if one.spoils and one.name in names:
            text = f"At {level}: {one.words}"
            yield Problem(
                text, one.remedy, one.limits, one.name in NOT_MADE, one.name in REFUSED, one.name in ONLY_LATE
            )


_OTHER_HOST = "Run the generator on another host, or give it its own cores with --isolate."
_FREE = "Free the generator's host of other work, or give the generator its own cores with --isolate."
# Where the two were kept apart already, what else runs there took the time.
_FREE_APART = "Free the host of other work: something else ran on the generator's cores; or use another host."


def _problems(step: Step, seen: Means, level: str, rests_on: RestsOn, kept_apart: bool) -> list[Problem]:
    found = []
    at = f"at {level}"
    busy, share = seen.get("host", {}).get("cpu_share"), _host_share(step, seen)
    competed = busy is not None and share is not None and busy > HOST_BUSY and share > GENERATOR_TAKES
    if competed and busy and share and not kept_apart:  # else the cores that the generator filled are not the target's
        text = (
            f"CPU of the host was {share_words(busy)} busy {at} and the generator took {share_words(share)} of it: "
            "they competed."
        )
        found.append(Problem(text, _OTHER_HOST))
    late = _late_words(step, rests_on)
    if late is not None:
        text = f"The generator itself was late {at}: {late}."
        found.append(Problem(text, _FREE_APART if kept_apart else _FREE, only_late=True))
    if _is_full(step):
        text = (
            f"The generator's threads were {share_words(step['generator_share'])} busy {at}: it could not have sent "
            "more."
        )
        remedy = "Give the generator more threads or a faster host, or make the script cheaper."
        found.append(Problem(text, remedy, limits=True))
    return found


def _late_words(step: Step, rests_on: RestsOn) -> str | None:
    """How late the generator was, where that shows in what the answer rests on."""
    rare_ms, median_ms = float(step.get("lag_p99_ms") or 0.0), step.get("p50_ms")
    if rests_on not in ("response_time", "mean_time", "counts"):
        return None
    if rests_on == "counts":
        limit_ms = LAG_OF_RESPONSE * COUNTED_MS
        return f"lag p99 {ms_words(rare_ms)}, more than a tenth of the second" if rare_ms > limit_ms else None
    if median_ms is None:
        return f"lag p99 {ms_words(rare_ms)}" if rare_ms > LEAST_LAG_MS else None
    against = f"the median response time ({ms_words(median_ms)})"
    usual_ms = float(step.get("lag_p50_ms") or 0.0)
    if _is_late(usual_ms, LAG_OF_RESPONSE * median_ms):
        return f"lag {ms_words(usual_ms)} at the median, more than a tenth of {against}"
    mean_ms = float(step.get("lag_mean_ms") or 0.0)
    if _is_late(mean_ms, LAG_OF_RESPONSE * median_ms):
        return f"lag {ms_words(mean_ms)} in the mean of a part of it, more than a tenth of {against}"
    if rests_on == "mean_time":
        late = _is_late(rare_ms, RARE_LAG_OF_MEDIAN * median_ms)
        return f"lag p99 {ms_words(rare_ms)}, more than half of {against}" if late else None
    return _late_above_median(step, median_ms)


def _late_above_median(step: Step, median_ms: float) -> str | None:
    """How late at p90 or p99, beside the response time there; beside the median where only that is known."""
    rare_ms = max(float(step.get(name) or 0.0) for name in ("lag_p99_ms", "lag_of_spells_ms"))
    for name, lag_ms in (("p90", float(step.get("lag_p90_ms") or 0.0)), ("p99", rare_ms)):
        there_ms = step.get(f"{name}_ms")
        if _is_late(lag_ms, LAG_OF_RESPONSE * (median_ms if there_ms is None else there_ms)):
            known = f"the median response time ({ms_words(median_ms)})"
            against = known if there_ms is None else f"the response time there ({ms_words(there_ms)})"
            return f"lag {ms_words(lag_ms)} at {name}, more than a tenth of {against}"
    return None


def _is_late(lag_ms: float, limit_ms: float) -> bool:
    return lag_ms > max(LEAST_LAG_MS, limit_ms)


def _is_full(step: Step) -> bool:
    return float(step.get("generator_share") or 0.0) > THREAD_BUSY


def _host_share(step: Step, seen: Means) -> float | None:
    cores = seen.get("host", {}).get("cores")
    used = step.get("generator_cores")
    return float(used) / cores if cores and used is not None else None


def _same_host_words(health: dict[str, Any]) -> str:
    if health["same_host"] is None:
        return "Whether generator and target shared a host is not known, as no process of the target was probed."
    if not health["same_host"]:
        return "Generator and target ran on different hosts."
    text = "Generator and target ran on the same host"
    if health["target_cores"] is not None:
        text += (
            f": the target used {amount_words(health['target_cores'], 'core')}, the generator "
            f"{number(health['generator_cores'])}"
        )
    text += "; they shared memory, caches, kernel and the loopback network"
    return f"{text}; {health['kept_apart']}." if health["kept_apart"] else f"{text}, and were not kept apart."


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
