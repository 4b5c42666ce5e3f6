"""Contradictions in the entries of `experiments`, on the plain data of the file as in `checks.py`.

The commands check the same of their flags (plans/); here each mistake has its key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

from plimsoll.nearest_word import nearest
from plimsoll.study.contradiction import Contradiction, KeyPath, entries, mapping, parts_of
from plimsoll.study.forms import mistake_of_form

Found = Iterator[Contradiction]
LEVELS = ("users", "rate")
_OF_RUNS = ("runs_a", "runs_b", "skip_s", "margin", "primary")
_NO_USERS = "neither it nor the study says how many users", "Add users here, or expected_users to the study."
_NO_RATE = "this load has no arrival rate, its users wait for their answers"


def contradictions_of_experiments(data: dict[str, Any]) -> Found:
    """All of all entries; values of an unexpected shape are passed over."""
    for position, item in entries(data.get("experiments")):
        path: KeyPath = ("experiments", position)
        if len(item) != 1:
            what = "an entry names exactly one experiment" + (f", this one {len(item)}" if item else "")
            yield Contradiction(path, what, "Start each experiment with its own dash, as in `- capacity:`.")
        for name, value in item.items():
            options = mapping(value)
            yield from _of_any((*path, name), options, data)
            if name in _OF_ONE:
                yield from _OF_ONE[name]((*path, name), options, data)


def no_such_part(name: object, known: list[str]) -> tuple[str, str]:
    """What is wrong with a name that no operation or group of the workload has, and what to do."""
    step = nearest(name, known, f"Use some of {', '.join(known)}.")
    return f"the workload has no operation or group {str(name)!r}", step


def _of_any(path: KeyPath, options: dict[str, Any], data: dict[str, Any]) -> Found:
    known = parts_of(data)
    for position, name in enumerate(_listed(options.get("of"))):
        if known and str(name) not in known:
            yield Contradiction((*path, "of", position), *no_such_part(name, known))
    variant, variants = options.get("variant"), _variants(data)
    if isinstance(variant, str) and variant and variant not in variants:
        step = nearest(variant, variants, f"Use one of {', '.join(variants)}." if variants else _ADD_VARIANT)
        yield Contradiction((*path, "variant"), f"the study has no variant {variant!r}", step)
    low, high = options.get("min_users"), options.get("max_users")
    if _is_number(low) and _is_number(high) and low > high:
        what = f"min_users {low:g} is above max_users {high:g}"
        yield Contradiction((*path, "min_users"), what, "Lower min_users or raise max_users.")


_ADD_VARIANT = "Add it to target.variants."


def _capacity(path: KeyPath, options: dict[str, Any], data: dict[str, Any]) -> Found:
    most, least = options.get("max_rate"), options.get("min_users")
    if most is not None and _is_closed(data):
        yield Contradiction((*path, "max_rate"), _NO_RATE, "Use max_users.")
    if options.get("negligible_below") is not None:
        if _is_closed(data):
            step = "Give the operations rates (model: open), or leave it out."
            yield Contradiction((*path, "negligible_below"), _NO_RATE, step)
        elif data.get("expected_users") is None:
            what = "the study does not say how many users are expected"
            yield Contradiction((*path, "negligible_below"), what, "Add expected_users to the study.")
    if _is_closed(data):
        return
    per_user_s = _rate_per_user_s(options, data)
    if _is_number(most) and _is_number(least) and per_user_s and least * per_user_s > most:
        what = f"{most:g} arrivals/s are those of {most / per_user_s:g} users, and min_users is {least:g}"
        yield Contradiction((*path, "max_rate"), what, "Lower min_users or raise max_rate.")


def _hold(path: KeyPath, options: dict[str, Any], data: dict[str, Any]) -> Found:
    if options.get("max_users") is not None and not options.get("keep"):
        what = "max_users bounds a load that is steered, and this one is held"
        yield Contradiction((*path, "max_users"), what, "Add keep, or leave max_users out.")
    if options.get("users") is None and not options.get("keep") and data.get("expected_users") is None:
        yield Contradiction(path, *_NO_USERS)


def _drain(path: KeyPath, options: dict[str, Any], data: dict[str, Any]) -> Found:
    yield from _hold(path, options, data)
    if options.get("backlog") is None and options.get("consumed") is None:
        step = "Give backlog (items waiting) or consumed (a counter of items done)."
        yield Contradiction(path, "nothing says how far the consumer is", step)


def _compare(path: KeyPath, options: dict[str, Any], data: dict[str, Any]) -> Found:
    if options.get("runs_a") is not None or options.get("runs_b") is not None:
        yield from _run_sets(path, options)
        return
    if "skip_s" in options:
        yield Contradiction((*path, "skip_s"), "skip_s is for finished runs", "Add runs_a and runs_b, or leave it out.")
    forms = [(key, text) for key in ("a", "b") for text in _texts(options.get(key))]
    if not forms:
        step = "Give a and b (NAME=value, a URL, a script, or a variant of the study's target), or runs_a and runs_b."
        yield Contradiction(path, "nothing says how A and B differ", step)
    for key, text in forms:
        yield from _form((*path, key), text, data, exec_allowed=False)
    yield from _levels(path, options, data, needed=True)


def _run_sets(path: KeyPath, options: dict[str, Any]) -> Found:
    for key in options:
        if key not in _OF_RUNS:
            what = "finished runs and something to run are given together"
            yield Contradiction((*path, key), what, f"Leave {key} out, or make an entry of each.")
    seen: list[str] = []
    for key in ("runs_a", "runs_b"):
        runs = _listed(options.get(key))
        if len(runs) < 2:
            what = f"{key} has {len(runs)} run{'' if len(runs) == 1 else 's'}, and needs two or more"
            place = (*path, key) if key in options else path
            yield Contradiction(place, what, "One run says nothing of the scatter between runs: make more of each.")
        for position, run in enumerate(runs):
            if str(run) in seen:
                yield Contradiction((*path, key, position), f"{run} is given twice", "Give each run once.")
            seen.append(str(run))


def _decompose(path: KeyPath, options: dict[str, Any], data: dict[str, Any]) -> Found:
    for name, text in mapping(options.get("variants")).items():
        if isinstance(text, str) and text:
            yield from _form((*path, "variants", name), text, data, exec_allowed=True)
    yield from _levels(path, options, data, needed=False)


def _sweep(path: KeyPath, options: dict[str, Any], data: dict[str, Any]) -> Found:
    over = mapping(options.get("over"))
    for name, values in over.items():
        place = (*path, "over", name)
        listed = _listed(values)
        if isinstance(values, list) and (len(listed) < 2 or len(set(map(str, listed))) < len(listed)):
            yield Contradiction(place, "it needs two different values or more", "Give each once.")
        if name in LEVELS:
            yield from _swept_level(place, name, listed, options, data)
        elif not str(name).isidentifier():
            yield Contradiction(place, "that is no name of a variable", "Write NAME: [1, 10, 100].")
    if all(name in over for name in LEVELS):
        yield Contradiction((*path, "over"), "users and rate are both swept", "Sweep one of them.")
    yield from _levels(path, options, data, needed=not any(name in over for name in LEVELS))


def _swept_level(path: KeyPath, name: str, values: list[Any], options: dict[str, Any], data: dict[str, Any]) -> Found:
    try:
        if not all(float(value) > 0 for value in values):
            yield Contradiction(path, f"{name}: a level is not above 0", "Leave it out.")
    except (TypeError, ValueError):
        yield Contradiction(path, "a level is no number", f"Write {name}: [1, 5, 20].")
    for other in LEVELS:
        if options.get(other) is not None:
            what = f"{name} is given twice" if other == name else "users and rate are given together"
            yield Contradiction((*path[:-2], other), what, f"Leave it out, or sweep no {name}.")
    if name == "rate" and _is_closed(data):
        yield Contradiction(path, _NO_RATE, "Sweep users.")


def _levels(path: KeyPath, options: dict[str, Any], data: dict[str, Any], needed: bool) -> Found:
    """Of trials: users or rates, each once, and one of them where nothing else says the load."""
    given = {name: _levels_of(options.get(name)) for name in LEVELS}
    for name, values in given.items():
        if len({float(value) if _is_number(value) else str(value) for value in values}) < len(values):
            yield Contradiction((*path, name), "a level is there twice", "Give each once.")
    if all(given.values()) and not any(name in mapping(options.get("over")) for name in LEVELS):
        yield Contradiction((*path, "rate"), "users and rate are given together", "Give one of them.")
    elif given["rate"] and _is_closed(data):
        yield Contradiction((*path, "rate"), _NO_RATE, "Give users.")
    if needed and not any(given.values()) and data.get("expected_users") is None:
        yield Contradiction(path, *_NO_USERS)


def _form(path: KeyPath, text: str, data: dict[str, Any], exec_allowed: bool) -> Found:
    mistake = mistake_of_form(text, _variants(data), exec_allowed)
    if mistake is not None:
        yield Contradiction(path, *mistake)


_OF_ONE: dict[str, Callable[[KeyPath, dict[str, Any], dict[str, Any]], Found]] = {
    "capacity": _capacity,
    "hold": _hold,
    "drain": _drain,
    "compare": _compare,
    "decompose": _decompose,
    "sweep": _sweep,
}


def _variants(data: dict[str, Any]) -> list[str]:
    return [str(name) for name in mapping(mapping(data.get("target")).get("variants"))]


def _is_closed(data: dict[str, Any]) -> bool:
    workload = mapping(data.get("workload"))
    return workload.get("model") == "closed" or (
        workload.get("model") is None and "groups" in workload and "operations" not in workload
    )


def _rate_per_user_s(options: dict[str, Any], data: dict[str, Any]) -> float:
    """Arrivals per second of one user in the operations that take part; 0 where they are not all numbers."""
    taking_part = _listed(options.get("of"))
    operations = [one for _, one in entries(mapping(data.get("workload")).get("operations"))]
    rates = [one.get("per_user_hour", 0.0) for one in operations if not taking_part or one.get("name") in taking_part]
    return float(sum(rates)) / 3600 if all(map(_is_number, rates)) else 0.0


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _levels_of(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if _is_number(value) else []


def _texts(value: Any) -> list[str]:
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str) and text]
