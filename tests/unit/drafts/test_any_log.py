"""Whatever a log holds, it is read to its end in a bounded time, and what comes of it loads."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plimsoll
from plimsoll.drafts.logs.access_log import Reading
from plimsoll.drafts.logs.log_lines import parse_line
from plimsoll.drafts.logs.log_mix import LogMix
from plimsoll.errors import InputError
from plimsoll.study import load_study

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
CADDY = {"ts": 1795953102.5, "status": 200, "duration": 0.1}
CADDY_REQUEST = {"remote_ip": "9.8.7.6", "method": "GET", "uri": "/a", "headers": {"User-Agent": ["Firefox"]}}
TRAEFIK = {
    "ClientHost": "9.8.7.6",
    "Duration": 15,
    "DownstreamStatus": 200,
    "RequestMethod": "GET",
    "RequestPath": "/a",
    "StartUTC": "2026-11-29T11:51:42Z",
}
NGINX = {
    "msec": "1795953102.0",
    "remote_addr": "9.8.7.6",
    "request": "GET /a HTTP/1.1",
    "status": "200",
    "request_time": 1,
}
COMBINED = '9.8.7.6 - - [29/Nov/2026:11:51:42 +0000] "GET /a?b=1 HTTP/1.1" 200 205 "-" "Firefox" 0.002'


@st.composite
def _json_lines(draw: st.DrawFn) -> str:
    """A line of one of the formats in which one value is any other."""
    fields = dict(draw(st.sampled_from([CADDY, CADDY_REQUEST, TRAEFIK, NGINX])))
    is_request = "uri" in fields
    fields[draw(st.sampled_from(sorted(fields)))] = draw(ANY)
    return json.dumps(
        {**CADDY, "request": fields}
        if is_request
        else {**fields, **({} if "ts" not in fields else {"request": CADDY_REQUEST})}
    )


@st.composite
def _text_lines(draw: st.DrawFn) -> str:
    """A line of the combined format with something else in its middle."""
    start = draw(st.integers(0, len(COMBINED)))
    return COMBINED[:start] + draw(st.text(max_size=8)) + COMBINED[start + draw(st.integers(0, 12)) :]


@settings(max_examples=500, deadline=None)
@given(st.lists(_json_lines() | _text_lines() | st.text(max_size=80), min_size=1, max_size=5))
def test_any_line_is_a_request_or_none(lines: list[str]) -> None:
    mix = LogMix()
    for line in [COMBINED, *lines]:
        found = parse_line(line.replace("\n", " "))
        if found is not None:
            mix.add(found)
    draft = mix.draft(Reading(lines=len(lines)), "a log", None)
    assert str(draft).isprintable() or "\n" in str(draft)
    json.dumps(draft.to_json(), allow_nan=False)


@pytest.mark.parametrize(
    "moment", ["01/Jan/0001:00:00:00 +1400", "31/Dec/9999:23:59:59 -1400", "01/Jan/1969:00:00:00 +0000"]
)
def test_a_time_that_cannot_be_is_not_understood(moment: str) -> None:
    assert parse_line(COMBINED.replace("29/Nov/2026:11:51:42 +0000", moment)) is None


def test_lines_of_times_far_apart_take_no_time(tmp_path: Path) -> None:
    years = [COMBINED.replace("2026", str(year)) for year in (2199, 1970, 2100, 1980, 2026)]
    (tmp_path / "access.log").write_text("\n".join(years * 200))
    began_s = time.monotonic()
    plimsoll.new(access_log=tmp_path / "access.log", output=tmp_path / "load")
    assert time.monotonic() - began_s < 10
    load_study(tmp_path / "load" / "study.yaml")


def test_a_log_from_its_end_to_its_beginning_keeps_no_old_sessions() -> None:
    mix = LogMix()
    for at in range(20_000):
        found = parse_line(COMBINED.replace("9.8.7.6", f"9.{at >> 8}.{at & 255}.6"))
        assert found is not None
        mix.add(type(found)(found.time_s - 60 * at, found.address, found.agent, "GET", "/a", 200))
    assert len(mix._sessions._open) < 200


def test_durations_that_cannot_be_do_not_count() -> None:
    for duration in ("NaN", "Infinity", "-5", "1e999"):
        line = json.dumps(NGINX).replace('"request_time": 1', f'"request_time": {duration}')
        found = parse_line(line)
        assert found is None or found.duration_ms is None


def test_a_study_of_a_log_with_thousands_of_operations_loads(tmp_path: Path) -> None:
    words = [f"{one}{two}{three}" for one in "abcdefgh" for two in "abcdefgh" for three in "abcdefghijklmnopqr"]
    lines = [COMBINED.replace("/a?b=1", f"/{word[:2]}/{word}") for word in words for _ in range(3)]
    (tmp_path / "access.log").write_text("\n".join(lines))
    draft = plimsoll.new(access_log=tmp_path / "access.log", output=tmp_path / "load", least_share=0.0)
    assert len(draft.operations) == len(load_study(tmp_path / "load" / "study.yaml").workload.operations) == 200  # type: ignore[union-attr]
    with pytest.raises(InputError):
        plimsoll.new(access_log=tmp_path / "access.log", output=tmp_path / "load")
