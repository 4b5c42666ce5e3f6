"""The seconds that samples become: their span, and where they are kept meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from importing import imported

from plimsoll.errors import InputError
from plimsoll.runs.importers.k6.json_samples import FORMAT
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import BadRecord
from plimsoll.runs.importers.spill import PART_S, Spill

T0 = 1_790_000_000
TREND = '{"metric":"steps","type":"Metric","data":{"name":"steps","type":"trend","contains":"time"}}\n'


def point(metric: str, at: str) -> str:
    return f'{{"metric":"{metric}","type":"Point","data":{{"time":"{at}","value":9.5,"tags":{{}}}}}}\n'


@pytest.mark.parametrize(
    ("at", "what"),
    [("2029-11-22T05:34:37Z", "spans 1,096 days"), ("0001-01-01T00:00:00Z", "no time between 1990 and 2100")],
)
@pytest.mark.parametrize("metric", ["steps", "http_req_duration"])
def test_a_point_of_any_metric_at_a_time_that_cannot_be_names_its_line(
    tmp_path: Path, metric: str, at: str, what: str
) -> None:
    path = tmp_path / "k.json"
    path.write_text(TREND + point("http_req_duration", "2026-11-22T05:34:37Z") + point(metric, at))
    with Spill() as spill, pytest.raises(InputError) as caught:
        FORMAT.read(SourceFile(path), spill)
    assert f"{path}:3" in str(caught.value) and what in str(caught.value)


def test_a_trend_before_the_first_request_is_in_the_first_second(tmp_path: Path) -> None:
    times = [("steps", "2026-11-22T05:34:27Z"), ("http_req_duration", "2026-11-22T05:34:37Z")]
    (tmp_path / "k.json").write_text(TREND + "".join(point(*one) for one in times))
    found = imported(tmp_path / "k.json")
    assert [snapshot.second for snapshot in found.snapshots] == list(range(11))
    assert [series.metric for series in found.snapshots[0].series] == ["steps"]


def test_a_sample_that_is_refused_leaves_the_span_as_it_was() -> None:
    with Spill() as spill:
        spill.request(T0, 5.0, (), False)
        with pytest.raises(BadRecord):
            spill.request(T0 + 1e8, 5.0, (), False)
        assert spill.last_s == T0 + 0.005


def test_a_full_disk_names_the_folder_and_how_to_choose_another(tmp_path: Path) -> None:
    with Spill(tmp_path) as spill:
        (spill.folder / f"{T0 // PART_S:012d}").symlink_to("/dev/full")
        spill.request(T0, 5.0, (), False)
        with pytest.raises(InputError, match="No space left on device") as caught:
            list(spill.snapshots())
    assert str(tmp_path) in str(caught.value) and "TMPDIR" in str(caught.value)


def test_a_folder_that_cannot_take_the_samples_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="TMPDIR") as caught:
        Spill(tmp_path / "missing")
    assert str(tmp_path / "missing") in str(caught.value)


def test_a_pause_between_two_tests_has_no_level_and_a_slow_answer_or_long_thinking_is_none() -> None:
    def levels(starts: Sequence[float], took_ms: float = 20.0) -> tuple[list[float], int]:
        with Spill() as spill:
            for start in starts:
                spill.request(start, took_ms if start == starts[20] else 20.0, (("name", "a"),), False)
                spill.level(start, 10.0)
            return [snapshot.level for snapshot in spill.snapshots()], spill.paused_s

    twice, paused = levels([*map(float, range(30)), *map(float, range(400, 430))])
    assert paused == 370 and set(twice[:30]) == {10} and set(twice[31:399]) == {0} and set(twice[400:]) == {10}
    hangs, paused = levels([*map(float, range(21)), *map(float, range(400, 430))], took_ms=380_000)
    assert not paused and set(hangs) == {10}
    thinking, paused = levels([70.0 * place for place in range(30)])
    assert not paused and set(thinking) == {10}
