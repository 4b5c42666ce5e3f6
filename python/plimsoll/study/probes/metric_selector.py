"""A metric with conditions on its labels, as PromQL writes them: http_requests_total{code=~"5..", method!="GET"}."""

from __future__ import annotations

import re
from dataclasses import dataclass

from plimsoll.errors import InputError
from plimsoll.study.probes.patterns import compiled

_SELECTOR = re.compile(r"^\s*([A-Za-z_:][\w:.]*)\s*(?:\{(.*)\})?\s*$", re.DOTALL)
_CONDITION = re.compile(r'\s*([A-Za-z_][\w.]*)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)')
FORM = 'Write a metric, or a metric with labels, as http_requests_total{code="500"}.'


@dataclass(frozen=True)
class Condition:
    """On one label; a label that is not there is empty."""

    label: str
    pattern: re.Pattern[str]
    wanted: bool

    def holds(self, labels: dict[str, str]) -> bool:
        """Whether these labels meet it. Patterns match the whole value, as in PromQL."""
        return bool(self.pattern.fullmatch(labels.get(self.label, ""))) == self.wanted


@dataclass(frozen=True)
class Selector:
    """A metric and conditions on its labels."""

    metric: str
    conditions: tuple[Condition, ...] = ()

    def holds(self, labels: dict[str, str]) -> bool:
        """Whether these labels meet all conditions."""
        return all(one.holds(labels) for one in self.conditions)


def conditions_of(inside: str, *, key: str | None = None) -> tuple[Condition, ...]:
    """What stands between the braces. InputError if it is none."""
    conditions, place = [], 0
    inside = inside.strip()
    while place < len(inside):
        found = _CONDITION.match(inside, place)
        if found is None:
            raise InputError(f"{inside[place:][:60]!r} is no condition on a label", FORM, key=key)
        label, sign, value = found.groups()
        value = re.sub(r'\\([\\"])', r"\1", value)
        try:
            pattern = compiled(value if "~" in sign else re.escape(value), re.DOTALL)
        except re.error as error:
            raise InputError(f"{value!r} is no regular expression ({error})", FORM, key=key) from None
        conditions.append(Condition(label, pattern, not sign.startswith("!")))
        place = found.end()
    return tuple(conditions)


def selector_of(text: str, *, key: str | None = None) -> Selector:
    """The selector that the text writes. InputError if it is none."""
    found = _SELECTOR.match(text)
    if found is None:
        raise InputError(f"{text!r} selects no metric", FORM, key=key)
    return Selector(found[1], conditions_of(found[2] or "", key=key))
