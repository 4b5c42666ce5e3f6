"""What the kernel says in /proc and /sys, read under a root that tests plant."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

# Local port, remote address with port, and state stand in these columns of /proc/net/tcp (proc(5)).
_LOCAL, _REMOTE, _STATE = 1, 2, 3
_LISTENING = "0A"


def text(path: Path) -> str:
    """The file's text; empty where it cannot be read."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def pairs(path: Path) -> Iterator[tuple[str, str]]:
    """Lines of `name: value`."""
    for line in text(path).splitlines():
        name, colon, value = line.partition(":")
        if colon:
            yield name, value


def memory_bytes(root: Path) -> dict[str, int]:
    """/proc/meminfo in bytes."""
    return {name: int(value.split()[0]) << 10 for name, value in pairs(root / "proc/meminfo") if value.split()}


def cpu_ticks(root: Path) -> list[int]:
    """User, nice, system, idle, iowait, irq, softirq, steal in ticks, over all cores; empty where unknown."""
    first = text(root / "proc/stat").partition("\n")[0].split()
    return [int(ticks) for ticks in first[1:9]] if first[:1] == ["cpu"] else []


def steal_share(before: list[int], after: list[int]) -> float | None:
    """Share of the cores' time between two readings that the hypervisor took."""
    whole = sum(after) - sum(before)
    return (after[7] - before[7]) / whole if len(after) == len(before) == 8 and whole > 0 else None


def busy_share(before: list[int], after: list[int]) -> float | None:
    """Share of the cores' time between two readings in which they worked; stolen time and waiting for disks are not."""
    whole = sum(after) - sum(before)
    if not len(after) == len(before) == 8 or whole <= 0:
        return None
    return 1 - sum(after[at] - before[at] for at in (3, 4, 7)) / whole


def ticks_by_process(root: Path) -> dict[str, int]:
    """CPU ticks so far of every other process, by "name (process id)"."""
    ticks = {}
    for folder in (root / "proc").glob("[0-9]*"):
        name, _, rest = text(folder / "stat").rpartition(")")
        words = rest.split()
        if len(words) > 12 and folder.name != str(os.getpid()):
            ticks[f"{name.partition('(')[2]} ({folder.name})"] = int(words[11]) + int(words[12])
    return ticks


def busiest_process(before: dict[str, int], after: dict[str, int]) -> str | None:
    """Who worked most between two readings; None if nobody did."""
    worked = {name: ticks - before.get(name, ticks) for name, ticks in after.items()}
    most = max(worked, key=lambda name: worked[name], default=None)
    return most if most is not None and worked[most] > 0 else None


def local_port_range(root: Path) -> tuple[int, int] | None:
    """The first and the last local port that a connection may get."""
    ends = text(root / "proc/sys/net/ipv4/ip_local_port_range").split()
    return (int(ends[0]), int(ends[1])) if len(ends) == 2 else None


def tcp_sockets(root: Path) -> dict[str, int]:
    """`inuse` and `tw` (TIME_WAIT) of /proc/net/sockstat, of IPv4 and IPv6 together; empty where unknown."""
    counts: dict[str, int] = {}
    for name, value in (*pairs(root / "proc/net/sockstat"), *pairs(root / "proc/net/sockstat6")):
        if name in ("TCP", "TCP6"):
            words = value.split()
            for key, count in zip(words[::2], words[1::2], strict=False):
                if key in ("inuse", "tw"):
                    counts[key] = counts.get(key, 0) + int(count)
    return counts


def busiest_destination(root: Path = Path("/")) -> tuple[str, int] | None:
    """The remote address to which most local ports of the range are held, TIME_WAIT included, and how many.

    Reads every socket of the machine: not for each second of a load.
    """
    ports = local_port_range(root)
    if ports is None:
        return None
    held: Counter[str] = Counter()
    for name in ("tcp", "tcp6"):
        for line in text(root / "proc/net" / name).splitlines()[1:]:
            words = line.split()
            if words[_STATE] != _LISTENING and ports[0] <= int(words[_LOCAL].rpartition(":")[2], 16) <= ports[1]:
                held[words[_REMOTE]] += 1
    return next(((readable_address(remote), count) for remote, count in held.most_common(1)), None)


def readable_address(remote: str) -> str:
    """An address of /proc/net/tcp, words of 32 bits in the byte order of the machine, as people write it."""
    import ipaddress
    import sys

    address, _, port = remote.rpartition(":")
    words = [int(address[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(address), 8)]
    ip = ipaddress.ip_address(b"".join(words))
    if isinstance(ip, ipaddress.IPv6Address):
        ip = ip.ipv4_mapped or ip
    return f"[{ip}]:{int(port, 16)}" if ip.version == 6 else f"{ip}:{int(port, 16)}"


def throttled_s(folders: list[Path]) -> float | None:
    """Seconds so far for which the CPU quota of any of these cgroups held its processes up; None if none counts it."""
    found = None
    for folder in folders:
        for line in text(folder / "cpu.stat").splitlines():
            name, _, value = line.partition(" ")
            if name in ("throttled_usec", "throttled_time"):
                found = max(found or 0.0, int(value) / (1e6 if name == "throttled_usec" else 1e9))
    return found


def open_files_limit(hard: bool = False) -> int | None:
    """How many files this process may have open, or might allow itself."""
    try:
        import resource
    except ImportError:
        return None
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1 if hard else 0]
