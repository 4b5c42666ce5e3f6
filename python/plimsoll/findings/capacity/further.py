"""What else a capacity run tells: how it scales, what bounds its throughput, how far its resources would go, what would
stop it next, what hardware it needs and, where that is asked, whether its operations are negligible.

Each is a finding of its own beside the capacity, made from the run directory alone; where the steps do not support one
it is not made, or says that it cannot tell and what would settle it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plimsoll.findings.capacity.bounds import bounds_finding
from plimsoll.findings.capacity.how_far import how_far_finding
from plimsoll.findings.capacity.negligible import negligible_finding
from plimsoll.findings.capacity.next_limit import next_limit_finding
from plimsoll.findings.capacity.run_resources import Resource, resources_of
from plimsoll.findings.capacity.scaling import scaling_finding
from plimsoll.findings.evidence import as_data, of_sources, of_steps
from plimsoll.findings.resources import Means, Step, hosts, means_of_steps, processes
from plimsoll.findings.sizing.facts import sizing_facts
from plimsoll.findings.sizing.finding import sizing_finding
from plimsoll.findings.sizing.needs import known_per_level_s, wanted_of
from plimsoll.findings.validity.validity import RestsOn, conclusions

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

SCHEMA = 1


def further_findings(
    main: Mapping[str, Any],
    run: RunReader,
    *,
    budgets: Mapping[str, float] | None = None,
    cores: int | None = None,
    same_host: bool | None = None,
    kept_apart: str | None = None,
    expected_level: float | None = None,
    negligible_below: float | None = None,
) -> list[dict[str, Any]]:
    """The further findings of a run whose capacity finding is `main`. `run`: a RunReader; `budgets`: share of a
    resource that may be used, by name, "a+b" for two threads on one core; `cores`: of another host; `expected_level`:
    what the hardware is sized for, else for what it carried; `negligible_below`: the share of the target
    below which its operations are negligible."""
    if main["status"] == "failed":
        return []
    steps = main["steps"]
    means = means_of_steps(run.resources(), steps)
    resources = resources_of(steps, means, same_host=same_host, kept_apart=kept_apart is not None)
    asked = dict(budgets or {})
    far = how_far_finding(main, resources, asked, cores, same_host is not False, _probed(means), kept_apart is not None)
    found: list[tuple[RestsOn, dict[str, Any] | None]] = [
        ("throughput", scaling_finding(main, steps)),
        ("throughput", bounds_finding(main, steps, resources)),
        ("cpu_per_operation", far),
        ("throughput", next_limit_finding(main, resources, same_host is not False, _hosts_read(means))),
        ("throughput", _sizing(main, run, steps, expected_level)),
        ("cpu_per_operation", _negligible(main, run, steps, resources, expected_level, negligible_below)),
    ]
    common = {
        "schema": SCHEMA,
        "experiment": "capacity",
        "status": main["status"],
        "level_unit": main["capacity"]["unit"],
        "run": main["run"],
        "evidence": as_data(
            [of_steps(steps, main["capacity"]["unit"]), of_sources(means, steps, "Probes in these steps")]
        ),
    }
    return [
        common | conclusions(main["generator"], [rests_on]) | finding
        for rests_on, finding in found
        if finding is not None
    ]


def _sizing(
    main: Mapping[str, Any], run: RunReader, steps: Sequence[Step], expected_level: float | None
) -> dict[str, Any] | None:
    """What hardware the expected load needs; None where no process of the target was seen."""
    facts = sizing_facts(run, steps)
    level = expected_level or main["capacity"]["good"]
    if not facts.parts or not level:
        return None
    chosen = "the expected load" if expected_level else "what it carried"
    capacity = main["capacity"]
    wanted = wanted_of(
        facts,
        is_open=capacity["model"] == "open",
        level=level,
        chosen=chosen,
        per_level_s=known_per_level_s(capacity),
    )
    return None if wanted is None else sizing_finding(main, facts, wanted, capacity["unit"])


def _negligible(
    main: Mapping[str, Any],
    run: RunReader,
    steps: Sequence[Step],
    resources: Sequence[Resource],
    expected_level: float | None,
    below: float | None,
) -> dict[str, Any] | None:
    """Whether its operations are negligible at the expected load, else at the load that a script declares."""
    if below is None:
        return None
    if expected_level is None and main["capacity"]["unit"] == "multiple":
        expected_level = 1.0
    if expected_level is None:
        return None
    study = run.manifest.get("study") or {}
    names = [str(one["name"]) for one in (study.get("workload") or {}).get("operations") or ()]
    return negligible_finding(main, steps, resources, expected_level=expected_level, below=below, operations=names)


def _probed(means: Sequence[Means]) -> list[str]:
    """The labels of the processes that were seen."""
    return list(dict.fromkeys(label for values in means for label in processes(values)))


def _hosts_read(means: Sequence[Means]) -> list[str]:
    """The other hosts whose metrics were read."""
    return sorted({name for values in means for name in hosts(values)})
