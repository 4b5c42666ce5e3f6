"""Where a planted target is confined: control groups of version 1, and a network of its own with a narrow way out.

Each is a context that gives the words to put before a command, and leaves nothing behind. `Skipped` says why this
kernel or this user cannot make it; a plant that is skipped is reported as such and never counted as found.
"""

from __future__ import annotations

import os
import random
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
PERIOD_US = 100_000


class Skipped(Exception):
    """This machine cannot make the plant; its text says why."""


@contextmanager
def group(controller: str, settings: dict[str, str]) -> Iterator[list[str]]:
    """A control group with these files written; yields the words that start a command in it."""
    top = GROUPS / controller
    if not (top / "cgroup.procs").exists():
        raise Skipped(f"there is no control group of version 1 with the controller {controller}")
    folder = top / f"plimsoll-planted-{os.getpid()}-{random.randrange(10**6)}"
    try:
        folder.mkdir()
    except OSError as error:
        raise Skipped(f"no control group of {controller} can be made: {error.strerror}") from error
    try:
        for name, value in settings.items():
            try:
                (folder / name).write_text(value)
            except OSError as error:
                raise Skipped(f"{controller}: {name} cannot be set to {value}: {error.strerror}") from error
        yield ["sh", "-c", f'echo $$ > {shlex.quote(str(folder / "cgroup.procs"))}; exec "$@"', "sh"]
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a group; what still ends in it is waited for."""
    for _ in range(50):
        try:
            folder.rmdir()
            return
        except OSError:
            time.sleep(0.1)
    print(f"{folder} could not be removed: {(folder / 'cgroup.procs').read_text()!r} are in it", file=sys.stderr)


@contextmanager
def cpu_quota(cores: float) -> Iterator[list[str]]:
    """So many cores, as a container's quota: its use is counted in a group of its own, too."""
    settings = {"cpu.cfs_period_us": str(PERIOD_US), "cpu.cfs_quota_us": str(int(cores * PERIOD_US))}
    with group("cpu", settings) as words, group("cpuacct", {}) as counted:
        yield [*words, *counted]


@contextmanager
def memory_limit(mib: float) -> Iterator[list[str]]:
    """So much memory; the kernel kills who needs more."""
    with group("memory", {"memory.limit_in_bytes": str(int(mib * 2**20))}) as words:
        yield words


@contextmanager
def disk_throttle(path: Path, kib_per_s: float) -> Iterator[list[str]]:
    """So much written to the disk of `path`; what passes by the page cache is held up."""
    device = os.stat(path).st_dev
    whole = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve()
    if not whole.exists():
        raise Skipped(f"{path} lies on no block device")
    if (whole / "partition").exists():
        whole = whole.parent
    number = (whole / "dev").read_text().strip()
    with group("blkio", {"blkio.throttle.write_bps_device": f"{number} {int(kib_per_s * 1024)}"}) as words:
        _is_held_up(words, path, kib_per_s)
        yield words


def _is_held_up(words: list[str], path: Path, kib_per_s: float) -> None:
    """Whether the throttle works here; on some disks and file systems it does not."""
    trial = path / "throttle-trial"
    blocks = max(2, int(kib_per_s * 0.5 / 4))
    write = ["dd", "if=/dev/zero", f"of={trial}", "bs=4k", f"count={blocks}", "oflag=direct"]
    began = time.monotonic()
    done = subprocess.run([*words, *write], capture_output=True, text=True, check=False)
    took_s = time.monotonic() - began
    trial.unlink(missing_ok=True)
    if done.returncode:
        raise Skipped(f"{path} cannot be written past the page cache: {done.stderr.strip().splitlines()[0]}")
    if took_s < 0.2:
        raise Skipped(f"the throttle of this kernel does not hold up writes to {path}")


@contextmanager
def narrow_network(megabits_per_s: float) -> Iterator[tuple[list[str], str]]:
    """A network namespace behind a pair of virtual interfaces, whose way out is shaped to a rate; yields the words that
    start a command in it, and its address. Nothing of it leaves this host."""
    for program in ("ip", "tc"):
        if shutil.which(program) is None:
            raise Skipped(f"{program} is not installed (Debian: iproute2)")
    number = random.randrange(1, 250)
    name, outside, inside = f"plimsoll{number}", f"plo{number}", f"pli{number}"
    here, there = f"10.213.{number}.1", f"10.213.{number}.2"
    within = ["ip", "netns", "exec", name]
    try:
        for command in (
            ["ip", "netns", "add", name],
            ["ip", "link", "add", outside, "type", "veth", "peer", "name", inside],
            ["ip", "link", "set", inside, "netns", name],
            ["ip", "address", "add", f"{here}/30", "dev", outside],
            ["ip", "link", "set", outside, "up"],
            [*within, "ip", "address", "add", f"{there}/30", "dev", inside],
            [*within, "ip", "link", "set", inside, "up"],
            [*within, "ip", "link", "set", "lo", "up"],
            [*within, "tc", "qdisc", "add", "dev", inside, "root", "tbf", "rate", f"{megabits_per_s}mbit",
             "burst", "32kbit", "latency", "300ms"],
        ):  # fmt: skip
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Skipped(f"{' '.join(command)}: {done.stderr.strip()}")
        yield within, there
    finally:
        subprocess.run(["ip", "link", "delete", outside], capture_output=True, check=False)
        subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
