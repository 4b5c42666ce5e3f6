"""How fast is an asynchronous consumer while it works? From the history of its polls to a finding."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plimsoll.findings.evidence import EVENTS, Evidence, as_data
from plimsoll.stats.consumption.poll_rate import PollRate, poll_rate
from plimsoll.words import amount_words, number, time_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

QUESTION = "How fast is the consumer while it works?"
EVENT = "consumer_polls"


def polls_finding(run: RunReader, operations: float | None) -> dict[str, Any] | None:
    """The finding; None if the run was not asked for polls. `operations`: how many of the load put items in."""
    events = run.events(EVENT)
    if not events:
        return None
    told = events[-1]
    if told.get("problem"):
        return _cannot(f"It cannot be told: {told['problem']}.", "Look at the place of --polls by hand.")
    polls: Sequence[Mapping[str, Any]] = told["polls"]
    rounding_s = max((one["rounding_s"] for one in polls), default=1.0)
    found = poll_rate([one["items"] for one in polls], [one["seconds"] for one in polls], rounding_s)
    if found is None:
        return _cannot("It cannot be told: no poll retrieved anything.", "Load it for several polls.")
    known = [one["records"] for one in polls if one["records"] is not None]
    records = math.fsum(known) if known else None
    return {
        "question": QUESTION,
        "evidence": _evidence(len(polls), found),
        "answer": " ".join([_rate_words(found), *_record_words(found, records, operations)]),
        "polls": {
            "per_s": found.per_s if math.isfinite(found.per_s) else None,
            "interval": [found.low, found.high if math.isfinite(found.high) else None],
            "items": found.items,
            "seconds": found.seconds,
            "polls": found.polls,
            "rounding_s": rounding_s,
            "records": records,
            "operations": operations,
        },
        "notes": [_what_the_interval_holds(found, rounding_s)],
        "next": [] if math.isfinite(found.high) else ["Load it for longer: the polls take less than their rounding."],
    }


def _rate_words(found: PollRate) -> str:
    polls = "1 poll" if found.polls == 1 else f"{found.polls} polls"
    work = f"{amount_words(found.items, 'item')} in {time_words(found.seconds)} of work, in {polls}"
    if not math.isfinite(found.per_s):
        return f"At least {amount_words(found.low, 'item')}/s: {work}, all shorter than their rounding."
    high = f"to {number(found.high)}" if math.isfinite(found.high) else "or more"
    of = "95%" if found.polls > 1 else "95% for the rounding"
    return f"{amount_words(found.per_s, 'item')}/s ({of}: {number(found.low)} {high}): {work}."


def _what_the_interval_holds(found: PollRate, rounding_s: float) -> str:
    rounded = f"durations rounded to {time_words(rounding_s)}"
    if found.polls == 1:
        return f"The interval is that of {rounded}; one poll does not tell how polls vary."
    return f"The interval holds how the polls varied, and {rounded}; it does not hold what changes from run to run."


def _record_words(found: PollRate, records: float | None, operations: float | None) -> list[str]:
    words = []
    if records:
        words.append(f"They came from {number(records)} change records, {number(records / found.items)} for each item.")
    if records and operations:
        each = f"{number(records / operations)} change records and {amount_words(found.items / operations, 'item')}"
        words.append(f"Each operation of the load made {each}.")
    return words


def _cannot(answer: str, step: str) -> dict[str, Any]:
    return {
        "question": QUESTION,
        "answer": answer,
        "polls": None,
        "evidence": _evidence(0),
        "notes": [],
        "next": [step],
    }


def _evidence(count: int, found: PollRate | None = None) -> list[dict[str, Any]]:
    """The polls that the consumer told of, and the work in them."""
    work = "" if found is None else f": {amount_words(found.items, 'item')} in {time_words(found.seconds)}"
    return as_data([Evidence(count, "polls", EVENTS, f"History of the consumer's polls{work}")])
