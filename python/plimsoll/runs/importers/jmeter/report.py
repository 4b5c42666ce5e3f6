"""The tables that JMeter itself makes of results, whose headings have no units: Aggregate Report, Summary Report ("Save
Table Data"), and those of jmeter-plugins' command line. Times are in ms and rates per second
(jmeter.apache.org/usermanual/component_reference.html, "Aggregate Report").
"""

from __future__ import annotations

import re
from collections.abc import Sequence

READ_AS = "These are JMeter's own headings: times are taken as ms, throughput per second."
_OWN = ("# samples", "error %")  # no other tool has both
_HEADINGS = {
    "average": "mean (ms)", "median": "p50 (ms)", "min": "min (ms)", "max": "max (ms)", "maximum": "max (ms)",
    "label": "label", "# samples": "samples", "error %": "errors (%)", "throughput": "throughput (/s)",
}  # fmt: skip
_LINE = re.compile(r"(\d{1,2}(?:\.\d+)?)% line")
# What jmeter-plugins write: the names of JMeter's texts instead of the texts.
_PLUGIN_PREFIX = "aggregate_report_"
_PLUGIN = {"sampler_label": "label", "count": "# samples", "error%": "error %", "rate": "throughput"}


def with_units(headings: Sequence[str]) -> list[str] | None:
    """The headings of such a table with the units that they lack; None for another table."""
    plain = [_plain(heading) for heading in headings]
    if not set(_OWN) <= set(plain):
        return None
    found = []
    for heading, text in zip(headings, plain, strict=True):
        percentile = _LINE.fullmatch(text)
        found.append(f"p{percentile.group(1)} (ms)" if percentile else _HEADINGS.get(text, heading))
    return found


def _plain(heading: str) -> str:
    text = heading.strip().lower()
    if not text.startswith((_PLUGIN_PREFIX, "sampler_")):
        return text
    text = text.removeprefix(_PLUGIN_PREFIX).replace("_line", " line")
    return _PLUGIN.get(text, text)
