"""How a session says that generator and target were kept apart: by itself, by affinities that were there, or not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.findings.of_run import Facts
from plimsoll.verbs.session import Session

ISOLATED = "affinity: target on CPU 0,1, generator on CPU 3"


def apart(isolated: str | None, **cores: set[int]) -> dict[str, Any]:
    sample: Any = SimpleNamespace(target_cores=cores)
    return Session(None, sample, None, isolated, {3}, print).apart  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("isolated", "cores", "words"),
    [
        (ISOLATED, {"app": {0, 1}}, ISOLATED),
        (ISOLATED, {}, ISOLATED),
        (ISOLATED, {"app": {0, 1}, "db": {0, 1, 2, 3}}, None),
        (None, {"app": {0}, "db": {0, 2}}, "affinity: target on CPU 0,2, generator on CPU 3"),
        (None, {"app": {0}, "db": {3}}, None),
        (None, {}, None),
    ],
)
def test_what_keeps_them_apart(isolated: str | None, cores: dict[str, set[int]], words: str | None) -> None:
    found = Facts(**apart(isolated, **cores))
    assert found.kept_apart == words
    assert found.apart_by_affinity is (isolated is None and words is not None)
