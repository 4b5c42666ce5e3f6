"""The options of an experiment: its entry of the study, with what the caller gives in their place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from plimsoll.errors import InputError, InputErrors
from plimsoll.study import Study
from plimsoll.study.experiments import Chosen, first_of

# Both bound the search: one that is given replaces both of the study's. Of budgets the given names do.
BOUNDS, MERGED = frozenset({"max_users", "max_rate"}), "budgets"


def options_of(kind: type[Chosen], name: str, source: Study | Path, given: Mapping[str, Any]) -> Chosen:
    """The study's options of that experiment with those given in their place (None: not given); InputError for all
    mistakes."""
    own: dict[str, Any] = {}
    if isinstance(source, Study):
        found = first_of(kind, source.experiments)
        own = found.model_dump(exclude_unset=True) if found is not None else {}
    told = {key: value for key, value in given.items() if value is not None}
    if BOUNDS & told.keys():
        own = {key: value for key, value in own.items() if key not in BOUNDS}
    if MERGED in told:
        told[MERGED] = {**own.get(MERGED, {}), **told[MERGED]}
    try:
        return kind(**own | told)
    except ValidationError as error:
        mistakes = [
            InputError(
                f"{mistake['msg']}",
                (mistake.get("ctx") or {}).get("next_step", f"Correct {name}'s {'.'.join(map(str, mistake['loc']))}."),
                key=f"{name}.{'.'.join(map(str, mistake['loc']))}",
            )
            for mistake in error.errors()
        ]
        raise InputErrors(mistakes) from None
