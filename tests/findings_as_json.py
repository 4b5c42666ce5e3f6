"""What every finding has to be as JSON: of the published schema, with evidence, no number without its unit, and no
sentence in which something is missing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from jsonschema import Draft202012Validator

from plimsoll.findings.consistency.check import consistent, contradictions
from plimsoll.findings.shape.units_of import with_units

SCHEMA = Path(__file__).parents[1] / "docs" / "findings.schema.json"
Told = TypeVar("Told", dict[str, Any], list[dict[str, Any]])
Keys = tuple[str, ...]
_TORN = re.compile(r"[:,;] *\.(?!\S)|\( *\)|: *:|: *$|  \.")


def checked(told: Told) -> Told:
    """The finding, or the findings, as they came; AssertionError where one is not as published, or where they
    contradict each other when they are shown."""
    findings = [told] if isinstance(told, Mapping) else told
    shown = consistent(findings)
    for finding in (*findings, *shown):
        check(finding)
    assert_one_story(shown)
    return told


def assert_one_story(findings: Sequence[Mapping[str, Any]]) -> None:
    """No two findings of a run contradict each other."""
    assert [f"{one.rule}: {one.words}" for one in contradictions(findings)] == []


def check(finding: Mapping[str, Any]) -> None:
    """As a run directory would hold it."""
    written = json.loads(json.dumps(with_units(finding)))
    wrong = [f"{error.json_path}: {error.message[:300]}" for error in _validator().iter_errors([written])]
    assert not wrong, (written["question"], wrong)
    assert all(one["words"] and one["unit"] and one["file"] for one in written["evidence"])
    assert numbers_without_unit(written) == [], written["question"]
    assert torn_sentences(written) == [], written["question"]


def torn_sentences(value: Any) -> list[str]:
    """Texts in which something is missing: a list or a cause that is empty (": .", ", ."), a pair of brackets."""
    if isinstance(value, str):
        return [value] if _TORN.search(value) else []
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return [text for one in inner for text in torn_sentences(one)]


def numbers_without_unit(finding: Mapping[str, Any]) -> list[Keys]:
    """Places of numbers of which `units` says nothing, or points to a field that names none."""
    units = {tuple(place.replace("[]", ".[]").split(".")): unit for place, unit in finding["units"].items()}
    return [keys for keys, around in _numbers(finding) if not _unit_of(keys, around, units)]


def _unit_of(keys: Keys, around: Sequence[Mapping[str, Any]], units: Mapping[Keys, str]) -> str | None:
    """The unit; of one that is "named by" a field, what that field of the nearest entry says."""
    alike = (unit for place, unit in units.items() if len(place) == len(keys) and all(map(_is_alike, place, keys)))
    unit = next(alike, None)
    if unit is None or not unit.startswith("named by"):
        return unit
    field = unit.rpartition("[].")[2] if "[]." in unit else "unit"
    group, _, name = field.rpartition(".")
    entries = (entry.get(group, {}) if group else entry for entry in reversed(around))
    return next((str(entry[name]) for entry in entries if entry.get(name)), None)


def _is_alike(wanted: str, key: str) -> bool:
    """Whether a key of a place stands for that key; `*` is any name."""
    return wanted in ("*", key)


def _numbers(
    value: Any, keys: Keys = (), around: tuple[Mapping[str, Any], ...] = ()
) -> Iterator[tuple[Keys, tuple[Mapping[str, Any], ...]]]:
    """Each number: its keys, `[]` for an entry of a list, and the mappings around it from the outermost on."""
    if isinstance(value, list):
        for inner in value:
            yield from _numbers(inner, (*keys, "[]"), around)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _numbers(inner, (*keys, key), (*around, value))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield keys, around


@cache
def _validator() -> Draft202012Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
