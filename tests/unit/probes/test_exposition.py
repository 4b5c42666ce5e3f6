"""Lines of Prometheus' text and of OpenMetrics."""

from __future__ import annotations

import math

import pytest

from plimsoll.runs.importers.resources.exposition import Sample, parse_line, parse_page


@pytest.mark.parametrize(
    ("line", "name", "labels", "value", "at"),
    [
        ("up 1", "up", {}, 1.0, None),
        ("up\t1\t1790000000000", "up", {}, 1.0, 1.79e12),
        ('a{b="x}y\\"z",c="d\\\\n\\n"} 3.5', "a", {"b": 'x}y"z', "c": "d\\n\n"}, 3.5, None),
        ('a{b="c",} -1e-3', "a", {"b": "c"}, -0.001, None),
        ('a_bucket{le="0.1"} 17 1790000000.5 # {trace="a b"} 0.67', "a_bucket", {"le": "0.1"}, 17.0, 1790000000.5),
        ('{"my.metric", "a.b"="x", c="é"} 4', "my.metric", {"a.b": "x", "c": "é"}, 4.0, None),
        ("a:b:rate5m 0", "a:b:rate5m", {}, 0.0, None),
    ],
)
def test_a_line_is_name_labels_value_and_time(line, name, labels, value, at) -> None:
    assert parse_line(line) == Sample(name, labels, value, at)


def test_values_may_be_infinite_or_no_number() -> None:
    assert parse_line("a +Inf").value == math.inf
    assert math.isnan(parse_line("a NaN").value)


@pytest.mark.parametrize("line", ["a", "a b", 'a{b="c} 1', "a 1 2 3", "1a 2", "<html>", "a{b=c} 1 x", '{b="c"} 1'])
def test_what_is_no_line_is_none(line: str) -> None:
    assert parse_line(line) is None


def test_a_page_has_the_wanted_samples_and_their_types_with_times_in_seconds() -> None:
    text = """# HELP a_total Things.
# TYPE a_total counter
a_total{x="1"} 5 1790000000123
a_total{x="2"} 6
# TYPE b gauge
b 7
this is no line
# EOF
"""
    page = parse_page(text, lambda name: name != "b")
    assert page.samples == {
        "a_total": [Sample("a_total", {"x": "1"}, 5.0, 1790000000.123), Sample("a_total", {"x": "2"}, 6.0, None)]
    }
    assert page.types == {"a_total": "counter", "b": "gauge"}
    assert (page.lines, page.unreadable) == (3, 1)
    assert parse_page("<html>\n{\n", lambda name: True).unreadable == 2


def test_a_series_that_stands_several_times_counts_once_by_its_first_line() -> None:
    page = parse_page('a{x="1",y="2"} 1\na{y="2",x="1"} 2\na{x="2"} 3\na 4\na 5\n', {"a"}.__contains__)
    assert [one.value for one in page.samples["a"]] == [1.0, 3.0, 4.0]
    assert list(page.repeated) == ["a{x='1',y='2'}", "a{}"]


def test_lines_of_metrics_that_nobody_wants_are_looked_at_when_asked() -> None:
    text = "a 1\nhello this is no metric\nb{ 2\nc 3\n"
    assert parse_page(text, {"a"}.__contains__).unreadable == 0
    page = parse_page(text, {"a"}.__contains__, all_lines=True)
    assert (page.lines, page.unreadable, list(page.samples)) == (2, 2, ["a"])
