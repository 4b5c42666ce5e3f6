"""Locust's files of other years: the history of before 2021, and the rows per request since 2.44."""

from __future__ import annotations

from pathlib import Path

from importing import imported

T0 = 1_590_000_000
OLD = (
    '"Type","Name","Timestamp","# requests","# failures","Requests/s","Requests Failed/s","Median response time",'
    '"Average response time","Min response time","Max response time","Average Content Size","50%","66%","75%","80%",'
    '"90%","95%","98%","99%","99.9%","99.99%","99.999","100%"\n'
)
ROWS = "timestamp,request_type,name,response_time_ms,response_length,status_code,exception\n"


def old_line(second: int, total: int, times: str) -> str:
    return f'"None","Aggregated","{T0 + second}",{total},0,10.00,0.00,250,253,100,400,512,{times}\n'


def test_a_history_of_before_2021_is_known_and_a_percentile_of_0_is_no_request_in_its_window(tmp_path: Path) -> None:
    times = ",".join(["250"] * 7 + ["400"] * 5)
    lines = [
        old_line(0, 10, times),
        old_line(2, 30, times),
        old_line(4, 30, ",".join(["0"] * 12)),
        old_line(6, 40, times),
    ]
    (tmp_path / "h.csv").write_text(OLD + "".join(lines))
    found = imported(tmp_path / "h.csv")
    assert found.format.name == "locust-history" and found.spill.samples == 40
    assert [window.end_s - T0 for window in found.returned] == [0, 2, 6]
    assert not found.spill.has_levels and any("how many users" in note for note in found.notes)


def test_rows_per_request_have_exact_times_and_one_without_a_time_is_an_error_and_not_0_ms(tmp_path: Path) -> None:
    rows = [f"{T0 + place / 10},GET,/a,{100 + place},512,200,\n" for place in range(100)]
    rows.append(f"{T0 + 1},POST,/login,,0,0,ConnectionRefusedError(111)\n")
    rows.append(f"{T0 + 2},GET,/a,90.5,10,500,\"HTTPError('500 Server Error')\"\n")
    (tmp_path / "r.csv").write_text(ROWS + "".join(rows))
    found = imported(tmp_path / "r.csv")
    assert found.format.name == "locust-requests"
    assert (found.spill.samples, found.failed()) == (102, 2)
    times = found.times()
    assert times.count == 101 and times.min == 90.5 and times.max == 199


def test_forms_and_tokens_in_exceptions_are_cut(tmp_path: Path) -> None:
    said = "CatchResponseError('login failed for user=ann&password=s3cret and eyJhbGciOiJIUzI1NiJ9.abc123def456ghi789')"
    (tmp_path / "r.csv").write_text(ROWS + f'{T0},POST,/login,12.5,10,403,"{said}"\n')
    [snapshot] = imported(tmp_path / "r.csv").snapshots
    errors = {series.tags.get("error") for series in snapshot.series} - {None}
    [told] = errors
    assert told is not None and told.startswith("CatchResponseError('login failed for")
    assert "s3cret" not in told and "ann" not in told and "eyJ" not in told
