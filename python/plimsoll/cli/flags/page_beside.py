"""The flag `--ui`: the live page of a verb, in a process beside it. It is quick to import."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

UI_HELP = "show it on a page in the browser too, live; its address is printed on stderr"
ENDS_WITHIN_S = 1.0  # however many look: then the verb goes on without them
LOOPBACK = "127.0.0.1"


@contextmanager
def page_beside(is_wanted: bool, runs: Path) -> Iterator[None]:
    """With `--ui`: a process beside this one serves the page while the block runs, and has ENDS_WITHIN_S at its end."""
    if not is_wanted:
        yield
        return
    import json
    import subprocess

    from plimsoll import own_programs
    from plimsoll.runs.begun_runs import told_of_runs
    from plimsoll.ui.server import address_of, check_installed, listening_socket

    check_installed()
    listening = listening_socket(LOOPBACK, None)
    port, handle = listening.getsockname()[1], listening.fileno()
    process = subprocess.Popen(
        own_programs.command("plimsoll.ui.beside", os.path.abspath(runs), LOOPBACK, port, handle, os.getpid()),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(handle,),
        start_new_session=True,  # Ctrl-C is this process's to handle
    )
    print(f"Live page: {address_of(listening)}now", file=sys.stderr, flush=True)
    listening.close()
    assert process.stdin is not None
    pipe = process.stdin

    has_begun = False

    def tell(run: Path) -> None:
        nonlocal has_begun
        has_begun = True
        with suppress(OSError, ValueError):
            pipe.write(json.dumps({"run": os.path.abspath(run)}).encode() + b"\n")
            pipe.flush()

    try:
        with told_of_runs(tell):
            yield
    finally:
        with suppress(OSError):
            pipe.close()
        if not has_begun:  # nobody looks at anything
            process.kill()
        try:
            process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
