"""The thresholds of a plain run as its exit code counts them.

The engine compares, and calls "undecided" what no sample decides. Some of these are failures: all where no request was
answered, as what was refused took no time; with `--strict` those without a sample too. `settled` says so in the rows
themselves, so that summary, export, run directory, report and exit code read one verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from plimsoll.runs.format.read_numbers import plausible

Verdict = Literal["passed", "failed", "undecided"]
VERDICTS: tuple[Verdict, ...] = ("failed", "undecided", "passed")  # the gravest first
NO_DATA, NO_ANSWER, STOPPED = "no data", "no request was answered", "it ended the run"
# Times of a response, which a request without one does not have.
_OF_A_RESPONSE = tuple(f"http_req_{part}" for part in ("duration", "response_time", "sending", "waiting", "receiving"))
_UNITS = {"time": "ms", "data": "bytes"}


class Threshold(NamedTuple):
    """A comparison: `observed` in `unit` ("ms", "ratio", "bytes", "" for none) against the limit in `rule`; `why`: what
    decides where the value at the end does not."""

    metric: str
    rule: str
    verdict: Verdict
    observed: float | None = None
    unit: str = ""
    why: str = ""


def settled(
    metrics: Mapping[str, Any], *, nothing_answered: bool, strict: bool, stopped_by: str = ""
) -> dict[str, Any]:
    """The summary's metrics with the verdicts of their thresholds as the exit code counts them; `why` beside those that
    their values at the end do not decide, and beside times of responses where there was none. `stopped_by`: the
    engine's words on the one that ended the run."""
    found = dict(metrics)
    for name, metric in metrics.items():
        if nothing_answered and name.partition("{")[0] in _OF_A_RESPONSE:
            found[name] = metric = {**metric, "why": NO_ANSWER}
        if metric.get("thresholds"):
            rows = {
                rule: _settled(row, nothing_answered, strict, stopped_by == f"threshold {name}: {rule} failed")
                for rule, row in metric["thresholds"].items()
            }
            found[name] = {**metric, "thresholds": rows}
    return found


def _settled(row: Mapping[str, Any], nothing_answered: bool, strict: bool, stopped_it: bool) -> dict[str, Any]:
    if row["verdict"] == "failed":
        return dict(row)
    if stopped_it:
        return {**row, "ok": False, "verdict": "failed", "why": STOPPED}
    if nothing_answered:
        return {**row, "ok": False, "verdict": "failed", "why": NO_ANSWER}
    if row["verdict"] == "undecided":
        return {**row, "ok": False, "verdict": "failed" if strict else "undecided", "why": NO_DATA}
    return dict(row)


def thresholds_of(metrics: Mapping[str, Any]) -> list[Threshold]:
    """The thresholds of a summary as a run directory has it, in its order; of one that is damaged, what can be read."""
    return [found for name, metric in metrics.items() if isinstance(metric, Mapping) for found in _of(name, metric)]


def _of(name: str, metric: Mapping[str, Any]) -> Iterator[Threshold]:
    rows = metric.get("thresholds")
    unit = "ratio" if metric.get("type") == "rate" else _UNITS.get(str(metric.get("contains")), "")
    for rule, row in rows.items() if isinstance(rows, Mapping) else ():
        about = row if isinstance(row, Mapping) else {}
        verdict: Verdict = next((one for one in VERDICTS if one == about.get("verdict")), "undecided")
        observed, why = plausible(about.get("observed")), str(about.get("why") or "")
        if verdict == "undecided" and observed is not None:  # runs of before 0.3 did not settle them
            verdict, why = "failed", NO_ANSWER
        elif verdict == "undecided":
            why = NO_DATA
        yield Threshold(str(name), str(rule), verdict, observed, unit, why)
