"""Why a search holds the level that it holds, in a few words for who watches; runs keep them in `step_started`."""

from __future__ import annotations

from plimsoll.experiments.capacity.search import Proposal
from plimsoll.words import level_words

FIRST = "low enough for any target that works, to begin with"
TWICE = "twice the level before, where throughput still rose"
OVERLOADED = "a probe saw it overloaded; held for longer, it shows whether that lasts"
CARRIED_BY_NOW = "not carried before; held again, as the target carries more by now"
CONFIRMED = "the highest level that is carried, once more from rest, to confirm it"
EXPECTED = "the expected load, to judge its objectives"
AGED = "the expected load once more, to see whether the target became slower or quicker meanwhile"
REST = "low load, until the target is as quick as before the overload"
STILL_FAILS = "low load, to see whether requests fail there as well"
STILL_ANSWERS = "the lowest level so far, to see whether the target still answers"
OVERLOAD = "overloaded on purpose, to see where it recovers"
RECOVERY = "after the overload, to see whether the backlog goes away at this level"
SATURATED = "to measure the most that the target does"
NEAR_BORDER = "near the level from which more users bring no more throughput, which is known less well on this side"
AGAIN = "held again, as no other level would tell more"
RISING = "throughput still rose in a short probe; held for longer, it shows whether the level is carried"
CAPPED = "the script cannot send more than here"
_AIMS = {"good": "to prove that it is carried", "bad": "to prove that it is not carried"}


def words_of(proposal: Proposal, unit: str) -> str:
    """Why that level is next."""
    aim = _AIMS[proposal.aim]
    match proposal.basis:
        case "contradicted":
            return "not carried before; held again, as a higher level was carried since"
        case "no plateau":
            return f"between what is carried and what is not, {aim}; overload does not tell the capacity here"
        case "no estimate":
            return f"{aim}; no step has shown the capacity yet"
    estimate = level_words(proposal.estimate or 0.0, unit)
    if proposal.basis == "hurry":
        return f"well below the estimated capacity of {estimate}, {aim} in the time that is left"
    return f"just {'above' if proposal.aim == 'bad' else 'below'} the estimated capacity of {estimate}, {aim}"
