"""A finding in the words of the page and of the terminal; tolerant of keys that a finding lacks."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.report import wording
from plimsoll.report.wording import is_number

HANDLED = {
    *("schema", "question", "answer", "experiment", "valid", "capacity", "objectives", "limited_by", "headroom"),
    *("generator", "next", "run", "steps", "reasons", "invalid", "invalid_because", "notes", "warnings", "data_volume"),
}


@dataclass(frozen=True)
class ObjectiveLine:
    """One objective and how far it was met; `verdict` is that of the highest level that was judged."""

    operation: str
    objective: str
    met_up_to: str
    verdicts: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Gauge:
    """The load line as a bar, in % of its width; None where a mark is missing."""

    good: float
    bad: float
    expected: float | None


@dataclass(frozen=True)
class FindingView:
    """What a reader sees of a finding, top to bottom."""

    question: str
    answer: str
    valid: bool
    experiment: str
    facts: list[tuple[str, str]]
    evidence: str | None
    objectives: list[ObjectiveLine]
    caveats: list[str]
    next_steps: list[str]
    gauge: Gauge | None


def as_mapping(finding: Any) -> dict[str, Any]:
    """A finding as a dict, whether it came as a dict, a dataclass or a pydantic model."""
    if isinstance(finding, Mapping):
        return dict(finding)
    for method in ("to_json", "model_dump"):
        if callable(getattr(finding, method, None)):
            return dict(getattr(finding, method)())
    if dataclasses.is_dataclass(finding) and not isinstance(finding, type):
        return dataclasses.asdict(finding)
    return {"answer": str(finding)}


def view(finding: Mapping[str, Any], unit: str = "users") -> FindingView:
    """The finding in words; levels carry `unit`."""
    limited = _mapping(finding.get("limited_by"))
    evidence = limited.get("evidence")
    return FindingView(
        question=str(finding.get("question") or "What was found?"),
        answer=str(finding.get("answer") or "No answer was recorded."),
        valid=finding.get("valid", True) is not False,
        experiment=str(finding.get("experiment") or ""),
        facts=[*_capacity_facts(finding, unit), *_limit_facts(limited), *_other_facts(finding)],
        evidence=" ".join(_texts(evidence)) or None,
        objectives=[_objective_line(entry, unit) for entry in finding.get("objectives") or () if _mapping(entry)],
        caveats=[
            text for key in ("invalid_because", "reasons", "notes", "warnings") for text in _texts(finding.get(key))
        ],
        next_steps=_texts(finding.get("next")),
        gauge=_gauge(finding),
    )


def _capacity_facts(finding: Mapping[str, Any], unit: str) -> Iterable[tuple[str, str]]:
    capacity, headroom = _mapping(finding.get("capacity")), _mapping(finding.get("headroom"))
    if is_number(capacity.get("good")):
        yield "Carried up to", wording.level(capacity["good"], unit)
    if is_number(capacity.get("bad")):
        yield "Not carried from", wording.level(capacity["bad"], unit)
    elif is_number(capacity.get("good")):
        yield "Not carried from", "not reached"
    if is_number(capacity.get("rate_per_s")):
        yield "At that level", f"{wording.number(capacity['rate_per_s'])} iterations/s"
    if is_number(capacity.get("requests_per_s")):
        yield "Requests", f"{wording.number(capacity['requests_per_s'])} /s"
    interval = capacity.get("interval")
    if isinstance(interval, list | tuple) and len(interval) == 2 and all(map(is_number, interval)):
        confidence = wording.percent(capacity.get("confidence"))
        yield f"Interval ({confidence})", f"{wording.number(interval[0])} to {wording.level(interval[1], unit)}"
    if is_number(headroom.get("expected_users")):
        yield "Expected load", wording.level(headroom["expected_users"], unit)
    if is_number(headroom.get("ratio")):
        yield "Headroom", wording.headroom(headroom["ratio"])


def _limit_facts(limited: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    if not limited:
        return
    kind = str(limited.get("kind") or "")
    unknown = kind in ("", "unknown", "none", "cannot_tell", "cannot tell")
    where = str(limited.get("where") or "")
    kind_words = "cannot tell" if unknown else kind.upper() if len(kind) <= 3 else kind.replace("_", " ")
    yield "Limited by", f"{kind_words}, {where}" if where and not unknown else where if where else kind_words
    if is_number(limited.get("utilisation")):
        yield "Its utilisation", wording.percent(limited["utilisation"])


def _other_facts(finding: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Plain values that this version does not know by name, so that nothing recorded is hidden."""
    for key, value in finding.items():
        if key not in HANDLED and isinstance(value, str | int | float) and not isinstance(value, bool):
            words = wording.number(value) if is_number(value) else str(value)
            yield str(key).replace("_", " ").capitalize(), words


def _objective_line(entry: Mapping[str, Any], unit: str) -> ObjectiveLine:
    subject = entry.get("operation") or entry.get("request") or "every operation"
    met = entry.get("met_up_to_users", entry.get("met_up_to"))
    verdicts = [dict(item) for item in entry.get("verdicts") or () if isinstance(item, Mapping)]
    words = f"met up to {wording.level(met, unit)}" if is_number(met) else _unmet_words(verdicts)
    return ObjectiveLine(str(subject), wording.objective(entry.get("objective", "")), words, verdicts)


def _unmet_words(verdicts: Iterable[Mapping[str, Any]]) -> str:
    kinds = {item.get("verdict") for item in verdicts}
    if "failed" in kinds:
        return "not met at any level tried"
    return "undecided: too few samples at every level" if kinds else "not judged"


def objective_verdict(objective: ObjectiveLine, level: float | None) -> str:
    """The verdict at `level`, or "unknown" where that level was not judged."""
    found = [str(item.get("verdict")) for item in objective.verdicts if item.get("level") == level]
    return found[-1] if found else "unknown"


def _gauge(finding: Mapping[str, Any]) -> Gauge | None:
    capacity, headroom = _mapping(finding.get("capacity")), _mapping(finding.get("headroom"))
    good, bad, expected = capacity.get("good"), capacity.get("bad"), headroom.get("expected_users")
    if not (is_number(good) and is_number(bad) and 0 <= good < bad):
        return None
    whole = 1.15 * max(bad, expected if is_number(expected) else 0)
    position = 100 * expected / whole if is_number(expected) else None
    return Gauge(round(100 * good / whole, 2), round(100 * bad / whole, 2), position and round(position, 2))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _texts(value: Any) -> list[str]:
    """A text, a list of texts or nothing, as a list of texts."""
    if value is None or isinstance(value, bool):
        return []
    return [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]
