"""The one finding of a plain run: whether its figures are the target's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from plimsoll.findings.capacity.words import asked_words
from plimsoll.findings.evidence import SERIES, Evidence, as_data
from plimsoll.findings.shape.units_of import with_units
from plimsoll.findings.validity.asked import asked_load
from plimsoll.findings.validity.flow import REMEDY, fault_of_run
from plimsoll.findings.validity.self_diagnosis import (
    FOREIGN,
    STALLED,
    Diagnosis,
    diagnose,
    foreign_work,
    full_share,
    lasting,
    standstill_words,
    unread_words,
)
from plimsoll.findings.validity.validity import Validity, of_time
from plimsoll.runs.readings.declared_caps import DeclaredCap
from plimsoll.runs.readings.flow_seconds import FlowSecond, flow_second
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.snapshot import Snapshot
from plimsoll.words import ms_words, number, share_words

SCHEMA = 1
QUESTION = "Did the generator limit this run?"


def run_finding(
    facts: GeneratorSeconds,
    *,
    busiest_destination: tuple[str, int] | None = None,
    status: str = "finished",
    run_path: str | None = None,
    caps: Sequence[DeclaredCap] = (),
    flow: Sequence[FlowSecond] = (),
    names: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """The finding as findings.json holds it: `valid` if nothing spoiled the figures, `invalid_because`, `notes` on
    limits that came near, `next`, and the `generator`'s own numbers (shares of 1, milliseconds, bytes; null where
    unknown). `flow`: the run's seconds, whose counts and times must agree; `names`: CPU seconds of
    foreign processes by their names."""
    beside = list(foreign_work(facts, names or {}))
    found = [*diagnose(facts, busiest_destination, caps), *_flow(flow, facts), *beside]
    spoiled = [one for one in found if one.spoils]
    limits = [one for one in spoiled if one.limits]
    asked = asked_load(flow)
    told = {
        "schema": SCHEMA,
        "question": QUESTION,
        "answer": " ".join([*asked_words(asked, with_reason=not limits), _answer(facts, found, spoiled)]),
        **({"asked": asked} if asked else {}),
        "experiment": "run",
        "status": status,
        "valid": not limits,
        "validity": [one.to_json() for one in validity_of_run(facts, [*spoiled, *beside])],
        "evidence": as_data([Evidence(facts.seconds, "seconds", SERIES, "The generator in each")]),
        "generator": {"healthy": not spoiled, **_numbers(facts, busiest_destination)},
        "diagnoses": [
            {"name": one.name, "words": one.words, "remedy": one.remedy, "spoils": one.spoils} for one in found
        ],
        "invalid_because": [one.words for one in limits],
        "notes": [*unread_words(facts), *(one.words for one in found if one not in limits)],
        "next": list(dict.fromkeys(one.remedy for one in found)),
        "run": run_path,
    }
    return with_units(told)


def run_finding_of(
    snapshots: Iterable[Snapshot],
    rows: Iterable[Mapping[str, Any]],
    *,
    status: str,
    run_path: str,
    busiest_destination: tuple[str, int] | None = None,
    last_written: int | None = None,
    names: Mapping[str, float] | None = None,
) -> dict[str, Any] | None:
    """The finding of a run that did not live to write it; None where nothing was measured. `last_written`: its last
    second, where that is known."""
    facts = GeneratorSeconds(last_written)
    flow = []
    for snapshot in snapshots:
        facts.add(snapshot)
        flow.append(flow_second(snapshot))
    for row in rows:
        facts.add_row(row)
    if not facts.seconds:
        return None
    return run_finding(
        facts, busiest_destination=busiest_destination, status=status, run_path=run_path, flow=flow, names=names
    )


def _flow(flow: Sequence[FlowSecond], facts: GeneratorSeconds) -> Iterator[Diagnosis]:
    """Counts and times that do not agree, which says nothing of a limit, and takes away what rests on them."""
    fault = fault_of_run(flow, stood_still=bool(facts.standstills()))
    if fault is not None:
        yield Diagnosis("flow", fault.words, REMEDY)


def validity_of_run(facts: GeneratorSeconds, spoiled: Sequence[Diagnosis]) -> list[Validity]:
    """What the run's throughput, response times (where it has any) and failures are worth: a generator that only was
    late adds its lateness to times."""
    limits = tuple(one.words for one in spoiled if one.limits)
    refused = tuple(one.words for one in spoiled if one.name in ("files", "ports", "names"))
    beside = tuple(one.words for one in spoiled if one.name == FOREIGN)
    of_run = Validity("throughput", "invalid", because=limits) if limits else Validity("throughput")
    times: list[Validity] = []
    errors_ms = ((0.5, facts.median("lag_p50_ms") or 0.0), (0.99, _rare_error_ms(facts)))
    for quantile, error_ms in errors_ms if facts.answers else ():
        one = of_time(error_ms, facts.response_ms(quantile), "response_time", quantile)
        because = limits or _still_at(facts, quantile) or (beside if full_share(facts) > (1 - quantile) / 2 else ())
        times.append(replace(one, verdict="invalid", because=because) if because else one)
    return [of_run, *times, Validity("failures", "invalid", because=refused) if refused else Validity("failures")]


def _still_at(facts: GeneratorSeconds, quantile: float) -> tuple[str, ...]:
    """Why a response time at `quantile` is of the generator's standing still; empty where that was too short for it."""
    found = facts.standstills()
    touched = sum(one.length_s for one in found) / max(1, facts.seconds)
    return (f"{standstill_words(found)}.",) if found and touched > (1 - quantile) / 2 else ()


def _rare_error_ms(facts: GeneratorSeconds) -> float:
    """By how much p99 of response times may be too long: lag, or turns in which answers were not read."""
    stalled = lasting(facts.of("stalled_share"), STALLED)
    turn_ms = (facts.median("longest_turn_ms") or 0.0) if stalled and facts.vus_max > 1 else 0.0
    return max(facts.median("lag_p99_ms") or 0.0, turn_ms)


def _answer(facts: GeneratorSeconds, found: Sequence[Diagnosis], spoiled: Sequence[Diagnosis]) -> str:
    own = _own_answer(facts, [one for one in found if one.name != FOREIGN], spoiled)
    beside = any(one.name == FOREIGN for one in found)
    told = beside and facts.answers
    return f"{own} But other work took cores from the target: response times are not its alone." if told else own


def _own_answer(facts: GeneratorSeconds, found: Sequence[Diagnosis], spoiled: Sequence[Diagnosis]) -> str:
    limits = [one for one in spoiled if one.limits]
    if limits:
        first = limits[0].words
        return f"Yes: its figures are not the target's alone. {first}"
    if spoiled:
        error = _rare_error_ms(facts)
        size = f"within ± {ms_words(error)} at p99" if error else "too long by what it waited"
        times = f": response times are {size}" if facts.answers else ""
        return f"It did not limit the load, but delayed it{times}. Throughput and failures stand."
    numbers = []
    if (busiest := facts.most("busiest_thread_share")) is not None:
        numbers.append(f"its busiest thread was at most {share_words(busiest)} busy in a second")
    if (lag_ms := facts.median("lag_p99_ms")) is not None:
        numbers.append(f"it was {ms_words(lag_ms)} late at p99")
    still = facts.standstills()
    near = f" {found[0].words}" if found else ""
    if still:
        length_s = sum(one.length_s for one in still)
        rest = f": {' and '.join(numbers)}" if numbers else ""
        return f"For {number(length_s, 2)} of {facts.seconds:,} s it stood still; it did not limit the rest{rest}."
    return f"No{': ' if numbers else ''}{' and '.join(numbers)}.{near}"


def _numbers(facts: GeneratorSeconds, busiest: tuple[str, int] | None) -> dict[str, Any]:
    numbers = {
        "threads": facts.last("threads"),
        "usable_cores": facts.last("usable_cores"),
        "cores_used_most": facts.most("cpu_s"),
        "busiest_thread_share": facts.most("busiest_thread_share"),
        "waiting_share": facts.most("waiting_share"),
        "stalled_share": facts.most("stalled_share"),
        "longest_turn_ms": facts.most("longest_turn_ms"),
        "lag_p99_ms": facts.median("lag_p99_ms"),
        "denied_vus": facts.most("denied_vus"),
        "script_mean_ms": facts.script_mean_ms,
        "script_p99_ms": facts.most("script_p99_ms"),
        "script_max_ms": facts.most("script_max_ms"),
        "host_busy_share": facts.most("host_busy_share"),
        "host_steal_share": facts.most("host_steal_share"),
        "throttled_share": facts.most("throttled_share"),
        "open_files": facts.most("open_files"),
        "open_files_limit": facts.last("open_files_limit"),
        "refused_files": facts.total("refused_files"),
        "refused_ports": facts.total("refused_ports"),
        "time_wait": facts.most("time_wait"),
        "local_ports": facts.last("local_ports"),
        "memory_free_bytes": min(facts.of("memory_free_bytes"), default=None),
        "rss_bytes": facts.most("rss_bytes"),
    }
    return {
        **{name: None if value is None else round(value, 3) for name, value in numbers.items()},
        "busiest_destination": None if busiest is None else {"address": busiest[0], "local_ports": busiest[1]},
    }
