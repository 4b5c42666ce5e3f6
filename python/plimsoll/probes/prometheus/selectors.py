"""What the study's own selectors (study/probes/metric_selector.py) find in a scrape.

http_requests_total{code=~"5..", handler!="/health"}     a counter: its rate per second, summed over the series
http_server_requests_seconds                             a histogram or summary: the mean of what came since
queue_length                                             a gauge: summed over the series
"""

from __future__ import annotations

from plimsoll.probes.prometheus.seen import Seen
from plimsoll.study.probes.metric_selector import Selector


def metrics_of(selector: Selector) -> tuple[str, ...]:
    """The metrics that it reads: its own, and what a histogram or summary of that name consists of."""
    return (selector.metric, *(f"{selector.metric}{end}" for end in ("_sum", "_count", "_total")))


def value_of(selector: Selector, seen: Seen) -> float | None:
    """Its value in a scrape; None where the metric is not there, or has no rate yet."""
    ours = seen.of(selector.holds) if selector.conditions else seen
    total_name, count_name = f"{selector.metric}_sum", f"{selector.metric}_count"
    if ours.has(total_name) and ours.has(count_name):
        total, count = ours.rate(total_name), ours.rate(count_name)
        return total / count if total is not None and count else None
    for name in (selector.metric, f"{selector.metric}_total"):
        if ours.has(name):
            return ours.rate(name) if name in seen.counters else ours.gauge(name)
    return None


def is_there(selector: Selector, seen: Seen) -> bool:
    """Whether the scrape has such a metric at all."""
    return any(seen.has(name) for name in metrics_of(selector))
