"""Do the answers of the studies repeat? Two folders that `plimsoll study --all` made, answer by answer.

    make studies; make studies
    .venv/bin/python benches/repeated_studies.py runs/…-studies-1111 runs/…-studies-2222

A number repeats where the two brackets or intervals overlap, a verdict where it is the same; an answer that says that
it cannot tell contradicts nothing. An interval knows of its run's scatter, not of a host that is faster in the next:
the speed of the target's cores (the probe core_speed) is told beside, and what is counted a second also repeats where
it overlaps once the first is multiplied by how much faster they were in the second. Ends with 1 where something does
not repeat, or is not valid.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from plimsoll.runs.directory import RESOURCES, file_of
from plimsoll.runs.format.lines import read_lines

Findings = list[dict[str, Any]]
Interval = tuple[float, float]
SPEED = "speed of the target's cores, second ÷ first"


@dataclass(frozen=True)
class Ran:
    """An experiment's findings, and the mean speed of the target's cores meanwhile; None where it was not probed."""

    findings: Findings
    speed: float | None


@dataclass(frozen=True)
class Said:
    """What one run says to a question: in words, and as an interval or a verdict; both None where it cannot tell."""

    words: str
    interval: Interval | None = None
    verdict: str | None = None
    of_cores: bool = False


def number(value: float) -> str:
    return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def between(pair: Any, of_cores: bool = False) -> Said:
    """An interval; of one without an end, what is known of it in words alone. `of_cores`: of a rate that they bound."""
    if not pair or pair[0] is None or pair[1] is None:
        return Said("cannot tell")
    return Said(f"{number(pair[0])} to {number(pair[1])}", (float(pair[0]), float(pair[1])), of_cores=of_cores)


def verdict(word: Any) -> Said:
    """A verdict; "undecided" and None are none."""
    text = {True: "yes", False: "no", None: "cannot tell"}.get(word, str(word))
    return Said(text, verdict=None if text in ("cannot tell", "undecided") else text)


def said(findings: Findings) -> Iterator[tuple[str, Said]]:
    """What the findings of one experiment say, question by question."""
    main = findings[0]
    yield from ABOUT.get(main["experiment"], lambda _: iter(()))(findings)


def _having(findings: Findings, key: str) -> Iterator[Any]:
    return (one[key] for one in findings if one.get(key) is not None)


def _capacity(findings: Findings) -> Iterator[tuple[str, Said]]:
    main = findings[0]
    found = main["capacity"]
    yield f"bracket, {found['unit']}", between((found["good"], found["bad"]))
    yield "what stops it", verdict((main.get("limited_by") or {}).get("where"))
    for bounds in _having(findings, "asymptotes"):
        yield "ceiling of throughput, /s (95%)", between(bounds["most_interval"], of_cores=True)
    for extrapolations in _having(findings, "extrapolations"):
        for one in extrapolations:
            yield f"reach of {one['resource']}, /s (95%)", between(one.get("interval"), of_cores=True)


def _hold(findings: Findings) -> Iterator[tuple[str, Said]]:
    objectives = findings[0].get("objectives") or []
    yield "objectives met", verdict(f"{sum(one['verdict'] == 'met' for one in objectives)} of {len(objectives)}")
    for found in _having(findings, "periodic"):
        yield "period, s (95%)", between(found.get("interval_s"))


def _grow(findings: Findings) -> Iterator[tuple[str, Said]]:
    for found in _having(findings, "ageing"):
        yield "a create ages", verdict(found["grows"])


def _drain(findings: Findings) -> Iterator[tuple[str, Said]]:
    for found in _having(findings, "keeps_up"):
        yield "keeps up", verdict(found)
    for found in _having(findings, "polls"):
        if found["polls"] > 1:  # of one poll the interval is that of rounding alone
            yield "items/s while it works (95%)", between(found["interval"])
    for found in _having(findings, "index"):
        yield "bytes an item (95%)", between(found["interval"])


def _compare(findings: Findings) -> Iterator[tuple[str, Said]]:
    yield "verdict", verdict(findings[0]["verdict"])
    for one in findings[0]["comparisons"]:
        if one["primary"]:
            yield f"{one['statistic']} at {one['load']}, B ÷ A (99%)", between(one["interval"])


def _decompose(findings: Findings) -> Iterator[tuple[str, Said]]:
    for level in findings[0]["levels"]:
        for layer in level["layers"]:
            yield f"share of {layer['layer']} at {level['load']} (95%)", between(layer["interval"])


def _sweep(findings: Findings) -> Iterator[tuple[str, Said]]:
    main = findings[0]
    for one in main["dependencies"]:
        if one["metric"] == "work" and one["interval"]:
            where = "".join(f", {name}={value}" for name, value in one["at"].items())
            yield f"exponent of {one['parameter']}{where} (95%)", between(one["interval"])
    stops = sorted(" ".join(f"{name}={value}" for name, value in one["parameters"].items()) for one in main["stops"])
    yield "where it stops", verdict("; ".join(stops) or "nowhere")


ABOUT = {
    "capacity": _capacity,
    "hold": _hold,
    "grow": _grow,
    "drain": _drain,
    "compare": _compare,
    "decompose": _decompose,
    "sweep": _sweep,
}


def repeats(first: Said | None, second: Said | None) -> bool | None:
    """Whether the second contradicts nothing of the first; None where one of them cannot tell."""
    if first is None or second is None:
        return None
    if first.interval and second.interval:
        return max(first.interval[0], second.interval[0]) <= min(first.interval[1], second.interval[1])
    if first.verdict is not None and second.verdict is not None:
        return first.verdict == second.verdict
    return None


def with_speed(first: Said | None, ratio: float | None) -> Said | None:
    """What the first would have said on cores so much faster."""
    if first is None or first.interval is None or ratio is None or not first.of_cores:
        return first
    low, high = first.interval
    return Said(first.words, (low * ratio, high * ratio))


def speed_of(run: Path) -> float | None:
    """Mean of what the probe core_speed saw, in pieces of work a CPU second."""
    resources = read_lines(file_of(run, RESOURCES))
    rows = [row for row in resources if row.get("source") == "core_speed"]
    seen = [row["values"]["work_per_cpu_s"] for row in rows if "work_per_cpu_s" in row["values"]]
    return statistics.mean(seen) if seen else None


def read(folder: Path) -> dict[tuple[str, int], Ran]:
    """What each experiment found, by the study's name and the place in it."""
    found = {}
    for about in sorted(folder.glob("*/study.json")):
        name = json.loads(about.read_text())["study"]["name"]
        for place, path in enumerate(sorted(about.parent.glob("*/findings.json")), 1):
            found[name, place] = Ran(json.loads(path.read_text()), speed_of(path.parent))
    return found


def rows(first: dict[tuple[str, int], Ran], second: dict[tuple[str, int], Ran]) -> Iterator[list[str]]:
    """Study, question, what each run says, whether that repeats."""
    for key in sorted(first | second):
        if key not in first or key not in second:
            yield [*_place(key, first.get(key) or second[key]), "–", "–", "", "**is in one of them only**"]
            continue
        runs = first[key], second[key]
        where = _place(key, runs[0])
        for one, ran in zip(("first", "second"), runs, strict=True):
            if ran.findings[0].get("valid") is False:
                because = "; ".join(ran.findings[0].get("invalid_because") or ())
                yield [*where, "valid", "", "", f"**the {one} is not valid**: {because}"]
        ratio = runs[1].speed / runs[0].speed if runs[0].speed and runs[1].speed else None
        for a, b in zip_longest(*(said(ran.findings) for ran in runs)):
            what, mine, yours = (a or b)[0], a and a[1], b and b[1]
            words = {True: "yes", False: "**no**", None: "one cannot tell"}[repeats(mine, yours)]
            if words == "**no**" and repeats(with_speed(mine, ratio), yours):
                words = f"yes, on cores {number(ratio)} times as fast"
            yield [*where, what, mine.words if mine else "–", yours.words if yours else "–", words]
        if ratio is not None:
            yield [*where, SPEED, "", number(ratio), ""]


def _place(key: tuple[str, int], ran: Ran) -> list[str]:
    return [key[0], f"{key[1]} {ran.findings[0]['experiment']}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    chosen = parser.parse_args()
    both = read(chosen.first), read(chosen.second)
    for folder, found in zip((chosen.first, chosen.second), both, strict=True):
        if not found:
            parser.error(f"{folder} has no study with findings; give a folder that plimsoll study --all made")
    missed = 0
    print("| study | experiment | what | first run | second run | repeats |\n|---|---|---|---|---|---|")
    for row in rows(*both):
        missed += "**" in row[-1]
        print(f"| {' | '.join(row)} |")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
