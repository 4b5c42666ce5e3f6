"""Planted faults of the generator are named, and healthy twins stay valid: a part of the scorecard, other seeds."""

from __future__ import annotations

import pytest
import validity_scorecard


@pytest.mark.parametrize("job", list(validity_scorecard.jobs(0.0, 7_000)), ids=lambda job: str(job.name))
def test_a_fault_of_the_generator_is_named_and_its_twin_is_valid(job: validity_scorecard.Job) -> None:
    for line in job.run():
        assert line.verdict == "met", line.cells
