"""How the capacity of one target went over the runs on this disk, and the CPU that an operation costs.

import plimsoll
for point in plimsoll.trend("script.js"):
    print(point.run.path, point.per_s, point.cpu_ms, point.differs)

Another machine changes the capacity and hardly the CPU of an operation. So what differs from the run before is told
with each, and no change of a capacity is told across it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.errors import InputError
from plimsoll.listed_names import listed
from plimsoll.nearest_word import nearest
from plimsoll.runs import directory
from plimsoll.runs.format.read_numbers import plausible
from plimsoll.runs.kept.catalogue import StoredRun, read_json
from plimsoll.study.loading import load_study
from plimsoll.verbs.stored import RUNS, stored_runs

MACHINE, SCRIPT, LOAD, VERSION = "machine", "script", "load", "version of Plimsoll"
_OF_MACHINE = ("cores", "usable_cores", "cpu_model", "memory_bytes", "kernel")
_OF_LOAD = ("isolate", "threads", "width", "step_s")


@dataclass(frozen=True)
class Point:
    """A run of capacity: the level that was carried (`good`) and the lowest that was not (`bad`), in `unit`, None where
    that is not known; operations per second and ms of the target's CPU for one at the level carried; whether it is
    `valid`; `differs`: of MACHINE, SCRIPT, LOAD and VERSION those that are others than in the run before it."""

    run: StoredRun
    good: float | None
    bad: float | None
    unit: str
    per_s: float | None
    cpu_ms: float | None
    valid: bool
    differs: tuple[str, ...]

    def change(self, before: Point | None) -> float | None:
        """Of the operations per second, as a share; None where another machine, script or load made it, and where
        either is only "at least"."""
        if before is None or {MACHINE, SCRIPT, LOAD} & set(self.differs) or not (self.valid and before.valid):
            return None
        if self.bad is None or before.bad is None:
            return None
        return _share(self.per_s, before.per_s)

    def change_of_cpu(self, before: Point | None) -> float | None:
        """Of the CPU of an operation, as a share; None where another script made it."""
        return None if before is None or SCRIPT in self.differs else _share(self.cpu_ms, before.cpu_ms)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        own = {name: getattr(self, name) for name in ("good", "bad", "unit", "per_s", "cpu_ms", "valid")}
        return {"run": str(self.run.path), "began_unix": self.run.began_unix, **own, "differs": list(self.differs)}


def trend(about: str | None = None, root: str | Path = RUNS) -> list[Point]:
    """The runs of capacity of a script, study or target (`about`, or the end of its name; by default that of the newest
    run), oldest first. InputError where there is none, or several are called so."""
    runs = [one for one in reversed(stored_runs(root)) if one.experiment == "capacity" and one.about]
    if not runs:
        raise InputError(f"there is no run of capacity in {root}", "Make one, or name another folder with --runs.")
    names = list(dict.fromkeys(one.about for one in runs))
    about = _script_of(about)
    found = [runs[-1].about] if about is None else [name for name in names if name == about]
    found = found or [name for name in names if name.endswith(about or "")]
    if len(found) != 1:
        what = f"no run of capacity is of {about}" if not found else f"several are called {about}: {listed(found, 5)}"
        raise InputError(what, nearest(about or "", names, f"There are {listed(names, 5)}."))
    return list(_points(one for one in runs if one.about == found[0]))


def _script_of(about: str | None) -> str | None:
    """Runs of a study are kept by its script: of the path of a study that path, of all else what was given."""
    if about is None or not about.endswith((".yaml", ".yml")) or not Path(about).is_file():
        return about
    return str(load_study(about).script_path)


def _points(runs: Iterator[StoredRun]) -> Iterator[Point]:
    before: Mapping[str, Any] | None = None
    for run in runs:
        manifest = _mapping(read_json(run.path / directory.MANIFEST))
        findings = read_json(run.path / directory.FINDINGS)
        if isinstance(findings, Mapping):
            findings = findings.get("findings")
        answers = [_mapping(one) for one in findings] if isinstance(findings, list) else []
        main = answers[0] if answers else {}
        capacity = _mapping(main.get("capacity"))
        yield Point(
            run,
            plausible(capacity.get("good")),
            plausible(capacity.get("bad")),
            str(capacity.get("unit") or ""),
            plausible(capacity.get("rate_per_s")),
            next(filter(None, map(_cpu_ms, answers)), None),
            main.get("valid") is True,
            () if before is None else tuple(_differs(before, manifest)),
        )
        before = manifest


def _cpu_ms(finding: Mapping[str, Any]) -> float | None:
    """CPU of an operation at the load that a finding about hardware begins with, of all hosts."""
    sizes = _mapping(finding.get("sizing")).get("sizes")
    first = _mapping(sizes[0]) if isinstance(sizes, list) and sizes else {}
    per_s, hosts = plausible(first.get("per_s")), first.get("hosts")
    used = [plausible(_mapping(_mapping(one).get("cpu")).get("used")) for one in hosts or ()] if per_s else []
    known = [one for one in used if one is not None]
    return 1000 * sum(known) / per_s if per_s and known and len(known) == len(used) else None


def _differs(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    def of(manifest: Mapping[str, Any], key: str, names: tuple[str, ...]) -> list[Any]:
        return [_mapping(manifest.get(key)).get(name) for name in names]

    if of(before, "machine", _OF_MACHINE) != of(now, "machine", _OF_MACHINE):
        yield MACHINE
    if of(before, "script", ("sha256",)) != of(now, "script", ("sha256",)):
        yield SCRIPT
    if before.get("study") != now.get("study") or of(before, "options", _OF_LOAD) != of(now, "options", _OF_LOAD):
        yield LOAD
    if before.get("plimsoll") != now.get("plimsoll"):
        yield VERSION


def _share(now: float | None, before: float | None) -> float | None:
    return now / before - 1 if now and before else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
