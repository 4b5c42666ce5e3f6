"""Planted faults of counts and times are found, and healthy steps are not: a part of the scorecard, other seeds."""

from __future__ import annotations

import flow_scorecard
import pytest


@pytest.mark.parametrize("job", list(flow_scorecard.jobs(0.0, 9_000)), ids=lambda job: str(job.name))
def test_counts_and_times_that_do_not_agree_are_found_and_others_are_not(job: flow_scorecard.Job) -> None:
    for line in job.run():
        assert line.verdict == "met", line.cells
