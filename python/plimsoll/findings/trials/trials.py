"""Which figures of a trial count: all, unless its generator limited it; those that bear it where it was only late
(docs/decisions/0015-validity-of-a-conclusion.md). Shared by compare, decompose and sweep."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from plimsoll.findings.cautions import ANSWERED
from plimsoll.findings.evidence import Evidence, as_data, of_trials
from plimsoll.findings.validity.flow import REMEDY, fault_of_trial
from plimsoll.findings.validity.foreign_work import foreign_work
from plimsoll.findings.validity.generator import seconds_of_steps
from plimsoll.findings.validity.self_diagnosis import (
    DELAYING,
    LEAST_LAG_MS,
    OF_MEDIAN,
    Lateness,
    diagnose,
    standstill_words,
)
from plimsoll.listed_names import listed
from plimsoll.runs.readings.failures import BROKE, nothing_measured_words
from plimsoll.runs.readings.flow_seconds import FlowSecond, flow_second
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.snapshot import Snapshot
from plimsoll.study.secrets.names import HIDDEN

SCHEMA = 1
SILENT = "no answer"  # the name of the reason for which a trial of which no request was answered is left out
DAMAGE = "damage"  # of a trial that was a finished run: what of it cannot be read
MOST_FAILED = 0.10
Trial = Mapping[str, Any]
# Kinds of figures: a high percentile, a mean or median, what is no time (throughput, failures, memory, CPU).
Figure = Literal["tail", "middle", "counts"]


@dataclass
class SoundTrials:
    """`sound`: the trials of which every figure counts; `late`: those whose generator was only late, each with what
    counts all the same; `silent`: those of which no request was answered; `excluded`: {trial, variant, load, name,
    reason, keeps} of all but the sound; `generator`: its health in what the answer rests on, `rests_on`."""

    rests_on: Figure = "tail"
    sound: list[Trial] = field(default_factory=list)
    late: list[tuple[Trial, tuple[Figure, ...]]] = field(default_factory=list)
    silent: list[Trial] = field(default_factory=list)
    excluded: list[dict[str, Any]] = field(default_factory=list)
    generator: dict[str, Any] = field(default_factory=dict)
    remedies: list[str] = field(default_factory=list)

    def of(self, figure: Figure) -> list[Trial]:
        """The trials of which such a figure counts, in the order in which they were made."""
        late = [trial for trial, keeps in self.late if figure in keeps]
        return sorted([*self.sound, *late], key=lambda trial: trial["trial"]) if late else self.sound

    def words(self, label: Any, figure: Figure = "tail") -> list[str]:
        """A sentence for each reason for which trials were left out of such a figure; `label(variant)` names a
        variant."""
        by_reason: dict[tuple[str, tuple[Figure, ...]], list[dict[str, Any]]] = {}
        for one in self.excluded:
            if figure in one["keeps"]:
                continue
            by_reason.setdefault((one["name"], tuple(one["keeps"])), []).append(one)
        return [_left_out_words(name, keeps, many, label) for (name, keeps), many in by_reason.items()]


def left_out(excluded: Iterable[Mapping[str, Any]], figure: Figure) -> set[int]:
    """The trials among a finding's `excluded` of which such a figure does not count."""
    return {one["trial"] for one in excluded if figure not in (one.get("keeps") or ())}


def _left_out_words(name: str, keeps: tuple[Figure, ...], many: Sequence[Mapping[str, Any]], label: Any) -> str:
    which = listed(
        [f"{one['trial']} ({', '.join(filter(None, (label(one['variant']), one['load'])))})" for one in many], 4
    )
    trials = f"rial{'s' if len(many) > 1 else ''} {which}"
    if keeps:
        what = "high percentiles are" if "middle" in keeps else "response times are"
        return f"The {what} left out of t{trials}, because the generator was late there: {many[0]['reason']}"
    why = {SILENT: ", because", "flow": ":", DAMAGE: ":"}.get(name, ", because the generator was a limit there:")
    return f"T{trials} left out{why} {many[0]['reason']}"


def trials_finding(
    experiment: str,
    question: str,
    answer: str,
    own: Mapping[str, Any],
    sound: SoundTrials,
    *,
    status: str,
    valid: bool,
    invalid_because: Sequence[str],
    notes: Sequence[str],
    next_steps: Sequence[str],
    run_path: str | None,
    level_unit: str,
    evidence: Sequence[Evidence],
) -> dict[str, Any]:
    """A finding with what those of all experiments made of trials have, around what is its `own`."""
    return {
        "schema": SCHEMA,
        "question": question,
        "answer": answer,
        "experiment": experiment,
        "status": status,
        "valid": valid,
        "level_unit": level_unit,
        **own,
        "evidence": as_data([*_evidence_of_trials(sound, level_unit), *evidence]),
        "excluded": sound.excluded,
        "generator": sound.generator,
        "invalid_because": [] if valid else list(invalid_because),
        "notes": [*notes, *sound.generator["notes"]],
        "next": list(next_steps) or [ANSWERED if valid else _AGAIN],
        "run": run_path,
    }


_AGAIN = "Make the run again: what is left of it does not answer the question."


def _evidence_of_trials(sound: SoundTrials, level_unit: str) -> Iterator[Evidence]:
    """The trials that count, and of how many of them the times count that the answer rests on, where not of all."""
    counted, rests_on = sound.of("counts"), sound.of(sound.rests_on)
    yield of_trials(counted, level_unit, "Trials that count")
    if len(rests_on) < len(counted):
        times = "high percentiles" if sound.rests_on == "tail" else "response times"
        yield of_trials(rests_on, level_unit, f"Of these, those whose {times} count")


def first_steps(sound: SoundTrials, status: str, run_path: str | None, plan: Mapping[str, Any]) -> list[str]:
    """What to do before anything else: the generator's remedies, and going on with what was interrupted."""
    command = "the same command with"
    if plan.get("asked") and HIDDEN not in json.dumps(plan["asked"]):
        command = f"plimsoll {plan['experiment']}"  # the run holds all that it was asked for
    resume = f"Go on where it ended: {command} --resume {shlex.quote(str(run_path))}"
    return [*sound.remedies, *([resume] if status == "interrupted" else [])]


def sound_trials(
    trials: Sequence[Trial],
    snapshots: Iterable[Snapshot],
    rows: Iterable[Mapping[str, Any]],
    *,
    rests_on: Figure,
    silent_count: bool = False,
) -> SoundTrials:
    """Judge the generator in the measured seconds of each trial; the run is read once.

    A generator that was late at p99 only, for whatever reason, has hardly touched means and medians; what is left shows
    as scatter between the trials. One that was late at the median leaves what is no time as it is. `rests_on`: what the
    answer does, by which the generator was healthy or not.
    `silent_count`: whether a trial of which no request was answered counts: it says where the target stops, and nothing
    of times. Trials that were imported from finished runs have no seconds here and come judged (`spoiled_by`),
    with what of them cannot be read (`damage`).
    """
    found = SoundTrials(rests_on)
    own = [trial for trial in trials if "source" not in trial]
    flow: list[FlowSecond] = []
    facts = seconds_of_steps(_kept(snapshots, flow), rows, own)
    of_trial = {trial["trial"]: seen for trial, seen in zip(own, facts, strict=True)}
    for trial in trials:
        seen = of_trial.get(trial["trial"], GeneratorSeconds())
        spoils = [(one.name, one.words, one.remedy) for one in diagnose(seen) if one.spoils] if seen.seconds else []
        fault = fault_of_trial(flow, trial, bool(seen.standstills())) if "source" not in trial else None
        spoils += [("flow", fault.words, REMEDY)] if fault is not None else []
        spoils += [(DAMAGE, str(words), "") for words in trial.get(DAMAGE) or ()]
        spoils += [("run", str(words), "") for words in trial.get("spoiled_by") or ()]
        if not silent_count and silent_words(trial):
            found.silent.append(trial)
            spoils.insert(0, (SILENT, silent_words(trial), str(trial.get("next_step") or "")))
        if not spoils:
            found.sound.append(trial)
            continue
        keeps: tuple[Figure, ...] = ()
        if all(name in DELAYING for name, _, _ in spoils):
            keeps = ("counts",) if _late_at_median(seen) else ("middle", "counts")
            found.late.append((trial, keeps))
        name, reason, remedy = next(one for one in spoils if keeps or one[0] not in DELAYING)
        about = {key: trial.get(key) for key in ("trial", "variant", "load")}
        found.excluded.append({**about, "name": name, "reason": reason, "keeps": list(keeps)})
        if remedy and remedy not in found.remedies and rests_on not in keeps:
            found.remedies.append(remedy)
    spoiled = [one for one in found.excluded if one["name"] != SILENT and rests_on not in one["keeps"]]
    counting = found.of("counts")
    still = _standstills(counting, of_trial)
    still["notes"] += _beside_others(counting, of_trial)
    found.generator = _health(facts, spoiled) | still
    return found


def _beside_others(counting: Sequence[Trial], of_trial: Mapping[int, GeneratorSeconds]) -> list[str]:
    """That others used the host's CPU while trials were made that count, and in which it was most. Where a process of
    the target was not read it may be the other."""
    took = []
    for trial in counting:
        if trial.get("unseen"):
            continue
        cores = of_trial[trial["trial"]].mean("cpu_s") if trial["trial"] in of_trial else None
        took += [(one, trial["trial"]) for one in foreign_work(trial.get("resources") or {}, cores)]
    if not took:
        return []
    most, number = max(took, key=lambda one: (one[0].took_capacity, one[0].cores))
    trials = len({number for _, number in took})
    of = f"{trials} of {len(counting)} trials that count"
    worst = f"{most.clause('response_time')} {most.remedy}"
    return [f"Others took CPU time of the host in {of}. The worst was trial {number}: {worst}"]


def _kept(snapshots: Iterable[Snapshot], flow: list[FlowSecond]) -> Iterator[Snapshot]:
    """The seconds as they come, of which counts and times are kept."""
    for snapshot in snapshots:
        flow.append(flow_second(snapshot))
        yield snapshot


def silent_words(trial: Trial) -> str:
    """Why a trial measured nothing, where no request of it was made or answered; empty else."""
    if not requests_made(trial) and trial["done"] and "source" not in trial:
        [words] = nothing_measured_words(0, 0, broken_iterations(trial))
        return f"{words[:1].lower()}{words[1:]}"
    causes: Mapping[str, int] = trial.get("causes") or {}
    answers = any(cause.startswith("status ") for cause in causes)
    if not trial["requests"] or trial["failed"] < trial["requests"] or not causes or answers:
        return ""
    listed = ", ".join(f"{count:,} × {cause}" for cause, count in causes.items())
    return f"no request was answered ({listed})."


def broken_iterations(trial: Trial) -> int:
    """Iterations that an exception ended, although no request of them had failed; of a trial they count as failed."""
    return int((trial.get("causes") or {}).get(BROKE, 0))


def requests_made(trial: Trial) -> int:
    """What of a trial's `requests` were some."""
    return int(trial["requests"]) - broken_iterations(trial)


def _late_at_median(seen: GeneratorSeconds) -> bool:
    late = Lateness.of(seen)
    return late.p50_ms > max(LEAST_LAG_MS, OF_MEDIAN * late.response_p50_ms)


def _standstills(sound: Sequence[Trial], of_trial: Mapping[int, GeneratorSeconds]) -> dict[str, Any]:
    """For how long the generator stood still in all trials, and a note for each that counts all the same."""
    still = {number: seen.standstills() for number, seen in of_trial.items()}
    short = [(trial["trial"], still[trial["trial"]]) for trial in sound if still.get(trial["trial"])]
    return {
        "stood_still_s": round(sum(one.length_s for many in still.values() for one in many), 3),
        "notes": [f"In trial {number}, which counts: {standstill_words(many)}." for number, many in short],
    }


def _health(facts: Sequence[GeneratorSeconds], excluded: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    busiest = max((seen.most("busiest_thread_share") or 0.0 for seen in facts), default=None)
    lag_ms = max((seen.median("lag_p99_ms") or 0.0 for seen in facts), default=None)
    return {
        "healthy": not excluded,
        "busiest_thread_share": None if busiest is None else round(busiest, 3),
        "lag_p99_ms": None if lag_ms is None else round(lag_ms, 3),
        "excluded_trials": len(excluded),
    }


def tells_of_work(failed: int, requests: int) -> bool:
    """Whether times and CPU of a trial are of what it was to do: of one in which more than a tenth of the requests
    failed they are largely of failures, which may take less than an answer or more."""
    return failed <= MOST_FAILED * requests
