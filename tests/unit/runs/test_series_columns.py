"""The table `series` in columns, from seconds whose buckets come in each of their forms."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.runs.format.line_cut import Steps
from plimsoll.runs.format.series_columns import SERIES_SCHEMA
from plimsoll.runs.format.tables import series_table_of
from plimsoll.runs.snapshot import Series, Snapshot

PAIRS = ((4000, 1), (4007, 3), (4009, 1))


def trend(buckets: object, **tags: str) -> Series:
    return Series("http_req_duration", "trend", tags, 5, 31.5, 4.0, 9.0, buckets, epoch=2 if tags else None)


@pytest.mark.parametrize(
    "buckets", [PAIRS, np.array(PAIRS), Steps((4000, 7, 2), (1, 3)), [list(pair) for pair in PAIRS]]
)
def test_each_form_of_buckets_becomes_the_same_lists(buckets: object) -> None:
    empty = Series("checks", "trend", {})
    table = series_table_of([Snapshot(7, series=(empty, trend(buckets, name="a"), Series("n", "counter", value=2.0)))])

    assert table.schema.equals(SERIES_SCHEMA)
    assert table["bucket_index"].to_pylist() == [[], [4000, 4007, 4009], None]
    assert table["bucket_count"].to_pylist() == [[], [1, 3, 1], None]
    assert table["count"].to_pylist() == [0, 5, None] and table["value"].to_pylist() == [None, None, 2.0]
    assert table["second"].to_pylist() == [7, 7, 7] and table["epoch"].to_pylist() == [None, 2, None]


def test_series_keep_their_names_and_tags_over_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.runs.format.series_columns._ROWS_AT_ONCE", 3)
    monkeypatch.setattr("plimsoll.runs.format.series_columns._MOST_KNOWN", 4)
    series = [trend(PAIRS, scenario=f"s{place}", name=f"n{place}", x="1") for place in range(5)]
    table = series_table_of([Snapshot(second, series=(*series[second % 3 :], series[0])) for second in range(9)])

    seen = [one.tags for second in range(9) for one in (*series[second % 3 :], series[0])]
    assert [dict(tags) for tags in table["tags"].to_pylist()] == seen
    for name in ("scenario", "name"):
        assert table[name].to_pylist() == [tags[name] for tags in seen]
    assert set(table["metric"].to_pylist()) == {"http_req_duration"}


def test_no_second_is_an_empty_table() -> None:
    assert series_table_of([]).num_rows == 0
    assert series_table_of([Snapshot(0)]).schema.equals(SERIES_SCHEMA)


def test_a_count_of_a_bucket_that_is_not_there_is_refused() -> None:
    for place in (-1, 2, 3):
        with pytest.raises(ValueError, match="a bucket that is not there"):
            series_table_of([Snapshot(0, series=(trend(Steps((1, 1), (place, 3))), trend(PAIRS)))])
