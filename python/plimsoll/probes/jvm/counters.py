"""The counters that a HotSpot machine keeps in the file hsperfdata_<user>/<pid>, which jstat reads: no question to it.

The format (jdk.internal.jvmstat, PerfDataBuffer 2.0): a head with the byte order and where the entries begin; each
entry has its length, where its name and its data lie, and a type; J is a long, B with a length a text. The machine
writes the file while it is read: a number of eight bytes is written at once, and one reading may mix two moments.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

from plimsoll.probes.probe import ProbeUnavailable

MAGIC = 0xCAFEC0C0
MOST_BYTES = 1 << 20


def find(pid: int, inside: int, root: Path) -> Path | None:
    """The file of a machine, which knows itself as process `inside` below `root`; None without one (UsePerfData is
    off)."""
    found = sorted(root.glob(f"tmp/hsperfdata_*/{inside}"))
    return found[0] if found else None


def read(path: Path) -> dict[str, float]:
    """{name: number}. ProbeUnavailable where the file is gone or is no such file."""
    try:
        with path.open("rb") as file:
            return numbers_of(file.read(MOST_BYTES))
    except OSError as error:
        raise ProbeUnavailable(f"{path} cannot be read ({error.strerror}). Run as the target's user.") from None
    except (struct.error, ValueError):
        raise ProbeUnavailable(f"{path} holds no counters of a Java virtual machine.") from None


def numbers_of(data: bytes) -> dict[str, float]:
    """The longs of such a file. Raises ValueError or struct.error for anything else."""
    if len(data) < 32 or struct.unpack(">I", data[:4])[0] != MAGIC:
        raise ValueError("no hsperfdata")
    order = "<" if data[4] == 1 else ">"
    place, entries = struct.unpack_from(f"{order}ii", data, 24)
    found = {}
    for _ in range(entries):
        length, name_at, vector, kind, _, _, _, data_at = struct.unpack_from(f"{order}iii4bi", data, place)
        if length <= 0:
            raise ValueError("an entry without a length")
        end = data.index(b"\0", place + name_at)
        if kind == ord("J") and vector == 0:
            name = data[place + name_at : end].decode("ascii", errors="replace")
            found[name] = float(struct.unpack_from(f"{order}q", data, place + data_at)[0])
        place += length
    return found


def collections_of(numbers: Mapping[str, float]) -> tuple[float, float] | None:
    """(seconds, count) of all garbage collections so far; None where it does not tell."""
    per_s = numbers.get("sun.os.hrt.frequency", 0.0)
    times = [value for name, value in numbers.items() if _is(name, "time")]
    counts = [value for name, value in numbers.items() if _is(name, "invocations")]
    return (sum(times) / per_s, sum(counts)) if times and counts and per_s > 0 else None


def _is(name: str, last: str) -> bool:
    """sun.gc.collector.<n>.<last>"""
    parts = name.split(".")
    return len(parts) == 5 and parts[:3] == ["sun", "gc", "collector"] and parts[3].isdigit() and parts[4] == last
