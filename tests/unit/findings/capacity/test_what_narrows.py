"""What a search that ended wide is told to do: more time only where time is what it lacked."""

from __future__ import annotations

import pytest
from capacity_runs import FACTS, LOADS, Rows, step

from plimsoll.findings.capacity.finding import capacity_findings

MORE = "with 20 min it would be about 10% wide (--for 20m)"


@pytest.mark.parametrize("bad", [1_800.0, None])
@pytest.mark.parametrize("disturbed", [False, True])
def test_where_others_work_took_every_step_in_between_a_quieter_host_is_the_next_step(
    bad: float | None, disturbed: bool
) -> None:
    steps = [step(at, level, rate) for at, (level, rate) in enumerate(LOADS)]
    open_ = step(20, 1_500.0, 150.0, "undecided") | {"disturbed": disturbed, "reasons": ["Others came and went."]}
    steps += [open_, *([step(21, bad, 150.0, "bad")] if bad else [])]
    more = MORE if bad else "give it 10 min (--for 10m)"
    facts = {**FACTS, "open": True, "good": 1200.0, "bad": bad, "steps": steps, "more_time": more}
    [finding] = capacity_findings(facts, Rows([]))
    told = " ".join(finding["next"])
    assert ("on a quieter host" in told) is disturbed and (more in told) is not disturbed
    assert not disturbed or "--for" not in told
