"""The verbs made of trials: compare, decompose and sweep.

answer = plimsoll.compare("script.js", a="BASE_URL=http://old", b="BASE_URL=http://new")
print(answer.findings[0]["verdict"])
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from plimsoll.engine import EngineSource
from plimsoll.errors import InputError, InputErrors, PlimsollError
from plimsoll.experiments.target.awake import Awake
from plimsoll.experiments.target.control import TargetControl
from plimsoll.experiments.target.isolation import target_off
from plimsoll.experiments.trials.making import Session, Skip, TrialProgress, TrialsResult, run_trials
from plimsoll.experiments.trials.plan import Trial, TrialPlan, differences
from plimsoll.experiments.trials.skipping import dominated, unanswered
from plimsoll.findings.of_run import Facts, findings_of_run
from plimsoll.interruptions import Ending
from plimsoll.plans.requests import (
    CompareRequest,
    DecomposeRequest,
    Request,
    Source,
    SweepRequest,
    TrialChoices,
    asked,
    asked_again,
    experiment_of,
    request_of,
)
from plimsoll.plans.trials import TrialSetup, compare_setup, decompose_setup, sweep_setup, with_runs_of_study
from plimsoll.runs.reader import RunReader
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.secrets.redactor import HIDDEN, Redactor
from plimsoll.verbs.databases import secrets_of, watched
from plimsoll.verbs.known_secrets import redactor_of
from plimsoll.verbs.listeners import Listeners
from plimsoll.verbs.sampling import sampling_of
from plimsoll.verbs.session import Answer, ending_of, finish, on_cpus, record, told_at_the_end

SETUPS: dict[str, Callable[[Any, TrialChoices, Callable[[str], None]], TrialSetup]] = {
    "compare": compare_setup,
    "decompose": decompose_setup,
    "sweep": sweep_setup,
}


def compare(
    request: CompareRequest | Source | None = None,
    choices: TrialChoices | None = None,
    listeners: Listeners[TrialProgress] | None = None,
    **options: Any,
) -> Answer:
    """Is B slower than A, at which levels, in which operations, and by how much?

    `request`: a study or script, with the fields of CompareRequest and TrialChoices as `options`; or a CompareRequest.
    Raises InputError for mistakes in request, study or script and for a resumed run whose plan was another, TargetError
    if the target does not do as commanded, RunDirectoryError if a run cannot be read or written. Ctrl-C ends with the
    complete trials; `resume` goes on. Finished runs, asked for or named by the study's entry, are compared as they are.
    """
    asked_for, choices = request_of(CompareRequest, request, choices, options)
    asked_for = with_runs_of_study(asked_for, choices)
    if asked_for.runs_a or asked_for.runs_b:
        from plimsoll.verbs.run_sets import compare_runs

        return compare_runs(asked_for, choices)
    return _make(asked_for, choices, listeners or Listeners())


def decompose(
    request: DecomposeRequest | Source | None = None,
    choices: TrialChoices | None = None,
    listeners: Listeners[TrialProgress] | None = None,
    **options: Any,
) -> Answer:
    """Where does the time go: the share of each layer of the work, with its interval. As `compare`."""
    return _make(*request_of(DecomposeRequest, request, choices, options), listeners or Listeners())


def sweep(
    request: SweepRequest | Source | None = None,
    choices: TrialChoices | None = None,
    listeners: Listeners[TrialProgress] | None = None,
    **options: Any,
) -> Answer:
    """How do latency, memory and failures depend on parameters, and where does it stop? As `compare`."""
    return _make(*request_of(SweepRequest, request, choices, options), listeners or Listeners())


def _make(request: Request, choices: TrialChoices, listeners: Listeners[TrialProgress]) -> Answer:
    experiment = experiment_of(request)
    notes: list[str] = []

    def say(message: str) -> None:
        if message not in notes:
            notes.append(message)
            listeners.note(message)

    if choices.resume is not None:
        request, choices = _as_before(experiment, request, choices)
    setup = SETUPS[experiment](request, choices, say)
    told = {
        "study": setup.study_data,
        "target": setup.target.model_dump(),
        "all": [dict(c.env) for c in setup.configs.values()],
    }
    redactor = redactor_of(told, choices.env, secrets_of(setup.probes))
    plan = setup.plan.to_json() | {"asked": asked(request, choices)}
    if choices.resume is not None:
        _refuse_changes(choices.resume, redactor.data(plan))
        reader = RunReader(choices.resume)
        complete, begin_s = reader.trials(), _seconds_there(reader)
        writer = RunWriter.reopen(choices.resume, redactor=redactor)
        writer.append_event("resumed", complete_trials=len(complete))
    else:
        complete, begin_s = [], 0
        facts = RunFacts(
            experiment,
            script=next(iter(setup.configs.values())).script,
            options={"arrival_process": setup.plan.load["arrival_process"]},
            study=setup.study_data,
            seed=setup.plan.seed,
            level_unit=setup.plan.unit,  # type: ignore[arg-type]
        )
        writer = RunWriter.create(choices.runs, facts, redactor=redactor)
    tell = _without_secrets(say, redactor)
    with writer, ending_of(writer, listeners) as ending:
        if writer.warning:
            tell(writer.warning)
        if choices.resume is None:
            writer.write_plan(plan)
        try:
            result = _carry_out(setup, choices, writer, ending, complete, begin_s, tell, notes.append, listeners)
        except PlimsollError as error:
            error.add_note(f"Complete trials are kept; go on with --resume {writer.path}")
            raise
        record(writer, Facts(notes=tuple(notes)))
        findings = findings_of_run(RunReader(writer.path), status=result.status)
        return finish(writer, findings, result.status, listeners.message, ending)


def _without_secrets(say: Callable[[str], None], redactor: Redactor) -> Callable[[str], None]:
    return lambda message: say(redactor.text(message))


def _carry_out(
    setup: TrialSetup,
    choices: TrialChoices,
    writer: RunWriter,
    ending: Ending,
    complete: Sequence[Mapping[str, Any]],
    begin_s: int,
    say: Callable[[str], None],
    keep: Callable[[str], None],
    listeners: Listeners[TrialProgress],
) -> TrialsResult:
    """Start the target, make the trials, stop it. `say` tells the user at once; `keep` makes a note of the finding."""

    def note(kind: str, message: str) -> None:
        writer.append_event(kind, message=message)

    control = TargetControl(
        setup.target,
        writer.logs,
        directory=setup.directory,
        redactor=writer.redactor,
        on_event=note,
        on_waiting=listeners.note,
    )
    cpus = next(iter(setup.configs.values())).cpus

    @contextmanager
    def around(trial: Trial) -> Iterator[None]:
        variant = setup.switch_to[trial.variant]
        if variant is not None:
            control.switch(variant)
        control.reset()
        sampling.turn_to(processes[trial.variant])
        with ExitStack() as apart:
            if choices.isolate:
                apart.enter_context(target_off(cpus, processes[trial.variant].selectors, say))
            apart.enter_context(on_cpus(cpus))
            yield

    def source(trial: Trial) -> EngineSource:
        config = dataclasses.replace(setup.configs[trial.variant], seed=trial.seed)
        return EngineSource(config, unit=setup.plan.unit, is_open=setup.plan.open, background=choices.background)

    def stopping() -> None:
        if listeners.message is not None:
            listeners.message("stopping: the trial that is being made does not count; Ctrl-C again ends at once")

    skip = _skip(setup.plan)
    with told_at_the_end(control, say), control, ExitStack() as around_all:
        databases = around_all.enter_context(watched(setup.probes, writer, say))
        processes = setup.watched()
        sampling = sampling_of(
            setup.probes,
            next(iter(processes.values())),
            writer,
            Awake(),
            directory=setup.directory,
            more=databases.probes,
            say=listeners.note,
            tell=say,
        )
        session = Session(
            source, writer, around, skip, sampling, listeners.progress, complete, begin_s, sampling, stopping
        )
        try:
            with sampling:
                result = run_trials(setup.plan, session)
                if result.skipped and setup.plan.experiment != "sweep":
                    reason = next(iter(result.skipped.values()))
                    keep(f"{reason[0].upper()}{reason[1:]}, so {_left_words(len(result.skipped))}")
                ending.begin(result.status)
                listeners.load_ended()
                return result
        finally:
            listeners.end()
            sampling.tell_cost(say, keep)


def _skip(plan: TrialPlan) -> Skip:
    if plan.experiment != "sweep":
        return unanswered(plan)
    return dominated(plan) if plan.analysis.get("stop_at_failure") else lambda trial, records: None


def _left_words(count: int) -> str:
    return "the last trial was not made." if count == 1 else f"the {count} trials that were left were not made."


def _as_before(experiment: str, request: Request, choices: TrialChoices) -> tuple[Request, TrialChoices]:
    """What a resumed run was asked for, where the caller does not say it again."""
    assert choices.resume is not None
    plan = RunReader(choices.resume).plan()
    if plan.get("experiment") != experiment:
        what = f"{choices.resume} is no run of {experiment}"
        raise InputError(what, f"It is one of {plan['experiment']}." if plan else "Give the run that was interrupted.")
    if request != type(request)() or plan.get("asked") is None:
        return request, choices
    request, choices = asked_again(experiment, plan["asked"], choices)
    hidden = [name for name, value in choices.env.items() if value == HIDDEN]
    if hidden or HIDDEN in json.dumps(plan["asked"]["request"]):
        raise InputError(
            f"the run does not hold secrets ({', '.join(hidden) or 'in its command'})",
            f"Give the whole command again, with --resume {choices.resume}.",
        )
    return request, choices


def _refuse_changes(run: Path, plan: Mapping[str, Any]) -> None:
    before = RunReader(run).plan()
    now = json.loads(json.dumps(plan))
    found = differences(*({key: value for key, value in one.items() if key != "asked"} for one in (before, now)))
    if found:
        step = f"Take it back to go on with {run}, or begin a new run without --resume."
        raise InputErrors([InputError(f"the plan has changed: {one}", step) for one in found])


def _seconds_there(reader: RunReader) -> int:
    """The second after the last that a run holds."""
    return max((snapshot.second + 1 for snapshot in reader.snapshots(metrics=())), default=0)
