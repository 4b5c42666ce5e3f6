"""The largest load that is asked of the engine, whatever states it: users of a study, `--users`, a word to a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.errors import InputError
from plimsoll.study.bounds import MOST_PER_S, MOST_VUS
from plimsoll.study.workload import rate_of_scenarios


def check_load(scenarios: Mapping[str, Any], level: float, what: str) -> None:
    """Raises InputError, which names `what`, where these scenarios at that level are more arrivals per second or more
    VUs than any generator makes."""
    per_s = rate_of_scenarios({"scenarios": scenarios}) * level
    vus = level * sum(float(one.get("vus") or 0.0) for one in scenarios.values())
    for size, most, unit in ((per_s, MOST_PER_S, "arrivals per second"), (vus, float(MOST_VUS), "VUs")):
        if not size <= most:
            raise InputError(f"{what} means {size:,.6g} {unit}", f"At most {most:,.0f} make sense; lower it.")
