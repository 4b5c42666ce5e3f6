"""What surrounds every experiment: the target's commands, probes once a second, processors, and what the user is
told."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from plimsoll.engine import EngineSource, available_cpus, vu_runtimes
from plimsoll.errors import RunDirectoryError
from plimsoll.experiments.long_runs.data_volume import DataVolume
from plimsoll.experiments.steps.holding import OnStep
from plimsoll.experiments.steps.record import Status
from plimsoll.experiments.target.awake import Awake, is_virtual_machine
from plimsoll.experiments.target.control import TargetControl
from plimsoll.experiments.target.isolation import apart_words, mixed_with, target_off
from plimsoll.findings.beside.further import findings_beside
from plimsoll.findings.exit_codes import EXIT_INTERRUPTED, exit_code
from plimsoll.findings.of_run import EVENT as JUDGEMENT
from plimsoll.findings.of_run import Facts, findings_of_run
from plimsoll.interruptions import Ending
from plimsoll.plans.load import Choices, Plan
from plimsoll.probes.machine.vu_runtimes import own_runtimes_words
from plimsoll.probes.probe import Observer, Probe
from plimsoll.probes.processes.local_targets import is_local
from plimsoll.probes.processes.proxy_between import proxy_words
from plimsoll.probes.processes.variant_processes import BASE_URL, Watched, watched_of_variants
from plimsoll.report.html import write_html
from plimsoll.report.text import answer_lines
from plimsoll.runs.reader import RunReader
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study import Redactor
from plimsoll.verbs.databases import secrets_of, watched
from plimsoll.verbs.known_secrets import redactor_of
from plimsoll.verbs.listeners import Listeners
from plimsoll.verbs.profiles import profiled
from plimsoll.verbs.sampling import Sampling, sampling_of
from plimsoll.verbs.script_targets import ScriptTargets
from plimsoll.verbs.told import Told
from plimsoll.words import share_words

TELL_EVERY_S = 10.0
AGEING = "The target was not reset before the run: what earlier runs left in it is part of this answer."
STAYED = (
    "--isolate: {who} {is_or_are} used by the target and may use the generator's cores. Name each in target.processes "
    "of a study to have it moved as well."
)
UNKNOWN_VOLUME = "How much data it held is not known; target.data_volume of the study tells it."


@dataclass(frozen=True)
class Answer(Told):
    """What an experiment found, where the run and its report lie, and how it ended."""

    status: str
    interrupted: bool = False  # when all load had been made: the answer is whole, and nothing may follow

    @property
    def exit_code(self) -> int:
        """What its verb ends with."""
        return EXIT_INTERRUPTED if self.interrupted else exit_code(self.findings[0])


@dataclass
class Session:
    """A target that is ready, and what an experiment needs beside its load source.

    `sample`: the probes' rows of one second; `on_step` is told when steps begin and end; `isolated`: how this session
    separates generator and target, in words, and `generator_cores`: those that the generator may use; `notes`: what the
    user was told and the findings repeat, by `tell`.
    """

    control: TargetControl
    sample: Sampling
    data_volume: DataVolume | None
    isolated: str | None
    generator_cores: set[int]
    tell: Callable[[str], None]
    on_step: OnStep | None = None
    notes: list[str] = field(default_factory=list)
    targets: ScriptTargets | None = None
    load: EngineSource | None = None

    def follow(self, load: EngineSource) -> EngineSource:
        """The load; where no process of the target is known, those to which it connects are probed."""
        self.load = load
        if self.targets is not None:
            self.targets.follow(load)
        return load

    def all_notes(self, plan: Plan, status: str) -> list[str]:
        """What the findings repeat, with what is known at the end: of a target that was not reset or ended by itself,
        and of a proxy between."""
        proxy = proxy_words(self.load.proxies()) if self.load is not None else None
        return [*self.notes, *ageing_notes(plan, self.control, status), *([proxy] if proxy else [])]

    @property
    def apart(self) -> dict[str, Any]:
        """How generator and target were kept apart so far, as Facts holds it: by this session, or by affinities that
        were there before."""
        cores = self.sample.target_cores
        if self.isolated is not None:
            return {"kept_apart": None if mixed_with(cores, self.generator_cores) else self.isolated}
        words = apart_words(cores, self.generator_cores)
        return {"kept_apart": words, "apart_by_affinity": words is not None}

    @property
    def same_host(self) -> bool | None:
        """Whether the target runs on this host; None where it is not known."""
        known = is_local(self.control.target.url)
        return self.targets.same_host if known is None and self.targets is not None else known


def writer_of(
    experiment: str,
    plan: Plan,
    choices: Choices,
    options: Mapping[str, Any] | None = None,
    *,
    planned_s: float | None = None,
) -> RunWriter:
    """A new run directory of that plan; `options` of the experiment may hold secrets too; `planned_s`: its seconds of
    load, if they are known. Raises RunDirectoryError if it cannot be made."""
    facts = RunFacts(
        experiment,
        script=plan.config.script,
        options=dict(plan.config.options),
        study=plan.study_data,
        seed=plan.config.seed,
        level_unit=plan.unit,
    )
    target = plan.target.model_dump()
    told = {"study": plan.study_data, "target": target, "remedy": plan.remedy, "options": options}
    redactor = redactor_of(told, choices.env, secrets_of(plan.probes))
    return RunWriter.create(choices.runs, facts, redactor=redactor, planned_s=planned_s)


def load_of(plan: Plan, choices: Choices) -> EngineSource:
    """The plan's load, at level 0."""
    return EngineSource(plan.config, unit=plan.unit, is_open=plan.is_open, background=choices.background)


@contextmanager
def session(
    plan: Plan,
    choices: Choices,
    writer: RunWriter,
    on_note: Callable[[str], None],
    probes: Sequence[Probe | Observer] = (),
    told: Sequence[str] = (),
    reset: bool = True,
) -> Iterator[Session]:
    """Bring the target up (start, ready, switch, reset, remedy) and stop it at the end; `probes` are asked beside the
    study's, `told` are notes for the user before anything happens. Without `reset` the target keeps what it holds."""
    notes: list[str] = []

    def note(kind: str, message: str) -> None:
        writer.append_event(kind, message=message)

    def tell(message: str) -> None:
        message = writer.redactor.text(message)
        note("note", message)
        notes.append(message)
        on_note(message)

    own_runtimes = own_runtimes_words(vu_runtimes())
    warnings = [text for text in (own_runtimes, writer.warning) if text]
    for text in [*told, *warnings]:
        tell(text)
    control = TargetControl(
        plan.target,
        writer.logs,
        directory=plan.directory,
        redactor=writer.redactor,
        on_event=note,
        on_waiting=on_note,
    )
    with told_at_the_end(control, tell), control:
        if choices.variant is not None:
            control.switch(choices.variant)
        if reset:
            control.reset()
        if plan.remedy is not None:
            control.remedy(plan.remedy)
        data_volume = _data_volume(plan, control, tell, writer.redactor)
        of_target = _of_target(plan, control.target.url)
        for why in of_target.unseen.values():
            tell(why)
        processes = of_target.selectors
        awake = Awake()
        apart = target_off(plan.config.cpus, processes, tell) if choices.isolate else nullcontext(choices.kept_apart)
        with apart as kept_apart, on_cpus(plan.config.cpus), ExitStack() as spinning:
            if kept_apart and plan.config.cpus and choices.awake and is_virtual_machine():
                spinning.enter_context(awake.on(plan.config.cpus))
                kept_apart += "; an idle-priority process keeps the generator's from halting"
            databases = spinning.enter_context(watched(plan.probes, writer, tell))
            profiles = spinning.enter_context(profiled(plan.probes, processes, writer, tell))
            sampling = sampling_of(
                plan.probes,
                of_target,
                writer,
                awake,
                directory=plan.directory,
                more=[*probes, *databases.probes],
                say=on_note,
                tell=tell,
            )
            with sampling:
                on_step = together(databases.on_step, profiles)
                targets = None if processes or control.target.url else _script_targets(sampling, tell)
                own = set(plan.config.cpus or available_cpus())
                yield Session(control, sampling, data_volume, kept_apart, own, tell, on_step, notes, targets)
                mixed = mixed_with(sampling.target_cores, own) if choices.isolate and kept_apart else []
                if mixed:
                    tell(STAYED.format(who=" and ".join(mixed), is_or_are="is" if len(mixed) == 1 else "are"))
            sampling.tell_cost(tell, notes.append)


@contextmanager
def told_at_the_end(control: TargetControl, tell: Callable[[str], None]) -> Iterator[None]:
    """Tells of a target that may still run."""
    try:
        yield
    finally:
        if control.stop_failure:
            tell(control.stop_failure)


def ending_of(writer: RunWriter, listeners: Listeners[Any]) -> Ending:
    """What an interruption after the load tells."""
    words = f"The load has ended, its answer comes; Ctrl-C again leaves it to `plimsoll analyze {writer.path}`"
    return Ending(lambda: (listeners.message or listeners.note)(words))


def together(*told: OnStep | None) -> OnStep | None:
    """All of them as one; the last begins last and ends first, so that it sees the step alone. None without any."""
    known = [one for one in told if one is not None]
    if not known:
        return None

    def on_step(what: Literal["started", "ended"], second: float) -> None:
        for one in known if what == "started" else reversed(known):
            one(what, second)

    return on_step


@contextmanager
def on_cpus(cpus: tuple[int, ...]) -> Iterator[None]:
    """Probes and bookkeeping run beside the engine, not on the target's processors."""
    if not cpus or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _data_volume(
    plan: Plan, control: TargetControl, tell: Callable[[str], None], redactor: Redactor
) -> DataVolume | None:
    """Reads the target's data volume, and has done so once, so that a mistake in the study is told before any load."""
    if control.target.data_volume is None:
        return None
    read = DataVolume(control.target, control.logs, directory=plan.directory, on_note=tell, redactor=redactor)
    read()
    return read


def _of_target(plan: Plan, url: str | None) -> Watched:
    """The study's processes, as they are where the variant answers that runs at `url`; without any, whoever listens on
    its port of this host."""
    target = plan.target
    if url is None:
        return Watched(tuple(target.processes))
    others = [target.url, *(one.url for one in target.variants.values())]
    here = {BASE_URL: str(plan.config.env.get(BASE_URL) or url)}
    return watched_of_variants(target.processes, {"": here}, others)[""]


def _script_targets(sampling: Sampling, tell: Callable[[str], None]) -> ScriptTargets:
    """Probes whoever listens where the script connects to, from the second in which it does."""
    targets = ScriptTargets(sampling.watch, tell)
    sampling.before_each(targets.look)
    return targets


def ageing_notes(plan: Plan, control: TargetControl, status: str) -> list[str]:
    """What a reader must know of a target that was not reset, or that ended by itself."""
    notes = []
    if not plan.target.reset and not plan.target.start and status != "failed":
        notes += [AGEING] if plan.target.data_volume else [AGEING, UNKNOWN_VOLUME]
    return [*notes, *([control.early_end] if control.early_end else [])]


def objectives_as_data(objectives: Iterable[Any]) -> tuple[dict[str, Any], ...]:
    """The objectives of a study or a script as plain data."""
    return tuple(
        one.model_dump(mode="json", exclude_none=True) if hasattr(one, "model_dump") else dict(one)
        for one in objectives
    )


def judge(writer: RunWriter, facts: Facts, notes: Sequence[str]) -> list[dict[str, Any]]:
    """The findings of the run that ends here; its facts, with the notes, are written into it before."""
    clean = writer.redactor.data(list(facts.objectives))  # requests are called as the run directory calls them
    facts = replace(facts, notes=tuple(notes), objectives=tuple(clean))
    record(writer, facts)
    return findings_of_run(RunReader(writer.path), facts)


def record(writer: RunWriter, facts: Facts) -> None:
    """Write what the findings need beside what is measured, so that a killed run and `plimsoll analyze` have it."""
    writer.append_event(JUDGEMENT, facts=facts.to_json())


def finish(
    writer: RunWriter,
    findings: Iterable[dict[str, Any]],
    status: Status,
    message: Callable[[str], None] | None = None,
    ending: Ending | None = None,
) -> Answer:
    """Write findings and report, and close the run; what is answered is what was written, without secrets. An answer
    that cannot be written is told with the error. `message` hears of tables that take long."""
    found = writer.redactor.data(list(findings))
    try:
        found += writer.redactor.data(findings_beside(RunReader(writer.path), found))
        writer.write_findings(found)
        writer.finish(status, _each_while(message) if message else None)
        report = write_html(writer.path)
        return Answer(found, writer.path, report, status, ending is not None and ending.came)
    except RunDirectoryError as error:
        error.add_note(f"The answer, which could not be written:\n{answer_lines(found)}")
        raise


def _each_while(message: Callable[[str], None]) -> Callable[[str, float], None]:
    """Tells what is done and how much of it each ten seconds, and nothing of what is done sooner."""
    next_s = time.monotonic() + TELL_EVERY_S

    def watch(what: str, share: float) -> None:
        nonlocal next_s
        if time.monotonic() >= next_s:
            next_s = time.monotonic() + TELL_EVERY_S
            message(f"{what}: {share_words(share, 1)}")

    return watch
