"""What the verbs hold, grow and drain share: choices from flags, progress, and the answer on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.cli.capacity import show

if TYPE_CHECKING:
    from plimsoll.long_runs import Listeners
    from plimsoll.plans import Choices
    from plimsoll.session import Answer


def chosen(runs: Path, env: list[str] | None, seed: int, threads: int, isolate: bool, variant: str | None) -> Choices:
    """The choices that these flags make."""
    from plimsoll.cli.run import pairs
    from plimsoll.plans import Choices

    return Choices(
        background=True,
        runs=runs,
        env=pairs(env or [], "--env"),
        variant=variant,
        seed=seed,
        threads=threads,
        isolate=isolate,
    )


@contextmanager
def listening(quiet: bool) -> Iterator[Listeners]:
    """A line of progress on stderr, ended whatever happens."""
    from plimsoll.cli.progress import ProgressLine
    from plimsoll.long_runs import Listeners

    progress = ProgressLine(quiet=quiet)
    try:
        yield Listeners(progress, lambda text: progress.say(f"plimsoll: {text}"), progress.say)
    finally:
        progress.done()


def answered(answer: Answer, as_json: bool) -> None:
    """Print the answer and the report's path; ends the program with the answer's exit code."""
    show(answer, as_json)
