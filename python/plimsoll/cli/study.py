"""`plimsoll study`: every experiment of a study, one page of answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plimsoll.cli.flags.shared import ArrivalSeed, AsJson, Awake, Details, Env, Isolate, Quiet, Runs, Threads, Ui

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.verbs.listeners import Listeners
    from plimsoll.verbs.studies import Part, StudyAnswer, StudyChoices, StudyPlan


def study(
    source: Annotated[Path | None, typer.Argument(help="a study file (.yaml)")] = None,
    all_in: Annotated[
        Path | None, typer.Option("--all", help="a folder: run each FOLDER/*/study.yaml, and link their pages")
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="these experiments alone: names or places from 1, as in capacity,3")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="go on with this study run: finished experiments are kept")
    ] = None,
    env: Env = None,
    seed: ArrivalSeed = 1,
    threads: Threads = 1,
    isolate: Isolate = False,
    awake: Awake = True,
    runs: Runs = Path("runs"),
    as_json: AsJson = False,
    details: Details = False,
    quiet: Quiet = False,
    ui: Ui = False,
) -> None:
    """Run every experiment of a study in its order: a report each, and a page of all answers.

    Exit codes: 0 answered and objectives met, 99 an objective failed, 2 wrong input, 3 invalid or failed, 130
    interrupted.
    """
    from plimsoll.cli.flags.page_beside import page_beside
    from plimsoll.cli.run.verb import pairs
    from plimsoll.errors import InputError
    from plimsoll.verbs.studies import StudyChoices

    if (source is None) == (all_in is None):
        what = "nothing to run is given" if source is None else "a study and --all are given together"
        raise InputError(what, "Give a study file, or --all FOLDER.")
    choices = StudyChoices(
        runs=runs,
        env=pairs(env or [], "--env"),
        only=tuple(part.strip() for part in (only or "").split(",") if part.strip()),
        seed=seed,
        threads=threads,
        isolate=isolate,
        background=True,
        resume=resume,
        awake=awake,
    )
    with page_beside(ui, runs):
        if all_in is not None:
            _all(all_in, choices, as_json, quiet, details)
        else:
            assert source is not None
            _one(source, choices, as_json, quiet, details)


def _one(source: Path, choices: StudyChoices, as_json: bool, quiet: bool, details: bool) -> None:
    from plimsoll.verbs.studies import run_study

    answer = run_study(source, choices, _Told(quiet))
    if as_json:
        print(json.dumps(answer.to_json(), indent=2, ensure_ascii=False))
    else:
        _print(answer, details)
    raise typer.Exit(answer.exit_code)


def _all(folder: Path, choices: StudyChoices, as_json: bool, quiet: bool, details: bool) -> None:
    from plimsoll.verbs.studies import run_studies

    answer = run_studies(folder, choices, _Told(quiet))
    if as_json:
        print(json.dumps(answer.to_json(), indent=2, ensure_ascii=False))
    else:
        for name, one, problem in answer.studies:
            print(f"{name}\n{'=' * len(name)}")
            _print(one, details) if one is not None else print(f"{problem}\n")
        print(f"All studies: {answer.page}")
    raise typer.Exit(answer.exit_code)


def _print(answer: StudyAnswer, details: bool) -> None:
    from plimsoll.cli.answers import words_of

    for part in answer.parts:
        print(f"{part.place}. {part.experiment}")
        if part.problem:
            print(f"{part.status}: {part.problem}")
        elif part.place in answer.findings:
            run = answer.directory / (part.run or "")
            print(words_of(answer.findings[part.place], run, None, details))
        else:
            print("not begun")
        print()
    print(f"Answers: {answer.page}")


class _Told:
    """Who is told on a terminal: the plan of a study, and the progress of each of its experiments."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet

    def plan_of_all(self, plans: Sequence[StudyPlan], total: str) -> None:
        """Before the first study."""
        if self._quiet:
            return
        told = "; ".join(f"{plan.name}: {'cannot begin' if plan.problem else plan.total}" for plan in plans)
        self._say(f"{len(plans)} {'study' if len(plans) == 1 else 'studies'}. {told}. In all {total}.")

    def plan(self, plan: StudyPlan) -> None:
        """Before any load of this study."""
        if self._quiet:
            return
        words = "; ".join(f"{part.experiment}: {'done' if part.is_done else part.planned}" for part in plan.parts)
        self._say(f"{plan.name}. {words}. In all {plan.total}.")
        if plan.cannot_decide:
            self._say("\n".join(["It cannot decide:", *(f"- {text}" for text in plan.cannot_decide)]))

    def listeners(self, part: Part) -> Listeners[Any]:
        """Before each experiment."""
        from plimsoll.cli.progress import ProgressLine, TrialLine, listeners
        from plimsoll.verbs.studies import TRIALS

        if not self._quiet:
            self._say(f"{part.place}. {part.experiment}, {part.planned}")
        return listeners((TrialLine if part.experiment in TRIALS else ProgressLine)(quiet=self._quiet))

    @staticmethod
    def _say(words: str) -> None:
        print(words, file=sys.stderr, flush=True)
