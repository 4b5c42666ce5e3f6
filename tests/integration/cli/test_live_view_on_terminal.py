"""The live view on a real terminal: it is there while a load runs, leaves nothing behind, and can end nothing."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator

import pytest
from command_line import TESTKIT, Cli
from on_terminal import OnTerminal

from plimsoll_lab.ports import free_port

SCRIPT = """import http from 'k6/http';
export const options = { scenarios: { home: {
  executor: 'constant-arrival-rate', rate: 40, timeUnit: '1s', duration: '1m', preAllocatedVUs: 20 } } };
let count = 0;
export default function () {
  http.get(__ENV.BASE_URL);
  if (++count % 20 === 0) console.log(`said ${count} ${'x'.repeat(300)} ${String.fromCharCode(27)}[2J`);
}
"""
Begin = Callable[..., OnTerminal]


@pytest.fixture
def target() -> Iterator[str]:
    """A server that takes 5 ms for an answer and works at two at a time."""
    port = free_port()
    command = [str(TESTKIT), "--port", str(port), "--servers", "2", "--service-ms", "5", "--constant"]
    kit = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield f"http://127.0.0.1:{port}/"
    kit.kill()
    kit.wait()


@pytest.fixture
def begin(cli: Cli) -> Iterator[Begin]:
    """Begins `plimsoll …`, or a Python program, on a terminal."""
    begun: list[OnTerminal] = []
    cli.write(script_js=SCRIPT)

    def run(*arguments: object, program: str | None = None, **options: object) -> OnTerminal:
        command = [sys.executable, "-c", program] if program else cli.command(*arguments)
        begun.append(OnTerminal(command, cli.folder, **options))  # type: ignore[arg-type]
        return begun[-1]

    yield run
    for one in begun:
        one.kill()


def search(target: str, *more: str) -> list[str]:
    return ["capacity", "script.js", "--env", f"BASE_URL={target}", "--for", "40s", "--step", "3s", *more]


def is_clean(screen: list[str]) -> bool:
    """Whether nothing of the view is left."""
    text = "\n".join(screen)
    return not any(word in text for word in ("── ", "held now", "Generator  ", "done/s  "))


def test_a_search_is_shown_while_it_runs_and_leaves_what_was_judged_and_the_answer(begin: Begin, target: str) -> None:
    terminal = begin(*search(target))
    terminal.read_until(lambda now: "held now" in now.text, 60)
    terminal.read_until(lambda now: any("✗" in line or "✓ carried" in line for line in now.screen), 60)
    shown = "\n".join(terminal.screen)
    assert re.search(r"── \w.* of load, .* left", shown) and re.search(r"Answers    \S+ of \S+/s done", shown)
    assert all(word in shown for word in ("Level      ", "Bracket    ", "Generator  ", "Target     ", "done/s", "p95"))
    terminal.read_until(lambda now: any(re.match(r" Why        \w{3}", line) for line in now.screen), 60)
    assert terminal.wait() in (0, 3)
    screen = terminal.screen
    place = screen.index("The load has ended, its answer comes.")
    assert is_clean(screen) and any(re.search(r"/s +p95 .* (✓|✗|probe)", line) for line in screen[:place])
    assert any("How much load does it carry?" in line for line in screen[place:])
    frames = terminal.text.split("\x1b[?2026l")[:-1]
    assert len(frames) > 10 and all(frame.endswith("\x1b[?25h") for frame in frames), "there is a cursor between frames"


def test_what_a_script_says_stands_above_the_view_whole_and_harmless(begin: Begin, target: str) -> None:
    terminal = begin("run", "--duration", "4s", "--vus", "2", "script.js", "-e", f"BASE_URL={target}")
    assert terminal.wait() == 0
    since = terminal.text[terminal.text.index("running") :]
    said = [line for line in since.split("\n") if "said" in line]
    assert len(said) > 4 and all(re.search(r"\] said \d+ x{300} �\[2J\r$", line) for line in said)
    assert "\x1b[2J" not in since and is_clean(terminal.screen)


def test_ctrl_c_once_ends_with_the_answer_and_a_clean_screen(begin: Begin, target: str) -> None:
    terminal = begin(*search(target))
    terminal.read_until(lambda now: "held now" in now.text, 60)
    terminal.interrupt()
    assert terminal.wait() == 130
    screen = terminal.screen
    assert any(line.endswith("stopping: running iterations may end; Ctrl-C again stops at once") for line in screen)
    assert is_clean(screen) and any("Interrupted: this rests on what was measured" in line for line in screen)


def test_ctrl_c_twice_ends_at_once_with_a_clean_screen(begin: Begin, target: str) -> None:
    terminal = begin(*search(target))
    terminal.read_until(lambda now: "held now" in now.text, 60)
    terminal.interrupt()
    terminal.read_until(lambda now: "stopping: " in now.text, 20)
    terminal.interrupt()
    assert terminal.wait(30) == 130 and is_clean(terminal.screen)


def test_a_terminal_that_changes_its_size_gets_a_view_that_fits(begin: Begin, target: str) -> None:
    terminal = begin(*search(target), columns=110, lines=40)
    terminal.read_until(lambda now: "held now" in now.text, 60)
    terminal.resize(70, 20)
    terminal.read_until(lambda now: any(len(line) == 69 for line in now.screen if line.startswith("── ")), 20)
    terminal.interrupt()
    assert terminal.wait() == 130


@pytest.mark.parametrize(
    ("env", "size"),
    [
        ({"TERM": "dumb"}, (80, 24)),
        ({"TERM": ""}, (80, 24)),
        ({"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}, (80, 24)),
        ({}, (50, 24)),
        ({}, (80, 12)),
    ],
)
def test_where_the_view_cannot_be_drawn_there_are_lines(
    begin: Begin, target: str, env: dict[str, str], size: tuple[int, int]
) -> None:
    terminal = begin(*search(target), columns=size[0], lines=size[1], env=env)
    terminal.read_until(lambda now: "finding the range" in now.text, 60)
    terminal.interrupt()
    assert terminal.wait() == 130
    assert "Generator  " not in terminal.text and re.search(r"1 s  finding the range  ", terminal.text)
    if env.get("TERM") is not None:
        assert "\x1b" not in terminal.text


def test_without_colours_the_view_has_none(begin: Begin, target: str) -> None:
    terminal = begin(*search(target), env={"NO_COLOR": "1"})
    terminal.read_until(lambda now: "held now" in now.text, 60)
    terminal.interrupt()
    terminal.wait()
    codes = {code for found in re.findall(r"\x1b\[([0-9;]*)m", terminal.text) for code in found.split(";")}
    assert codes <= {"", "0", "1", "2", "22"}


def test_quiet_shows_nothing(begin: Begin, target: str) -> None:
    terminal = begin(*search(target, "-q"))
    assert terminal.wait() in (0, 3)
    assert "Generator  " not in terminal.text and "finding the range" not in terminal.text


def test_on_a_pipe_there_are_lines_and_no_byte_of_a_terminal(cli: Cli, target: str) -> None:
    cli.write(script_js=SCRIPT.replace("console.log", "String"))
    done = cli(*search(target))
    lines = [line for line in done.stderr.splitlines() if re.match(r" *\d+ s  ", line)]
    form = r" *\d+ s  [a-z ]{17}  +[\d.,]+ × declared load  +[\d.]+ of [\d.]+/s done  \d+ unfinished  "
    assert "\x1b" not in done.stderr + done.stdout and "\r" not in done.stderr
    assert len(lines) > 3 and all(re.match(form, line) for line in lines)
    assert "The load has ended" not in done.stderr and "Generator  " not in done.stderr


BROKEN = textwrap.dedent("""
    import os, sys, time
    from plimsoll.output_streams import make_tolerant
    make_tolerant()
    from plimsoll.cli.live import view
    from plimsoll.cli.progress import ProgressLine, listening
    from plimsoll.experiments.steps.record import Bracket, Progress

    def broken(*_):
        raise ZeroDivisionError("a fault of the view")

    {fault}
    with listening(ProgressLine()) as told:
        for second in range(1, 6):
            told.progress(Progress("bracket", second, 20.0, "users", 50.0, 49.0, 3.0, Bracket(None, None)))
            os.write(2, b"said by native code\\n")
            told.note("a sentence")
            time.sleep(0.4)
        told.load_ended()
    print("the answer")
    sys.exit(7)
    """)


@pytest.mark.parametrize(
    "fault",
    [
        "view.view = broken",
        "view.history = broken",
        "import rich.live; rich.live.Live.start = broken",
        "import plimsoll.cli.live.followed as followed; followed._screens = broken",
        "import plimsoll.cli.live.levels as levels; levels.LevelsFolded.__call__ = broken",
        "import plimsoll.cli.live.levels as levels; levels.LevelsFolded.ended = broken",
    ],
)
def test_a_view_that_fails_ends_no_run_and_loses_no_line(begin: Begin, fault: str) -> None:
    terminal = begin(program=BROKEN.format(fault=fault))
    assert terminal.wait(30) == 7
    screen = terminal.screen
    assert sum("said by native code" in line for line in screen) == 5
    assert (
        sum("plimsoll: a sentence" in line for line in screen) == 5
        and [line for line in screen if line][-1] == "the answer"
    )
    failures = [line for line in screen if "the live view ended (ZeroDivisionError: a fault of the view)" in line]
    assert len(failures) == (0 if fault.endswith("ended = broken") else 1)
    if not fault.endswith(("ended = broken", "history = broken")):
        assert re.search(r"\r\x1b\[2K +5 s  bracketing", terminal.text)
    assert terminal.text.rfind("\x1b[?25h") >= terminal.text.rfind("\x1b[?25l")


TWICE = """
import time
from plimsoll.cli.progress import ProgressLine, listening
from plimsoll.experiments.steps.record import Bracket, Progress

with listening(ProgressLine()) as told:
    for load in ("first", "second"):
        for second in range(1, 4):
            told.progress(Progress("bracket", second, 20.0, "users", 50.0, 49.0, 3.0, Bracket(20.0, 40.0), why=load))
            time.sleep(0.4)
        told.load_ended()
        print(f"the {load} answer", flush=True)
"""


def test_a_verb_that_makes_two_loads_shows_a_view_of_each(begin: Begin) -> None:
    terminal = begin(program=TWICE)
    assert terminal.wait(30) == 0
    said = ("first\r", "the first answer", "second\r", "the second answer")
    places = [terminal.text.index(words) for words in said]
    assert places == sorted(places)
    ended = "The load has ended, its answer comes."
    assert [line for line in terminal.screen if line] == [ended, "the first answer", ended, "the second answer"]


def test_a_terminal_that_takes_nothing_does_not_hold_up_the_end(cli: Cli, begin: Begin) -> None:
    """As after Ctrl-S: the view's thread waits for it, the run's does not."""
    program = textwrap.dedent("""
        import os, sys, termios, time
        from pathlib import Path
        from plimsoll.cli.progress import ProgressLine, listening
        from plimsoll.experiments.steps.record import Bracket, Progress

        with listening(ProgressLine()) as told:
            told.progress(Progress("bracket", 1, 20.0, "users", 50.0, 49.0, 3.0, Bracket(None, None)))
            time.sleep(1)
            terminal = os.open("/dev/tty", os.O_RDWR)
            termios.tcflow(terminal, termios.TCOOFF)
            for second in range(2, 40):
                told.progress(Progress("bracket", second, 20.0, "users", 50.0, 49.0, 3.0, Bracket(None, None)))
                time.sleep(0.02)
            began_s = time.monotonic()
            told.load_ended()
            Path("lasted").write_text(str(time.monotonic() - began_s))
            termios.tcflow(terminal, termios.TCOON)
        """)
    terminal = begin(program=program)
    assert terminal.wait(30) == 0
    assert float((cli.folder / "lasted").read_text()) < 5.0


def test_the_view_begins_once_the_terminal_has_room_and_no_line_is_broken_before(begin: Begin, target: str) -> None:
    """Seen: begun in 40×10, lines that wrap for as long as the load lasted, however large the terminal was made."""
    one = begin(*search(target), columns=40, lines=10)
    one.read_until(lambda it: it.text.count("finding the range") >= 3, 60)
    lines = [line for line in re.findall(r"\r\x1b\[2K([^\r\n\x1b]*)", one.text) if line]
    assert lines and all(len(line) < 40 for line in lines)
    assert all(len(line) <= 40 for line in one.text.split("\x1b")[0].replace("\r", "").splitlines())
    one.resize(100, 30)
    one.read_until(lambda it: " Level" in it.text and " Answers" in it.text, 30)
    one.interrupt()
    assert one.wait() == 130


def test_a_plain_run_does_the_same(begin: Begin, target: str) -> None:
    one = begin("run", "script.js", "--env", f"BASE_URL={target}", columns=30, lines=10)
    one.read_until(lambda it: it.text.count("/s done") >= 2, 60)
    one.resize(100, 30)
    one.read_until(lambda it: " Level" in it.text and " Answers" in it.text, 30)
    one.interrupt()
    one.wait()
