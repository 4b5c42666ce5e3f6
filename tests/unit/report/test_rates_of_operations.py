"""Rates in the tables of a level are what ended there each second, whatever the counts hold besides."""

from __future__ import annotations

from plimsoll.report.tables import tally_rows
from plimsoll.report.tally import Tally
from plimsoll.runs import Histogram


def test_users_under_way_at_the_end_of_a_step_are_counted_and_make_no_rate_larger() -> None:
    """As seen: 191 iterations ended in 6 s, and 32 more had begun; 37.2/s where each made a request at 31.8/s."""
    tallies = {name: Tally(Histogram.from_values([5.0] * count)) for name, count in (("read", 150), ("write", 73))}
    rows = tally_rows(tallies, 6.0, ended_per_s=191 / 6)
    assert [(row["name"], row["count"], row["rate"]) for row in rows] == [
        ("read", "150", "21.4"),
        ("write", "73", "10.4"),
    ]
    assert [row["rate"] for row in tally_rows(tallies, 6.0)] == ["25", "12.2"], "of requests"
    assert tally_rows({"idle": Tally()}, 0.0)[0]["rate"] == "–"
