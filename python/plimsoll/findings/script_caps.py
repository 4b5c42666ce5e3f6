"""What the script itself allows: options that bound the load, however much the target would carry.

Each declared cap allows a most of iterations or requests a second: VUs ÷ the time that an iteration takes while the
target is not busy (Little's law, N = X R: Little 1961), the option rps, iterations ÷ duration. A cap was the limit
where the most that was finished comes near what it allows; a target that limits makes iterations longer, and stays far
below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Snapshot

Unit = Literal["iterations", "requests"]
# Of what the cap allows, from which on it was the limit: arrivals that wait for a VU are random (4.66 of 5 were seen).
NEAR = 0.85
NEAR_RATE = 0.95  # where the option says the rate itself
# How much longer an iteration may take at the most load than at the least before the target is what was slow.
SLOWER = 1.5
_TIME = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
LEAST_ITERATIONS = 20


@dataclass(frozen=True)
class DeclaredCap:
    """`option` of the script (of a scenario) with its value. `vus`: how many may run at once, as a number or None;
    `per_s`: the most per second in `unit` where the option says it without a measured time."""

    option: str
    scenario: str | None
    value: float
    value_unit: str
    unit: Unit = "iterations"
    vus: float | None = None
    per_s: float | None = None
    least_iteration_s: float = 0.0

    def allows_per_s(self, iteration_s: float | None) -> float | None:
        """The most per second, of iterations that take so long at low load; None where that must be known and is
        not."""
        if self.per_s is not None:
            return self.per_s
        if self.vus is None or iteration_s is None:
            return None
        longest = max(iteration_s, self.least_iteration_s)
        return self.vus / longest if longest > 0 else None

    @property
    def remedy(self) -> str:
        """What to do about it."""
        if self.option == "minIterationDuration":
            return "Lower minIterationDuration, or raise the VUs."
        if self.option == "iterations":
            return "Raise iterations, or use an executor with a rate."
        return f"Raise {self.option}."


@dataclass(frozen=True)
class BindingCap:
    """A cap that was the limit: it allows `allows_per_s`, and `seen_per_s` was the most that was finished."""

    cap: DeclaredCap
    allows_per_s: float
    seen_per_s: float
    iteration_s: float | None

    @property
    def words(self) -> str:
        """ "The script's maxVUs of 50 allows about 466/s; the target was never the limit."."""
        value = f"{self.cap.value:g}" + (f" {self.cap.value_unit}" if self.cap.value_unit in ("s",) else "")
        of = f" (scenario {self.cap.scenario})" if self.cap.scenario else ""
        each = ""
        if self.cap.per_s is None and self.iteration_s is not None:
            each = f", as an iteration takes {1000 * self.iteration_s:,.3g} ms at low load"
        allows = f"allows about {_number(self.allows_per_s)} {self.cap.unit}/s{each}"
        return (
            f"The script's {self.cap.option} of {value}{of} {allows}; {_number(self.seen_per_s)}/s were reached, so "
            "the target was never the limit."
        )

    def to_json(self) -> dict[str, Any]:
        """As a finding holds it."""
        return {
            "option": self.cap.option,
            "scenario": self.cap.scenario,
            "value": self.cap.value,
            "value_unit": self.cap.value_unit,
            "allows_per_s": self.allows_per_s,
            "unit": self.cap.unit,
            "words": self.words,
            "remedy": self.cap.remedy,
        }


def declared_caps(options: Mapping[str, Any], level: float = 1.0) -> list[DeclaredCap]:
    """The caps that a script's options declare (k6's names), at that multiple of its load: VUs of closed scenarios are
    the load itself and grow with it, maxVUs, rps and iterations do not."""
    found: list[DeclaredCap] = []
    least_s = seconds_of(options.get("minIterationDuration")) or 0.0
    if rps := _positive(options.get("rps")):
        found.append(DeclaredCap("rps", None, rps, "requests/s", "requests", per_s=rps))
    for name, scenario in (options.get("scenarios") or {}).items():
        found += _of_scenario(str(name), scenario, level, least_s)
    return found


def _of_scenario(name: str, scenario: Mapping[str, Any], level: float, least_s: float) -> Iterable[DeclaredCap]:
    executor = str(scenario.get("executor") or "")
    if executor.endswith("arrival-rate"):
        most = _positive(scenario.get("maxVUs"))  # without it the engine adds VUs, as far as the machine allows
        if most:
            yield DeclaredCap("maxVUs", name, most, "VUs", vus=most, least_iteration_s=least_s)
    elif executor in ("shared-iterations", "per-vu-iterations"):
        iterations, long_s = _positive(scenario.get("iterations")), seconds_of(scenario.get("maxDuration"))
        vus = _positive(scenario.get("vus")) or 1.0
        if iterations and executor == "per-vu-iterations":
            iterations *= vus
        yield DeclaredCap("vus", name, vus, "VUs", vus=vus, least_iteration_s=least_s)
        if iterations and long_s:
            yield DeclaredCap("iterations", name, iterations, "iterations", per_s=iterations / long_s)
    elif least_s:
        vus = level * (_positive(scenario.get("vus")) or 1.0)
        yield DeclaredCap("minIterationDuration", name, least_s, "s", vus=vus, least_iteration_s=least_s)


def binding_cap(
    caps: Iterable[DeclaredCap],
    *,
    low_iteration_s: float | None,
    high_iteration_s: float | None,
    iterations_per_s: float,
    requests_per_s: float,
) -> BindingCap | None:
    """The cap that was the limit: the least of what the caps allow, where what was finished comes near it and the
    target did not become slow; None without one. Times: of an iteration at low load and at the most load."""
    allowed = [(cap, per_s) for cap in caps if (per_s := cap.allows_per_s(low_iteration_s)) is not None]
    near: list[BindingCap] = []
    for unit, reached in (("iterations", iterations_per_s), ("requests", requests_per_s)):
        least: dict[str | None, tuple[DeclaredCap, float]] = {}  # of each scenario the cap that allows least
        for cap, per_s in allowed:
            if cap.unit == unit and (cap.scenario not in least or per_s < least[cap.scenario][1]):
                least[cap.scenario] = cap, per_s
        # Scenarios run side by side: what they allow adds up, and all must be at their cap.
        whole = sum(per_s for scenario, (_, per_s) in least.items() if scenario is not None)
        for scenario, (cap, per_s) in least.items():
            most = per_s if scenario is None else whole
            if (NEAR if cap.per_s is None else NEAR_RATE) * most <= reached:
                near.append(BindingCap(cap, most, reached, low_iteration_s))
    found = min(near, key=lambda one: one.allows_per_s, default=None)
    if found is None or found.cap.per_s is not None:
        return found
    slower = (
        low_iteration_s is not None and high_iteration_s is not None and high_iteration_s > SLOWER * low_iteration_s
    )
    return None if slower else found


def iteration_times(snapshots: Iterable[Snapshot], steps: Sequence[Mapping[str, Any]]) -> list[Histogram]:
    """The durations in ms of the iterations that ended in each step's measured seconds; the run is read once."""
    found = [Histogram() for _ in steps]
    windows = [(float(step["measured_from_s"]), float(step["end_s"])) for step in steps]
    for snapshot in snapshots:
        for (start_s, end_s), times in zip(windows, found, strict=True):
            if start_s <= snapshot.second < end_s:
                for series in snapshot.series:
                    if series.metric == "iteration_duration":
                        times.add_series(series)
    return found


def script_cap(run: Any, steps: Sequence[Mapping[str, Any]]) -> BindingCap | None:
    """The cap of the run's script that was its limit in the step with the most throughput that was not carried, or in
    the one of the most throughput where all were; `run`: a RunReader, None or rows without a manifest have no cap."""
    manifest = getattr(run, "manifest", None) or {}
    options = manifest.get("options") or {}
    held = [step for step in steps if step.get("done_per_s") and step.get("verdict") != "probe"]
    if not declared_caps(options) or not held:
        return None
    top = max([step for step in held if step.get("verdict") == "bad"] or held, key=lambda step: step["done_per_s"])
    times = iteration_times(run.snapshots(metrics=("iteration_duration",)), steps)
    known = [(step, seen) for step, seen in zip(steps, times, strict=True) if seen.count >= LEAST_ITERATIONS]
    low = min(known, key=lambda one: float(one[0]["level"]), default=None)
    high = next((seen for step, seen in known if step is top), None)
    return binding_cap(
        declared_caps(options, float(top["level"])),
        low_iteration_s=None if low is None else low[1].mean / 1000,
        high_iteration_s=None if high is None else high.mean / 1000,
        iterations_per_s=float(top["done_per_s"]),
        requests_per_s=float(top.get("requests_per_s") or 0.0),
    )


def with_script_cap(
    health: Mapping[str, Any], run: Any, steps: Sequence[Mapping[str, Any]], unit: str
) -> dict[str, Any]:
    """The generator's `health` (findings/generator.py) with `script_cap`; where there is one, it is the limit, and what
    the load reached is no capacity."""
    found = script_cap(run, steps) if unit == "multiple" else None
    if found is None:
        return dict(health) | {"script_cap": None}
    void = [
        {**one, "verdict": "invalid", "words": "throughput: invalid", "because": [found.words, *one.get("because", ())]}
        if one["rests_on"] == "throughput"
        else one
        for one in health["validity"]
    ]
    return dict(health) | {
        "healthy": False,
        "reasons": [found.words, *health["reasons"]],
        "remedies": [found.cap.remedy, *health["remedies"]],
        "limits": [found.words, *health["limits"]],
        "validity": void,
        "script_cap": found.to_json(),
    }


def seconds_of(value: Any) -> float | None:
    """Seconds of a duration as scripts write it: "1m30s", "500ms", or a number of milliseconds; None for none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) / 1000
    parts = list(_TIME.finditer(value)) if isinstance(value, str) else []
    return sum(float(part["number"]) * _SECONDS[part["unit"]] for part in parts) if parts else None


def _positive(value: Any) -> float | None:
    known = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return float(value) if known else None


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
