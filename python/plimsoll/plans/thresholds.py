"""A k6 script's thresholds as objectives of an experiment.

    http_req_duration         p(95)<500, avg, med, max with < or <=     a time of all requests
    http_req_failed           rate<0.01, with < or <=                   their error rate
    …{name:GET /issues}       of one request; {scenario:…}: of one operation; other tags: of what carries them

What else a threshold may say (lower limits, counts, other metrics) is no service-level objective: it is named in a note
and judged by `plimsoll run` alone. An experiment does not stop where a threshold with abortOnFail fails.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.errors import InputError, InputErrors
from plimsoll.runs.readings.failures import is_of_requests
from plimsoll.study.objectives import parse_objective

TIME, FAILED = "http_req_duration", "http_req_failed"
_STATISTICS = {"avg": "mean", "med": "median", "max": "max"}
_CONDITION = re.compile(r"^\s*([a-z]+)\s*(?:\(\s*([0-9.]+)\s*\))?\s*(<=|<)\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*$")
_SELECTOR = re.compile(r"^\s*(\w+)\s*(?:\{(.*)\}\s*)?$", re.DOTALL)
_NEXT_TAG = re.compile(r",(?=\s*\"?\w+\"?\s*:)")


def objectives_of(thresholds: Mapping[str, Any], is_open: bool) -> tuple[tuple[dict[str, Any], ...], tuple[str, ...]]:
    """The objectives, as mappings with `objective` and `request`, `operation` or `tags`, and the notes for a reader.

    `thresholds`: the script's option of that name, checked by the engine; `is_open`: whether its load has arrivals.
    """
    found, others = [], []
    for key, conditions in thresholds.items():
        for condition in conditions if isinstance(conditions, list) else [conditions]:
            text = str(condition.get("threshold") if isinstance(condition, Mapping) else condition)
            objective = _objective(key, text)
            if objective is not None:
                found.append(objective)
            else:
                others.append(f"{key} {text.strip()}")
    notes = []
    if is_open and any(not one["objective"].startswith("error_rate") for one in found):
        notes.append(
            f"The script's thresholds on {TIME} are judged by the response time, which also counts how long an "
            "arrival waited before it began; where none waited the two are the same."
        )
    if others:
        notes.append(
            f"Not an objective here, as only upper limits of {TIME} and {FAILED} are: the script's "
            f"{'threshold' if len(others) == 1 else 'thresholds'} {'; '.join(others)}. plimsoll run judges "
            f"{'it' if len(others) == 1 else 'them'}."
        )
    return tuple(found), tuple(notes)


def check_scenarios(thresholds: Mapping[str, Any], scenarios: Iterable[str]) -> None:
    """Raises InputErrors for thresholds on scenarios that the script does not have: they would match no series."""
    known, problems = list(scenarios), []
    for key in thresholds:
        selector = _SELECTOR.match(key)
        name = _tags(selector.group(2) or "").get("scenario") if selector is not None else None
        if name is None or name in known:
            continue
        near = difflib.get_close_matches(name, known, n=1)
        step = f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(known)}."
        problems.append(InputError(f"threshold {key!r}: the script has no scenario {name!r}", step))
    if problems:
        raise InputErrors(problems)


def nearest_words(key: str, seen: Mapping[str, Iterable[str]]) -> str:
    """What to do about a threshold that matched nothing; `seen`: the values of each tag that the samples of its metric
    had (of requests, for a metric of theirs)."""
    selector = _SELECTOR.match(key)
    tags = _tags(selector.group(2) or "") if selector is not None else {}
    metric = selector.group(1) if selector is not None else key
    who = "request" if is_of_requests(metric) else f"sample of {metric}"
    if not seen and is_of_requests(metric):
        return "The script made no request."
    for tag, value in tags.items():
        if not seen:
            break
        if tag not in seen:
            near = difflib.get_close_matches(tag, list(seen), n=1)
            return f"No {who} had the tag {tag!r}. " + (
                f"Did you mean {near[0]!r}?" if near else f"They had {', '.join(sorted(seen))}."
            )
        known = sorted(set(seen[tag]))
        if value not in known:
            near = [] if value.isdigit() else difflib.get_close_matches(value, known, n=1)
            return f"No {who} had {tag} {value!r}. " + (
                f"Did you mean {near[0]!r}?" if near else f"{tag} was {', '.join(known[:5])}."
            )
    return "Check that the script adds to this metric, and that something has these tags together."


def _objective(key: str, text: str) -> dict[str, Any] | None:
    """None where it is not one."""
    selector, condition = _SELECTOR.match(key), _CONDITION.match(text)
    if selector is None or condition is None:
        return None
    metric, inner = selector.groups()
    objective = _words(metric, *condition.groups())
    if objective is None:
        return None
    try:
        parse_objective(objective)
    except InputError:
        return None
    return {**_subject(_tags(inner or "")), "objective": objective}


def _words(metric: str, name: str, percentile: str | None, comparison: str, limit: str) -> str | None:
    """The objective in the language of studies."""
    if metric == FAILED:
        return f"error_rate{comparison}{100 * float(limit):g}%" if name == "rate" and percentile is None else None
    if metric != TIME:
        return None
    if name == "p" and percentile is not None:
        statistic = "max" if float(percentile) == 100 else f"p{percentile}"
    elif percentile is None and name in _STATISTICS:
        statistic = _STATISTICS[name]
    else:
        return None
    return f"{statistic}{comparison}{float(limit):g}ms"


def _tags(inner: str) -> dict[str, str]:
    """The tags of a selector; a value may hold a comma where no `word:` follows it."""
    tags = {}
    for part in _NEXT_TAG.split(inner):
        name, colon, value = part.partition(":")
        if colon:
            tags[name.strip().strip('"')] = value.strip().strip("\"'")
    return tags


def _subject(tags: Mapping[str, str]) -> dict[str, Any]:
    if set(tags) == {"name"}:
        return {"request": tags["name"]}
    if set(tags) == {"scenario"}:
        return {"operation": tags["scenario"]}
    if not tags:
        return {}
    listed = ", ".join(f"{name} {value}" for name, value in tags.items())
    return {"request": f"requests with {listed}", "tags": dict(tags)}
