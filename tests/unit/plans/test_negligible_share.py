"""A share below which operations are called negligible: one that is none is told short."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from plimsoll.errors import InputError
from plimsoll.plans.negligible import check_negligible


@pytest.mark.parametrize(("share", "shown"), [(1e298, "1e+300%"), (1.5, "150%"), (0.0, "0%"), (-0.001, "-0.1%")])
def test_a_share_that_is_none_is_told_short(share: float, shown: str) -> None:
    plan = cast(Any, SimpleNamespace(negligible_below=share))
    with pytest.raises(InputError) as told:
        check_negligible(plan)
    assert told.value.what == f"--negligible-below {shown} is no share above 0% and below 100%"
