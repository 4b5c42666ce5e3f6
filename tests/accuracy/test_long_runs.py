"""A quick look at the long runs' scorecard: cells that are cheap, few trials, seeds apart from those of the table."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from longrun_scorecard import LEAST, cells, score

QUICK = {
    "+20% over 600 s, 15% scatter, AR(1) 0.5: flagged": 30,
    "no drift, 600 s, AR(1) 0.5: flagged": 60,
    "best possible: +20% over 600 s, 15% scatter, AR(1) 0.5: flagged": 60,
    "M/M/1 ρ = 0.7, 10⁵ requests": 20,
    "M/M/1 ρ = 0.9, 10⁵ requests": 15,
    "5 + n/2000, 5 sizes, 4 windows each: right family": 30,
    "n^0.5, 5 sizes, 4 windows each: 4 × within 15%": 5,
    "200 items/s, 1% overload, 10 min: found": 25,
    "200 items/s, ρ = 0.95: called behind": 25,
    "2 σ, 3 cycles, 20 s every 190 s, AR(1) 0: period ± 2%": 2,
    "no job, Student's t of 3 degrees, 300 s: found": 6,
}


@pytest.mark.parametrize("name", QUICK)
def test_a_cell_of_the_scorecard_is_not_missed(name: str) -> None:
    [cell] = [one for one in cells() if one.name == name]
    found = score(cell, QUICK[name], first_seed=10_000)
    assert found.verdict != "missed", found
    if cell.sign == LEAST and found.answered:
        assert found.hits >= 0.8 * found.answered, found
