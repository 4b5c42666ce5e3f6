"""The verbs as functions: what the command line does, for Python.

import plimsoll
answer = plimsoll.capacity("study.yaml")
print(answer.findings[0]["answer"], answer.run_directory)
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import psutil

from plimsoll.engine import EngineConfig, EngineSource, available_cpus, inspect
from plimsoll.errors import InputError, RunDirectoryError
from plimsoll.experiments.capacity import run_capacity
from plimsoll.experiments.result import CapacitySettings, Progress
from plimsoll.experiments.target import TargetControl
from plimsoll.findings.capacity import capacity_findings
from plimsoll.probes import Sampler, probes_for
from plimsoll.report.html import write_html
from plimsoll.report.text import answer_lines
from plimsoll.runs.reader import RunReader
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study import (
    OpenWorkload,
    Probes,
    ProcessSelector,
    Redactor,
    Study,
    Target,
    load_study,
    scenarios_for,
    total_arrivals_per_s,
)
from plimsoll.study.experiments import CapacityOptions

LevelUnit = Literal["users", "multiple", "vus"]
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1", "0.0.0.0")


@dataclass(frozen=True)
class Answer:
    """What an experiment found: findings as plain data (docs/findings), and where the run and its report lie."""

    findings: list[dict[str, Any]]
    run_directory: Path
    report: Path
    status: str


@dataclass(frozen=True)
class Choices:
    """What a caller may choose beside the study. Levels are users (study) or multiples (script).

    `env` goes to the script's __ENV; `cpus` pins the engine; `isolate` gives the engine the last processor and the
    target's processes the others; `background` lets the calling thread step back behind the engine's threads (see
    EngineSource); `arrival_process` is "poisson", "even" or None for the study's.
    """

    runs: Path = Path("runs")
    env: Mapping[str, str] = field(default_factory=dict)
    width: float | None = None
    step_s: float | None = None
    min_level: float | None = None
    max_level: float | None = None
    users_at_1x: float | None = None
    arrival_process: str | None = None
    seed: int = 1
    threads: int = 1
    cpus: tuple[int, ...] = ()
    isolate: bool = False
    kept_apart: str | None = None
    background: bool = False


def capacity(
    source: str | Path | Study,
    choices: Choices | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Answer:
    """Find how much load a target carries and what stops it, from a study file, a Study or a k6 script.

    Raises InputError for mistakes in study or script, TargetError if the target does not come up,
    RunDirectoryError if the run cannot be written. Ctrl-C ends with what was measured.
    """
    choices = choices or Choices()
    plan = _plan_of_study(source, choices) if _is_study(source) else _plan_of_script(Path(str(source)), choices)
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
        return _measure(plan, choices, writer, on_progress)


@dataclass(frozen=True)
class _Plan:
    config: EngineConfig
    unit: LevelUnit
    is_open: bool
    target: Target
    directory: Path
    probes: Probes
    settings: CapacitySettings
    expected_users: float | None
    objectives: tuple[Any, ...]
    users_per_level: float | None
    study_data: dict[str, Any] | None


def _is_study(source: str | Path | Study) -> bool:
    return isinstance(source, Study) or Path(source).suffix in (".yaml", ".yml")


def _plan_of_study(source: str | Path | Study, choices: Choices) -> _Plan:
    study = source if isinstance(source, Study) else load_study(source)
    wanted = next((item.options for item in study.experiments if isinstance(item.options, CapacityOptions)), None)
    is_open = isinstance(study.workload, OpenWorkload)
    arrivals = study.workload.arrivals if isinstance(study.workload, OpenWorkload) else "even"
    env = {**({"BASE_URL": study.target.url} if study.target.url else {}), **choices.env}
    seed = study.seed if study.seed is not None else choices.seed
    config = EngineConfig(
        script=study.script_path,
        env=env,
        options=scenarios_for(study.workload),
        threads=choices.threads,
        level=0.0,
        arrival_process=choices.arrival_process or arrivals,
        seed=seed,
        cpus=_engine_cpus(choices),
    )
    if study.target.start is None:  # else starting may make files that the script opens
        inspect(config)
    settings = CapacitySettings(
        width=choices.width or (wanted.width if wanted else 0.10),
        step_s=choices.step_s or (wanted.step_s if wanted else 10.0),
        min_level=choices.min_level or (wanted.min_users if wanted else None),
        max_level=choices.max_level or (wanted.max_users if wanted else None),
        expected_level=study.expected_users,
        arrivals_per_level_s=total_arrivals_per_s(study.workload, 1.0)
        if isinstance(study.workload, OpenWorkload)
        else None,
    )
    return _Plan(
        config, "users", is_open, study.target, study.directory, study.probes, settings, study.expected_users,
        tuple(study.objectives), 1.0, study.model_dump(mode="json", exclude_none=True),
    )  # fmt: skip


def _plan_of_script(script: Path, choices: Choices) -> _Plan:
    config = EngineConfig(script=script, env=choices.env, seed=choices.seed, threads=choices.threads)
    about = inspect(config)
    options: dict[str, Any] = {}
    unit: LevelUnit = "multiple"
    kinds = {scenario["open"] for scenario in about["scenarios"]}
    if not about["declares_load"]:
        options, unit, kinds = (
            {"scenarios": {"default": {"executor": "constant-vus", "vus": 1, "duration": "24h"}}},
            "vus",
            {False},
        )
    if len(kinds) > 1:
        raise InputError(
            f"{script}: it mixes scenarios with arrival rates and scenarios with VUs",
            "Keep one kind, or write a study.",
        )
    if unit == "multiple":
        options = {"scenarios": _held_scenarios(about["options"])}
    config = EngineConfig(
        script=script, env=choices.env, options=options, threads=choices.threads, level=0.0,
        arrival_process=choices.arrival_process or "poisson", seed=choices.seed, cpus=_engine_cpus(choices),
    )  # fmt: skip
    inspect(config)
    is_open = kinds.pop()
    settings = CapacitySettings(
        width=choices.width or 0.10,
        step_s=choices.step_s or 10.0,
        min_level=choices.min_level,
        max_level=choices.max_level,
        start_level=None if is_open or choices.min_level else _level_of_one_vu(options),
    )
    return _Plan(
        config,
        unit,
        is_open,
        Target(),
        Path(),
        Probes(processes=False),
        settings,
        None,
        (),
        choices.users_at_1x,
        None,
    )


def _level_of_one_vu(options: Mapping[str, Any]) -> float:
    """The level at which the largest scenario has one VU; below it there would be no load at all."""
    return 1 / max(1, *(scenario["vus"] for scenario in options["scenarios"].values()))


def _held_scenarios(options: Mapping[str, Any]) -> dict[str, Any]:
    """The script's scenarios held at their peak for as long as the experiment lasts, for the level to multiply."""
    if "scenarios" not in options:
        vus = max([options.get("vus", 1), *(stage["target"] for stage in options.get("stages", []))])
        return {"default": {"executor": "constant-vus", "vus": vus, "duration": "24h"}}
    held: dict[str, Any] = {}
    for name, scenario in options["scenarios"].items():
        common = {key: scenario[key] for key in ("exec", "env", "tags", "gracefulStop") if key in scenario}
        stages = scenario.get("stages", [])
        if scenario["executor"].endswith("arrival-rate"):
            rate = max([scenario.get("rate", scenario.get("startRate", 0)), *(stage["target"] for stage in stages)])
            vus = {key: scenario[key] for key in ("timeUnit", "preAllocatedVUs", "maxVUs") if key in scenario}
            held[name] = {**common, **vus, "executor": "constant-arrival-rate", "rate": rate, "duration": "24h"}
        else:
            vus = max([scenario.get("vus", scenario.get("startVUs", 1)), *(stage["target"] for stage in stages)])
            held[name] = {**common, "executor": "constant-vus", "vus": vus, "duration": "24h"}
    return held


def _engine_cpus(choices: Choices) -> tuple[int, ...]:
    if choices.cpus:
        return choices.cpus
    cpus = available_cpus()
    return (cpus[-1],) if choices.isolate and len(cpus) > 1 else ()


def _measure(
    plan: _Plan, choices: Choices, writer: RunWriter, on_progress: Callable[[Progress], None] | None
) -> Answer:
    def note(kind: str, message: str) -> None:
        writer.append_event(kind, message=message)

    control = TargetControl(plan.target, writer.logs, directory=plan.directory, on_event=note)
    with control:
        control.reset()
        processes = _processes(plan)
        kept_apart = choices.kept_apart or (_isolate(processes, plan.config.cpus, note) if choices.isolate else None)
        source = EngineSource(plan.config, unit=plan.unit, is_open=plan.is_open, background=choices.background)
        sample = _sample_with(plan, processes, note)
        with _on_cpus(plan.config.cpus):
            result = run_capacity(source, plan.settings, writer, sample, on_progress)
    notes = [] if plan.target.reset or plan.target.start or result.status == "failed" else [_AGEING]
    notes += [control.early_end] if control.early_end else []
    findings = capacity_findings(
        result,
        RunReader(writer.path),
        expected_users=plan.expected_users,
        objectives=plan.objectives,
        users_per_level=plan.users_per_level,
        same_host=_is_local(plan.target.url),
        kept_apart=kept_apart,
        run_path=str(writer.path),
        notes=notes,
    )
    try:
        writer.write_findings(findings)
        writer.finish(result.status)
        return Answer(findings, writer.path, write_html(writer.path), result.status)
    except RunDirectoryError as error:
        error.add_note(f"The answer, which could not be written:\n{answer_lines(findings)}")
        raise


@contextmanager
def _on_cpus(cpus: tuple[int, ...]) -> Iterator[None]:
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


_AGEING = "The target was not reset before the run: what earlier runs left in it is part of this answer."


def _processes(plan: _Plan) -> list[ProcessSelector]:
    """The study's processes; without any, whoever listens on the target's port of this host."""
    if plan.target.processes or not plan.target.url or not _is_local(plan.target.url):
        return list(plan.target.processes)
    port = urlsplit(plan.target.url).port
    return [ProcessSelector(label="target", port=port)] if port else []


def _sample_with(
    plan: _Plan, processes: list[ProcessSelector], note: Callable[[str, str], None]
) -> Callable[[int, float], Iterable[Mapping[str, Any]]]:
    """Probes asked once per second of load, so that their rows and the load's seconds are the same seconds."""
    rows: list[dict[str, Any]] = []
    sampler = Sampler(
        probes_for(plan.probes if processes else plan.probes.model_copy(update={"processes": False}), processes),
        rows.append,
        lambda kind, _t_unix, source, message: note(kind, f"{source}: {message}"),
        t0_unix=0.0,
    )

    def sample(second: int, _t_unix: float) -> list[dict[str, Any]]:
        rows.clear()
        sampler.sample_once()
        return [{**row, "second": second} for row in rows]

    return sample


def _is_local(url: str | None) -> bool | None:
    """Whether the target runs on this host; None when it has no URL."""
    if url is None:
        return None
    host = urlsplit(url).hostname or ""
    if host in LOCAL_HOSTS:
        return True
    try:
        addresses = {info[4][0] for info in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    own = {address.address for many in psutil.net_if_addrs().values() for address in many}
    return bool(addresses & own)


def _isolate(
    processes: list[ProcessSelector], engine_cpus: tuple[int, ...], note: Callable[[str, str], None]
) -> str | None:
    """Moves the target's processes off the engine's processors; where that is refused, says the command."""
    from plimsoll.probes.finding_processes import find_roots

    others = [cpu for cpu in available_cpus() if cpu not in engine_cpus]
    if not others or not engine_cpus:
        note("note", "one processor only: generator and target cannot be kept apart")
        return None
    moved = 0
    for selector in processes:
        for root in find_roots(selector):
            for process in [root, *root.children(recursive=True)]:
                try:
                    process.cpu_affinity(others)
                    moved += 1
                except psutil.Error as error:
                    listed = ",".join(map(str, others))
                    note("note", f"cannot pin {process.pid} ({error}); run: sudo taskset -a -cp {listed} {process.pid}")
    return f"affinity: target on CPU {others}, generator on CPU {list(engine_cpus)}" if moved else None
