"""Is it stable? What a held load of our own is asked, of the stretch of an imported run at one load.

The questions, their tests and their words are those of `hold` (stability.py, hold/limits.py). What they cannot be asked
of another tool's samples, and why, is told beside the answers: no load that was held, no times of single requests, no
memory, no process to watch, nobody alone before the load.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plimsoll.findings.evidence import SERIES, as_data, of_requests, of_sources, of_steps
from plimsoll.findings.hold.finding import UNTOLD, main_facts, stable_words
from plimsoll.findings.hold.limits import hold_limit
from plimsoll.findings.hold.series import hold_series
from plimsoll.findings.hold.stability import bursts_finding, drift_finding, leak_finding, periodic_finding
from plimsoll.findings.imported.open_growth import changed_rate
from plimsoll.findings.imported.resources import AsProbed, imported_steps
from plimsoll.findings.imported.run import Stretch, as_steps, fill
from plimsoll.findings.resources import means_of_steps
from plimsoll.words import level_words, number, time_words, without_flags

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

QUESTION = "Is it stable at the load that it held longest?"
WARM_UP_S = 30  # as a hold of our own, and never more than a third of what was held
LEAST_HELD_S = 45
RATE = "requests/s"
ALL_THREE = "Whether it gets slower, slows down periodically or fails in bursts"
NO_TIMES = "Whether it gets slower or slows down periodically: it has no times of single requests."
NO_MEMORY = (
    "Whether it leaks memory: no resident memory of a process is beside it (process_resident_memory_bytes, or a column "
    "“… rss” in bytes, in --resources)."
)
NOT_WATCHED = "Whether it restarted, or is slow rather than overloaded: no process was watched, and no user alone."
NO_RESOURCES = "What limits the target: nothing of the server's resources is in it; --resources FILE puts them beside."


@dataclass
class Held:
    """The findings, the answer to QUESTION first; and what could not be asked, in sentences."""

    findings: list[dict[str, Any]] = field(default_factory=list)
    cannot: list[str] = field(default_factory=list)


def held_findings(
    run: RunReader, stretches: Sequence[Stretch], whole: Stretch, unit: str, *, by_rate: bool, run_path: str | None
) -> Held:
    """Judge the longest of `stretches`, each at one level in `unit`, or, `by_rate`, the whole run if requests began at
    one rate. `run`: a RunReader."""
    chosen = _of_one_rate(whole) if by_rate else _longest(stretches, unit)
    if isinstance(chosen, str):
        return Held([], [f"{ALL_THREE}: {chosen}."])
    unit = RATE if by_rate else unit
    left_out = min(WARM_UP_S, chosen.seconds // 3)
    measured = Stretch(chosen.level, chosen.start_s + left_out, chosen.end_s)
    fill(run, [measured])
    [held] = as_steps([measured], {})
    probed = AsProbed(run.path)
    series = hold_series(probed, held, None, ())
    has_times = series.metric is not None
    details = [*((drift_finding(series), periodic_finding(series)) if has_times else ()), bursts_finding(series)]
    details += [leak_finding(series, None)] if series.memory else []
    means = means_of_steps(probed.resources(), [held])
    limit = hold_limit(held, None, means, details, unit)
    is_told = bool(means[0]) or limit["kind"] not in ("none", "unknown")
    troubles = [str(one["trouble"]) for one in details if one.get("trouble")]
    untold = [UNTOLD[one["question"]] for one in details if one["answer"].startswith("It cannot be told")]
    at = f"{time_words(measured.seconds)} at {level_words(held['level'], unit)}"
    common = {"schema": 1, "experiment": "analyze", "status": "finished", "valid": True, "run": run_path}
    main = {
        **common,
        "question": QUESTION,
        "answer": " ".join(stable_words(at, troubles, untold)),
        "facts": main_facts(unit, held, series),
        "stable": not troubles,
        "evidence": as_data(
            [
                of_steps([held], unit, "Held", SERIES),
                of_requests(float(series.requests.sum()), held, "In its measured seconds"),
                of_sources(means, [held], "Resources beside the load"),
            ]
        ),
        **({"limited_by": limit} if is_told else {}),
        "notes": [
            f"The first {left_out} s at that load are left out as its warm-up.",
            *([_others(stretches)] if len(stretches) > 1 and not by_rate else []),
            "The file has nothing of the generator: what was slow or stood still there looks the same.",
        ],
        "next": imported_steps(limit) if is_told else [],
    }
    about = [{**common, **one, "next": [without_flags(step) for step in one["next"]]} for one in details]
    cannot = [*([] if has_times else [NO_TIMES]), *([] if series.memory else [NO_MEMORY]), NOT_WATCHED]
    return Held([main, *about], cannot)


def _longest(stretches: Sequence[Stretch], unit: str) -> Stretch | str:
    """The longest stretch, the highest load of equally long ones; or why there is none that tells."""
    if not stretches:
        return "no load was held"
    found = max(stretches, key=lambda one: (one.seconds, one.level))
    if found.seconds < LEAST_HELD_S:
        at = level_words(found.level, unit)
        return f"no load was held for {LEAST_HELD_S} s or more (the longest: {found.seconds} s at {at})"
    return found


def _of_one_rate(whole: Stretch) -> Stretch | str:
    """The run without its first and last second, at the rate at which requests began; or why it is not one load."""
    started = whole.started[1:-1]
    if len(started) < LEAST_HELD_S:
        return f"it has less than {LEAST_HELD_S} whole seconds"
    if (changed := changed_rate(started)) is not None:
        return f"the rate changed (requests began at {number(changed[0])} to {number(changed[1])}/s)"
    return Stretch(sum(started) / len(started), 1, whole.end_s - 1)


def _others(stretches: Sequence[Stretch]) -> str:
    count = len(stretches) - 1
    return f"{'Another stretch' if count == 1 else f'{count} other stretches'} at one load held no longer; not judged."


def has_resources(run: RunReader) -> bool:
    """Whether anything of the server's side lies beside the run."""
    rows: Iterator[Mapping[str, Any]] = iter(run.resources())
    return next(rows, None) is not None
