"""py-spy and perf: programs that sample other processes, started for a step and ended by an interrupt.

py-spy reads a Python process from outside (https://github.com/benfred/py-spy). With --gil a sample is what holds the
interpreter: without it threads that have just gone to sleep count as at work, in readinto and select. --nonblocking
lets the process go on meanwhile, so that some samples are torn. perf samples what is on a processor by its clock
(perf-record(1), cpu-clock, as virtual machines mostly have no hardware counters).
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from plimsoll.interruptions import interruptions_held
from plimsoll.own_programs import beside_python
from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.probes.profiling.profile import Profile

STOP_LIMIT_S, REPORT_LIMIT_S = 10.0, 30.0
START_LIMIT_S = 0.3
_FRAME = re.compile(r"^(?P<name>.*) \((?P<where>[^()]*)\)$")
_ERRORS = re.compile(r"Errors: (\d+)")
PY_SPY_MISSING = "py-spy is not installed. Install it with: pip install 'plimsoll-line[profile]'"
PERF_MISSING = "perf is not installed. Install it (Debian: apt-get install linux-perf; Ubuntu: linux-tools-generic)"
PY_SPY_DENIED = (
    "py-spy may not read the process. Run as root, give it the right (setcap cap_sys_ptrace+ep on the program py-spy), "
    "or as the target's user set kernel.yama.ptrace_scope to 0"
)
PERF_DENIED = (
    "perf may not sample the process. Run as root or as the target's user with sysctl kernel.perf_event_paranoid=1, or "
    "give it the right (setcap cap_perfmon+ep on the program perf)"
)


class _Tool(ABC):
    """A program that samples until it is interrupted, and then writes a file."""

    kind = ""
    missing = ""
    denied = ""

    def __init__(self, ids: Sequence[int], samples_per_s: int) -> None:
        self._ids, self._samples_per_s = list(ids), samples_per_s
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._running: list[tuple[subprocess.Popen[bytes], Path]] = []
        self._began = 0.0

    def start(self) -> None:
        """Begin."""
        program = self.program()
        if program is None:
            raise ProbeUnavailable(f"{self.missing}.")
        self._folder = tempfile.TemporaryDirectory(prefix="plimsoll-profile-")
        self._began = time.monotonic()
        for number, command in enumerate(self.commands(program)):
            output = Path(self._folder.name) / str(number)
            with output.with_suffix(".log").open("wb") as log, interruptions_held():
                process = subprocess.Popen(
                    [*command, "-o", str(output)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    start_new_session=True,  # Ctrl-C at a terminal is for us to pass on
                )  # fmt: skip
                self._running.append((process, output))
        with suppress(subprocess.TimeoutExpired):
            self._running[0][0].wait(START_LIMIT_S)
            raise self._reason(self._running[0][1])

    def stop(self) -> Profile:
        """End the program and read what it wrote."""
        seconds = time.monotonic() - self._began
        try:
            for process, _ in self._running:
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGINT)
            counts: Counter[tuple[str, str]] = Counter()
            errors = 0
            for process, output in self._running:
                try:
                    process.wait(STOP_LIMIT_S)
                except subprocess.TimeoutExpired:
                    raise ProbeUnavailable(
                        f"{self.kind} profile: {self.name()} did not end; its samples are lost."
                    ) from None
                if not output.exists() or not output.stat().st_size:
                    raise self._reason(output)
                counts.update(self.counts(output))
                errors += sum(map(int, _ERRORS.findall(_log(output))))
            return Profile(counts, 1 / self._samples_per_s, seconds, errors)
        finally:
            self.close()

    def close(self) -> None:
        """Kill what still runs, and remove what it wrote."""
        for process, _ in self._running:
            if process.poll() is None:
                process.kill()
                process.wait()
        self._running = []
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _reason(self, output: Path) -> ProbeUnavailable:
        """Why there is nothing, by what the program said."""
        said = _log(output)
        if re.search(r"permission denied|not permitted|paranoid", said, re.IGNORECASE):
            self.close()
            return ProbeUnavailable(f"{self.denied}.")
        self.close()
        last = " ".join(said.split())[-300:] or "it said nothing"
        return ProbeUnavailable(f"{self.name()} gave no profile: {last}")

    @abstractmethod
    def name(self) -> str:
        """What the program is called."""

    @abstractmethod
    def program(self) -> str | None:
        """Where it is; None if it is not installed."""

    @abstractmethod
    def commands(self, program: str) -> list[list[str]]:
        """How it is started, without where it writes to."""

    @abstractmethod
    def counts(self, output: Path) -> Counter[tuple[str, str]]:
        """Samples by (function, where) of the file that it wrote."""


class PySpy(_Tool):
    """Of Python processes with their children."""

    kind, missing, denied = "python", PY_SPY_MISSING, PY_SPY_DENIED

    def name(self) -> str:
        """The program's."""
        return "py-spy"

    def program(self) -> str | None:
        """On the path, or beside this Python."""
        beside = beside_python("py-spy")
        return shutil.which("py-spy") or (beside if os.access(beside, os.X_OK) else None)

    def commands(self, program: str) -> list[list[str]]:
        """One for each process."""
        options = [
            "--format",
            "raw",
            "--function",
            "--gil",
            "--nonblocking",
            "--subprocesses",
            "--rate",
            str(self._samples_per_s),
        ]
        return [[program, "record", *options, "--pid", str(pid)] for pid in self._ids]

    def counts(self, output: Path) -> Counter[tuple[str, str]]:
        """Of its stacks, a line each: frames from the outermost on with ; between, and the number of samples."""
        return own_of_stacks(output.read_text(encoding="utf-8", errors="replace").splitlines())


class Perf(_Tool):
    """Of any processes."""

    kind, missing, denied = "native", PERF_MISSING, PERF_DENIED

    def name(self) -> str:
        """The program's."""
        return "perf"

    def program(self) -> str | None:
        """On the path."""
        return shutil.which("perf")

    def commands(self, program: str) -> list[list[str]]:
        """One for all."""
        ids = ",".join(map(str, self._ids))
        return [[program, "record", "-q", "-e", "cpu-clock", "-F", str(self._samples_per_s), "-p", ids]]

    def counts(self, output: Path) -> Counter[tuple[str, str]]:
        """As perf report counts them."""
        command = [
            str(self.program()),
            "report",
            "-i",
            str(output),
            "--stdio",
            "-q",
            "-F",
            "sample,dso,sym",
            "-t",
            "\t",
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=REPORT_LIMIT_S, check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise ProbeUnavailable("perf report did not end; its samples are lost.") from None
        return own_of_report(done.stdout.splitlines())


def own_of_stacks(lines: Iterable[str]) -> Counter[tuple[str, str]]:
    """Samples by the innermost frame of "outer (file:1);inner (file:2) 17"."""
    counts: Counter[tuple[str, str]] = Counter()
    for line in lines:
        stack, _, count = line.rpartition(" ")
        frame = stack.rpartition(";")[2]
        found = _FRAME.match(frame)
        if count.isdigit() and found is not None:
            counts[found["name"], found["where"]] += int(count)
    return counts


def own_of_report(lines: Iterable[str]) -> Counter[tuple[str, str]]:
    """Samples of "13  <tab>libc.so.6<tab>[.] malloc"; a symbol that is not known is called by its library alone."""
    counts: Counter[tuple[str, str]] = Counter()
    for line in lines:
        parts = [part.strip() for part in line.split("\t")]
        if len(parts) != 3 or not parts[0].isdigit():
            continue
        symbol = re.sub(r"^\[[.kgu]\] ", "", parts[2])
        unknown = re.fullmatch(r"(0x)?[0-9a-f]+|\[unknown\]", symbol) is not None
        counts["(a function without a name)" if unknown else symbol, parts[1]] += int(parts[0])
    return counts


def _log(output: Path) -> str:
    try:
        return output.with_suffix(".log").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
