"""A share below which operations are called negligible: one that is none is told short."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.cli.flags.budgets import share_of
from plimsoll.errors import InputError, InputErrors
from plimsoll.plans.options import options_of
from plimsoll.study.experiments import CapacityOptions


@pytest.mark.parametrize(("text", "shown"), [("1e298", "1e+300%"), ("1.5", "150%"), ("-0.001", "-0.1%")])
def test_a_share_that_is_none_is_told_short(text: str, shown: str) -> None:
    with pytest.raises(InputError) as told:
        share_of(text, "--negligible-below", "5%")
    assert told.value.what == f"--negligible-below {shown} is no share below 100%"


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_nothing_and_all_are_refused_from_python_too(share: float) -> None:
    with pytest.raises(InputErrors, match="negligible_below"):
        options_of(CapacityOptions, "capacity", Path("script.js"), {"negligible_below": share})
