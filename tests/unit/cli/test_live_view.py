"""The live view as lines: what stands there at several sizes of a terminal, and what gives way."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.text import Text

from plimsoll.cli.live.chart import across, up
from plimsoll.cli.live.view import HIGHEST, WIDEST, history, view
from plimsoll.live.state import Bracket, Course, Health, Row, State, Step

ROWS = (
    Row("20", 200.0, 5.1, "other", "probe"),
    Row("40", 401.0, 5.3, "other", "probe"),
    Row("80", 799.0, 6.0, "good", "✓ carried"),
    Row("160", 1604.0, 11.0, "good", "✓ carried again"),
    Row("168", 1672.0, 14.0, "now", "held now"),
    Row("204", 1690.0, 4200.0, "bad", "✗ not carried"),
)
SEARCH = State(
    phase="bracketing",
    second=72.0,
    left_s=228.0,
    name="168 users",
    stage="measured for 6 s",
    why="just above the estimated capacity of 162 users, to prove that it is not carried",
    numbers=("1,672 of 1,680/s done", "p95 14 ms", "23 unfinished", "none failed"),
    bracket=Bracket(160.0, 204.0, 168.0, "users"),
    rows=ROWS,
    unit="users",
    target=("api: busiest thread 98% of a core, 1.2 cores, 143 MiB", "host: 61% of 4 cores"),
    generator=Health("12% of its core, lag p99 0.3 ms"),
)
HOLD = replace(
    SEARCH,
    phase="holding",
    bracket=None,
    rows=(),
    course=Course(1, 120.0, tuple(float(100 + second % 7) for second in range(60)), (5.0,) * 30 + (None, 8.0) * 15),
)


def lines(state: State, width: int, height: int, idle_s: float = 0.0) -> list[str]:
    found = view(state, width, height, idle_s).renderables
    assert all(isinstance(line, Text) for line in found)
    return [line.plain for line in found if isinstance(line, Text)]


@pytest.mark.parametrize("size", [(60, 16), (70, 20), (80, 24), (120, 40), (200, 60), (20, 5)])
@pytest.mark.parametrize("state", [SEARCH, HOLD, State("starting", 1.0)])
def test_no_line_is_wider_and_no_view_higher_than_the_terminal(state: State, size: tuple[int, int]) -> None:
    width, height = size
    found = lines(state, width, height)
    assert max(map(len, found)) <= min(width - 1, WIDEST)
    assert len(found) <= min(height - 1, HIGHEST)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_a_search_shows_phase_time_level_reason_bracket_chart_and_both_healths(size: tuple[int, int]) -> None:
    found = lines(SEARCH, *size)
    text = "\n".join(found)
    assert found[0].startswith("── bracketing ─") and found[0].endswith(" 72 s of load, 3 min 48 s left")
    assert "Level      168 users, measured for 6 s" in text
    assert "Why        just above the estimated capacity of 162 users," in text
    assert "1,672 of 1,680/s done   p95 14 ms   23 unfinished   none failed" in text
    assert "━ carried  ┄ not decided  ╳ not carried" in text and "↑ 168 now" in text
    [bounds] = [line.split() for line in found if line.endswith("  users") and "0 " in line]
    assert bounds == ["0", "160", "204", "users"]
    charted = [line for line in found if line.split()[:1] in ([row.name] for row in ROWS)]
    assert [line.split()[0] for line in charted] == [row.name for row in ROWS]
    assert all(line.endswith(row.words) for line, row in zip(charted, ROWS, strict=True))
    assert "Target     api: busiest thread 98% of a core" in text and "host: 61% of 4 cores" in text
    assert "Generator  ✓ 12% of its core, lag p99 0.3 ms" in text


def test_a_bar_grows_with_the_throughput_and_an_overload_leaves_the_other_times_their_bars() -> None:
    bars = {line.split()[0]: line.split() for line in lines(SEARCH, 120, 40) if "█" in line}
    assert len(bars["20"][2]) < len(bars["80"][2]) < len(bars["160"][2]) <= len(bars["204"][2])
    times = {name: words[5] for name, words in bars.items()}
    assert len(times["20"]) < len(times["160"]) < len(times["204"])
    assert times["204"].endswith("»") and not times["160"].endswith("»")


def test_where_there_are_more_levels_than_lines_those_around_the_one_that_is_held_are_shown() -> None:
    rows = tuple(
        Row(str(level), float(level), 5.0, "now" if level == 20 else "other", "probe") for level in range(1, 41)
    )
    found = lines(replace(SEARCH, rows=rows), 80, 24)
    shown = [int(line.split()[0]) for line in found if line.endswith(("probe",)) and line.split()[0].isdigit()]
    assert 20 in shown and len(shown) < 20 and shown == list(range(shown[0], shown[-1] + 1))


def test_on_a_low_terminal_the_bracket_gives_way_before_the_chart() -> None:
    found = "\n".join(lines(SEARCH, 60, 16))
    assert "done/s" in found and "held now" in found and "━" not in found
    assert "Generator" in found and "Answers" in found


def test_numbers_that_do_not_fit_on_a_line_stand_on_two() -> None:
    wide = replace(SEARCH, numbers=("12,387 of 16,617/s done", "p95 1.24 s", "12,310 unfinished", "1,200 failed (12%)"))
    found = lines(wide, 80, 24)
    place = next(place for place, line in enumerate(found) if line.startswith(" Answers"))
    assert "1,200 failed (12%)" not in found[place] and found[place + 1].strip() == "1,200 failed (12%)"


def test_a_load_over_time_leaves_free_what_is_still_to_come() -> None:
    found = lines(HOLD, 80, 24)
    [rule] = [line for line in found if line.strip().startswith("0 s ─")]
    assert rule.endswith("2 min 0 s") or rule.endswith("2 min")
    tops = [line for line in found if line.strip().startswith("106/s")]
    assert len(tops) == 1 and len(tops[0]) < len(rule) - 20
    assert any(line.strip().startswith("p95 ") for line in found)


def test_it_is_said_when_no_second_has_come_for_a_while() -> None:
    assert "no new second" not in lines(SEARCH, 80, 24, 2.0)[0]
    assert "no new second for 12 s" in lines(SEARCH, 80, 24, 12.0)[0]


def test_names_of_others_cannot_steer_the_terminal() -> None:
    hostile = replace(
        SEARCH,
        name="\x1b[2J users",
        target=("\x1b]0;x\x07api: 1%",),
        rows=(*ROWS, Row("\r\x1b[H9", 1.0, 1.0, "other", "")),
    )
    assert not any(letter < " " for line in lines(hostile, 80, 24) for letter in line)


def test_what_is_not_well_is_told_without_colours() -> None:
    found = "\n".join(lines(replace(SEARCH, generator=Health("97% of its core", False)), 80, 24))
    assert "Generator  ! 97% of its core" in found


def test_the_last_levels_that_were_judged_stay_as_lines() -> None:
    steps = tuple(
        Step(10.0 * place, f"{20 * place} users", "✓ carried", "good", 200.0 * place, 200.0 * place, 5.0)
        for place in range(1, 12)
    )
    found = [line.plain for line in history(replace(SEARCH, steps=steps), 80)]
    assert found[0] == "3 steps before these" and len(found) == 9
    assert found[-1].split("  ") == ["1 min 50 s", "220 users", "2,200 of 2,200/s", "p95 5 ms", "✓ carried"]


def test_of_a_search_without_a_judged_level_nothing_stays() -> None:
    assert history(replace(SEARCH, rows=ROWS[4:5], steps=()), 80) == []


def test_labels_are_dim_and_what_they_label_is_not() -> None:
    [line] = [
        line
        for line in view(replace(SEARCH, generator=Health("97% of its core", False)), 80, 24).renderables
        if isinstance(line, Text) and line.plain.startswith(" Generator")
    ]
    assert not line.style and [(span.start, span.style) for span in line.spans] == [(0, "dim"), (12, "yellow")]


def test_of_trials_the_chart_stays() -> None:
    rows = (Row("A, 20 users", 200.0, 5.0, "other", "10 trials"), Row("B, 20 users", 198.0, 6.0, "other", "10 trials"))
    found = [line.plain for line in history(replace(SEARCH, rows=rows, steps=()), 80)]
    assert len(found) == 3 and found[1].startswith("A, 20 users") and found[2].endswith("10 trials")


@pytest.mark.parametrize(
    ("value", "drawn"), [(0.0, ""), (1.0, "█"), (8.0, "████████"), (0.01, "▏"), (4.5, "████▌"), (9.0, "███████»")]
)
def test_a_bar_is_to_scale_and_one_that_is_cut_says_so(value: float, drawn: str) -> None:
    assert across(value, 8.0, 8) == drawn


def test_columns_are_to_scale_and_none_is_drawn_without_a_value() -> None:
    assert up([0.0, 1.0, 2.0, 4.0, None], 4.0, 2) == ["   █ ", " ▄██ "]
    assert up([1.0], 0.0, 1) == [" "]
