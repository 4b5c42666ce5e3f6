"""Lines of Prometheus' text exposition and of OpenMetrics: name, labels, value, time.

prometheus.io/docs/instrumenting/exposition_formats; the OpenMetrics specification (text format). Read line by line, and
only the lines whose metric is wanted are taken apart: a page of 1,500 lines of which 100 are wanted, read each second,
must not cost a noticeable part of a core. Times are ms since 1970 in the text format, s in OpenMetrics; which of both
follows from their size.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from plimsoll.runs.importers.clock import EARLIEST_S, LATEST_S
from plimsoll.runs.importers.plain_numbers import real

_NAME = re.compile(r"[A-Za-z_:][\w:]*")
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_REST = re.compile(
    rf"(?:\{{((?:[^\"}}]|{_QUOTED})*)\}})?[ \t]*(?<=[ \t}}])([^\s#]+)(?:[ \t]+([-+.\deE]+))?[ \t]*(?:#.*)?$"
)
_LABEL = re.compile(r'(?:([A-Za-z_][\w.]*)|"((?:[^"\\]|\\.)*)")\s*=\s*"((?:[^"\\]|\\.)*)"')
_QUOTED_NAME = re.compile(r'\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)')
_ESCAPED = re.compile(r"\\(.)")
_TYPE = re.compile(r"# ?TYPE (\S+) (\w+)")


@dataclass(frozen=True)
class Sample:
    """One line; `at_unix` is None where it has no time."""

    name: str
    labels: dict[str, str]
    value: float
    at_unix: float | None = None


@dataclass
class Page:
    """The wanted samples by name, the types that it declares, how many lines were none, and of the series that stand
    several times which those are: the first line of each counts."""

    samples: dict[str, list[Sample]] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    lines: int = 0
    unreadable: int = 0
    repeated: dict[str, None] = field(default_factory=dict)
    _series: set[tuple[str, tuple[tuple[str, str], ...]]] = field(default_factory=set)


def parse_line(line: str) -> Sample | None:
    """A line that is neither empty nor a comment; None if it is no line of the format. Its time is as
    written (`seconds_of`)."""
    found = _NAME.match(line)
    name = found[0] if found else ""
    rest = _REST.match(line, found.end() if found else 0)
    if rest is None:
        return None
    inside = rest[1] or ""
    if not name:
        quoted = _QUOTED_NAME.match(inside)
        if quoted is None:
            return None
        name, inside = _plain(quoted[1]), inside[quoted.end() :]
    try:
        value = real(rest[2])
        at = None if rest[3] is None else real(rest[3])
    except ValueError:
        return None
    labels = {bare or _plain(quoted): _plain(text) for bare, quoted, text in _LABEL.findall(inside)} if inside else {}
    return Sample(name, labels, value, at)


def declared_type(line: str) -> dict[str, str]:
    """The name and type that a comment declares; empty if it declares none."""
    found = _TYPE.match(line)
    return {found[1]: found[2]} if found else {}


def seconds_of(stamp: float) -> float | None:
    """Seconds since 1970 of a time in s or ms; None if it is neither."""
    for divisor in (1.0, 1e3):
        if EARLIEST_S <= stamp / divisor <= LATEST_S:
            return stamp / divisor
    return None


def parse_page(text: str, wanted: Callable[[str], bool], *, all_lines: bool = False) -> Page:
    """The samples whose name is wanted, with times in s since 1970. `all_lines`: those of others are looked at too,
    whether they are lines of the format."""
    page = Page()
    verdicts: dict[str, bool] = {}
    for line in text.split("\n"):
        if not line or line[0] == "#":
            if line.startswith("# TYPE"):
                page.types.update(declared_type(line))
            continue
        found = _NAME.match(line)
        if found is not None:
            name = found[0]
            verdict = verdicts.get(name)
            if verdict is None:
                verdict = verdicts[name] = wanted(name)
            if not verdict and not all_lines:
                page.lines += 1
                continue
        elif not line.strip():
            continue
        _add(page, line.rstrip("\r"), wanted)
    return page


def _add(page: Page, line: str, wanted: Callable[[str], bool]) -> None:
    sample = parse_line(line)
    if sample is None:
        page.unreadable += 1
        return
    page.lines += 1
    if not wanted(sample.name):
        return
    if sample.at_unix is not None:
        sample = Sample(sample.name, sample.labels, sample.value, seconds_of(sample.at_unix))
    series = (sample.name, tuple(sorted(sample.labels.items())))
    if series in page._series:
        page.repeated[f"{sample.name}{{{','.join(f'{name}={text!r}' for name, text in series[1])}}}"] = None
        return
    page._series.add(series)
    page.samples.setdefault(sample.name, []).append(sample)


def _plain(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda match: "\n" if match[1] == "n" else match[1], text)
