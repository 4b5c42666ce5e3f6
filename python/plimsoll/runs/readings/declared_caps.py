"""The caps that a script's options declare (k6's names), and where in the script they stand. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Unit = Literal["iterations", "requests"]
_TIME = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
MACHINE, SOME = "VUs of this machine", "VUs"


@dataclass(frozen=True)
class DeclaredCap:
    """`option` of the script (of a scenario) with its value, and the `line` of the script where it stands, if known.

    `vus`: how many may run at once; `per_s`: requests per second. `least_iteration_s`, `per_host`: minIterationDuration
    and batchPerHost, which lengthen an iteration; `sleep_line`: where the script sleeps.
    """

    option: str
    scenario: str | None
    value: float
    unit: Unit = "iterations"
    vus: float | None = None
    per_s: float | None = None
    least_iteration_s: float = 0.0
    per_host: int = 6
    line: int | None = None
    sleep_line: int | None = None


UNKNOWN_VUS = DeclaredCap(SOME, None, 0.0, vus=0.0)  # of a script whose options are not known


def declared_caps(options: Mapping[str, Any], script: str = "") -> tuple[DeclaredCap, ...]:
    """The caps that a script's options declare (k6's names); `script`: its text, for the lines."""
    found: list[DeclaredCap] = []
    if rps := _positive(options.get("rps")):
        found.append(DeclaredCap("rps", None, rps, "requests", per_s=rps, line=line_of(script, "rps")))
    least_s = seconds_of(options.get("minIterationDuration")) or 0.0
    per_host = _positive(options.get("batchPerHost", 6)) or _positive(options.get("batch", 20))
    common: dict[str, Any] = {
        "least_iteration_s": least_s,
        "per_host": int(per_host or 1),
        "sleep_line": line_of(script, "sleep"),
    }
    scenarios = {str(name): one for name, one in (options.get("scenarios") or {}).items() if _is_open(one)}
    for name, scenario in scenarios.items():
        most = _positive(scenario.get("maxVUs"))
        if most is not None:
            vus = max(most, _positive(scenario.get("preAllocatedVUs")) or 0.0)
            found.append(DeclaredCap("maxVUs", name, vus, vus=vus, line=line_of(script, "maxVUs", name), **common))
    if scenarios and not any(one.scenario for one in found):
        found.append(DeclaredCap(MACHINE, None, 0.0, vus=0.0, **common))
    return tuple(found)


def fixed_iterations(options: Mapping[str, Any]) -> dict[str, tuple[int, str]]:
    """Of each scenario with a fixed number of iterations: how many, and the option that ends it with its value."""
    found: dict[str, tuple[int, str]] = {}
    if "scenarios" not in options and (count := _positive(options.get("iterations"))):
        found["default"] = int(count), f"duration of {options.get('duration') or '10m'}"
    for name, scenario in (options.get("scenarios") or {}).items():
        if str(scenario.get("executor")) in ("shared-iterations", "per-vu-iterations"):
            each = scenario["executor"] == "per-vu-iterations"
            count = (_positive(scenario.get("iterations")) or 1.0) * ((scenario.get("vus") or 1) if each else 1)
            found[str(name)] = int(count), f"maxDuration of {scenario.get('maxDuration') or '10m'}"
    return found


def _is_open(scenario: Mapping[str, Any]) -> bool:
    return str(scenario.get("executor") or "").endswith("arrival-rate")


def text_of(path: str | Path | None, sha256: str | None = None) -> str:
    """The script's text, for its lines; empty where it cannot be read, or is not the one of that hash any more."""
    try:
        content = Path(path).read_bytes() if path is not None else b""
    except OSError:
        return ""
    changed = sha256 is not None and hashlib.sha256(content).hexdigest() != sha256
    return "" if changed else content.decode(errors="replace")


def line_of(script: str, name: str, scenario: str | None = None) -> int | None:
    """The line of the script (from 1) that says that option, or calls that function: the only one, or the first after
    the scenario's name; None where it is not plain."""
    lines = list(enumerate(script.splitlines(), 1))

    def with_key(key: str, sign: str = r"['\"]?\s*:") -> list[int]:
        return [at for at, text in lines if re.search(rf"\b{re.escape(key)}{sign}", text.partition("//")[0])]

    found = with_key(name, r"\s*\(") if name == "sleep" else with_key(name)
    if len(found) == 1:
        return found[0]
    begins = next(iter(with_key(scenario)), None) if scenario else None
    return next((at for at in found if at >= begins), None) if begins is not None else None


def seconds_of(value: Any) -> float | None:
    """Seconds of a duration as scripts write it: "1m30s", "500ms", or a number of milliseconds; None for none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) / 1000
    parts = list(_TIME.finditer(value)) if isinstance(value, str) else []
    return sum(float(part["number"]) * _SECONDS[part["unit"]] for part in parts) if parts else None


def _positive(value: Any) -> float | None:
    known = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return float(value) if known else None
