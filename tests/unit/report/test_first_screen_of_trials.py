"""A report of compare, decompose or sweep begins with a row for what was decided, and the first chart beside it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import synthetic_run

from plimsoll.findings.exit_codes import exit_code
from plimsoll.report.finding_view import view
from plimsoll.report.html import render
from plimsoll.report.run_evidence import read_run


def comparison(statistic: str, load: str, verdict: str, **own: Any) -> dict[str, Any]:
    return {
        "operation": None, "request": None, "statistic": statistic, "load": load, "primary": True, "verdict": verdict,
        "ratio": 1.198, "interval": [1.191, 1.205], "confidence": 0.99, "within_margin": False, "unit": "ms",
        "a": 100.0, "b": 119.8, "paired": True, "pairs": 10, "pairs_to_settle": None, "reasons": [], **own,
    }  # fmt: skip


def compared(*comparisons: dict[str, Any], failures: Any = ()) -> dict[str, Any]:
    return {
        "experiment": "compare", "status": "finished", "valid": True, "comparisons": list(comparisons),
        "failures": list(failures), "sentences": ["p95 at 5 VUs: A 100 ms."], "question": "Is B slower than A?",
        "answer": "Yes.",
    }  # fmt: skip


def rows(finding: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(row.subject, row.key, row.badge) for row in view(finding).decided]


def test_each_comparison_that_decides_has_a_row_and_the_gravest_comes_first() -> None:
    exploratory = comparison("mean", "5 VUs", "slower", primary=False)
    found = compared(
        comparison("p50", "5 VUs", "same"),
        comparison("p95", "5 VUs", "undecided", pairs_to_settle=40),
        comparison("p50", "9 VUs", "slower"),
        comparison("p95", "9 VUs", "faster"),
        exploratory,
    )
    assert rows(found) == [
        ("p50 at 9 VUs", "bad", "✗ slower"),
        ("p95 at 5 VUs", "unknown", "undecided"),
        ("p50 at 5 VUs", "met", "✓ same"),
        ("p95 at 9 VUs", "good", "✓ faster"),
    ]
    [slower, undecided, *_] = view(found).decided
    assert slower.words == "+19.8% (99%: +19.1% to +20.5%). A 100 ms, B 120 ms, 10 pairs."
    assert undecided.words.endswith("40 would settle it.")


@pytest.mark.parametrize(
    ("finding", "code"),
    [
        (compared(comparison("p95", "5 VUs", "slower")), 99),
        (compared(comparison("p95", "5 VUs", "slower", within_margin=True)), 0),
        (compared(comparison("p95", "5 VUs", "undecided")), 0),
        (compared(comparison("p95", "5 VUs", "same"), failures=[{"load": "5 VUs", "a": 0.0, "b": 0.2, "p": 0}]), 99),
        (compared(comparison("p95", "5 VUs", "same"), failures=[{"load": "5 VUs", "a": 0.2, "b": 0.0, "p": 0}]), 0),
    ],
)
def test_a_row_is_bad_exactly_where_the_exit_code_says_so(finding: dict[str, Any], code: int) -> None:
    assert exit_code(finding) == code
    assert any(key == "bad" for _, key, _ in rows(finding)) is (code == 99)


def dependence(name: str, metric: str, form: str, **own: Any) -> dict[str, Any]:
    ends = {"least": ["1", 10.0], "most": ["4", 40.0], "exponent": 1.0, "interval": [0.9, 1.1]}
    return {"parameter": name, "metric": metric, "form": form, "at": {}, **ends, **own}


def swept(*dependencies: dict[str, Any], stops: Any = ()) -> dict[str, Any]:
    names = dict.fromkeys(one["parameter"] for one in dependencies)
    return {
        "experiment": "sweep", "status": "finished", "valid": True, "dependencies": list(dependencies),
        "parameters": {name: ["1", "4"] for name in names}, "stops": list(stops),
    }  # fmt: skip


def test_each_dependence_has_a_row_and_where_it_stops_comes_first() -> None:
    stop = {"parameters": {"R": "16"}, "state": "silent", "words": "From R=16 on nothing answers."}
    text = {"exponent": None, "interval": None}
    close = {"least": ["a", 40.0], "most": ["b", 41.0]}
    found = swept(
        dependence("R", "work", "power"),
        dependence("R", "memory", "flat"),
        dependence("WHO", "work", "table", at={"R": "1"}, **text),
        dependence("WHO", "work", "table", at={"R": "2"}, **text, least=["a", 40.0], most=["b", 41.0]),
        dependence("WHO", "p95", "table", **text, **close),
        stops=[stop],
    )
    assert rows(found) == [
        ("R=16", "bad", "✗ no answer"),
        ("duration over R", "unknown", "depends"),
        ("duration over WHO", "unknown", "differs"),
        ("p95 over WHO", "unknown", "differs by less than 10%"),
        ("memory over R", "good", "✓ does not depend"),
    ]
    told = {row.subject: row.words for row in view(found).decided}
    assert told["duration over R"] == "R^1.00 (95%: 0.90 to 1.10): 10 ms at R=1 to 40 ms at R=4."
    assert told["duration over WHO"] == "10 ms at WHO=1 to 40 ms at WHO=4, at R=1."
    assert ("where it stops", "good", "✓ nowhere") in rows(swept(dependence("R", "work", "power")))


def test_layers_have_a_row_each_and_many_rows_are_folded() -> None:
    layer = {"layer": "orm", "share": 0.3, "interval": [0.28, 0.32], "ms": 3.0, "verdict": "there"}
    level = {"load": "1 VU", "layers": [layer, layer | {"layer": "bare", "verdict": "cannot separate"}]}
    found = {"experiment": "decompose", "levels": [level]}
    assert rows(found) == [("bare", "unknown", "cannot separate"), ("orm", "good", "✓ beyond chance")]
    many = {"experiment": "decompose", "levels": [level, level | {"load": "9 VUs"}] * 3}
    assert len(rows(many)) == 8 and rows(many)[-1][0] == "5 more" and rows(many)[0][0] == "bare at 1 VU"


@pytest.mark.parametrize("is_answered", [True, False])
def test_every_chart_has_one_place_and_the_first_stands_beside_the_answer(tmp_path: Path, is_answered: bool) -> None:
    """Of a run without an answer the first chart had no place, so that none was drawn in a browser."""
    run = read_run(synthetic_run.write_run(tmp_path / "run"))
    plan = {"experiment": "compare", "analysis": {"margin": 0.05}, "variants": []}
    of_trials = replace(run, plan=plan, findings=[compared(comparison("p95", "5 VUs", "slower"))])
    text = render(of_trials if is_answered else replace(run, findings=[]))
    keys = re.findall(r'class="live" id="([^"]+)"', text)
    specifications = re.search(r'id="chart-specifications">(.*?)</script>', text, re.S)
    assert specifications and sorted(keys) == sorted(json.loads(specifications[1]))
    if is_answered:
        answer = text[text.index('id="answers"') : text.index("</article>")]
        assert 'id="compare-decides"' in answer and "p95 at 5 VUs" in answer
