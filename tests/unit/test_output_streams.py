"""Standard output and error never end the command, whatever became of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import os, sys, time
from plimsoll.output_streams import lost_lines, make_tolerant, tell_losses
make_tolerant()
told = os.fdopen(int(sys.argv[1]), "w")
{body}
tell_losses()
print(lost_lines(), file=told, flush=True)
sys.exit(7)
"""


def told_by(body: str, **options: Any) -> tuple[int, str]:
    """The exit code, and what the program says by a descriptor that is none of the standard ones."""
    reading, writing = os.pipe()
    command = [sys.executable, "-c", PROGRAM.format(body=body), str(writing)]
    with os.fdopen(reading) as told:
        done = subprocess.run(command, pass_fds=(writing,), check=False, timeout=60, **options)
        os.close(writing)
        return done.returncode, told.read()


def pipe_without_reader() -> int:
    reading, writing = os.pipe()
    os.close(reading)
    return writing


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_what_a_pipe_without_a_reader_does_not_take_is_counted(name: str, unbuffered: str) -> None:
    broken = pipe_without_reader()
    try:
        lines = f"for n in range(3):\n    print('line', file=sys.{name}, flush=True)"
        body = f"{lines}\nos.write({1 if name == 'stdout' else 2}, b'native')"
        environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
        assert told_by(body, env=environment, **{name: broken}) == (7, "3\n")
    finally:
        os.close(broken)


LINES = """
import subprocess
say = lambda word: print(word, file=sys.stderr)
say("a")
subprocess.run(["echo", "b"], stdout=2)
say("c")
"""


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_line_of_standard_error_is_written_at_once(unbuffered: str) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as out:
        environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
        assert told_by(LINES, stderr=writing, env=environment) == (7, "0\n")
        os.close(writing)
        assert out.read() == "a\nb\nc\n"


NOTICED = """
print("ready", file=told, flush=True)
for _ in range(3000):
    if os.path.samestat(os.fstat(2), os.stat(os.devnull)):
        break
    time.sleep(0.01)
print(os.write(2, b"x"), file=told)
"""


def test_a_reader_that_leaves_is_noticed_before_anything_is_written() -> None:
    """By then /dev/null stands there, so that native code, which stops at a broken pipe, never comes upon one."""
    reading, writing = os.pipe()
    got, put = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(body=NOTICED), str(put)], stderr=writing, pass_fds=(put,)
    )
    for descriptor in (writing, put):
        os.close(descriptor)
    with os.fdopen(got) as told:
        assert told.readline() == "ready\n"
        os.close(reading)
        assert told.read() == "1\n0\n"
    assert process.wait(60) == 7


@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
def test_a_descriptor_that_is_closed_is_given_to_no_file(tmp_path: Path, closed: tuple[int, ...]) -> None:
    file = tmp_path / "data"
    body = (
        f"file = open({str(file)!r}, 'w')\nassert file.fileno() > 2\n"
        "print('out'); print('error', file=sys.stderr); os.write(1, b'native'); os.write(2, b'native')"
    )
    how: dict[str, Any] = {"preexec_fn": lambda: [os.close(descriptor) for descriptor in closed]}
    assert told_by(body, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how) == (7, "0\n")
    assert file.read_text() == ""


@pytest.mark.parametrize(
    ("body", "lines", "told"),
    [
        ("print('a\\nb')", 2, "did not take 4 bytes (2 lines): No space left on device. Make room"),
        ("print('no end of line', end='')", 0, "did not take 14 bytes (0 lines): No space left on device."),
    ],
)
def test_a_full_disk_is_counted_and_told(body: str, lines: int, told: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    reading, writing = os.pipe()
    with open("/dev/full", "w") as full, os.fdopen(reading) as errors:
        assert told_by(body, stdout=full, stderr=writing) == (7, f"{lines}\n")
        os.close(writing)
        assert told in errors.read()


STALLED = """
from threading import Thread
native = Thread(target=lambda: [os.write(2, b"n" * 99 + b"\\n") for _ in range(2000)])
native.start()
for _ in range(2000):
    print("p" * 99, file=sys.stderr)
native.join()
"""


def test_nobody_waits_for_a_standard_error_that_is_not_read() -> None:
    """Neither Python nor native code; what was not taken is counted, and what the pipe holds is whole."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as errors:
        code, lost = told_by(STALLED, stderr=writing, env=os.environ | {"PYTHONUNBUFFERED": ""})
        os.close(writing)
        there = errors.read().splitlines()
    assert code == 7 and len(there) + int(lost) == 4000 + 1 and int(lost) > 500, (len(there), lost)  # 1 says that
    assert {len(line) for line in there if not line.startswith("plimsoll: ")} == {99}


READ_AGAIN = """
for _ in range(6000):
    print("p" * 99, file=sys.stderr)
print("read now", file=told, flush=True)
sys.stdin.readline()
print("the end", file=sys.stderr)
"""


def test_a_reader_that_reads_again_is_told_the_rest_and_what_is_missing() -> None:
    reading, writing = os.pipe()
    got, put = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(body=READ_AGAIN), str(put)],
        stdin=subprocess.PIPE, stderr=writing, pass_fds=(put,), text=True,
    ) as process:  # fmt: skip
        for descriptor in (writing, put):
            os.close(descriptor)
        with os.fdopen(got) as told, os.fdopen(reading) as errors:
            assert told.readline() == "read now\n" and process.stdin is not None
            there = [errors.readline() for _ in range(600)]
            process.stdin.write("go on\n")
            process.stdin.close()
            there += errors.readlines()
            lost = int(told.readline())
    assert process.returncode == 7 and lost + len(there) == 6002 and lost > 500
    assert there[-2:] == [
        "the end\n",
        f"plimsoll: {lost:,} lines of standard error were dropped, as nobody read it for 2 s.\n",
    ]


def test_characters_that_the_encoding_lacks_are_spelled_out() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as out:
        environment = os.environ | {"PYTHONIOENCODING": "ascii"}
        assert told_by("print('5 µs')", stdout=writing, env=environment) == (7, "0\n")
        os.close(writing)
        assert out.read() == "5 \\xb5s\n"


def test_streams_of_a_program_around_us_are_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    from plimsoll.output_streams import make_tolerant

    streams = sys.stdout, sys.stderr
    make_tolerant()
    assert (sys.stdout, sys.stderr) == streams
