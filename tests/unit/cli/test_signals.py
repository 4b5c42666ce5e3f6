"""Every verb is ended by SIGHUP as by SIGTERM, unless it was started with nohup."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

ENDED = """
import os, signal, sys
from plimsoll.cli.signals import serve_signals
signal.signal(signal.SIGHUP, getattr(signal, sys.argv[1]))
serve_signals()
try:
    for number in sys.argv[2:]:
        os.kill(os.getpid(), int(number))
except KeyboardInterrupt:
    print("interrupted")
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except KeyboardInterrupt:
        print("twice")
"""


@pytest.mark.parametrize(
    ("before", "sent", "said"),
    [
        ("SIG_DFL", [signal.SIGHUP], "interrupted\n"),  # the SIGTERM right after it is the same
        ("SIG_DFL", [signal.SIGTERM], "interrupted\n"),
        ("SIG_IGN", [signal.SIGHUP], ""),
        ("SIG_IGN", [signal.SIGHUP, signal.SIGINT], "interrupted\ntwice\n"),
    ],
)
def test_what_ends_a_verb(before: str, sent: list[signal.Signals], said: str) -> None:
    command = [sys.executable, "-c", ENDED, before, *(str(int(number)) for number in sent)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == said


HELD = """
import os, signal
from plimsoll.cli.signals import serve_signals
from plimsoll.interruptions import interruptions_held
serve_signals()
try:
    with interruptions_held():
        os.kill(os.getpid(), signal.SIGHUP)
        print("held")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_closed_terminal_waits_as_ctrl_c_does_where_nothing_may_be_cut_in_two() -> None:
    done = subprocess.run([sys.executable, "-c", HELD], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "held\ninterrupted\n"
