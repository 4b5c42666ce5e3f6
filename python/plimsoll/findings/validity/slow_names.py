"""What looking up the target's name adds to response times, and which conclusions that takes away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll.findings.validity.connection_churn import edges_of, measured_windows, within
from plimsoll.findings.validity.validity import Validity, of_time
from plimsoll.probes.machine import remedies
from plimsoll.runs.metric_names import BLOCKED, DURATION
from plimsoll.runs.readings.name_lookups import FEWEST, METRICS, SLOW_MS, TAGS, NameLookups
from plimsoll.words import ms_words, share_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader


def words_of(found: NameLookups) -> str:
    """As a note: its size, and its share of the response time."""
    whole_ms = found.mean_ms + found.took_ms / found.requests
    return (
        f"Looking up the target's name (DNS) took {ms_words(found.each_ms)} each time, for {found.slow:,} of "
        f"{found.requests:,} requests: that is {share_words(found.mean_ms / whole_ms)} of their mean response time, "
        "and not the target's."
    )


def with_slow_names(main: Mapping[str, Any], found: NameLookups) -> dict[str, Any]:
    """The main finding of a run with what name lookups took: a note, a next step, and the error of the times that hold
    it; unchanged where they took nothing that shows."""
    if not found.found or main.get("status") == "failed":
        return dict(main)
    return {
        **main,
        "notes": [*(main.get("notes") or ()), words_of(found)],
        "next": [*(main.get("next") or ()), remedies.LOOKUPS],
        "validity": [_with(one, found) for one in main.get("validity") or ()],
    }


def lookups_of(run: RunReader, main: Mapping[str, Any]) -> NameLookups:
    """What the measured seconds of a run tell."""
    found, windows = NameLookups(), measured_windows(main)
    waits = {metric for metric in METRICS if metric != DURATION}
    for metrics in (waits, {DURATION}) if windows else ():
        for block in run.blocks(metrics, above={BLOCKED: SLOW_MS}):
            for merged in block.merged(edges_of(windows), TAGS):
                if within(merged.from_s, windows):
                    found.add_series(merged.series)
        if found.slow < FEWEST:
            break  # what requests took is read only where there were lookups
    return found


def _with(entry: Mapping[str, Any], found: NameLookups) -> dict[str, Any]:
    """A conclusion with the error that lookups add to what it rests on."""
    quantile, rests_on = entry.get("quantile"), entry["rests_on"]
    if rests_on == "response_time" and quantile is not None and found.share > 1 - quantile:
        error_ms = found.each_ms
    elif rests_on == "mean_time":
        error_ms = found.mean_ms
    else:
        return dict(entry)
    own_ms = found.took_ms / found.requests
    told = of_time(error_ms + float(entry.get("error") or 0.0), error_ms + own_ms, rests_on, quantile)
    if told.verdict == "valid":
        return dict(entry)
    because = (words_of(found), *(entry.get("because") or ()))
    gone = "invalid" in (told.verdict, entry["verdict"])
    made: Validity = replace(told, verdict="invalid" if gone else "within", because=because)
    return made.to_json()
