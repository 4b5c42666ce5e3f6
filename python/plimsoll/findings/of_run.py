"""The findings of a run directory from what it holds and nothing else: when it ends, again later, and after a kill.

What findings need beside what was measured (objectives, expected users, budgets …) is in the run's event `judgement`,
written when the load begins and again, with the notes, when it has ended; the last one counts. Runs without one take
the objectives and the expected users of the study in their manifest.

What each experiment finds is imported where it is asked for: that of all of them takes a third of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from typing import Any

from plimsoll.errors import InputError
from plimsoll.findings.cautions import with_cautions
from plimsoll.findings.consistency.check import consistent
from plimsoll.findings.resources import means_of_sockets
from plimsoll.findings.shape.units_of import with_units
from plimsoll.findings.validity.connection_churn import with_churn
from plimsoll.findings.validity.self_diagnosis import FOREIGN, clock_set, damage_words, standstill_words, unread_words
from plimsoll.findings.validity.shared_peers import with_shared_peers
from plimsoll.findings.validity.slow_names import lookups_of, with_slow_names
from plimsoll.runs.directory import LAST_SECOND
from plimsoll.runs.metric_names import BLOCKED, RESPONSE_METRICS
from plimsoll.runs.reader import RunReader
from plimsoll.runs.readings.flow_seconds import METRICS as FLOW_METRICS
from plimsoll.runs.readings.generator_seconds import generator_seconds_of
from plimsoll.runs.readings.name_lookups import SLOW_MS
from plimsoll.runs.readings.script_caps import METRICS
from plimsoll.runs.readings.standstill import STOOD_STILL_S
from plimsoll.words import time_words

EVENT = "judgement"
OF_TRIALS = ("compare", "decompose", "sweep")
EXPERIMENTS = ("capacity", "hold", "grow", "drain", *OF_TRIALS, "run")


@dataclass(frozen=True)
class Facts:
    """What the findings of a run need beside it; each experiment reads those that are its own.

    `objectives`: mappings as in a study; `objectives_level`: the level at which they decide, where it is not the
    expected users; `apart_by_affinity`: `kept_apart` is by affinities that were there before the run; `remedy`: what
    was applied before this run, as `applied` makes it; `remedy_wanted`: the command that was to follow it; the others
    as in the functions that make the findings.
    """

    objectives: tuple[Mapping[str, Any], ...] = ()
    objectives_level: float | None = None
    expected_users: float | None = None
    users_per_level: float | None = None
    budgets: Mapping[str, float] = field(default_factory=dict)
    cores: int | None = None
    negligible_below: float | None = None
    memory_limit_bytes: float | None = None
    index_budget_bytes: float | None = None
    memory_budget_bytes: float | None = None
    same_host: bool | None = None
    kept_apart: str | None = None
    apart_by_affinity: bool = False
    variant: str | None = None
    remedy: Mapping[str, Any] | None = None
    remedy_wanted: str | None = None
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As the event holds them: those that are not as they are by default."""
        default = Facts()
        found = {key: value for key, value in asdict(self).items() if value != getattr(default, key)}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in found.items()}

    @classmethod
    def of(cls, run: RunReader) -> Facts:
        """Those that the run holds."""
        written = run.events(EVENT)
        if not written:
            study = run.manifest.get("study") or {}
            return cls(tuple(study.get("objectives") or ()), expected_users=study.get("expected_users"))
        known = {one.name for one in fields(cls)}
        told: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in written[-1]["facts"].items()
            if key in known
        }
        return cls(**told)


def findings_of_run(run: RunReader, facts: Facts | None = None, status: str | None = None) -> list[dict[str, Any]]:
    """The findings, the main one first; with the run's own facts unless others are given. Empty where nothing was
    measured that says anything. `status`: how trials ended, before their run is closed and knows it.

    Raises InputError for a run of another kind than EXPERIMENTS.
    """
    found = _findings(run, Facts.of(run) if facts is None else facts, status)
    if found and run.manifest.get("experiment") in ("capacity", "hold", "run"):
        sockets = means_of_sockets(found[0], run)
        found[0] = with_shared_peers(with_churn(found[0], run, sockets), sockets)
        found[0] = with_slow_names(found[0], lookups_of(run, found[0]))
    if found and run.manifest.get("experiment") != "run":  # a plain run's finding tells it itself
        measured = found[0].get("status") != "failed"
        of_generator = (found[0].get("generator") or {}).get("notes") or () if measured else ()
        found[0]["notes"] = list(dict.fromkeys([*(found[0].get("notes") or ()), *of_generator]))
        _tell_lost_time(run, found[0])
        found[0] = with_cautions(found[0], run)
    if found:
        found[0]["notes"] = [*damage_words(run.damaged_files()), *(found[0].get("notes") or ())]
    is_capacity = bool(found) and found[0].get("experiment") == "capacity" and "capacity" in found[0]
    retell = _retold(run) if is_capacity else None
    return [with_units(one) for one in consistent(found, retell)]


def _retold(run: RunReader) -> Callable[..., str]:
    """What words the answer of a capacity run anew."""
    from plimsoll.findings.capacity.finding import result_of_run
    from plimsoll.findings.capacity.words import answer

    return partial(answer, result_of_run(run))


def _tell_lost_time(run: RunReader, main: dict[str, Any]) -> None:
    """That the generator did not live for a time, or that the clock was set, wherever in the run, as far as the finding
    does not tell it already."""
    facts = generator_seconds_of(run)
    notes = [*unread_words(facts), *(main.get("notes") or ()), *(one.words for one in clock_set(facts))]
    still = facts.standstills()
    inside_s = float((main.get("generator") or {}).get("stood_still_s") or 0.0)
    outside_s = sum(one.length_s for one in still) - inside_s
    told = any("stood still" in str(text) for text in (*notes, *(main.get("invalid_because") or ())))
    if still and not told:
        where = " Not in what decides the answer." if main.get("valid") and not inside_s else ""
        notes.append(f"{standstill_words(still)}.{where}")
    elif outside_s >= STOOD_STILL_S:
        notes.append(f"Outside of what decides the answer the generator stood still for {time_words(outside_s)} more.")
    main["notes"] = notes


def _findings(run: RunReader, facts: Facts, status: str | None) -> list[dict[str, Any]]:
    experiment = run.manifest.get("experiment")
    if experiment == "run":
        return _of_plain_run(run)
    if experiment in OF_TRIALS:
        from plimsoll.findings.trials.of_trials import finding_of_trials

        return [finding_of_trials(run, status=status or _status(run), notes=facts.notes)] if run.plan() else []
    if experiment == "capacity":
        return _of_capacity(run, facts)
    if experiment not in EXPERIMENTS:
        source = (run.manifest.get("options") or {}).get("source")
        step = f"Analyze {source} again." if source else "Read its answers with plimsoll report."
        raise InputError(f"{run.path} holds no run of Plimsoll's own: it is one of {experiment}", step)
    return _of_long_run(run, str(experiment), facts)


def doubts_of(run: RunReader) -> tuple[str, ...]:
    """Why the main answer of that run is not the target's alone."""
    return tuple(next((one.get("invalid_because") or () for one in findings_of_run(run)), ()))


def _of_plain_run(run: RunReader) -> list[dict[str, Any]]:
    from plimsoll.findings.outcome import outcome_of_run, outcome_steps
    from plimsoll.findings.run import run_finding_of

    metrics = [run.first_metric(RESPONSE_METRICS) or "", *dict.fromkeys((*METRICS, *FLOW_METRICS))]
    snapshots = run.whole_seconds(metrics, above={BLOCKED: SLOW_MS})  # shorter waits stand in the lines alone
    found = run_finding_of(
        snapshots,
        run.resources(),
        status=_status(run),
        run_path=str(run.path),
        busiest_destination=_busiest(run),
        last_written=run.manifest.get(LAST_SECOND),
        names=next((one.get("names") for one in run.events(FOREIGN)), None),
    )
    if not found:
        return []
    outcome = outcome_of_run(run)
    return [found | {"outcome": outcome, "next": list(dict.fromkeys([*outcome_steps(outcome), *found["next"]]))}]


def _busiest(run: RunReader) -> tuple[str, int] | None:
    """The destination with the most connections, which the run's first finding alone tells."""
    for finding in run.findings():
        told = (finding.get("generator") or {}).get("busiest_destination")
        if told:
            return str(told["address"]), int(told["local_ports"])
    return None


def _status(run: RunReader) -> str:
    """Of an experiment that records none itself: that of its run."""
    return "interrupted" if run.state in ("killed", "running") else run.state


def _of_capacity(run: RunReader, facts: Facts) -> list[dict[str, Any]]:
    from plimsoll.findings.capacity.finding import capacity_findings, result_of_run
    from plimsoll.findings.capacity.further import further_findings
    from plimsoll.findings.capacity.remedy import not_run, remedy_finding

    proven = any("measured_from_s" in event for event in run.events("step_ended"))
    if not proven and not run.events("capacity_result"):
        return []
    findings = capacity_findings(
        result_of_run(run),
        run,
        expected_users=facts.expected_users,
        objectives=facts.objectives,
        objectives_level=facts.objectives_level,
        users_per_level=facts.users_per_level,
        same_host=facts.same_host,
        kept_apart=facts.kept_apart,
        apart_by_affinity=facts.apart_by_affinity,
        run_path=str(run.path),
        notes=facts.notes,
    )
    untold = not_run(facts.remedy_wanted, findings[0]) if facts.remedy_wanted is not None else None
    if untold is not None:
        findings[0]["next"].insert(0, untold)
    findings += further_findings(
        findings[0],
        run,
        budgets=facts.budgets,
        cores=facts.cores,
        same_host=facts.same_host,
        kept_apart=facts.kept_apart,
        expected_level=expected_level(facts, findings[0]),
        negligible_below=facts.negligible_below,
    )
    if facts.variant is not None:
        findings = [finding | {"variant": facts.variant} for finding in findings]
    if facts.remedy is not None:
        findings.append(remedy_finding(facts.remedy["before"], findings[0], facts.remedy["command"], str(run.path)))
    return findings


def expected_level(facts: Facts, main: Mapping[str, Any]) -> float | None:
    """The expected users as a level of the run; None where they are not known or no level."""
    per_level = 1.0 if main["capacity"]["unit"] == "users" else facts.users_per_level
    return facts.expected_users / per_level if facts.expected_users and per_level else None


def _of_long_run(run: RunReader, experiment: str, facts: Facts) -> list[dict[str, Any]]:
    if next(iter(run.snapshots(metrics=())), None) is None and not run.events(f"{experiment}_result"):
        return []
    path = str(run.path)
    if experiment == "grow":
        from plimsoll.findings.grow import grow_findings

        return grow_findings(
            run, same_host=facts.same_host, kept_apart=facts.kept_apart, run_path=path, notes=facts.notes
        )
    if experiment == "drain":
        from plimsoll.findings.drain.finding import drain_findings
        from plimsoll.findings.sizing.of_drain import drain_sizing

        found = drain_findings(
            run,
            index_budget_bytes=facts.index_budget_bytes,
            memory_budget_bytes=facts.memory_budget_bytes,
            same_host=facts.same_host,
            kept_apart=facts.kept_apart,
            run_path=path,
            notes=facts.notes,
        )
        return [*found, *drain_sizing(run, found[0])]
    from plimsoll.findings.hold.finding import hold_findings

    return hold_findings(
        run,
        objectives=facts.objectives,
        memory_limit_bytes=facts.memory_limit_bytes,
        same_host=facts.same_host,
        kept_apart=facts.kept_apart,
        apart_by_affinity=facts.apart_by_affinity,
        run_path=path,
        notes=facts.notes,
    )
