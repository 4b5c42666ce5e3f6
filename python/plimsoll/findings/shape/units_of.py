"""The units of the numbers in a finding, by their place: {"capacity.good": "users", "steps[].p90_ms": "ms"}.

Read off the declared fields, so that JSON, schema and page cannot name different ones. In a place `[]` stands for each
entry of a list, `*` for each key of a mapping whose keys are names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, NotRequired, Required, Union, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

from plimsoll.findings.shape.finding import Finding
from plimsoll.findings.shape.units import LEVEL, Unit


def with_units(finding: Mapping[str, Any]) -> dict[str, Any]:
    """The finding with the `units` of its numbers."""
    plain = {key: value for key, value in finding.items() if key != "units"}
    level = level_unit(plain)
    found = dict.fromkeys(_numbers(plain, Finding, None, ""))
    return plain | {"units": {place: level if unit == LEVEL.name else unit for place, unit in found}}


def level_unit(finding: Mapping[str, Any]) -> str:
    """Of its levels; the users of a study where it does not tell."""
    capacity = finding.get("capacity")
    of_capacity = capacity.get("unit") if isinstance(capacity, Mapping) else None
    return str(of_capacity or finding.get("level_unit") or "users")


def _numbers(value: Any, hint: Any, unit: str | None, place: str) -> Iterator[tuple[str, str]]:
    """(place, unit) of each number in the value; without those whose fields are not declared."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        named = next((name for one in _choices(hint, unit) if (name := one[1]) is not None), None)
        if named is not None:
            yield place, named
        return
    for one, inherited in _choices(hint, unit):
        if isinstance(value, Mapping) and is_typeddict(one):
            hints = _hints(one)
            for key, inner in value.items():
                if key in hints:
                    yield from _numbers(inner, hints[key], inherited, f"{place}.{key}" if place else key)
        elif isinstance(value, Mapping) and get_origin(one) is dict:
            for inner in value.values():
                yield from _numbers(inner, get_args(one)[1], inherited, f"{place}.*")
        elif isinstance(value, list | tuple) and get_origin(one) is list:
            for inner in value:
                yield from _numbers(inner, get_args(one)[0], inherited, f"{place}[]")


def _choices(hint: Any, unit: str | None) -> Iterator[tuple[Any, str | None]]:
    """The plain types that a field may have, each with its unit."""
    origin = get_origin(hint)
    if origin in (Required, NotRequired):
        yield from _choices(get_args(hint)[0], unit)
    elif origin is Annotated:
        inner, *about = get_args(hint)
        yield from _choices(inner, next((one.name for one in about if isinstance(one, Unit)), unit))
    elif origin in (Union, UnionType):
        for one in get_args(hint):
            yield from _choices(one, unit)
    else:
        yield hint, unit


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)
