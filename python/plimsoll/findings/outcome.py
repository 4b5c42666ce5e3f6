"""What a plain run did: thresholds as the exit code counts them, checks, requests; from its note, which the verb writes
at its end, or of a run that did not live to write it from its seconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from plimsoll.runs.format.read_numbers import plausible
from plimsoll.runs.kept.plain_run import answer_of_summary
from plimsoll.runs.readings.failures import Failures
from plimsoll.runs.readings.script_outcomes import NOT_OPENED, unopened
from plimsoll.runs.readings.thresholds import NO_ANSWER, VERDICTS, Threshold, thresholds_of

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

NOTE = "note"
UNJUDGED = "It did not reach its end, so thresholds were not judged."
_RATES = ("http_reqs", "iterations", "data_received", "data_sent")


def outcome_of_note(note: Mapping[str, Any]) -> dict[str, Any]:
    """The outcome, with what is known; `note`: `summary` (k6's metrics), `threw`, `lasted_s`, `checks`, `causes` of
    failed requests, `sockets` by the status that answered, and how the script ended the run, if it did."""
    summary = _mapping(note.get("summary"))
    thresholds = sorted(thresholds_of(summary), key=lambda one: VERDICTS.index(one.verdict))
    threw, lasted_s = plausible(note.get("threw")), plausible(note.get("lasted_s"))
    sockets = {str(name): count for name, one in _mapping(note.get("sockets")).items() if (count := plausible(one))}
    requests, failed_share = _value(summary, "http_reqs", "count"), _value(summary, "http_req_failed", "rate")
    return {
        "words": answer_of_summary(summary, int(threw or 0)),
        "lasted_s": _lasted_s(summary) if lasted_s is None else lasted_s,
        "requests": requests,
        "requests_per_s": _value(summary, "http_reqs", "rate"),
        "failed": _value(summary, "http_req_failed", "passes"),
        "failed_share": failed_share if requests else None,
        "causes": {str(name): count for name, one in _mapping(note.get("causes")).items() if (count := plausible(one))},
        "thresholds": [_threshold(one) for one in thresholds],
        "checks": sorted(_checks(note.get("checks"), summary), key=lambda one: -one["fails"]),
        **({"sockets": sockets} if sockets else {}),
        **({"ended_by_script": str(note["ended_by_script"])} if note.get("ended_by_script") else {}),
    }


def outcome_steps(outcome: Mapping[str, Any]) -> list[str]:
    """What to do about what failed, the gravest first: why requests failed, which check, up to which load a time
    holds."""
    causes, requests = outcome["causes"], outcome["requests"] or 0.0
    failures = Failures(Counter(causes), int(max(0.0, requests - sum(causes.values()))))
    failed = [one for one in outcome["thresholds"] if one["verdict"] == "failed" and one.get("why") != NO_ANSWER]
    steps = [failures.next_step()] if causes else []
    if any(one["metric"].startswith("checks") for one in failed) and (check := _most_failed(outcome)):
        steps.append(f"See why the check {check!r} fails: try that request by hand.")
    times = [one for one in failed if one.get("unit") == "ms"]
    if times:
        of = f"{times[0]['metric']} {times[0]['rule']}"
        steps.append(
            f"See in the report when and in which requests {of} is missed. Up to which load it holds, plimsoll "
            "capacity with the same script finds."
        )
    if unopened(outcome.get("sockets") or {}):
        steps.append(NOT_OPENED)
    return [one for one in steps if one]


def _most_failed(outcome: Mapping[str, Any]) -> str:
    return next((str(one["name"]) for one in outcome["checks"] if one["fails"] and one.get("name")), "")


def _threshold(one: Threshold) -> dict[str, Any]:
    return {key: value for key, value in one._asdict().items() if value != ""}


def _checks(checks: Any, summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each check by its name and group; of a run that did not keep them, all together."""
    if not isinstance(checks, list):
        passes, fails = (_value(summary, "checks", key) for key in ("passes", "fails"))
        return [{"passes": passes, "fails": fails}] if passes is not None and fails is not None else []
    counted = ((one, [plausible(one.get(key)) for key in ("passes", "fails")]) for one in map(_mapping, checks))
    return [
        {"name": str(one.get("name")), "group": str(one.get("group") or ""), "passes": passes, "fails": fails}
        for one, (passes, fails) in counted
        if passes is not None and fails is not None
    ]


def _lasted_s(summary: Mapping[str, Any]) -> float | None:
    """From a counter and its rate, where the note of an earlier version does not say."""
    for name in _RATES:
        count, rate = _value(summary, name, "count"), _value(summary, name, "rate")
        if count and rate:
            return count / rate
    return None


def _value(summary: Mapping[str, Any], metric: str, name: str) -> float | None:
    return plausible(_mapping(_mapping(summary.get(metric)).get("values")).get(name))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def checks_of_groups(root: Mapping[str, Any], group: str = "") -> list[dict[str, Any]]:
    """The checks of k6's tree of groups, each with the path of its group."""
    own = [
        {"name": one["name"], "group": group, "passes": one["passes"], "fails": one["fails"]}
        for one in root.get("checks", ())
    ]
    return own + [one for child in root.get("groups", ()) for one in checks_of_groups(child, child["path"])]


def outcome_of_run(run: RunReader) -> dict[str, Any]:
    """The outcome of a plain run in its directory, however it ended."""
    written = next((one for one in run.events(NOTE) if isinstance(one.get("summary"), Mapping)), None)
    if written is not None:
        return outcome_of_note(written)
    found = outcome_of_note(_recorded_note(run))
    return found | {"words": f"{found['words']} {UNJUDGED}".strip()}


def _recorded_note(run: RunReader) -> dict[str, Any]:
    from plimsoll.runs.readings.recorded_summary import recorded  # numpy, which a run itself does without

    found = recorded(run)
    causes = found.failures.causes
    return {
        "summary": found.summary,
        "threw": found.script.threw,
        "lasted_s": found.seconds,
        "checks": found.script.listed(),
        "causes": causes,
        "sockets": dict(found.script.sockets),
    }
