"""Resource series beside a run: aligned by the clock with a stated offset, and nothing between the points."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.resources import prometheus
from plimsoll.runs.importers.resources.points import Point, aligned
from plimsoll.runs.importers.resources.reading import read_resources

T0 = 1_790_000_000.0


def points(tmp_path: Path, text: str) -> list[Point]:
    (tmp_path / "r").write_text(text)
    return list(read_resources(SourceFile(tmp_path / "r")))


def test_a_csv_names_sources_and_shares_by_its_headings(tmp_path: Path) -> None:
    text = f"time,gc cpu (%),heap used\n{T0 + 0.2:.3f},21,130.5 MB\n{T0 + 10:.3f},,140 MB\n"
    found = aligned(points(tmp_path, text), T0, 60, 0.0)
    assert [(row["second"], row["source"], row["values"]) for row in found.rows] == [
        (0, "gc", {"cpu_share": pytest.approx(0.21)}),
        (0, "server", {"heap_used_bytes": 130.5e6}),
        (10, "server", {"heap_used_bytes": 140e6}),
    ]


def test_seconds_without_a_point_stay_empty_and_points_outside_are_counted_apart(tmp_path: Path) -> None:
    text = "time,cpu (%)\n" + "".join(f"{T0 + 15 * n - 30},{n}\n" for n in range(10))
    found = aligned(points(tmp_path, text), T0, 61, 0.0)
    assert [row["second"] for row in found.rows] == [0, 15, 30, 45, 60]
    assert (found.inside, found.outside) == (5, 5)


def test_the_offset_is_added_to_the_times(tmp_path: Path) -> None:
    found = aligned(points(tmp_path, f"time,cpu (%)\n{T0 + 3600},50\n"), T0, 60, -3595.0)
    assert [row["second"] for row in found.rows] == [5]


def test_a_range_query_gives_each_series_its_labels_as_source(tmp_path: Path) -> None:
    result = [
        {"metric": {"__name__": "cpu_ratio", "instance": f"db{n}"}, "values": [[T0 + 15, "0.5"], [T0 + 30, "NaN"]]}
        for n in (1, 2)
    ]
    text = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})
    found = aligned(points(tmp_path, text), T0, 60, 0.0)
    assert [(row["source"], row["values"]) for row in found.rows] == [
        ("db1", {"cpu_share": 0.5}),
        ("db2", {"cpu_share": 0.5}),
    ]


def test_text_with_timestamps_makes_rates_of_counters_between_their_own_points(tmp_path: Path) -> None:
    scrapes = "# TYPE process_cpu_seconds_total counter\n"
    for n, value in enumerate((100.0, 107.5, 112.5, 2.0, 3.5)):  # the process started anew before the fourth
        scrapes += f'process_cpu_seconds_total{{job="api",cpu="0"}} {value} {int(1000 * (T0 + 15 * n))}\n'
    found = aligned(points(tmp_path, scrapes), T0, 100, 0.0)
    rows = [(row["second"], row["source"], row["values"]["cpu_cores_used"]) for row in found.rows]
    assert rows == [
        (15, "api cpu=0", 0.5),
        (30, "api cpu=0", pytest.approx(1 / 3)),
        (60, "api cpu=0", pytest.approx(0.1)),
    ]


def test_a_share_that_passes_the_whole_by_a_little_is_a_share(tmp_path: Path) -> None:
    found = aligned(points(tmp_path, f"time,db cpu (%)\n{T0},100.4\n"), T0, 60, 0.0)
    assert found.rows[0]["values"] == {"cpu_share": pytest.approx(1.004)}


def rates(tmp_path: Path, name: str, declared: str) -> list[dict[str, float]]:
    lines = "".join(f"{name} {value} {int(1000 * (T0 + 10 * n))}\n" for n, value in enumerate((20, 50)))
    return [row["values"] for row in aligned(points(tmp_path, declared + lines), T0, 60, 0.0).rows]


@pytest.mark.parametrize(
    ("name", "declared", "values"),
    [
        ("thread_count", "# HELP thread_count x\n", [{"thread_count": 20}, {"thread_count": 50}]),
        ("thread_count", "# TYPE thread_count gauge\n", [{"thread_count": 20}, {"thread_count": 50}]),
        ("jobs_total", "# TYPE jobs_total gauge\n", [{"jobs_total": 20}, {"jobs_total": 50}]),
        ("jobs_total", "# HELP jobs_total x\n", [{"jobs_per_s": 3}]),
        ("jobs", "# TYPE jobs counter\n", [{"jobs_per_s": 3}]),
        ("jobs_total", "# TYPE jobs counter\n", [{"jobs_per_s": 3}]),
        ("wait_seconds_count", "# TYPE wait_seconds histogram\n", [{"wait_seconds_count_per_s": 3}]),
        ("wait_seconds_sum", "# TYPE wait_seconds summary\n", [{"wait_seconds_sum_per_s": 3}]),
    ],
)
def test_counters_are_what_the_file_declares_so_else_what_ends_in_total(
    tmp_path: Path, name: str, declared: str, values: list[dict[str, float]]
) -> None:
    assert rates(tmp_path, name, declared) == values


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("# TYPE up gauge\nup 1\n", "a line without a timestamp"),
        ('{"status":"success","data":{"resultType":"vector","result":[]}}', "not a matrix over time"),
        ('{"status":"error","error":"bad query","data":{"resultType":""}}', "Prometheus answered: bad query"),
        ("time,cpu (%)\nyesterday,4\n", "r:2: time"),
        ("time,cpu (%)\n1790000000,-4\n", "negative"),
        ("time,cpu (%)\n", "no values in it"),
        ("time,db cpu (%)\n1790000000,350\n", "r:2: db cpu (%): 350% is above 100%"),
        ("time,db cpu\n1790000000,350%\n", "r:2: db cpu: 350% is above 100%"),
        ("time,cpu_utilization\n1790000000,45\n", "r:2: cpu_utilization: 45 is above 1"),
        (f"# TYPE up gauge\ndb_cpu_utilization 45 {1000 * T0:.0f}\n", "r:2: db_cpu_utilization: 45 is above 1"),
        (f"# TYPE up gauge\ncpu_percent 350 {1000 * T0:.0f}\n", "r:2: cpu_percent: 350% is above 100%"),
        (
            '{"data":{"resultType":"matrix","result":[{"metric":{"__name__":"cpu_ratio"},"values":[[1790000000,"3.5"]]}]}}',
            "data.result[0].values: cpu_ratio: 3.5 is above 1",
        ),
        ("time;cpu (%)\n1790000000;1,350\n", "r:2: cpu (%): '1,350' is 1.350 or 1350"),
        ("a;b\n", "no resource series that is known"),
    ],
)
def test_what_cannot_be_put_beside_a_run_is_refused(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        points(tmp_path, text)
    assert what in str(caught.value)


def test_points_are_given_as_the_file_is_read(tmp_path: Path) -> None:
    """The mistake in the third line is not met before its time."""
    (tmp_path / "r").write_text(f"time,cpu (%)\n{T0},1\nyesterday,2\n")
    found = read_resources(SourceFile(tmp_path / "r"))
    assert next(found).value == 1
    with pytest.raises(InputError, match="r:3: time"):
        next(found)


def test_what_is_kept_of_a_long_series_is_what_lies_in_the_run(tmp_path: Path) -> None:
    """A day of a counter each second, of which a minute lies in the run: some kilobytes."""

    def day() -> Iterator[Point]:
        for second in range(86_400):
            yield Point(T0 - 80_000 + second, "api", "requests_total", 3.0 * second)
            yield Point(T0 - 80_000 + second, "api", "cpu (%)", 50.0)

    tracemalloc.start()
    found = aligned(day(), T0, 60, 0.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000
    assert [row["values"] for row in found.rows] == [{"cpu_share": 0.5, "requests_per_s": 3.0}] * 60
    assert found.inside == 120 and found.outside == 2 * (86_400 - 60)


def test_points_in_any_order_give_the_same_rows(tmp_path: Path) -> None:
    listed = [Point(T0 + n / 2, "api", name, float(n)) for n in range(-9, 40) for name in ("jobs_total", "heap")]
    shuffled = sorted(listed, key=lambda point: hash((point.at_s * 7919 % 31, point.name)))
    assert aligned(shuffled, T0, 15, 0.0).rows == aligned(listed, T0, 15, 0.0).rows


def test_the_json_of_a_range_query_has_a_greatest_size_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prometheus, "MOST_JSON_BYTES", 100)
    text = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": [{"values": []}] * 9}})
    with pytest.raises(InputError, match=r"is read whole.*a larger step"):
        points(tmp_path, text)
