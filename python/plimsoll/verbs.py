"""The verbs as functions: what the command line does, for Python.

import plimsoll
answer = plimsoll.capacity("study.yaml")
print(answer.findings[0]["answer"], answer.run_directory)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from plimsoll.engine import EngineSource
from plimsoll.experiments.capacity import run_capacity
from plimsoll.experiments.result import Progress
from plimsoll.findings.capacity import capacity_findings
from plimsoll.findings.further import further_findings
from plimsoll.plans import Choices, Plan, plan_of
from plimsoll.probes.local_targets import is_local
from plimsoll.runs.reader import RunReader
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.session import Answer, ageing_notes, finish, session
from plimsoll.study import Redactor, Study


def capacity(
    source: str | Path | Study,
    choices: Choices | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_note: Callable[[str], None] | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Answer:
    """Find how much load a target carries and what stops it, from a study file, a Study or a k6 script.

    `on_note` gets what the user should know or do while it runs, as a sentence; the finding repeats it. `on_message`
    gets what only matters while it runs.
    Raises InputError for mistakes in study or script, TargetError if the target does not come up,
    RunDirectoryError if the run cannot be written. Ctrl-C ends with what was measured.
    """
    choices = choices or Choices()
    plan = plan_of(source, choices)
    redactor = Redactor.for_data({"study": plan.study_data, "env": dict(choices.env)})
    facts = RunFacts(
        "capacity",
        script=plan.config.script,
        options=dict(plan.config.options),
        study=plan.study_data,
        seed=choices.seed,
        level_unit=plan.unit,
    )
    with RunWriter.create(choices.runs, facts, redactor=redactor) as writer:
        return _measure(plan, choices, writer, on_progress, on_note or (lambda text: None), on_message)


def _measure(
    plan: Plan,
    choices: Choices,
    writer: RunWriter,
    on_progress: Callable[[Progress], None] | None,
    on_note: Callable[[str], None],
    on_message: Callable[[str], None] | None,
) -> Answer:
    with session(plan, choices, writer, on_note) as around:
        source = EngineSource(plan.config, unit=plan.unit, is_open=plan.is_open, background=choices.background)
        result = run_capacity(source, plan.settings, writer, around.sample, on_progress, around.data_volume, on_message)
    notes = [*around.notes, *ageing_notes(plan, around.control, result.status)]
    run, same_host = RunReader(writer.path), is_local(around.control.target.url)
    findings = capacity_findings(
        result,
        run,
        expected_users=plan.expected_users,
        objectives=plan.objectives,
        users_per_level=plan.users_per_level,
        same_host=same_host,
        kept_apart=around.kept_apart,
        run_path=str(writer.path),
        notes=notes,
    )
    findings += further_findings(
        findings[0],
        run,
        budgets=plan.budgets,
        cores=plan.cores,
        same_host=same_host,
        kept_apart=around.kept_apart,
    )
    if choices.variant is not None:
        findings = [finding | {"variant": choices.variant} for finding in findings]
    return finish(writer, findings, result.status)
