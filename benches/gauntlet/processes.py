"""Starts the processes of a product on the target's core, waits until they answer, and ends them by their id."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

STARTS_WITHIN_S = 120.0
ENDS_WITHIN_S = 10.0
TARGET_CORES, GENERATOR_CORES = frozenset({0}), frozenset({1})
Server = TypeVar("Server")
ALL_CORES = os.sched_getaffinity(0)

PRIORITY, PREFERS_EVERY_S = -20, 0.5


def prefer(process: int | str = "self") -> bool:
    """Put the session of a process before all others of the host, whatever these do; False where that is not allowed.

    Linux shares a core among sessions first, so the niceness that counts is that of the session's own group.
    """
    try:
        Path(f"/proc/{process}/autogroup").write_text(str(PRIORITY))
    except OSError:
        return False
    return True


@contextmanager
def preferred_descendants() -> Iterator[None]:
    """Put every session that a descendant of this process opens before all others, soon after it is opened.

    PostgreSQL gives each of its processes a session of its own, which would begin at usual priority.
    """
    known = set[int]()

    def prefer_new() -> None:
        for process, session in descendants().items():
            if session not in known and prefer(process):
                known.add(session)

    with repeated(PREFERS_EVERY_S, prefer_new):
        yield


@contextmanager
def repeated(every_s: float, do: Callable[[], None]) -> Iterator[None]:
    """Do it again and again while inside, in a thread of its own."""
    ends = threading.Event()

    def watch() -> None:
        while not ends.wait(every_s):
            do()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


def descendants() -> dict[int, int]:
    """The session of this process and of each of its descendants."""
    sessions: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for number, fields in stats():
        sessions[number] = int(fields[3])
        children.setdefault(int(fields[1]), []).append(number)
    found, todo = {}, [os.getpid()]
    while todo:
        number = todo.pop()
        found[number] = sessions.get(number, 0)
        todo += children.get(number, [])
    return found


def stats() -> Iterator[tuple[int, list[str]]]:
    """Each process of the host with the fields of its /proc/PID/stat from the state on."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            yield int(file.parent.name), file.read_text().rpartition(")")[2].split()
        except OSError:
            continue


class NotStarted(RuntimeError):
    """A product did not answer in time; the message holds the end of its log."""


@contextmanager
def on_cores(cores: frozenset[int]) -> Iterator[None]:
    """Processes that start inside inherit these cores, whatever holds outside; of a host without them, all it has."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores & ALL_CORES or ALL_CORES)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def on_target_cores(server: AbstractContextManager[Server]) -> Iterator[Server]:
    """The server, of which only its own processes stay on the target's cores and not those that load it."""
    with ExitStack() as stack:
        with on_cores(TARGET_CORES):
            started = stack.enter_context(server)
        yield started


@contextmanager
def running(
    words: Sequence[str | Path],
    log: Path,
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
    account: str | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """The command in a process group of its own, which is ended at the end; `account`: run as that user if root."""
    owner = {"user": account, "group": account, "extra_groups": ()} if account and os.geteuid() == 0 else {}
    with log.open("ab") as output, on_cores(TARGET_CORES):
        process = subprocess.Popen(
            [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            env={**os.environ, **(env or {})}, cwd=folder or log.parent, start_new_session=True, **owner,
        )  # type: ignore[call-overload]  # fmt: skip
    prefer(process.pid)
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """End the process and its group: asked first, forced after ENDS_WITHIN_S."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(timeout=ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def done(
    words: Sequence[str | Path],
    log: Path,
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
    account: str | None = None,
    stdin: bytes | None = None,
    limit_s: float = 600,
) -> None:
    """Run a command to its end, at usual priority; RuntimeError with the end of its output if it fails."""
    owner = {"user": account, "group": account, "extra_groups": ()} if account and os.geteuid() == 0 else {}
    with log.open("ab") as output:
        code = subprocess.run(
            [str(word) for word in words], stdout=output, stderr=output, input=stdin,
            env={**os.environ, **(env or {})}, cwd=folder or log.parent,
            timeout=limit_s, check=False, start_new_session=True, **owner,
        ).returncode  # type: ignore[call-overload]  # fmt: skip
    if code != 0:
        raise RuntimeError(f"`{' '.join(map(str, words))[:200]}` ended with {code}:\n{tail(log)}")


def tail(log: Path, characters: int = 800) -> str:
    """The end of a log."""
    return log.read_text(errors="replace")[-characters:] if log.exists() else ""


def await_answer(url: str, process: subprocess.Popen[bytes], log: Path, within_s: float = STARTS_WITHIN_S) -> None:
    """Wait until a GET of the URL gets an answer below 500; NotStarted if it does not, or the process ends."""
    until = time.monotonic() + within_s
    while time.monotonic() < until and process.poll() is None:
        if answers(url):
            return
        time.sleep(0.2)
    ended = process.poll()
    why = f"ended with {ended}" if ended is not None else f"gave no answer in {within_s:.0f} s"
    raise NotStarted(f"{process.args!r} {why}. {url}\n{tail(log)}")


def answers(url: str, within_s: float = 2.0) -> bool:
    """Whether a GET gets an answer below 500 in time."""
    try:
        with urllib.request.urlopen(url, timeout=within_s) as response:
            return int(response.status) < 500
    except urllib.error.HTTPError as error:
        return error.code < 500
    except (OSError, ValueError):
        return False
