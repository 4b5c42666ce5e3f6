"""Metrics that the study selects itself."""

from __future__ import annotations

import pytest

from plimsoll.errors import InputError
from plimsoll.probes.prometheus.seen import Scrapes
from plimsoll.probes.prometheus.selectors import value_of
from plimsoll.runs.importers.resources.exposition import parse_page
from plimsoll.study.probes.metric_selector import selector_of

PAGE = """# TYPE http_requests_total counter
http_requests_total{{code="200",path="/a"}} {0}
http_requests_total{{code="500",path="/a"}} {1}
http_requests_total{{code="503",path="/b"}} {1}
# TYPE queue gauge
queue{{name="mail"}} 3
queue{{name="index"}} 4
# TYPE http_seconds histogram
http_seconds_bucket{{le="+Inf"}} {1}
http_seconds_sum {0}
http_seconds_count {1}
# TYPE jobs gauge
jobs_total 7
"""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("http_requests_total", 70.0),
        ('http_requests_total{code="200"}', 50.0),
        ('http_requests_total{code=~"5.."}', 20.0),
        ('http_requests_total{code!~"5..", path!="/b"}', 50.0),
        ("http_requests", 70.0),
        ("queue", 7.0),
        ('queue{name="mail"}', 3.0),
        ("http_seconds", 5.0),
        ("jobs_total", 7.0),
        ("nothing", None),
        ('queue{name="none"}', None),
    ],
)
def test_a_counter_is_a_rate_a_histogram_a_mean_and_a_gauge_a_sum(text: str, value: float | None) -> None:
    scrapes = Scrapes(())
    for at, numbers in ((0.0, (0, 0)), (2.0, (100, 20))):
        page = parse_page(PAGE.format(*numbers), lambda name: True)
        seen = scrapes.add(page.samples, page.types, at)
    assert value_of(selector_of(text), seen) == value


@pytest.mark.parametrize("text", ["", "a b", 'a{b="c}', "a{b}", 'a{b=~"("}', "5xx"])
def test_what_selects_no_metric_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(InputError, match="Write a metric"):
        selector_of(text, key="probes.prometheus[0].values.x")
