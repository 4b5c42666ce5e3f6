"""The flag --of: which operations or groups of a study take part."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from plimsoll.study import Study

Source = TypeVar("Source", Path, Path | None)


def taking_part(source: Source, names: Sequence[str] | None) -> Source | Study:
    """The source as it is without names, else its study with these alone. Raises InputError for a script, for no
    source at all (an experiment of finished runs, or resumed), and for what is wrong in the study or the names."""
    from plimsoll.errors import InputError
    from plimsoll.plans.arms import is_study
    from plimsoll.study import load_study

    if not names:
        return source
    if source is None:
        raise InputError("--of names operations or groups of a study, and none is given", "Give it, or leave --of out.")
    if not is_study(source):
        what = f"--of names operations or groups of a study, and {source} is a script"
        raise InputError(what, "Leave --of out, or write a study file that names the script's functions as operations.")
    return load_study(source).only(names)
