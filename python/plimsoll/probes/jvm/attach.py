"""Asking a local HotSpot machine what `jcmd PID …` asks, without starting a second one for it.

jcmd is a Java program: each call takes some 0.3 s of CPU. What it does is simple (jdk.attach: VirtualMachineImpl.java):
the machine listens on the socket /tmp/.java_pid<pid>; where it does not yet, the file .attach_pid<pid> and a SIGQUIT
make it do so. SIGQUIT ends a program that does not expect it, so it is sent only to one that has libjvm and catches it.
The request is its version, a command and three arguments, each ended by a zero; the answer a status line and the text.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from plimsoll.probes.probe import ProbeUnavailable

PROC = Path("/proc")
LIMIT_S = 1.5
MOST_BYTES = 1 << 20
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_TOTAL = re.compile(r"\btotal (\d+)([KMG]), used (\d+)([KMG])")
_ZGC = re.compile(r"\bZHeap\s+used (\d+)([KMG]), capacity (\d+)([KMG])")
_SHENANDOAH = re.compile(r"(\d+)([KMG]) committed, (\d+)([KMG]) used")
_MAX_HEAP = re.compile(r"-XX:MaxHeapSize=(\d+)")


def is_jvm(pid: int) -> bool:
    """Whether the process has a HotSpot machine in it, by the library; False where that may not be read."""
    try:
        return "/libjvm.so" in (PROC / str(pid) / "maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


class Machine:
    """A HotSpot machine by its process id. Raises ProbeUnavailable, with what to do."""

    def __init__(self, pid: int, wait: Callable[[float], None] = time.sleep) -> None:
        self.pid, self._wait = pid, wait
        self.inside = _innermost_id(pid)
        self._root = PROC / str(pid) / "root"

    def ask(self, command: str) -> str:
        """The answer of a command of jcmd, as in "GC.heap_info"."""
        link = self._connected()
        try:
            link.settimeout(LIMIT_S)
            link.sendall(b"".join(part.encode() + b"\0" for part in ("1", "jcmd", command, "", "")))
            answer = bytearray()
            while piece := link.recv(1 << 16):
                answer += piece
                if len(answer) > MOST_BYTES:
                    raise ProbeUnavailable(f"process {self.pid} gives no end to {command}.")
        except OSError as error:
            raise ProbeUnavailable(
                f"process {self.pid} did not answer {command} ({error.strerror or error}). See whether it hangs."
            ) from None
        finally:
            link.close()
        status, _, text = answer.decode("utf-8", errors="replace").partition("\n")
        if status.strip() != "0":
            raise ProbeUnavailable(f"process {self.pid} refused {command}: {' '.join(text.split())[:200] or status}")
        return text

    def _connected(self) -> socket.socket:
        path = self._root / f"tmp/.java_pid{self.inside}"
        if not path.exists():
            self._wake(path)
        link = socket.socket(socket.AF_UNIX)
        try:
            link.settimeout(LIMIT_S)
            link.connect(str(path))
        except OSError as error:
            link.close()
            raise ProbeUnavailable(
                f"process {self.pid} lets nobody attach ({error.strerror}). Run as root or as the target's user."
            ) from None
        return link

    def _wake(self, path: Path) -> None:
        """Have it listen."""
        if not _catches_quit(self.pid):
            raise ProbeUnavailable(
                f"process {self.pid} lets nobody attach (it has just begun, or runs with -Xrs). Use Jolokia or "
                "jmx_exporter."
            )
        places = [PROC / str(self.pid) / f"cwd/.attach_pid{self.inside}", self._root / f"tmp/.attach_pid{self.inside}"]
        mark = None
        for place in places:
            with suppress(OSError):
                place.touch()
                mark = place
                break
        if mark is None:
            raise ProbeUnavailable(f"process {self.pid} cannot be attached to. Run as root or as the target's user.")
        try:
            os.kill(self.pid, signal.SIGQUIT)
            for _ in range(int(LIMIT_S / 0.05)):
                if path.exists():
                    return
                self._wait(0.05)
        except OSError:
            pass
        finally:
            with suppress(OSError):
                mark.unlink()
        raise ProbeUnavailable(
            f"process {self.pid} lets nobody attach. Run as root or as the target's user; with "
            "-XX:+DisableAttachMechanism use Jolokia or jmx_exporter."
        )


def _innermost_id(pid: int) -> int:
    """The process id that the process itself knows, in a container another."""
    ids = re.search(r"^NSpid:\s*(.*)$", _status(pid), re.MULTILINE)
    return int(ids[1].split()[-1]) if ids else pid


def _catches_quit(pid: int) -> bool:
    """Whether it has a handler for SIGQUIT; the mask has a bit for each signal, from 1."""
    mask = re.search(r"^SigCgt:\s*([0-9a-f]+)$", _status(pid), re.MULTILINE)
    return mask is not None and bool(int(mask[1], 16) >> (signal.SIGQUIT - 1) & 1)


def _status(pid: int) -> str:
    try:
        return (PROC / str(pid) / "status").read_text(encoding="ascii", errors="replace")
    except OSError:
        raise ProbeUnavailable(f"process {pid} is gone, or may not be read.") from None


def heap_of(text: str) -> tuple[float, float] | None:
    """(bytes used, bytes that it has of the system now) of GC.heap_info, of any collector; None where it is none."""
    lines = [line for line in text.splitlines() if "Metaspace" not in line and "class space" not in line]
    parts = [found for line in lines if (found := _TOTAL.search(line))]
    if parts:
        return (
            sum(_bytes(found[3], found[4]) for found in parts),
            sum(_bytes(found[1], found[2]) for found in parts),
        )
    if found := _ZGC.search(text):
        return _bytes(found[1], found[2]), _bytes(found[3], found[4])
    if found := _SHENANDOAH.search(text):
        return _bytes(found[3], found[4]), _bytes(found[1], found[2])
    return None


def most_heap_of(flags: str) -> float | None:
    """Bytes of the largest heap, of VM.flags."""
    found = _MAX_HEAP.search(flags)
    return float(found[1]) if found else None


def _bytes(number: str, unit: str) -> float:
    return float(int(number) * _UNITS[unit])
