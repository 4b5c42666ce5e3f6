"""What experiments made of trials decided, a row each for the first screen of the page: (what was asked, the key of the
badge, the badge, by what). The verdicts are those of the fields that the exit code reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plimsoll.findings.trials.sweep_cells import FLAT
from plimsoll.report import wording
from plimsoll.words import (
    confidence_words,
    count_words,
    exponent_words,
    interval_words,
    ms_words,
    number,
    ratio_words,
    share_words,
    size_words,
)

Row = tuple[str, str, str, str]
Found = Mapping[str, Any]
MOST_ROWS = 8
_GRAVITY = {"bad": 0, "unknown": 1}
_FORMS = {
    "flat": ("good", "✓ does not depend"),
    "power": ("unknown", "depends"),
    "unchecked": ("unknown", "depends"),
    "table": ("unknown", "differs"),
    "none": ("unknown", "no simple form"),
    "unknown": ("unknown", "cannot tell"),
}
_STATES = {"fails": "✗ fails", "silent": "✗ no answer"}
_LAYERS = {"there": ("good", "✓ beyond chance"), "below zero": ("bad", "✗ below zero")}
_METRICS = {"work": "duration", "p95": "p95", "memory": "memory"}


def trial_rows(finding: Found) -> list[Row]:
    """The gravest first; no rows of other experiments."""
    build = {"compare": _compared, "decompose": _layers, "sweep": _swept}.get(str(finding.get("experiment")))
    rows = sorted(build(finding), key=lambda row: _GRAVITY.get(row[1], len(_GRAVITY))) if build else []
    if len(rows) <= MOST_ROWS:
        return rows
    more = rows[MOST_ROWS - 1 :]
    subjects = "; ".join(subject for subject, *_ in more)
    return [*rows[: MOST_ROWS - 1], (f"{len(more)} more", "unknown", "in the tables below", subjects)]


def _compared(finding: Found) -> Iterable[Row]:
    for one in finding.get("failures") or ():
        key, badge = ("bad", "✗ B fails more") if one["b"] > one["a"] else ("good", "✓ B fails fewer")
        shares = f"A {share_words(one['a'])}, B {share_words(one['b'])}."
        yield f"failed requests at {one['load']}", key, badge, shares
    for one in finding.get("request_changes") or ():
        words = f"A {number(one['a'], 2)}, B {number(one['b'], 2)} in an iteration."
        yield f"requests at {one['load']}", "undecided", "not the same work", words
    for one in finding.get("comparisons") or ():
        if one["primary"]:
            name = one.get("operation") or one.get("request")
            yield f"{one['statistic']}{f' of {name}' if name else ''} at {one['load']}", *_verdict(one), _change(one)


def _verdict(one: Found) -> tuple[str, str]:
    if one["verdict"] == "slower":
        return ("unknown", "slower, within the margin") if one.get("within_margin") else ("bad", "✗ slower")
    known = {"faster": ("good", "✓ faster"), "same": ("met", "✓ same")}
    return known.get(one["verdict"], ("unknown", "undecided"))


def _change(one: Found) -> str:
    """ "+19.8% (99%: +19.1% to +20.5%). A 100 ms, B 120 ms, 10 pairs." """
    if not wording.is_number(one.get("ratio")) or not one.get("interval"):
        return " ".join(one.get("reasons") or ())
    unit = ms_words if one["unit"] == "ms" else _per_s
    told = f"{ratio_words(one['ratio'])} ({confidence_words(one['confidence'])}: {interval_words(*one['interval'])})."
    count = f"{one['pairs']} {'pairs' if one.get('paired', True) else 'runs of each'}"
    told += f" A {unit(one['a'])}, B {unit(one['b'])}, {count}."
    if wanted := one.get("pairs_to_settle"):
        told += f" {count_words(wanted)} would settle it."
    return " ".join([told, *(one.get("reasons") or ())])


def _per_s(value: float) -> str:
    return f"{number(value)}/s"


def _layers(finding: Found) -> Iterable[Row]:
    levels = finding.get("levels") or ()
    for level in levels:
        at = f" at {level['load']}" if len(levels) > 1 else ""
        for layer in level.get("layers") or ():
            low, high = (share_words(end, 3) for end in layer["interval"])
            key, badge = _LAYERS.get(layer["verdict"], ("unknown", layer["verdict"]))
            words = f"{share_words(layer['share'], 3)} ({low} to {high}), {ms_words(layer['ms'])}."
            yield f"{layer['layer']}{at}", key, badge, words


def _swept(finding: Found) -> Iterable[Row]:
    dependencies = finding.get("dependencies") or ()
    for name in finding.get("parameters") or ():
        for metric, title in _METRICS.items():
            mine = [one for one in dependencies if (one["parameter"], one["metric"]) == (name, metric)]
            if mine:
                yield f"{title} over {name}", *_form(mine), _ends(mine)
    stops = finding.get("stops") or ()
    for one in stops:
        yield _setting(one["parameters"]), "bad", _STATES.get(one["state"], "✗ fails"), str(one["words"])
    if not stops and dependencies:
        yield "where it stops", "good", "✓ nowhere", "It answered everywhere that was tried."


def _form(mine: Sequence[Found]) -> tuple[str, str]:
    """One form where all settings of the others have it."""
    forms = {one["form"] for one in mine}
    if forms == {"table"} and all(one["most"][1] <= (1 + FLAT) * one["least"][1] for one in mine):
        return "unknown", f"differs by less than {share_words(FLAT)}"
    return _FORMS.get(forms.pop(), ("unknown", "cannot tell")) if len(forms) == 1 else ("unknown", "differs by setting")


def _ends(mine: Sequence[Found]) -> str:
    """The exponent, and where the metric changes by most from what to what."""
    steepest = max(mine, key=lambda one: one["most"][1] / one["least"][1] if one["least"][1] else 0.0)
    name, metric = steepest["parameter"], steepest["metric"]
    unit = size_words if metric == "memory" else ms_words
    ends = [f"{unit(value)} at {name}={x}" for x, value in (steepest["least"], steepest["most"])]
    setting = f", at {_setting(steepest['at'])}" if steepest["at"] else ""
    told = f"{' to '.join(dict.fromkeys(ends))}{setting}."
    exponents = [one["exponent"] for one in mine if wording.is_number(one.get("exponent"))]
    if not exponents or all(one["form"] == "flat" for one in mine):
        return told
    span = " to ".join(dict.fromkeys(exponent_words(pick(exponents)) for pick in (min, max)))
    if len(mine) == 1 and steepest.get("interval"):
        low, high = map(exponent_words, steepest["interval"])
        span += f" (95%: {low} to {high})"
    return f"{name}^{span}: {told}"


def _setting(parameters: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items())
