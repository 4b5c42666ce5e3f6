"""Time and memory of importing JTLs of growing size: flat memory is the promise (docs/analyze.md).

    python benches/import_memory.py [LINES[.gz] …]   100000, 1000000 and 9500000.gz (1 GB unpacked) if left out;
                                                     40000000.short.gz is a file of 4 MB that unpacks to 1 GB,
                                                     1000000.dates has dates with ms instead of ms since 1970

Each size is a process of its own; the report is left out, as its cost does not depend on the lines. Ten labels, 1,000
requests/s, 1% failed, response times exponential about 50 ms, seeded.
"""

from __future__ import annotations

import gzip
import random
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,"
    "grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
)
T0_MS = 1_790_000_000_000
PER_S = 1000
CHILD = """
import sys, resource
from pathlib import Path
from plimsoll.verbs.analysis import AnalysisChoices, analyze
answer = analyze([sys.argv[1]], AnalysisChoices(runs=Path(sys.argv[2]), report=False))[0]
totals = next(one["totals"] for one in answer.findings if "totals" in one)
print(totals["requests"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def date_of(at_ms: int) -> str:
    """As JMeter writes it with timestamp_format=yyyy/MM/dd HH:mm:ss.SSS."""
    at = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=at_ms)
    return f"{at:%Y/%m/%d %H:%M:%S}.{at_ms % 1000:03}"


def write_jtl(path: Path, lines: int, *, dates: bool = False) -> int:
    """A JTL of so many samples, packed if its name says so; the bytes of its text."""
    choose, size = random.Random(1), len(HEADER)
    with gzip.open(path, "wt", compresslevel=1) if path.suffix == ".gz" else path.open("w") as file:
        file.write(HEADER)
        for number in range(lines):
            took = int(choose.expovariate(1 / 50)) + 1
            failed = choose.random() < 0.01
            at_ms = T0_MS + number * 1000 // PER_S
            at = date_of(at_ms) if dates else at_ms
            users = 50 * (1 + number * 4 // lines)
            size += file.write(
                f"{at},{took},GET /operation/{number % 10},{500 if failed else 200},OK,Shop 1-{number % users + 1},"
                f"text,{'false' if failed else 'true'},,2781,133,{users},{users},http://target/,{took},0,1\n"
            )
    return size


def write_short(path: Path, lines: int) -> int:
    """A packed JTL of the fewest columns whose lines say nearly the same, which unpacks to 250 times its size."""
    header, line = "timeStamp,elapsed,label,success\n", f"{T0_MS},%d,a,true\n"
    many = "".join(line % (10 + number % 7) for number in range(7000)).encode()
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(header.encode())
        for _ in range(lines // 7000):
            file.write(many)
        file.write(many[: lines % 7000 * len(line)])  # a line is as long as its pattern
    return len(header) + lines * len(line)


def main() -> None:
    words = sys.argv[1:] or ["100000", "1000000", "9500000.gz"]
    print("| lines | file | time | lines/s | peak memory |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        for word in words:
            count, *kinds = word.split(".")
            lines, path = int(count), Path(folder) / ".".join(["results", "jtl", *kinds])
            size = write_short(path, lines) if "short" in kinds else write_jtl(path, lines, dates="dates" in kinds)
            began, cpu = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            done = subprocess.run(
                [sys.executable, "-c", CHILD, str(path), folder], capture_output=True, text=True, check=True
            )
            took, used = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - cpu
            counted, mib = map(int, done.stdout.split())
            assert counted == lines, f"{counted} of {lines} samples were imported"
            about = f"{size / 1e6:,.0f} MB{f', packed {path.stat().st_size / 1e6:,.0f}' if 'gz' in kinds else ''}"
            print(f"| {lines:,} | {about} | {took:.1f} s ({used:.1f} s CPU) | {lines / took:,.0f} | {mib} MiB |")


if __name__ == "__main__":
    main()
