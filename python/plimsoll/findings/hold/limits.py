"""What troubles a held load, the gravest first: the same question as a capacity's limit, of one load alone.

Where nothing got worse and nothing failed, nothing limits it at this load, however busy a resource is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.limits.database import Statements
from plimsoll.findings.limits.what_stops import errors_limit, killed, limiting_resource, refused
from plimsoll.findings.resources import Means, Step
from plimsoll.words import level_words, time_words

GROWS, PERIODIC, FAILS = (
    "Does it leak memory?",
    "Does something slow it down periodically?",
    "Do requests fail in bursts?",
)
LEAST_GROWTH = 0.05  # of its memory, in the measured time, from which on a growth is what limits it
LEAST_BEHIND = 0.05  # of the arrivals that were not finished, from which on it does not keep up


def hold_limit(
    held: Step,
    alone: Step | None,
    means: Sequence[Means],
    details: Sequence[Mapping[str, Any]],
    unit: str,
    *,
    statements: Statements | None = None,
    generator: Mapping[str, Any] | None = None,
    kept_apart: str | None = None,
    steered: bool = False,
) -> dict[str, Any]:
    """The limit as JSON, with the runner-up. `means`: of `held` and, if there is one, of `alone`; `details`: the
    findings of its seconds; `kept_apart`: how this run kept the target off the generator's cores, in words;
    `steered`: the load was as high as an objective lets it be, so that something limits it."""
    found = {str(one["question"]): one for one in details}
    troubles = killed(means[0], held, unit) if means else []
    errors = _errors(found.get(FAILS), held)
    if errors and means:
        low, before = (means[1], "with one user alone") if alone is not None and len(means) > 1 else ({}, "")
        troubles += refused(means[0], low, f"at {level_words(held['level'], unit)}", before)
    troubles += [*errors, *_leak(found.get(GROWS), held), *_periodic(found.get(PERIODIC))]
    if generator is not None:
        troubles.insert(0, dict(generator))
    if steered or not _keeps_up(held):
        steps = [held] if alone is None else [held, alone]
        limit = limiting_resource(held, steps, means, unit, statements=statements, kept_apart=kept_apart)
        if limit["kind"] != "unknown" or not troubles:
            troubles.append(limit)
    if not troubles:
        text = "It kept up with the load, and nothing grew, came back or failed."
        return {"kind": "none", "where": None, "utilisation": None, "evidence": text}
    first, others = troubles[0], troubles[1:]
    second = {key: value for key, value in others[0].items() if key != "runner_up"} if others else None
    return {**first, "runner_up": second or first.get("runner_up")}


def _keeps_up(held: Step) -> bool:
    """Whether what arrived was finished, all but what chance leaves under way."""
    if held.get("given_up"):
        return False
    planned, done = held.get("planned_per_s"), held.get("done_per_s")
    return not planned or done is None or done >= (1 - LEAST_BEHIND) * planned


def _errors(finding: Mapping[str, Any] | None, held: Step) -> list[dict[str, Any]]:
    if not finding or not finding.get("trouble"):
        return []
    share = held.get("error_share")
    text = str(finding["answer"])
    return [errors_limit(share, text, held)]


def _leak(finding: Mapping[str, Any] | None, held: Step) -> list[dict[str, Any]]:
    if not finding or not finding.get("trouble"):
        return []
    worst = max((row for row in finding["memory"] if row["leaks"]), key=lambda row: row["bytes_per_s"])
    seconds = float(held["end_s"]) - float(held["measured_from_s"])
    if worst["bytes_per_s"] * seconds < LEAST_GROWTH * worst["now_bytes"]:
        return []  # as of a program that has just begun; its own finding tells it
    remedy = f"take a heap profile of {worst['process']} at the beginning and at the end, and see what grew"
    where = f"memory of {worst['process']}, which grows"
    return [{"kind": "leak", "where": where, "utilisation": None, "evidence": worst["words"], "remedy": remedy}]


def _periodic(finding: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    if not finding or not finding.get("trouble"):
        return []
    period = finding["periodic"]["period_s"]
    remedy = (
        f"find the job of the target that runs every {time_words(period)}, and have it do less at a time or elsewhere"
    )
    where = f"a job every {time_words(period)}"
    text = " ".join([str(finding["answer"]), *(one["words"] for one in finding["evidence"])])
    return [{"kind": "periodic_job", "where": where, "utilisation": None, "evidence": text, "remedy": remedy}]
