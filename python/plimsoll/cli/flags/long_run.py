"""The choices that the flags of capacity, hold, grow and drain make alike."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.plans.load import Choices


def chosen(
    runs: Path,
    env: list[str] | None,
    seed: int,
    threads: int,
    isolate: bool,
    variant: str | None,
    probe: list[str] | None = None,
) -> Choices:
    """The choices that these flags make."""
    from plimsoll.cli.run.verb import pairs
    from plimsoll.plans.load import Choices

    return Choices(
        background=True,
        runs=runs,
        env=pairs(env or [], "--env"),
        variant=variant,
        seed=seed,
        threads=threads,
        isolate=isolate,
        probes=tuple(probe or ()),
    )
