"""Numbers in sentences are rounded in `words.py` alone, so that one quantity reads the same wherever it is said."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import plimsoll
from plimsoll.words import (
    change_words,
    confidence_words,
    count_words,
    counted_words,
    exponent_words,
    ms_words,
    number,
    percent_words,
    share_words,
    size_words,
    time_words,
)

PACKAGE = Path(plimsoll.__file__).parent
ROOM = PACKAGE / "words.py"
# A format with a precision, or of a kind that has one of its own, other than "g".
ROUNDING = re.compile(r"[-+ #0-9<>=^]*[,_]?(?:\.(?:\d+|\{\w+\})[a-zA-Z%]?|[feE%])")
# What rounds elsewhere, and is no sentence.
OTHERS = {
    "cli/progress.py": "columns of a fixed width in a live line",
    "cli/run/verb.py": "the column of seconds of a live line",
    "plans/long_runs.py": "durations of a k6 script, in whole milliseconds",
    "probes/consumer/reading.py": "a setting of SQL, in whole milliseconds",
    "probes/mysql/connection.py": "settings of SQL",
    "probes/postgresql/row_sample.py": "a share in SQL",
    "probes/prometheus/server.py": "times in a URL",
    "report/k6/values.py": "the format of k6's own summary",
    "report/legends.py": "pixels in an expression of a chart",
    "report/level_charts.py": "pixels in an expression of a chart",
    "report/trials/trial_charts.py": "labels and tooltips of charts, whose decimals line up",
    "study/workload.py": "durations of a k6 script, in whole seconds",
}


def rounding_in(source: str) -> Iterator[int]:
    """The lines that round a number within a text: by a precision in a format, or by `round`. Within `float(…)` it is
    arithmetic. `:g` alone shows a number as it was given, and `:,` a whole one."""
    tree = ast.parse(source)
    arithmetic = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) not in arithmetic and _rounds(node):
            yield getattr(node, "lineno", 0)


def _rounds(node: ast.AST) -> bool:
    match node:
        case ast.FormattedValue(value=value, format_spec=spec):
            pasted = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "round"
            return pasted or (spec is not None and _is_rounding(ast.unparse(spec)[2:-1]))
        case ast.Call(func=ast.Name(id="format"), args=[_, ast.Constant(value=str(spec))]):
            return _is_rounding(spec)
        case ast.Call(func=ast.Name(id="str"), args=[ast.Call(func=ast.Name(id="round"))]):
            return True
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
            return re.search(r"%[-+ 0-9]*\.\d", text) is not None
        case ast.Constant(value=str(text)):
            return any(map(_is_rounding, re.findall(r"\{\w*:([^{}\s]*)\}", text)))
    return False


def _is_rounding(spec: str) -> bool:
    return ROUNDING.fullmatch(spec) is not None


@pytest.mark.parametrize(
    "source",
    [
        'f"{x:.1f} s"',
        'f"{x:,.0f}"',
        'f"{x:+.0%}"',
        'f"{x:%}"',
        'f"{x:.{digits}g}"',
        'f"about {round(x, 1)} s"',
        "f\"{f'{x:.3g}'} ms\"",
        'format(x, ".3g")',
        '"%.1f" % x',
        '"it took {:.3g} ms".format(x)',
        'TEMPLATE = "it took {seconds:.1f} s"',
        "str(round(x, 2))",
    ],
)
def test_what_rounds_in_a_text_is_found(source: str) -> None:
    assert list(rounding_in(source))


@pytest.mark.parametrize(
    "source", ['f"{x:g} s"', 'f"{x:,}"', 'f"{x:>8}"', 'float(f"{x:.6g}")', "round(x, 3)", "x % 1", 'f"{a.b(x, 3)}"']
)
def test_what_rounds_no_text_is_left_alone(source: str) -> None:
    assert not list(rounding_in(source))


def test_only_the_words_round_numbers_in_sentences() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): list(rounding_in(path.read_text())) for path in PACKAGE.rglob("*.py")
    }
    places = [
        f"{name}:{line}"
        for name, lines in sorted(found.items())
        for line in lines
        if PACKAGE / name != ROOM and name not in OTHERS
    ]
    assert not places, "These round a number on their own. Use a function of plimsoll/words.py."
    assert sorted(OTHERS) == sorted(name for name in OTHERS if found[name]), "Strike from OTHERS what rounds no more."


def test_each_kind_of_number_has_its_words() -> None:
    assert [number(x) for x in (20_524.4, 2.333, 0.01254, 5.0)] == ["20,524", "2.33", "0.0125", "5"]
    assert [share_words(x) for x in (0.4, 0.123, 0.0536, 0.004, 1e-17, 12.3)] == [
        "40%",
        "12%",
        "5.4%",
        "0.4%",
        "0%",
        "1,230%",
    ]
    assert share_words(0.1034, 3) == "10.3%"
    assert [percent_words(x) for x in (0.123, -0.004, 0.05, 1e-17)] == ["+12%", "-0.4%", "+5%", "0%"]
    assert [change_words(x) for x in (1204.0, -0.5, 0.0)] == ["+1,204", "-0.5", "0"]
    assert [confidence_words(x) for x in (0.95, 0.999, 0.99875, 1 - 0.05 / 3)] == ["95%", "99.9%", "99.875%", "98.333%"]
    assert [exponent_words(x) for x in (1.034, 1e-17, -0.5)] == ["1.03", "0.00", "-0.50"]
    assert [count_words(x) for x in (20_524.4, 0.0)] == ["20,524", "0"]
    assert [counted_words(x, "run") for x in (0, 1, 2000)] == ["0 runs", "1 run", "2,000 runs"]
    assert [ms_words(x) for x in (0.1234, 14.0, 340.4, 2104.0)] == ["0.123 ms", "14 ms", "340 ms", "2.1 s"]
    assert [size_words(x) for x in (0, 999, 1024, 83_400_000, 1.5 * 2**30)] == [
        "0 B",
        "999 B",
        "1 KiB",
        "79.5 MiB",
        "1.5 GiB",
    ]


def test_a_time_that_is_not_finite_has_words_too() -> None:
    assert [time_words(x) for x in (math.inf, math.nan)] == ["inf s", "nan s"]
    assert [time_words(x) for x in (0.0, 4.04, 45, 155, 300, 5400)] == [
        "0 s",
        "4 s",
        "45 s",
        "2 min 35 s",
        "5 min",
        "1 h 30 min",
    ]
