"""The bench of faults: what it counts, that a broken promise shows, and that the page is what it made."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[3] / "benches" / "knocks"
ROOT = BENCH.parents[1]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Its modules; their names (page, disk) are those of other benches too, so that they do not stay."""
    monkeypatch.syspath_prepend(str(BENCH))
    own = {path.stem for path in BENCH.glob("*.py")}
    before = {name: sys.modules.pop(name) for name in own & set(sys.modules) if name != "__main__"}
    yield
    for name in own - {"__main__"}:
        sys.modules.pop(name, None)
    sys.modules.update(before)


def outcome(**changed: object) -> dict[str, object]:
    kept = {"promised": "All is well.", "tried": 3, "held": 3, "skipped": None, "broken": [], "measured": {},
            "day": "2026-01-01", "revision": "abc"}  # fmt: skip
    return {**kept, **changed}


@pytest.mark.usefixtures("bench")
def test_a_promise_that_was_broken_shows_in_the_table_with_its_case() -> None:
    from page import table

    shown = table(
        {"a": outcome(), "b": outcome(held=2, broken=["case 7: 9 s were lost"], measured={"s lost": 9.0})}, "M"
    )
    assert "| a | All is well. | 3 | 3 | – |" in shown and "| b | All is well. | 3 | 2 | 9 s lost |" in shown
    assert "- b: case 7: 9 s were lost" in shown


@pytest.mark.usefixtures("bench")
def test_what_could_not_be_tried_is_said_and_not_counted() -> None:
    from page import table

    assert "| 0; some not: no root | 0 |" in table({"a": outcome(tried=0, held=0, skipped="no root")}, "M")


@pytest.mark.usefixtures("bench")
def test_the_page_is_replaced_between_its_marks_alone(tmp_path: Path) -> None:
    from page import BEGIN, END, write

    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write(page, {"a": outcome()}, "M")
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith(f"{END}\nafter\n") and "old" not in text and "| a |" in text


@pytest.mark.usefixtures("bench")
def test_commands_leave_nothing_behind(tmp_path: Path) -> None:
    from commands import Commands, Hung

    with Commands(tmp_path) as commands:
        left = commands.begin("--version", before=["sh", "-c", "sleep 300 & exec sleep 300"])
        with pytest.raises(Hung, match="did not end within"):
            left.end(limit_s=0.3)
        assert any("sleep" in words for words in commands.left_behind(within_s=0.1))
    assert commands.left_behind(within_s=5.0) == []


@pytest.mark.usefixtures("bench")
def test_how_a_command_ended_is_judged_by_code_and_words(tmp_path: Path) -> None:
    from commands import Ended

    assert Ended(0, "", "", 1.0, 1.0).mistakes(0) == []
    assert "exit code 2" in Ended(2, "", "no", 1.0, 1.0).mistakes(0, 3)[0]
    assert Ended(0, "", "Traceback (most recent call last)", 1.0, 1.0).mistakes(0) == ["a traceback"]


@pytest.mark.usefixtures("bench")
def test_lost_seconds_count_from_the_end_of_the_last_that_is_there(tmp_path: Path) -> None:
    from written import lost_s, unreadable

    from plimsoll.runs.writer import RunFacts, RunWriter

    writer = RunWriter.create(tmp_path, RunFacts("run", script=None, options={}, seed=1, level_unit="multiple"))
    assert unreadable(writer.path, "running") == [] and lost_s(writer.path, 1000.0) is None
    assert "says running" in unreadable(writer.path, "finished")[0]
    writer.finish("finished")
    (writer.path / "manifest.json").write_text("{")
    assert "cannot be read" in unreadable(writer.path)[0]


@pytest.mark.usefixtures("bench")
def test_hostile_answers_are_what_their_names_say() -> None:
    from hostile_server import GZIP, KINDS, serve

    with pytest.raises(zlib.error), serve() as url:
        with urllib.request.urlopen(f"{url}/good", timeout=10) as answer:
            assert answer.read() == b"hello"
        with urllib.request.urlopen(f"{url}/gzip-good", timeout=10) as answer:
            assert answer.read() == GZIP
        with urllib.request.urlopen(f"{url}/gzip-corrupt", timeout=10) as answer:
            zlib.decompress(answer.read(), 31)
    assert len(KINDS) >= 40 and not KINDS["chunk-trailers"].fails and KINDS["short-body"].fails


def test_knocks_have_names_promises_and_bounds() -> None:
    listed = subprocess.run(
        [sys.executable, str(BENCH), "--list"], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    wanted = ["kill -9", "signals", "scripts that never wait", "full disk", "hostile servers", "memory-limited group"]
    for name in [*wanted, "clock jump", "frozen generator", "foreign CPU"]:
        assert f"\n{name}\n" in f"\n{listed}"
    refused = subprocess.run(
        [sys.executable, str(BENCH), "--knocks", "earthquake"], capture_output=True, text=True, check=False, timeout=60
    )
    assert refused.returncode == 1 and "unknown knocks: earthquake. There are: " in refused.stderr


@pytest.mark.usefixtures("bench")
def test_the_page_has_what_the_bench_kept_last() -> None:
    from page import BEGIN, END, table

    kept = json.loads((BENCH / "outcomes.json").read_text())
    text = (ROOT / "docs" / "reliability.md").read_text()
    made = text.partition(BEGIN)[2].partition(END)[0].strip()
    assert made == table(kept, made.splitlines()[0].removeprefix("On ").removesuffix(".")).strip()
