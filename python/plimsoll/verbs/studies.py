"""The verb study: every experiment of a study file, one after the other, and one page of their answers.

answer = plimsoll.run_study("study.yaml")
print([part.answer for part in answer.parts], answer.page)
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from plimsoll.errors import EXIT_INPUT, InputError, InputErrors, PlimsollError
from plimsoll.findings.exit_codes import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_INVALID
from plimsoll.output_streams import answer_kept_in
from plimsoll.plans.load import Choices
from plimsoll.plans.planned_time import planned_time, planned_total
from plimsoll.plans.requests import TrialChoices
from plimsoll.report.study_page import PAGE, write_index_page, write_study_page
from plimsoll.runs.directory import make_named_directory, write_json
from plimsoll.study import Study, load_study
from plimsoll.study.experiments import Experiment
from plimsoll.verbs import long_runs, trials
from plimsoll.verbs.capacity import capacity, verify
from plimsoll.verbs.known_secrets import redactor_of
from plimsoll.verbs.listeners import Listeners
from plimsoll.verbs.session import Answer

SCHEMA = 1
RECORD = "study.json"
TRIALS = {"compare": trials.compare, "decompose": trials.decompose, "sweep": trials.sweep}
LONG_RUNS = {"hold": long_runs.hold, "grow": long_runs.grow, "drain": long_runs.drain}
RESUMABLE = ("grow", *TRIALS)


@dataclass(frozen=True)
class StudyChoices:
    """What a caller may choose beside the study. `only`: names of experiments or their places from 1, all without;
    `resume`: the folder of an earlier study run, whose finished experiments are kept. The rest as in `Choices`."""

    runs: Path = Path("runs")
    env: Mapping[str, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    seed: int = 1
    threads: int = 1
    isolate: bool = False
    background: bool = False
    resume: Path | None = None
    awake: bool = True


@dataclass(frozen=True)
class Part:
    """One experiment of a study: its place in the file from 1, what it is planned to take, and how it ended: "planned"
    (not yet begun), "failed" (`problem` says why) or its run's status. Paths are relative to the folder of the study
    run; `exit_code` is what its own verb would end with; `of` names who takes part, where not all do; `report_before`
    is that of the run before a remedy (`verify`)."""

    place: int
    experiment: str
    planned: str
    status: str = "planned"
    exit_code: int = 0
    answer: str = ""
    problem: str = ""
    run: str | None = None
    report: str | None = None
    of: tuple[str, ...] = ()
    report_before: str | None = None

    @property
    def is_done(self) -> bool:
        """Whether a resumed study may leave it out."""
        return self.status == "finished" and self.exit_code != EXIT_INVALID


@dataclass(frozen=True)
class StudyPlan:
    """What a study will do, before any load: its experiments, and `total`, what those that are not done are planned to
    take together, in words; `cannot_decide` is what the study says of itself. `problem` says why a study cannot begin,
    which then has no parts."""

    name: str
    parts: Sequence[Part] = ()
    total: str = ""
    cannot_decide: Sequence[str] = ()
    problem: str = ""


@dataclass(frozen=True)
class StudyAnswer:
    """What a study found: `findings` by place of the experiment, and the page that links the reports."""

    parts: list[Part]
    findings: dict[int, list[dict[str, Any]]]
    directory: Path
    page: Path

    @property
    def exit_code(self) -> int:
        """The gravest of the experiments': 130 interrupted, 3 invalid or failed, 99 an objective failed, 0."""
        return _gravest({part.exit_code for part in self.parts})

    def to_json(self) -> dict[str, Any]:
        """Plain data: the parts with their findings."""
        parts = [asdict(part) | {"findings": self.findings.get(part.place, [])} for part in self.parts]
        return {"directory": str(self.directory), "page": str(self.page), "parts": parts}


@dataclass(frozen=True)
class StudiesAnswer:
    """Name, answer and problem of each study of a folder (no answer: the problem says why), and the page of all."""

    studies: list[tuple[str, StudyAnswer | None, str]]
    page: Path

    @property
    def exit_code(self) -> int:
        """The gravest of the studies'; 2 for one that could not begin."""
        return _gravest({answer.exit_code if answer is not None else EXIT_INPUT for _, answer, _ in self.studies})

    def to_json(self) -> list[dict[str, Any]]:
        """Plain data of each study."""
        return [
            {"name": name, "problem": problem, **(answer.to_json() if answer is not None else {})}
            for name, answer, problem in self.studies
        ]


class Told(Protocol):
    """Who is told while studies run."""

    def plan_of_all(self, plans: Sequence[StudyPlan], total: str) -> None:
        """Every study of a folder, and what all take together, before the first one."""

    def plan(self, plan: StudyPlan) -> None:
        """The experiments of a study, before any load."""

    def listeners(self, part: Part) -> Listeners[Any]:
        """Who hears of that experiment."""


class Nobody:
    """Tells nobody."""

    def plan_of_all(self, plans: Sequence[StudyPlan], total: str) -> None:
        """Nothing."""

    def plan(self, plan: StudyPlan) -> None:
        """Nothing."""

    def listeners(self, part: Part) -> Listeners[Any]:
        """Nobody."""
        return Listeners()


def run_study(source: str | Path | Study, choices: StudyChoices | None = None, told: Told | None = None) -> StudyAnswer:
    """Run every experiment of a study file or Study in its order, each with its own run directory, in a folder with a
    page of all answers.

    An experiment that fails (its target does not come up) is told in its place, and the next one is tried; Ctrl-C ends
    the study after what was measured. Raises InputErrors for mistakes in the study, for `only` that it does not have,
    and for a `resume` of another study; RunDirectoryError if nothing can be written.
    """
    choices, told = choices or StudyChoices(), told or Nobody()
    given = source if isinstance(source, Study) else load_study(source)
    parts = _parts(given, choices.only)
    record = (
        _Record.resumed(choices.resume, given, parts) if choices.resume else _Record.new(choices.runs, given, parts)
    )
    answer_kept_in(record.directory)
    told.plan(_plan(given, str(source) if not isinstance(source, Study) else "study", record.parts))
    for at, part in enumerate(record.parts):
        if part.is_done:
            continue
        ended, findings = _carried_out(given, part, record.directory, choices, told.listeners(part))
        record.keep(at, ended, findings)
        if ended.exit_code == EXIT_INTERRUPTED:
            break
    return record.answer()


def run_studies(folder: str | Path, choices: StudyChoices | None = None, told: Told | None = None) -> StudiesAnswer:
    """Run each `folder`/*/study.yaml in the order of their names; one that cannot begin is told in its place. Raises
    InputError for a folder without studies, and for `resume`, which is of one study."""
    choices, told = choices or StudyChoices(), told or Nobody()
    files = sorted(Path(folder).glob("*/study.yaml"))
    if not files:
        raise InputError(
            f"{folder}: there is no */study.yaml in it", "Give a folder that holds a folder for each study."
        )
    if choices.resume is not None:
        raise InputError("--resume is for one study", "Give its study file, not --all.")
    directory = make_named_directory(Path(choices.runs), "studies", time.time())
    told.plan_of_all(*_plan_of_all(files, choices.only))
    answer = StudiesAnswer([], directory / PAGE)
    for file in files:
        try:
            one, problem = run_study(file, replace(choices, runs=directory), told), ""
        except PlimsollError as error:
            one, problem = None, redactor_of({}, choices.env).message(str(error))
        answer.studies.append((file.parent.name, one, problem))
        write_index_page(directory, [_row(directory, *each) for each in answer.studies])
        if one is not None and one.exit_code == EXIT_INTERRUPTED:
            break
    return answer


def _row(directory: Path, name: str, answer: StudyAnswer | None, problem: str) -> dict[str, Any]:
    """A study as the index shows it, its links relative to that page."""
    row: dict[str, Any] = {"name": name, "problem": problem, "page": None, "parts": []}
    if answer is not None:
        place = os.path.relpath(answer.directory, directory)
        row["page"] = f"{place}/{PAGE}"
        row["parts"] = [asdict(p) | {"report": p.report and f"{place}/{p.report}"} for p in answer.parts]
    return row


def _gravest(codes: set[int]) -> int:
    return next((code for code in (EXIT_INTERRUPTED, EXIT_INVALID, EXIT_INPUT, EXIT_FAILED) if code in codes), 0)


def _parts(given: Study, only: Sequence[str]) -> list[Part]:
    if not given.experiments:
        raise InputError("the study has no experiments", "Add a list, as in experiments: [capacity, hold].")
    numbered = list(enumerate(given.experiments, 1))
    unknown = set(only) - {name for place, item in numbered for name in (item.name, str(place))}
    if unknown:
        known = ", ".join(f"{place} {item.name}" for place, item in numbered)
        raise InputErrors(
            InputError(f"--only {name}: the study has no such experiment", f"It has {known}; give a name or a number.")
            for name in only
            if name in unknown
        )
    return [
        Part(place, item.name, planned_time(given, item), of=tuple(item.options.of))
        for place, item in numbered
        if not only or {item.name, str(place)} & set(only)
    ]


def _plan(given: Study, otherwise: str, parts: Sequence[Part]) -> StudyPlan:
    total = planned_total(_left(given, parts))
    return StudyPlan(given.name or otherwise, tuple(parts), total, tuple(given.cannot_decide))


def _left(given: Study, parts: Sequence[Part]) -> list[tuple[Study, Experiment]]:
    return [(given, given.experiments[part.place - 1]) for part in parts if not part.is_done]


def _plan_of_all(files: Sequence[Path], only: Sequence[str]) -> tuple[list[StudyPlan], str]:
    """The plan of each study, and in words what they take together; one that cannot begin takes nothing."""
    plans, left = [], []
    for file in files:
        try:
            given = load_study(file)
            parts = _parts(given, only)
        except PlimsollError as error:
            plans.append(StudyPlan(file.parent.name, problem=redactor_of({}, {}).message(str(error))))
            continue
        plans.append(_plan(given, file.parent.name, parts))
        left += _left(given, parts)
    return plans, planned_total(left)


def _carried_out(
    given: Study, part: Part, folder: Path, choices: StudyChoices, listeners: Listeners[Any]
) -> tuple[Part, list[dict[str, Any]]]:
    """The part as it ended, and its findings."""
    redactor = redactor_of({"study": given.model_dump(mode="json")}, choices.env)
    try:
        answer, before = _run(given, given.experiments[part.place - 1], part, folder, choices, listeners)
    except KeyboardInterrupt:
        return replace(part, status="interrupted", exit_code=EXIT_INTERRUPTED, problem="Interrupted."), []
    except PlimsollError as error:
        problem = "\n".join([str(error), *getattr(error, "__notes__", ())])
        return replace(part, status="failed", exit_code=error.exit_code, problem=redactor.message(problem)), []
    finally:
        listeners.end()
    findings = redactor.data(answer.findings)
    run, report, report_before = (
        None if path is None else os.path.relpath(path, folder)
        for path in (answer.run_directory, answer.report, before)
    )
    text = str(findings[0]["answer"])
    ended = replace(
        part, status=answer.status, exit_code=answer.exit_code, answer=text, problem="", run=run, report=report,
        report_before=report_before,
    )  # fmt: skip
    return ended, findings


def _run(
    given: Study, item: Experiment, part: Part, folder: Path, choices: StudyChoices, listeners: Listeners[Any]
) -> tuple[Answer, Path | None]:
    """The answer, and the report of the run before the remedy where the entry has one."""
    alone = given.with_experiment(item)
    shared: dict[str, Any] = {
        "runs": folder, "env": choices.env, "seed": choices.seed, "threads": choices.threads,
        "isolate": choices.isolate, "background": choices.background,
    }  # fmt: skip
    earlier = folder / part.run if part.run and _is_resumable(item) else None
    if item.name in TRIALS:
        return TRIALS[item.name](alone, TrialChoices(**shared, resume=earlier), listeners), None
    load = Choices(**shared, awake=choices.awake)
    if item.name == "grow":
        return long_runs.grow(alone, load, listeners, resume=earlier), None
    if item.name in LONG_RUNS:
        return LONG_RUNS[item.name](alone, load, listeners), None
    if item.capacity is not None and item.capacity.verify is not None:
        before, after = verify(alone, item.capacity.verify, load, listeners)
        return after, None if after is before else before.report
    return capacity(alone, load, listeners), None


def _is_resumable(item: Experiment) -> bool:
    return item.name in RESUMABLE and not (item.compare is not None and item.compare.is_of_runs)


def _public(given: Study) -> dict[str, Any]:
    """The study as plain data without secrets."""
    data = given.model_dump(mode="json", exclude_none=True)
    public: dict[str, Any] = redactor_of({"study": data}, {}).data(data)
    return public


@dataclass
class _Record:
    """study.json and the page, kept up to date: what is there is never half of it."""

    directory: Path
    study: dict[str, Any]
    parts: list[Part]
    began_unix: float
    findings: dict[int, list[dict[str, Any]]] = field(default_factory=dict)

    @classmethod
    def new(cls, runs: Path, given: Study, parts: list[Part]) -> _Record:
        now = time.time()
        record = cls(make_named_directory(Path(runs), "study", now), _public(given), parts, now)
        record.write()
        return record

    @classmethod
    def resumed(cls, directory: Path, given: Study, parts: list[Part]) -> _Record:
        """An earlier study run with the same study; parts that were not asked for then are added."""
        try:
            data = json.loads((directory / RECORD).read_text(encoding="utf-8"))
            before = {one["place"]: Part(**one) for one in data["parts"]}
            began_unix = float(data["began_unix"])
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise InputError(f"{directory} is no run of a study: {error}", f"Give a folder with a {RECORD}.") from None
        if data["study"] != _public(given):
            raise InputError(
                f"the study is not the one of {directory}", "Take its changes back, or begin anew without --resume."
            )
        kept = [before.get(part.place, part) for part in parts]
        record = cls(directory, data["study"], kept, began_unix)
        for part in kept:
            path = directory / (part.run or "") / "findings.json"
            if part.run and path.is_file():
                record.findings[part.place] = json.loads(path.read_text(encoding="utf-8"))
        return record

    def keep(self, at: int, ended: Part, findings: list[dict[str, Any]]) -> None:
        self.parts[at] = ended
        self.findings[ended.place] = findings
        self.write()

    def write(self) -> None:
        data = {"schema": SCHEMA, "study": self.study, "began_unix": self.began_unix}
        data["parts"] = [asdict(part) for part in self.parts]
        write_json(self.directory / RECORD, data)
        write_study_page(self.directory, self.study, [asdict(part) for part in self.parts], self.findings)

    def answer(self) -> StudyAnswer:
        return StudyAnswer(self.parts, self.findings, self.directory, self.directory / PAGE)
