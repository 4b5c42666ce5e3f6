"""What each scenario and group did, after the totals of a full summary: groups that belong to no named scenario, then
the scenarios, each with its groups inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.report.k6.rows import NETWORK, check_lines, metric_lines

CHECKS_ALONE = "(only checks; requests and metrics of setup() and teardown() are in the totals alone)"
INCOMPLETE = "(over 1,000 distinct series: samples beyond them are in no group)"


def part_lines(parts: Mapping[str, Any], seconds: float, time_unit: str) -> Iterator[str]:
    """`parts`: as of `SummaryParts.of`; `seconds`: what the totals' rates are over."""
    if parts.get("is_incomplete"):
        yield from (f"  {INCOMPLETE}", "")
    for group in parts.get("groups", ()):
        yield from _part(f"  █ GROUP: {group['name']}", group, seconds, time_unit, 0, NETWORK)
    for scenario in parts.get("scenarios", ()):
        yield from _part(f"  █ SCENARIO: {scenario['name']}", scenario, seconds, time_unit, 0)


def _part(
    title: str, part: Mapping[str, Any], seconds: float, time_unit: str, depth: int, without: str = ""
) -> Iterator[str]:
    """A title, checks and metrics, and the groups inside, each further to the right. A scenario's checks are those of
    all its groups, a group's its own. As in k6, groups have no bytes."""
    yield from (title, "")
    if part.get("is_partial"):
        yield from (f"    {CHECKS_ALONE}", "")
    own = {"checks": part["checks"]} if without else part
    lines = [*check_lines(own, seconds), *metric_lines(part["metrics"], time_unit, is_full=True, without=without)]
    yield from (f"{'  ' * depth}{line}" if line else "" for line in lines)
    for group in part["groups"]:
        title = f"{'  ' * depth}    ↳ GROUP: {group['name']}"
        yield from _part(title, group, seconds, time_unit, depth + 1, NETWORK)
