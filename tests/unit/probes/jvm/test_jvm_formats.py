"""What a Java virtual machine tells, without one: heaps of all collectors, the file of counters, who may be asked."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from plimsoll.probes import ProbeUnavailable
from plimsoll.probes.jvm import counters
from plimsoll.probes.jvm.attach import Machine, heap_of, most_heap_of

K, M = 1 << 10, 1 << 20
G1 = """ garbage-first heap   total 258048K, used 3072K [0x0000000704c00000, 0x0000000800000000)
  region size 2048K, 2 young (4096K), 0 survivors (0K)
 Metaspace       used 148K, committed 384K, reserved 1056768K
  class space    used 6K, committed 128K, reserved 1048576K
"""
PARALLEL = """ PSYoungGen      total 76288K, used 3932K [0x1, 0x2, 0x3)
  eden space 65536K, 6% used [0x1,0x2,0x3)
  from space 10752K, 0% used [0x1,0x2,0x3)
 ParOldGen       total 175104K, used 68K [0x1, 0x2, 0x3)
  object space 175104K, 0% used [0x1,0x2,0x3)
 Metaspace       used 148K, committed 384K, reserved 1056768K
"""
SERIAL = """ def new generation   total 78656K, used 4198K [0x1, 0x2, 0x3)
  eden space 69952K,   6% used [0x1, 0x2, 0x3)
 tenured generation   total 174784K, used 2K [0x1, 0x2, 0x3)
   the space 174784K,   0% used [0x1, 0x2, 0x3, 0x4)
"""
ZGC = """ ZHeap           used 8M, capacity 256M, max capacity 4096M
 Metaspace       used 148K, committed 384K, reserved 1056768K
"""
SHENANDOAH = """Shenandoah Heap
 4096M max, 4096M soft max, 256M committed, 3M used
 2048 x 2048K regions
"""


@pytest.mark.parametrize(
    ("text", "heap"),
    [
        (G1, (3072 * K, 258048 * K)),
        (PARALLEL, (4000 * K, 251392 * K)),
        (SERIAL, (4200 * K, 253440 * K)),
        (ZGC, (8 * M, 256 * M)),
        (SHENANDOAH, (3 * M, 256 * M)),
        ("Epsilon Heap", None),
        ("", None),
    ],
)
def test_the_heap_of_each_collector_is_understood(text: str, heap: tuple[float, float] | None) -> None:
    assert heap_of(text) == heap


def test_the_largest_heap_is_among_the_flags() -> None:
    assert most_heap_of("-XX:InitialHeapSize=16777216 -XX:MaxHeapSize=268435456 -XX:+UseG1GC") == 268435456
    assert most_heap_of("-XX:+UseG1GC") is None


def entry(name: str, value: int | str) -> bytes:
    """An entry of a file of counters: a head of 20 bytes, the name, and data aligned to 8."""
    text = name.encode() + b"\0"
    data_at = (20 + len(text) + 7) // 8 * 8
    data = struct.pack("<q", value) if isinstance(value, int) else value.encode() + b"\0" * (16 - len(value))
    vector = 0 if isinstance(value, int) else 16
    kind = ord("J") if isinstance(value, int) else ord("B")
    head = struct.pack("<iii4bi", data_at + len(data), 20, vector, kind, 0, 0, 0, data_at)
    return (head + text).ljust(data_at, b"\0") + data


def file_of(values: dict[str, int | str]) -> bytes:
    entries = b"".join(entry(name, value) for name, value in values.items())
    head = struct.pack(">I", counters.MAGIC) + bytes([1, 2, 0, 1]) + struct.pack("<iiqii", 0, 0, 0, 32, len(values))
    return head + entries


COUNTED: dict[str, int | str] = {
    "sun.gc.collector.0.name": "G1 incremental",
    "sun.gc.collector.0.time": 2_000_000_000,
    "sun.gc.collector.0.invocations": 7,
    "sun.gc.collector.1.time": 500_000_000,
    "sun.gc.collector.1.invocations": 1,
    "sun.gc.collector.1.lastEntryTime": 99,
    "sun.os.hrt.frequency": 1_000_000_000,
    "java.threads.live": 23,
}


def test_collections_and_threads_are_read_of_the_file_of_counters(tmp_path: Path) -> None:
    (tmp_path / "1").write_bytes(file_of(COUNTED))
    found = counters.read(tmp_path / "1")
    assert found["java.threads.live"] == 23 and "sun.gc.collector.0.name" not in found
    assert counters.collections_of(found) == (2.5, 8)
    assert counters.collections_of({"sun.os.hrt.frequency": 1e9}) is None


@pytest.mark.parametrize("data", [b"", b"x" * 100, file_of(COUNTED)[:80], file_of(COUNTED)[:40] + b"\0" * 500])
def test_a_file_that_holds_none_is_told(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "1").write_bytes(data)
    with pytest.raises(ProbeUnavailable, match="holds no counters of a Java virtual machine"):
        counters.read(tmp_path / "1")
    with pytest.raises(ProbeUnavailable, match="cannot be read"):
        counters.read(tmp_path / "none")


def test_a_process_that_does_not_expect_the_signal_is_never_sent_it() -> None:
    import subprocess

    with subprocess.Popen(["sleep", "60"]) as process:
        with pytest.raises(ProbeUnavailable, match="lets nobody attach"):
            Machine(process.pid).ask("GC.heap_info")
        assert process.poll() is None
        process.kill()
    with pytest.raises(ProbeUnavailable, match="is gone"):
        Machine(2**22 + 1)
