"""The answer on one screen: what must be on it, and that it never takes more room."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from plimsoll.findings.exit_codes import exit_code
from plimsoll.report.columns import WIDEST as WIDTH
from plimsoll.report.finding_view import view
from plimsoll.report.load_line import load_line
from plimsoll.report.screen import MOST_LINES, screen, screen_of_run
from plimsoll.verbs.analysis import Analysed
from plimsoll.verbs.session import Answer
from plimsoll.verbs.sizing import Sized


def capacity(**own: Any) -> dict[str, Any]:
    return {
        "question": "How much load does it carry?", "answer": "Carries 168 users.", "experiment": "capacity",
        "valid": True, "capacity": {"good": 168, "bad": 204, "unit": "users"}, "next": ["Buy nothing."], **own,
    }  # fmt: skip


def objective(text: str, verdict: str) -> dict[str, Any]:
    words = f"at 60 users, {text} of 4,000; " + "met up to 168 users; " * 3
    return {"operation": "search", "objective": text, "verdict": verdict, "words": words, "verdicts": []}


def test_the_answer_comes_first_then_line_limit_and_next_step() -> None:
    limited = {"kind": "cpu", "where": "app", "utilisation": 0.97, "evidence": "Its cores were full. More of it."}
    text = screen([capacity(limited_by=limited)], "runs/a/report.html", "plimsoll runs show runs/a --details")
    assert text.splitlines() == [
        "How much load does it carry?",
        "  Carries 168 users.",
        "",
        f"  {'━' * 37}{'┄' * 7}{'╳' * 4}  ━ carried  ┄ not decided  ╳ not carried",
        "  0                                   168    204    users",
        "",
        "  Limited by: CPU, app: Its cores were full.",
        "",
        "  Next: Buy nothing.",
        "",
        "What this rests on: plimsoll runs show runs/a --details.",
        "Report: runs/a/report.html",
    ]


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"unmatched": True, "words": "No data: no request of 'x' was seen."}, "no data: no request of 'x' was seen."),
        ({"verdicts": [{"level": 9, "samples": 0}], "words": "no request was answered"}, "no request was answered"),
    ],
)
def test_an_objective_without_data_is_marked_as_the_exit_code_counts_it(own: dict[str, Any], told: str) -> None:
    """Seen: exit code 99, and "undecided" without a mark."""
    finding = capacity(objectives=[objective("p95<9ms", "undecided") | own])
    assert exit_code(finding | {"status": "finished"}) == 99
    assert f"  search p95 < 9 ms: ✗ failed: {told}" in screen([finding], None).splitlines()
    [line] = view(finding).objectives
    assert (line.row.key, line.row.badge, line.row.words) == ("failed", "✗ failed", told)


def test_marks_stand_at_their_levels() -> None:
    marked = capacity(headroom={"expected_users": 60}, sustainable={"level": 120.0})
    bar, marks, levels = load_line(marked)
    scale = len(bar.split("  ")[0]) / (1.08 * 204)
    assert marks.index("▲") == pytest.approx(60 * scale, abs=1.5)
    assert marks.index("◆") == pytest.approx(120 * scale, abs=1.5)
    assert "▲ expected 60  ◆ objectives met up to 120" in marks
    assert bar.index("╳") == pytest.approx(204 * scale, abs=1.5) and levels.endswith("users")


@pytest.mark.parametrize(
    ("good", "bad", "signs"),
    [(10, None, "━"), (None, 10, "┄╳"), (9.99, 10, "━╳"), (1e-6, 1e6, "┄╳"), (None, None, ""), (10, 9, "")],
)
def test_a_line_shows_what_is_known(good: float | None, bad: float | None, signs: str) -> None:
    lines = load_line(capacity(capacity={"good": good, "bad": bad, "unit": "vus"}))
    assert bool(lines) == bool(signs)
    assert all(len(line) <= WIDTH - 2 for line in lines)
    if lines:
        drawn = lines[0].split("  ")[0]
        assert set(signs) <= set(drawn) <= {"━", "┄", "╳"}


def test_levels_that_lie_close_keep_a_space_before_their_unit() -> None:
    """Seen at the end of the demo: "42,774 47,369users"."""
    assert load_line(capacity(capacity={"good": 42_774, "bad": 47_369, "unit": "users"}))[-1].endswith("47,369 users")


def test_a_declared_load_is_marked_where_no_users_are_expected() -> None:
    [_, marks, levels] = load_line(capacity(capacity={"good": 2, "bad": 2.2, "unit": "multiple"}))
    assert "▲ declared load" in marks and levels.endswith("× declared load")


def test_the_gravest_objective_comes_first_and_none_is_lost_silently() -> None:
    found = [objective(f"p9{place}<=40ms", "met") for place in range(5)] + [objective("error_rate<=1%", "failed")]
    text = screen([capacity(objectives=found)], None)
    told = [line for line in text.splitlines() if line.startswith("  search ")]
    assert "error_rate" in told[0] and "✗ failed" in told[0] and len(told) == 4
    assert "2 more objectives" in text


def test_the_report_begins_with_what_was_decided_and_folds_what_is_met() -> None:
    found = [objective(f"p{place}<=40ms", "met") for place in range(50, 57)] + [objective("p99<=40ms", "undecided")]
    generator = {"healthy": False, "limits": [], "reasons": ["Others used 1.9 of 2 cores."], "words": "On one host."}
    headroom = {"expected_users": 60, "carries": True, "ratio": 1.8}
    rows = view(capacity(objectives=found, generator=generator, headroom=headroom)).decided
    told = [(row.subject, row.badge) for row in rows]
    assert told[:3] == [
        ("expected load, 60 users", "✓ carried"),
        ("load generator", "✗ its host was disturbed"),
        ("search: p99 ≤ 40 ms", "undecided"),
    ]
    assert rows[1].words == "Others used 1.9 of 2 cores." and rows[0].words == "It carries 180% more than expected."
    assert told[-1] == ("4 other objectives", "✓ met") and rows[-1].words.count("search: p5") == 4 and len(rows) == 7


@pytest.mark.parametrize(
    ("keeps_up", "told"), [(True, [("good", "✓ keeps up")]), (None, [("unknown", "cannot tell")]), (False, [])]
)
def test_whether_the_consumer_keeps_up_has_a_row(keeps_up: bool | None, told: list[tuple[str, str]]) -> None:
    """One that falls behind is an objective that failed, which has its own."""
    found = {"experiment": "drain", "keeps_up": keeps_up, "consumer": {"smallest_detectable": 0.2}}
    rows = [row for row in view(found).decided if row.subject == "consumer"]
    assert [(row.key, row.badge) for row in rows] == told
    assert all(row.words == "20% left over or more would have shown." for row in rows)


def test_a_long_name_leaves_room_for_the_verdict() -> None:
    """Seen: four lines that said "GET …" and nothing of the objective."""
    name = "GET http://a-host.example/" + "folder/" * 20
    found = [objective("p95<5ms", "failed") | {"operation": f"{name}{place}"} for place in range(5)]
    told = [line for line in screen([capacity(objectives=found)], None).splitlines() if "GET http" in line]
    assert len(told) == 4 and all(f"folder/{place} p95 < 5 ms: ✗ failed" in line for place, line in enumerate(told))


def test_results_of_other_tools_have_no_load_line() -> None:
    """Nobody judged whether a level was carried: "still rises at 12" stood above a line that ended at 2."""
    assert load_line(capacity(experiment="analyze")) == []


def test_a_run_in_runs_is_named_by_the_end_of_its_name() -> None:
    text = screen_of_run([capacity()], Path("runs/20261129-095101-capacity-23c8"), None)
    assert text.endswith(": plimsoll runs show 23c8 --details.")
    assert "show elsewhere/20261129-095101-capacity-23c8 " in screen_of_run(
        [capacity()], Path("elsewhere/20261129-095101-capacity-23c8"), None
    )


def test_an_invalid_answer_says_so_and_why() -> None:
    text = screen([capacity(valid=False, invalid_because=["The generator was late by 80 ms."])], None)
    assert text.splitlines()[2] == "  INVALID: The generator was late by 80 ms."


def test_other_answers_have_a_line_each_with_their_question() -> None:
    others = [{"question": f"What of {place}?", "answer": "It is well. And more.", "valid": True} for place in range(7)]
    text = screen([capacity(), *others], None)
    assert "  What of 4? It is well. And more." in text.splitlines()
    assert "What of 5?" not in text and "2 more answers" in text
    others[0] |= {"valid": False, "answer": "word " * 60}
    text = screen([capacity(), *others], None)
    [told] = [line for line in text.splitlines() if "What of 0?" in line]
    assert told.startswith("  What of 0? INVALID: word word") and told.endswith("word …") and len(told) <= WIDTH


def test_what_is_too_much_gives_way_and_is_counted() -> None:
    long = "A sentence that has some words in it, and then some more. " * 30
    main = capacity(
        answer=long,
        valid=False,
        notes=[long] * 30,
        headroom={"expected_users": 60},
        objectives=[objective(f"p9{place}<=40ms", "failed") for place in range(9)],
        limited_by={"kind": "lock", "where": "app", "evidence": "word " * 200},
        next=[long] * 9,
        tables=[{"title": "T", "columns": ["At", "Time"], "rows": [["10", "4 ms"]] * 40}],
    )
    others = [capacity(question="And what else is there to be told of it?", answer=long)] * 12
    text = screen([main, *others], "runs/a/report.html")
    lines = text.splitlines()
    assert len(lines) <= MOST_LINES and all(len(line) <= WIDTH for line in lines)
    for part in (
        "INVALID",
        "╳",
        "Limited by: in these numbers, lock",
        "Next: ",
        "✗ failed",
        "more answers",
        "more objectives",
        "Report: ",
    ):
        assert part in text, part
    assert text.splitlines()[1].startswith("  A sentence that has some words in it, and then some more. A sentence")


def test_a_table_of_the_main_answer_is_shown_where_it_fits() -> None:
    table = {"title": "T", "columns": ["At", "Time"], "rows": [["10 users", "4 ms"], ["20 users", "9 ms"]]}
    assert "  20 users  9 ms" in screen([capacity(tables=[table])], None).splitlines()
    wide = table | {"rows": [["10 users", "4 ms" * 40]]}
    assert "10 users" not in screen([capacity(tables=[wide])], None)


def test_from_python_an_answer_prints_as_its_screen() -> None:
    answer = Answer([capacity()], Path("runs/a"), Path("runs/a/report.html"), "finished")
    assert str(answer) == screen([capacity()], "runs/a/report.html", "plimsoll runs show a --details")
    assert str(answer) == str(Sized([capacity()], Path("runs/a"), Path("runs/a/report.html")))
    assert "Report" not in str(Analysed([capacity()], Path("runs/a"), None, "k6.json"))


ANSWERS = re.findall(r"“([^”]{90,})”", (Path(__file__).parents[3] / "docs" / "experiments.md").read_text("utf-8"))


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_without_room_ends_with_a_clause_and_no_number_loses_what_it_counts(answer: str) -> None:
    """Seen: "at 2.66 times the …", "(95% interval of the exponent 0.93 to …", "met …"."""
    others = [{"question": "Q?", "answer": answer, "valid": True}] * 3  # a line each
    told = next(line for line in screen([capacity(), *others], None).splitlines() if line.startswith("  Q? "))
    assert len(told) <= WIDTH
    kept = told.removeprefix("  Q? ").removesuffix(" …")
    if told.endswith(" …"):
        after = answer[len(kept) :]
        assert answer.startswith(kept) and kept.count("(") == kept.count(")")
        assert after.startswith((",", ";", ":", " (")) or kept.endswith(")")
        assert len(kept) >= 45


def test_a_clause_that_is_too_short_gives_way_to_the_words_behind_it() -> None:
    long = "Yes, it goes on with as many words as there are until the line has no more room for 40 of them or 50 users"
    others = [{"question": "Q?", "answer": long, "valid": True}] * 3
    told = next(line for line in screen([capacity(), *others], None).splitlines() if line.startswith("  Q? "))
    assert told == "  Q? Yes, it goes on with as many words as there are until the line has no more room …"


def test_names_cannot_steer_the_terminal_and_no_finding_is_said() -> None:
    assert "\x1b" not in screen([capacity(answer="a \x1b[31m name")], "runs/\x1b/report.html")
    assert "what was measured" in screen([], "runs/a/report.html")


def test_what_is_not_valid_in_a_valid_answer_stands_beside_it() -> None:
    """Seen: "load generator ✓ healthy" of a run in which others used 1.94 of the host's 2 cores, and not a word of the
    response times, which were not valid, but in a note."""
    others = "Other processes used 1.94 of the host's 2 cores."
    times = [
        {
            "rests_on": "response_time",
            "verdict": "invalid",
            "words": f"response times at p{p}: invalid",
            "because": [others],
        }
        for p in (50, 90)
    ]
    validity = [{"rests_on": "throughput", "verdict": "valid", "words": "throughput: valid"}, *times]
    generator = {"healthy": True, "reasons": [], "words": "On one host."}
    found = capacity(validity=validity, generator=generator)
    assert f"  Not valid, response times at p50 and p90: {others}" in screen([found], None).splitlines()
    [row] = view(found).decided
    assert (row.key, row.words) == ("bad", others)


def test_a_healthy_generator_is_said_to_be_one_on_the_first_screen() -> None:
    """Asked by readers of the first screen: did the generator matter?"""
    seen = {"healthy": True, "generator_cores": 0.131, "lag_p99_ms": 0.42, "reasons": [], "limits": []}
    assert "  Load generator: ✓ healthy: it used 0.131 cores and was 0.42 ms late at p99\n" in screen(
        [capacity(generator=seen)], None
    )
    sick = seen | {"healthy": False, "reasons": ["It was late."]}
    assert "✓ healthy" not in screen([capacity(generator=sick, valid=False, invalid_because=["It was late."])], None)
