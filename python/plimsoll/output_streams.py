"""Standard output and error that never end a run: what they do not take is dropped and counted.

A log collector that is gone, a closed terminal, a full disk behind `2> log`, a character that the encoding lacks: none
of it is worth a load that runs. `make_tolerant` gives the command line such streams. A stream that is gone for good is
replaced by /dev/null below Python too, as native code would stop at it; so that this happens before native code comes
upon it, a thread waits for the other end of a pipe to close.

It imports nothing of the package.
"""

from __future__ import annotations

import errno
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
_outputs: dict[int, _Output] = {}
_lost_lines = dict.fromkeys(_NAMES, 0)
_why_lost = dict.fromkeys(_NAMES, "")


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


def tell_losses() -> None:
    """At the end: say what a full disk behind standard output did not take. That its reader left, as `head` does, is no
    loss to tell."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    if 1 in _outputs and not _outputs[1].is_gone and _lost_lines[1]:
        lost = f"{_lost_lines[1]:,} lines of standard output were lost: {_why_lost[1]}."
        print(f"plimsoll: {lost} Make room where it goes, and run again.", file=sys.stderr)


class _Output(io.FileIO):
    """A descriptor for writing that takes everything."""

    is_gone = False

    def write(self, data: Any, /) -> int:
        """Write it, or count it as lost."""
        rest = memoryview(data)
        while rest and not self.is_gone:
            try:
                written = super().write(rest)
            except OSError as error:
                _why_lost[self.fileno()] = error.strerror or str(error)
                if error.errno in _GONE:
                    self.give_up()
                break
            if written is None and not self._has_room():
                break
            rest = rest[written or 0 :]
        _lost_lines[self.fileno()] += bytes(rest).count(b"\n")
        return len(data)

    def give_up(self) -> None:
        """It is gone: from now on /dev/null stands there."""
        self.is_gone = True
        with suppress(OSError):
            null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            os.dup2(null, self.fileno())
            os.close(null)

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


def _watch(raw: _Output) -> None:
    """Wait for the end of a pipe's reader, in a thread."""
    descriptor = raw.fileno()
    if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        return

    def wait() -> None:
        poll = select.poll()
        poll.register(descriptor, 0)  # its errors alone: nobody reads any more
        with suppress(OSError):
            poll.poll()
            raw.give_up()

    threading.Thread(target=wait, name=f"plimsoll-{_NAMES[descriptor]}", daemon=True).start()
