"""The one finding of a plain run: whether its figures are the target's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.findings.evidence import SERIES, Evidence, as_data
from plimsoll.findings.self_diagnosis import Diagnosis, diagnose
from plimsoll.findings.shape.units_of import with_units
from plimsoll.runs.generator_seconds import GeneratorSeconds
from plimsoll.runs.snapshot import Snapshot

SCHEMA = 1
QUESTION = "Did the generator limit this run?"


def run_finding(
    facts: GeneratorSeconds,
    *,
    busiest_destination: tuple[str, int] | None = None,
    status: str = "finished",
    run_path: str | None = None,
) -> dict[str, Any]:
    """The finding as findings.json holds it: `valid` if nothing spoiled the figures, `invalid_because`, `notes` on
    limits that came near, `next`, and the `generator`'s own numbers (shares of 1, milliseconds, bytes; null where
    unknown)."""
    found = diagnose(facts, busiest_destination)
    spoiled = [one for one in found if one.spoils]
    told = {
        "schema": SCHEMA,
        "question": QUESTION,
        "answer": _answer(facts, found, bool(spoiled)),
        "experiment": "run",
        "status": status,
        "valid": not spoiled,
        "evidence": as_data([Evidence(facts.seconds, "seconds", SERIES, "The generator in each")]),
        "generator": {"healthy": not spoiled, **_numbers(facts, busiest_destination)},
        "diagnoses": [
            {"name": one.name, "words": one.words, "remedy": one.remedy, "spoils": one.spoils} for one in found
        ],
        "invalid_because": [one.words for one in spoiled],
        "notes": [one.words for one in found if not one.spoils],
        "next": list(dict.fromkeys(one.remedy for one in found)),
        "run": run_path,
    }
    return with_units(told)


def run_finding_of(
    snapshots: Iterable[Snapshot],
    rows: Iterable[Mapping[str, Any]],
    *,
    status: str,
    run_path: str,
    busiest_destination: tuple[str, int] | None = None,
) -> dict[str, Any] | None:
    """The finding of a run that did not live to write it; None where nothing was measured."""
    facts = GeneratorSeconds()
    for snapshot in snapshots:
        facts.add(snapshot)
    for row in rows:
        facts.add_row(row)
    if not facts.seconds:
        return None
    return run_finding(facts, busiest_destination=busiest_destination, status=status, run_path=run_path)


def _answer(facts: GeneratorSeconds, found: list[Diagnosis], is_spoiled: bool) -> str:
    if is_spoiled:
        return "Yes: its figures are not the target's alone."
    numbers = []
    if (busiest := facts.most("busiest_thread_share")) is not None:
        numbers.append(f"its busiest thread was at most {busiest:.0%} busy in a second")
    if (lag_ms := facts.median("lag_p99_ms")) is not None:
        numbers.append(f"it was {lag_ms:.2g} ms late at p99")
    near = ", but a limit was near" if found else ""
    return f"No{near}{': ' if numbers else ''}{' and '.join(numbers)}."


def _numbers(facts: GeneratorSeconds, busiest: tuple[str, int] | None) -> dict[str, Any]:
    numbers = {
        "threads": facts.last("threads"),
        "usable_cores": facts.last("usable_cores"),
        "cores_used_most": facts.most("cpu_s"),
        "busiest_thread_share": facts.most("busiest_thread_share"),
        "waiting_share": facts.most("waiting_share"),
        "stalled_share": facts.most("stalled_share"),
        "longest_turn_ms": facts.most("longest_turn_ms"),
        "lag_p99_ms": facts.median("lag_p99_ms"),
        "denied_vus": facts.most("denied_vus"),
        "script_mean_ms": facts.script_mean_ms,
        "script_p99_ms": facts.most("script_p99_ms"),
        "script_max_ms": facts.most("script_max_ms"),
        "host_busy_share": facts.most("host_busy_share"),
        "host_steal_share": facts.most("host_steal_share"),
        "throttled_share": facts.most("throttled_share"),
        "open_files": facts.most("open_files"),
        "open_files_limit": facts.last("open_files_limit"),
        "refused_files": facts.total("refused_files"),
        "refused_ports": facts.total("refused_ports"),
        "time_wait": facts.most("time_wait"),
        "local_ports": facts.last("local_ports"),
        "memory_free_bytes": min(facts.of("memory_free_bytes"), default=None),
        "rss_bytes": facts.most("rss_bytes"),
    }
    return {
        **{name: None if value is None else round(value, 3) for name, value in numbers.items()},
        "busiest_destination": None if busiest is None else {"address": busiest[0], "local_ports": busiest[1]},
    }
