"""The rows of the page's tables: formatted text only, so that the template stays free of arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plimsoll.errors import InputError
from plimsoll.report import wording
from plimsoll.report.finding_view import ObjectiveLine, objective_verdict
from plimsoll.report.run_evidence import RunEvidence
from plimsoll.report.steps import Step
from plimsoll.report.tally import Tally
from plimsoll.report.wording import is_number, section
from plimsoll.study.objectives import parse_objective
from plimsoll.words import amount_words

# Below this many samples above a quantile its estimate is marked: 20 ÷ (1 − q) are needed
# (stats/estimates/quantile.py).
SAMPLES_BEYOND = 20
MOST_ROWS = 200
PERCENTILES = {"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99}
GENERATOR_LABELS = {
    "cpu": "CPU, share of its threads",
    "host_share": "CPU, share of the host",
    "generator_cores": "CPU cores used by the generator",
    "target_cores": "CPU cores used by the target",
    "lag_p99_ms": "Loop lag p99 where it matters",
    "same_host": "On one host with the target",
    "kept_apart": "Kept apart from the target",
    "rss_bytes": "Its resident memory",
    "memory_free_bytes": "Least memory that was free",
}
MACHINE_LABELS = {
    "cores": "CPU cores",
    "cpu_model": "CPU",
    "memory_bytes": "Memory",
    "kernel": "Kernel",
    "system": "Operating system",
    "physical_cores": "Physical cores",
    "usable_cores": "Cores this process may use",
    "memory_limit_bytes": "Memory limit",
    "swap_bytes": "Swap",
    "open_files_limit": "Limit of open files",
    "virtual": "Virtual machine",
}


def merged(steps: Iterable[Step], which: str) -> dict[str, Tally]:
    """The tallies of several steps added up exactly; `which` is "operations" or "requests"."""
    total: dict[str, Tally] = {}
    for step in steps:
        for name, tally in getattr(step, which).items():
            total.setdefault(name, Tally()).merge(tally)
    return total


def tally_rows(
    tallies: Mapping[str, Tally],
    seconds: float,
    objectives: Sequence[ObjectiveLine] = (),
    level: float | None = None,
    ended_per_s: float | None = None,
) -> list[dict[str, Any]]:
    """A row for every operation or request, in order of name; rates over `seconds`, verdicts at `level`. `ended_per_s`:
    how many of all ended each second. Counts hold what began in these seconds and ended later as well, and where users
    iterate that is as many more as there are users."""
    rows = []
    total = sum(tally.count for tally in tallies.values())
    each_per_s = ended_per_s / total if ended_per_s is not None and total else 1 / seconds if seconds else None
    for name in sorted(tallies)[:MOST_ROWS]:
        tally = tallies[name]
        verdicts = [(item.objective, objective_verdict(item, level)) for item in objectives if item.operation == name]
        rows.append(
            {
                "name": name,
                "count": wording.number(tally.count),
                "rate": wording.number(tally.count * each_per_s) if each_per_s is not None else wording.NOTHING,
                "average": wording.number(tally.answered_times.mean),
                "min": wording.number(tally.answered_times.min),
                **{name: _quantile(tally, quantile) for name, quantile in PERCENTILES.items()},
                "max": wording.number(tally.answered_times.max),
                "errors": wording.number(tally.failed) if tally.judged else wording.NOTHING,
                "error_share": wording.percent(tally.error_share) if tally.failed else "",
                "failing": tally.failed > 0,
                "verdicts": [(text, key, wording.verdict(key)) for text, key in verdicts],
                "numbers": _numbers(tally, each_per_s),
            }
        )
    return rows


def _numbers(tally: Tally, each_per_s: float | None) -> dict[str, float]:
    """The numbers of a row as a program reads them, for sorting and CSV; what is not known is left out."""
    times = tally.answered_times
    found: dict[str, float | None] = {"average": times.mean, "min": times.min, "max": times.max}
    found |= dict(zip(PERCENTILES, tally.percentiles_ms(PERCENTILES.values()), strict=True))
    found |= {"count": tally.count, "rate": None if each_per_s is None else tally.count * each_per_s}
    found |= {"errors": tally.failed if tally.judged else None, "error_share": tally.error_share}
    return {name: value for name, value in found.items() if is_number(value)}


def _quantile(tally: Tally, quantile: float) -> tuple[str, bool]:
    """Text, and whether it rests on too few samples."""
    few = tally.count < SAMPLES_BEYOND / (1 - quantile)
    return wording.number(tally.percentile_ms(quantile)), bool(tally.answered_times.count) and few


def step_rows(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """A row for every step, in order of time."""
    return [
        {
            "start": wording.number(step.start_s if step.duration_s else None, 6),
            "duration": wording.duration(step.duration_s or None),
            "level": wording.number(step.level),
            "planned": wording.number(step.planned_per_s),
            "done": wording.number(step.done_per_s),
            "p50": wording.number(step.p50_ms),
            "p90": wording.number(step.p90_ms),
            "p99": wording.number(step.p99_ms),
            "errors": wording.number(step.errors),
            "unfinished": wording.number(step.unfinished_end),
            "volume": wording.number(step.volume_start, 6) if step.volume_start is not None else None,
            "cpu": [f"{name} {wording.percent(share)}" for name, share in step.cpu.items()],
            "key": step.verdict,
            "verdict": wording.verdict(step.verdict),
            "reasons": " ".join(step.reasons),
        }
        for step in steps
    ]


def objective_rows(objective: ObjectiveLine) -> list[dict[str, Any]]:
    """A row for every level at which the objective was judged, lowest first."""
    verdicts = sorted(objective.verdicts, key=lambda item: item.get("level") or 0)
    return [_objective_row(objective, item) for item in verdicts]


def _objective_row(objective: ObjectiveLine, item: Mapping[str, Any]) -> dict[str, Any]:
    seen, verdict = str(item.get("verdict") or "unknown"), objective_verdict(objective, item.get("level"))
    by_higher = seen == "undecided" and verdict == "met" and not _misses(objective, item.get("value"))
    return {
        "level": wording.number(item.get("level")),
        "value": _objective_value(item, objective.objective),
        "samples": wording.number(item.get("samples")),
        "key": verdict if by_higher else seen,
        "verdict": f"{wording.verdict(verdict)}, as a higher level meets it" if by_higher else wording.verdict(seen),
    }


def _misses(objective: ObjectiveLine, value: Any) -> bool:
    """Whether a value is beyond the limit, as far as both can be read: a run may be somebody else's."""
    try:
        return is_number(value) and not parse_objective(objective.objective).is_met_by(value)
    except InputError:
        return False


def _objective_value(item: Mapping[str, Any], objective: str) -> str:
    if "rate" in objective:
        return wording.percent(item.get("value"))
    value = item.get("value_ms", item.get("value"))
    return f"{wording.number(value)} ms" if is_number(value) else wording.NOTHING


def machine_rows(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Machines and versions: what the manifest says of them, and when the run was."""
    rows: list[tuple[str, str]] = []
    for key, value in section(manifest, "machine").items():
        label = MACHINE_LABELS.get(str(key), str(key).replace("_", " ").capitalize())
        rows.append((label, wording.size(value) if str(key).endswith("_bytes") else plain(value)))
    for key, label in (("plimsoll", "Plimsoll"), ("python", "Python")):
        if manifest.get(key):
            rows.append((label, plain(manifest[key])))
    rows.append(("Started", wording.moment(manifest.get("started_unix"))))
    rows.append(("Ended", wording.moment(manifest.get("ended_unix"))))
    return rows


def workload_rows(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Script, model, seed and options of the run."""
    study, script = section(manifest, "study"), section(manifest, "script")
    workload, target = section(study, "workload"), section(study, "target")
    rows = [
        ("Target", plain(target.get("url"))),
        ("Script", plain(script.get("path") or workload.get("script"))),
        ("Script's SHA-256", plain(script.get("sha256"))[:16]),
        ("Model", plain(workload.get("model"))),
        ("Expected users", wording.number(study.get("expected_users"))),
        ("Seed", plain(manifest.get("seed"))),
    ]
    options = section(manifest, "options").items()
    rows += [(f"Option {str(key).replace('_', ' ')}", plain(value)) for key, value in options]
    return [(label, value) for label, value in rows if value != wording.NOTHING]


def mix_rows(manifest: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of what users do: operations per user and hour (open) or groups with think time (closed)."""
    workload = section(section(manifest, "study"), "workload")
    header, keys = ["Operation", "Per user and hour"], ["name", "per_user_hour"]
    entries = workload.get("operations")
    if not entries:
        header, keys = ["User group", "Weight", "Think time, s"], ["name", "weight", "think_time_s"]
        groups = [entry for entry in workload.get("groups") or () if isinstance(entry, Mapping)]
        entries = [{**entry, "think_time_s": entry.get("think_time") or entry.get("think_time_s")} for entry in groups]
    if not entries:
        return [], []
    return header, [[plain(entry.get(key)) for key in keys] for entry in entries if isinstance(entry, Mapping)]


def generator_rows(run: RunEvidence, finding: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The generator's own health: the finding's judgement, then what the run shows."""
    rows: list[tuple[str, str]] = []
    for key, value in section(finding, "generator").items():
        if key in ("reasons", "remedies", "words", "notes", "validity", "script_cap", "flow_faults", "limits"):
            continue
        label = GENERATOR_LABELS.get(str(key))
        shown = {"_share": wording.percent, "_bytes": wording.size}
        words = shown.get("_share" if key == "cpu" else f"_{str(key).rpartition('_')[2]}", plain)(value)
        unit = " ms" if str(key).endswith("_ms") else ""
        name = str(key).removesuffix("_ms").removesuffix("_bytes").replace("_", " ")
        rows.append((label or name.capitalize(), words + unit))
    bins = run.timeline.bins
    if bins:
        late, dropped = sum(item.late for item in bins), sum(item.dropped for item in bins)
        rows.append(("Worst loop lag p99 of a second", f"{wording.number(max(b.lag_p99_ms for b in bins))} ms"))
        rows.append(("Most CPU", f"{amount_words(max(b.generator_cpu_s / b.seconds for b in bins), 'core')}"))
        rows.append(("Iterations started late", wording.number(late)))
        rows.append(("Iterations dropped", wording.number(dropped)))
    return rows


def plain(value: Any) -> str:
    """Any JSON value as short text."""
    if value is None or value in ("", [], {}, ()):
        return wording.NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_number(value):
        return str(value) if isinstance(value, int) and abs(value) < 10_000 else wording.number(value, 6)
    if isinstance(value, Mapping) and value:
        return ", ".join(f"{key}: {plain(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(plain(item) for item in value)
    return str(value)
