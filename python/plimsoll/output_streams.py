"""Standard output and error that never end a run: what they do not take is dropped and counted.

A log collector that is gone, a closed terminal, a full disk behind `2> log`, a character that the encoding lacks: none
of it is worth a load that runs. `make_tolerant` gives the command line such streams. A stream that is gone for good is
replaced by /dev/null below Python too, as native code would stop at it; so that this happens before native code comes
upon it, a thread waits for the other end of a pipe to close.

An answer waits for its reader, messages do not: where nobody reads the pipe behind standard error for STALLED_S, the
same thread takes its place (_Relay) and drops what the pipe has no room for.

It imports nothing of the package.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import select
import stat
import sys
import threading
from contextlib import suppress
from typing import Any, TextIO

_NAMES = {1: "stdout", 2: "stderr"}
_GONE = (errno.EPIPE, errno.EBADF, errno.EIO, errno.ENXIO, errno.ECONNRESET)
_WAIT_MS = 1000
_LOOK_MS = 500
STALLED_S = 2.0
_LARGEST_PIPE = 1 << 20  # what a pipe may have without privilege, as Linux has it by default
_LONGEST_LINE = 1 << 20
_SET_PIPE_SIZE, _GET_PIPE_SIZE = 1031, 1032  # F_SETPIPE_SZ, F_GETPIPE_SZ
_outputs: dict[int, _Output] = {}
_relays: list[_Relay] = []
_lost_lines = dict.fromkeys(_NAMES, 0)
_lost_bytes = dict.fromkeys(_NAMES, 0)
_why_lost = dict.fromkeys(_NAMES, "")  # empty where its reader left, as `head` does
_kept: list[str] = []


def make_tolerant() -> None:
    """Replace sys.stdout and sys.stderr, unless a program around us did already."""
    _occupy_standard_descriptors()
    for descriptor, name in _NAMES.items():
        stream, original = getattr(sys, name), getattr(sys, f"__{name}__")
        if stream is original:
            raw = _outputs[descriptor] = _Output(descriptor, "w", closefd=False)
            made = _tolerant(raw, stream)
            setattr(sys, name, made)
            setattr(sys, f"__{name}__", made)
            _watch(raw)


def lost_lines() -> int:
    """How many lines the streams did not take so far."""
    return sum(_lost_lines.values())


def answer_kept_in(place: str | os.PathLike[str]) -> None:
    """Where the answer is also, should standard output lose it: a run directory, or a file in one."""
    whole = os.path.abspath(place)
    if _outputs and not any(f"{whole}/".startswith(f"{os.path.abspath(known)}/") for known in _kept):
        _kept.append(os.fspath(place))


def tell_losses() -> bool:
    """At the end: say what standard output did not take, and where else it is; whether there was any such. That its
    reader left, as `head` does, is no loss to tell."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    is_lost = 1 in _outputs and bool(_lost_bytes[1] and _why_lost[1])
    if is_lost:
        lost = f"standard output did not take {_lost_bytes[1]:,} bytes ({_lost_lines[1]:,} lines): {_why_lost[1]}."
        step = " and ".join(f"`plimsoll runs show {place}` shows what was measured and answered" for place in _kept)
        step = f"{step}." if step else "Make room where it goes, and run again."
        print(f"plimsoll: {lost} {step}", file=sys.stderr)
    for relay in _relays:
        relay.tell_and_end()
    return is_lost


class _Output(io.FileIO):
    """A descriptor for writing that takes everything."""

    is_gone = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._lock = threading.RLock()  # so that nothing goes to /dev/null uncounted while that takes its place

    def write(self, data: Any, /) -> int:
        """Write it, or count it as lost."""
        with self._lock:
            return self._write(data)

    def _write(self, data: Any) -> int:
        rest = memoryview(data)
        while rest and not self.is_gone:
            try:
                written = super().write(rest)
            except OSError as error:
                if self._is_of_reader(error):
                    self.give_up()
                else:
                    _why_lost[self.fileno()] = error.strerror or str(error)
                break
            if written is None and not self._has_room():
                _why_lost[self.fileno()] = f"its reader took nothing for {_WAIT_MS / 1000:g} s"
                break
            rest = rest[written or 0 :]
        _count_lost(self.fileno(), rest)
        return len(data)

    def give_up(self) -> None:
        """It is gone: from now on /dev/null stands there."""
        with self._lock, suppress(OSError):
            self.is_gone = True
            null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            os.dup2(null, self.fileno())
            os.close(null)

    def _is_of_reader(self, error: OSError) -> bool:
        """Whether its other end is gone; a disk has none, and its EIO is a loss."""
        return error.errno in _GONE and not stat.S_ISREG(os.fstat(self.fileno()).st_mode)

    def _has_room(self) -> bool:
        """Of a descriptor that does not block: whether there is room within a moment."""
        poll = select.poll()
        poll.register(self.fileno(), select.POLLOUT)
        return bool(poll.poll(_WAIT_MS))


def _tolerant(raw: _Output, stream: TextIO | None) -> io.TextIOWrapper:
    """A stream like the one that is there; of standard error each line is written at once, as Python does."""
    is_unbuffered = getattr(stream, "write_through", False)
    if stream is not None:
        with suppress(OSError, ValueError):
            stream.flush()
    return io.TextIOWrapper(
        raw if is_unbuffered else io.BufferedWriter(raw),  # type: ignore[arg-type]
        encoding=getattr(stream, "encoding", None) or "utf-8",
        errors="backslashreplace",
        newline="\n",
        line_buffering=getattr(stream, "line_buffering", False) or raw.fileno() == 2,
        write_through=is_unbuffered,
    )


def _occupy_standard_descriptors() -> None:
    """A standard descriptor that was closed would be given to the next file that is opened, and what native code says
    to it would be written there."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest that is free: this one
            os.set_inheritable(descriptor, True)


def _count_lost(descriptor: int, data: bytes | memoryview) -> None:
    _lost_lines[descriptor] += bytes(data).count(b"\n")
    _lost_bytes[descriptor] += len(data)


def _watch(raw: _Output) -> None:
    """Wait for the end of a pipe's reader, in a thread; of standard error also for one that does not read."""
    descriptor = raw.fileno()
    if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        return

    def wait() -> None:
        poll = select.poll()
        poll.register(descriptor, 0)  # its errors alone: nobody reads any more
        full_s = 0.0
        with suppress(OSError):
            while not poll.poll(_LOOK_MS if descriptor == 2 else None):
                full_s = full_s + _LOOK_MS / 1000 if _is_full(descriptor) else 0.0
                if full_s >= STALLED_S:
                    with suppress(OSError):  # its reader left just now
                        return _Relay(descriptor).serve()
                    break
            raw.give_up()

    threading.Thread(target=wait, name=f"plimsoll-{_NAMES[descriptor]}", daemon=True).start()


def _is_full(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return not poll.poll(0)


class _Relay:
    """In place of a pipe that is full and not read: a pipe of our own, which this reads. What the other one has room
    for goes there, the rest is dropped and counted. So nobody waits, native code included."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        # Opened anew it is ours alone: that it does not block concerns none of the others that write there.
        self._out = os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._in, end = os.pipe()
        stalled = os.dup(descriptor)
        os.dup2(end, descriptor)
        os.close(end)
        self._free_waiting(stalled)
        os.close(stalled)
        self._thread = threading.current_thread()
        _relays.append(self)

    def serve(self) -> None:
        """Until `tell_and_end`, or nobody writes any more."""
        begun = b""  # of a line whose end is still to be read
        while data := os.read(self._in, 1 << 16):
            *lines, begun = (begun + data).split(b"\n")
            for line in lines:
                self._pass_on(line + b"\n")
            if len(begun) > _LONGEST_LINE:
                self._pass_on(begun)
                begun = b""
        self._pass_on(begun)

    def _pass_on(self, line: bytes) -> None:
        """Up to 4,096 bytes are written whole or not at all."""
        try:
            written = os.write(self._out, line)
        except OSError:
            written = 0
        _count_lost(self._descriptor, line[written:])

    def tell_and_end(self) -> None:
        """Let the last lines out, and say how much was lost, should somebody read again."""
        os.dup2(self._out, self._descriptor)
        self._thread.join(_WAIT_MS / 1000)
        if _lost_lines[self._descriptor]:
            lost = f"{_lost_lines[self._descriptor]:,} lines of standard error were dropped"
            print(f"plimsoll: {lost}, as nobody read it for {STALLED_S:g} s.", file=sys.stderr)

    def _free_waiting(self, stalled: int) -> None:
        """Those that are in a write already wait for room in the old pipe: make it larger, or else take out what it
        holds, as nobody else does."""
        try:
            size = fcntl.fcntl(stalled, _GET_PIPE_SIZE)
            if size >= _LARGEST_PIPE:
                raise OSError(errno.EPERM, "it is large already")
            fcntl.fcntl(stalled, _SET_PIPE_SIZE, min(4 * size, _LARGEST_PIPE))
        except OSError:
            reading = os.open(f"/proc/self/fd/{stalled}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with suppress(BlockingIOError):
                _count_lost(self._descriptor, os.read(reading, _LARGEST_PIPE))
            os.close(reading)
