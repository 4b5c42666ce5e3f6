"""What a reader must know before an answer: iterations that ended with an exception, WebSockets that did not open, and
checks that failed. None decides an answer, which is about the rest."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.listed_names import listed
from plimsoll.runs.readings.failures import BROKE, Failures
from plimsoll.runs.readings.script_outcomes import NOT_OPENED, ScriptOutcomes, outcomes_of_run, unopened_words
from plimsoll.words import count_words, counted_words, joined, share_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

MATTERS = 0.01  # of the iterations or of a check: what k6 and SLOs call 99% of success; below, it is a note
MOST_CHECKS = 2  # that a sentence names
ANSWERED = "Nothing: the question is answered."  # the next step where there is none
OF_REQUESTS = "This answer is about the script's requests. Thresholds of `plimsoll run` judge its WebSockets."
UNDECIDED_BY_CHECKS = "Checks do not decide this answer."
_ARMS = {"a": "A", "b": "B"}
Parts = Mapping[str, ScriptOutcomes]  # by the arm of a comparison; of any other run one, without a name


@dataclass(frozen=True)
class Caution:
    """One in words, with what to do; `matters`: it is said beside the answer, and not only in the notes."""

    words: str
    step: str
    matters: bool


def with_cautions(main: dict[str, Any], run: RunReader) -> dict[str, Any]:
    """The main finding of a run with its cautions, what to do about them before anything else, and in its notes what
    is too little to matter. An answer that has none for that says itself why."""
    if main.get("status") == "failed":
        return main
    parts = parts_of(run, main)
    if not main.get("valid") and all(one.threw == one.done for one in parts.values()):
        return main  # that nothing else was done is why it is not valid
    found = list(cautions_of(parts))
    grave = [one for one in found if one.matters]
    steps = [*(one.step for one in grave), *(main.get("next") or ())]
    return {
        **main,
        **({"cautions": [one.words for one in grave]} if grave else {}),
        "notes": [*(one.words for one in found if not one.matters), *(main.get("notes") or ())],
        "next": list(dict.fromkeys(step for step in steps if not grave or step != ANSWERED)),
    }


def cautions_of(parts: Parts) -> Iterator[Caution]:
    """Of exceptions first, then of sockets, then of checks."""
    if any(one.threw for one in parts.values()):
        matters = any(one.threw > MATTERS * one.done for one in parts.values())
        yield Caution(_exception_words(parts), Failures(Counter({BROKE: 1})).next_step(), matters)
    if sockets := sum(one.sockets.total() for one in parts.values()):
        not_opened = sum((one.unopened for one in parts.values()), Counter())
        matters = not_opened.total() > MATTERS * sockets
        count = f"{count_words(not_opened.total())} of {counted_words(sockets, 'WebSocket')}"
        words = f"{count} did not open ({unopened_words(not_opened)}). " if not_opened else ""
        yield Caution(f"{words}{OF_REQUESTS}", NOT_OPENED, matters)
    failing = _failing_checks(parts)
    for matters, names in (
        (True, [n for n, share in failing if share > MATTERS]),
        (False, [n for n, share in failing if share <= MATTERS]),
    ):
        if names:
            step = f"See why the check {names[0][1]!r} fails: try that request by hand."
            yield Caution(f"{_check_words(parts, names)} {UNDECIDED_BY_CHECKS}", step, matters)


def parts_of(run: RunReader, main: Mapping[str, Any]) -> dict[str, ScriptOutcomes]:
    """What became of the script's iterations and checks in what the answer rests on: the measured seconds of trials,
    of a held load or of the levels that are carried; of another run all of its seconds."""
    trials = run.trials() if run.plan() else None
    if trials is None:
        return {"": outcomes_of_run(run, _windows(main))}
    found: dict[str, ScriptOutcomes] = {}
    for trial in trials:
        arm = _ARMS.get(str(trial["variant"]), "") if main.get("experiment") == "compare" else ""
        found.setdefault(arm, ScriptOutcomes()).add_json(trial)
    return dict(sorted(found.items()))


def _windows(main: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Above what is carried, an exception or a failed check may be of the overload."""
    held = [one for one in main.get("steps") or () if one.get("measured_from_s") is not None]
    steps = [one for one in held if one.get("step_kind") != "baseline"] or held
    if not steps:
        return [(0.0, math.inf)]
    carried = (main.get("capacity") or {}).get("good")
    most = max(one["level"] for one in steps) if main.get("capacity") is None else carried
    lowest = min(one["level"] for one in steps)
    return sorted(
        (float(one["measured_from_s"]), float(one["end_s"]))
        for one in steps
        if one["level"] <= (lowest if most is None else max(lowest, most))
    )


def _exception_words(parts: Parts) -> str:
    if list(parts) == [""]:
        return f"{count_words(parts[''].threw)} of {counted_words(parts[''].done, 'iteration')} ended with {BROKE}."
    each = [f"{count_words(one.threw)} of {count_words(one.done)} in {name}" for name, one in parts.items()]
    return f"Iterations ended with {BROKE}: {joined(each)}."


def _failing_checks(parts: Parts) -> list[tuple[tuple[str, str], float]]:
    """Checks that failed, with their greatest share of failures in a part, which orders them."""
    names = dict.fromkeys(name for one in parts.values() for name in one.checks)
    shares = {name: max(_share(one, name) for one in parts.values()) for name in names}
    return sorted(((name, share) for name, share in shares.items() if share), key=lambda one: -one[1])


def _share(outcomes: ScriptOutcomes, name: tuple[str, str]) -> float:
    passes, fails = outcomes.checks.get(name, (0, 0))
    return fails / (passes + fails) if fails else 0.0


def _check_words(parts: Parts, names: list[tuple[str, str]]) -> str:
    """ "The check 'logged in' failed in 37% of 12,300 in A and 36% of 12,280 in B." """
    first, *others = [(name[1], joined(_counts(parts, name))) for name in names]
    told = [f"{first[0]!r} failed in {first[1]}", *(f"{name!r} in {counts}" for name, counts in others)]
    return f"The check {listed(told, MOST_CHECKS, ', ')}."


def _counts(parts: Parts, name: tuple[str, str]) -> list[str]:
    found = []
    for part, one in parts.items():
        passes, fails = one.checks.get(name, (0, 0))
        where = f" in {part}" if part else ""
        if passes + fails:
            found.append(f"{share_words(_share(one, name))} of {count_words(passes + fails)}{where}")
    return found
