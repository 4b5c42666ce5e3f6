"""A target's own processes beside the one that was started: the inventory's modules, the forum's accounts service.

Such a process gets its options as one line of JSON on standard input (a key and perhaps a DSN, which a command line
would show to everybody) and says when it serves as one line of JSON on standard output. When its standard input closes,
whoever started it has ended, however it did, and so it ends. Ctrl-C and the closing of a terminal reach every process
of it: here they are ignored, so that the first process can end the others after its last call of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import uvicorn

from plimsoll.own_programs import command
from plimsoll_lab.serving import QuietServer

OF_A_TERMINAL = (signal.SIGINT, signal.SIGHUP)


def start_child(module: str, options: Mapping[str, object]) -> subprocess.Popen[str]:
    """Start that module as a program with those options; it does not serve yet."""
    process = subprocess.Popen(command(module), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it has ended; `what_child_says` tells
        process.stdin.write(json.dumps(options) + "\n")
        process.stdin.flush()
    return process


def what_child_says(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Wait for the line that it prints: `ready` is true if it serves; nothing at all if it ended."""
    assert process.stdout is not None
    told: dict[str, Any] = json.loads(process.stdout.readline() or "{}")
    return told


def end_children(processes: Sequence[subprocess.Popen[str]], limit_s: float) -> None:
    """End them all at once: their input closes, and after `limit_s` seconds in all they are killed."""
    for process in processes:
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
    deadline = time.monotonic() + limit_s
    for process in processes:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        close_pipes(process)


def close_pipes(process: subprocess.Popen[str]) -> None:
    """Close our ends of the pipes to that process."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def options_from_parent(ignored: Sequence[signal.Signals] = OF_A_TERMINAL) -> dict[str, Any]:
    """In the child, first of all: ignore those signals, read the options."""
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    options: dict[str, Any] = json.loads(sys.stdin.readline())
    return options


def serve_as_child(config: uvicorn.Config, listener: socket.socket) -> None:
    """In the child: say that it is ready, serve until standard input closes."""
    ready = {"ready": True, "port": listener.getsockname()[1], "pid": os.getpid()}
    server = QuietServer(config, ready)
    threading.Thread(target=_end_with_input, args=(server,), daemon=True).start()
    server.run(sockets=[listener])


def _end_with_input(server: uvicorn.Server) -> None:
    while os.read(sys.stdin.fileno(), 4096):  # not by sys.stdin, whose lock this thread would hold at the end
        pass
    server.should_exit = True
