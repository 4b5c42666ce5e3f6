"""CPU per request beside the peers that are installed, in interleaved rounds against the same server.

    make bench                            5 rounds of 5 s each; writes docs/bench.md
    TABLES=get,script ROUNDS=9 SECONDS=10 make bench

The tables: `get` (one URL), `script` (a realistic script, at 50 and at 2,000 VUs), `outputs` (with raw samples and
without), `threads` (two generator threads against one), `rate` (an open load). The server has one core, a generator
another. Figures are user and system CPU of the whole process, its start included; "±" is the median absolute
deviation over the rounds.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import bench_page
import peers
from peers import Contender, Work
from scripts import LOCUST_GET, LOCUST_REALISTIC, MINIMAL, REALISTIC, written
from target import pinned, server_name, target

ROUNDS, SECONDS = int(os.environ.get("ROUNDS", 5)), int(os.environ.get("SECONDS", 5))
CONNECTIONS, MANY_VUS = 50, 2000
RATE_OF_K6, LOW_RATE = 5000, 1000


@dataclass(frozen=True)
class Measured:
    cpu_us: float
    per_s: float


def measured(contender: Contender, cores: Sequence[int]) -> Measured:
    """CPU per request and requests per second of one run."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    pin = pinned(cores[0]) if len(cores) == 1 else []
    done = subprocess.run([*pin, *contender.command], capture_output=True, text=True, check=False)
    elapsed_s, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    requests = contender.requests(done.stdout + done.stderr)
    if requests == 0:
        sys.exit(f"{contender.name} made no request:\n{done.stdout}{done.stderr}")
    return Measured(1e6 * cpu_s / requests, requests / min(elapsed_s, SECONDS))


def rounds(contenders: list[Contender], cores: Sequence[int] = (1,)) -> dict[str, list[Measured]]:
    """Each contender once a round, by turns."""
    found: dict[str, list[Measured]] = {contender.name: [] for contender in contenders}
    for number in range(ROUNDS):
        for contender in contenders:
            found[contender.name].append(measured(contender, cores))
            last = found[contender.name][-1]
            print(f"round {number + 1} {contender.name:<28} {last.cpu_us:7.1f} µs {last.per_s:9,.0f}/s", flush=True)
    return found


def median_and_noise(values: Sequence[float], form: str) -> str:
    median = statistics.median(values)
    noise = statistics.median(abs(value - median) for value in values)
    return f"{median:{form}} ± {noise:{form}} ({min(values):{form}} to {max(values):{form}})"


def ratio(found: dict[str, list[Measured]], over: str, under: str, pick: Callable[[Measured], float]) -> str:
    """The median of the rounds' ratios, with their range."""
    values = [pick(a) / pick(b) for a, b in zip(found[over], found[under], strict=True)]
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def cpu(measured: Measured) -> float:
    return measured.cpu_us


def rate(measured: Measured) -> float:
    return measured.per_s


def kept(
    name: str,
    title: str,
    how: str,
    found: dict[str, list[Measured]],
    versus: str,
    base_of: Callable[[str], str],
    pick: Callable[[Measured], float],
) -> None:
    """Writes a table; its last column, `versus`, compares each row with that of `base_of` its name."""
    rows = [
        [
            contender,
            median_and_noise([one.cpu_us for one in values], ".1f"),
            median_and_noise([one.per_s for one in values], ",.0f"),
            ratio(found, contender, base_of(contender), pick) if base_of(contender) in found else "–",
        ]
        for contender, values in found.items()
    ]
    how += " " + " ".join(f"{peer} is not installed: {command}." for peer, command in peers.missing().items())
    versions = {**peers.versions(), "server": server_name()}
    command = f"TABLES={name} ROUNDS={ROUNDS} SECONDS={SECONDS} make bench"
    columns = ["generator", "CPU µs/request", "requests/s", versus]
    bench_page.keep(name, title, command, how.strip(), columns, rows, versions)


def kept_beside(name: str, title: str, how: str, found: dict[str, list[Measured]], base: str) -> None:
    """Writes a table whose rows are compared with `base` by their CPU."""
    kept(name, title, how, found, f"CPU over that of {base}", lambda _: base, cpu)


def table_get(work: Work, folder: Path) -> None:
    minimal = written(folder, "minimal.js", MINIMAL)
    contenders = [
        peers.plimsoll("plimsoll --url", work, folder, None),
        peers.plimsoll("plimsoll, script", work, folder, minimal),
    ]
    if shutil.which("wrk"):
        contenders.append(peers.wrk(work))
    if shutil.which("oha"):
        contenders.append(peers.oha(work))
    if shutil.which("vegeta"):
        contenders.append(peers.vegeta(work, folder))
    if shutil.which("k6"):
        contenders.append(peers.k6("k6, script", work, minimal))
    if shutil.which("locust"):
        contenders.append(peers.locust("locust", work, written(folder, "locust_get.py", LOCUST_GET)))
    how = (
        f"GET of one URL by {work.connections} connections in a closed loop (vegeta: as many workers without a rate), "
        "one core each for generator and server. Where the server's core is full, the rate is the server's."
    )
    kept_beside("get", "One URL", how, rounds(contenders), "wrk")


def table_script(work: Work, folder: Path) -> None:
    script = written(folder, "realistic.js", REALISTIC)
    many = Work(work.url, MANY_VUS, work.seconds)
    contenders = [
        peers.plimsoll("plimsoll", work, folder, script),
        peers.plimsoll(f"plimsoll, {MANY_VUS:,} VUs", many, folder, script),
    ]
    if shutil.which("k6"):
        contenders += [peers.k6("k6", work, script), peers.k6(f"k6, {MANY_VUS:,} VUs", many, script)]
    if shutil.which("locust"):
        contenders.append(peers.locust("locust", work, written(folder, "locust_post.py", LOCUST_REALISTIC)))
    how = (
        f"POST of JSON, parse the answer, one check, one tag, one Trend; {work.connections} VUs in a closed loop where "
        "nothing else stands. The start of 2,000 VUs counts; over so few seconds it is much of their CPU."
    )
    kept("script", "A realistic script", how, rounds(contenders), "CPU over that of k6 with as many VUs", k6_with, cpu)


def k6_with(row: str) -> str:
    """The row of k6 with as many VUs."""
    return f"k6{many}" if row.endswith(many := f", {MANY_VUS:,} VUs") else "k6"


def without_output(row: str) -> str:
    """The row of the same generator without raw samples."""
    return row.removesuffix(", json").removesuffix(", csv")


def table_outputs(work: Work, folder: Path) -> None:
    script = written(folder, "realistic.js", REALISTIC)
    kinds = {"": [], ", json": ["--out", f"json={folder}/raw.json"], ", csv": ["--out", f"csv={folder}/raw.csv"]}
    at_rate = replace(work, per_s=RATE_OF_K6)
    open_script = written(folder, "open.js", REALISTIC + peers.open_load(at_rate))
    contenders = [peers.plimsoll(f"plimsoll{kind}", work, folder, script, *flags) for kind, flags in kinds.items()]
    for kind, flags in kinds.items():
        contenders.append(peers.plimsoll(f"plimsoll at {RATE_OF_K6:,}/s{kind}", at_rate, folder, open_script, *flags))
    if shutil.which("k6"):
        contenders += [peers.k6(f"k6{kind}", work, script, *flags) for kind, flags in kinds.items()]
    found = rounds(contenders)
    if "k6" in found:
        for kind in (", json", ", csv"):
            print(f"k6{kind}: {ratio(found, f'k6{kind}', 'k6', rate)} of the rate without", flush=True)
    how = (
        f"The realistic script with raw samples and without, {work.connections} VUs, all of a generator on one core, "
        "its writer too. In a closed loop the writer takes its CPU from the load. "
        f"At {RATE_OF_K6:,}/s, near what k6 can do on this core, it has room."
    )
    kept("outputs", "Raw samples", how, found, "rate over that without", without_output, rate)


def table_rate(work: Work, folder: Path) -> None:
    work = replace(work, per_s=LOW_RATE)
    script = written(folder, "rate.js", MINIMAL + peers.open_load(work))
    contenders = [peers.plimsoll("plimsoll", work, folder, script)]
    if shutil.which("k6"):
        contenders.append(peers.k6("k6", work, script))
    if shutil.which("oha"):
        contenders.append(peers.oha(work))
    if shutil.which("vegeta"):
        contenders.append(peers.vegeta(work, folder))
    how = (
        f"The minimal script, or one URL, at {LOW_RATE:,}/s (an open load; oha: 50 connections that keep to a rate). "
        "Every arrival and every answer wakes the generator up, which on a virtual machine costs most of this. "
        "The generator's start counts."
    )
    kept_beside("rate", "An arrival rate", how, rounds(contenders), "plimsoll")


def table_threads(work: Work, folder: Path) -> None:
    script = written(folder, "minimal.js", MINIMAL)
    contenders = [
        peers.plimsoll("plimsoll, 1 thread", work, folder, script),
        peers.plimsoll("plimsoll, 2 threads", work, folder, script, "--threads", "2"),
    ]
    found = rounds(contenders, range(os.cpu_count() or 1))
    how = (
        "The minimal script, not pinned. On few cores the server and the generator's threads share them, so the rate "
        "says what the machine carries; what a second thread costs is in the CPU per request."
    )
    kept_beside("threads", "Two threads", how, found, "plimsoll, 1 thread")


TABLES = {
    "get": table_get,
    "script": table_script,
    "outputs": table_outputs,
    "threads": table_threads,
    "rate": table_rate,
}


def main() -> None:
    wanted = os.environ.get("TABLES", ",".join(TABLES)).split(",")
    unknown = [name for name in wanted if name not in TABLES]
    if unknown:
        sys.exit(f"TABLES: {', '.join(unknown)} unknown; there are {', '.join(TABLES)}")
    for peer, command in peers.missing().items():
        print(f"{peer} is not installed: {command}")
    with tempfile.TemporaryDirectory() as name, target(Path(name)) as url:
        for table in wanted:
            TABLES[table](Work(url, CONNECTIONS, SECONDS), Path(name))
    print(f"written to {bench_page.DOCS / 'bench.md'}")


if __name__ == "__main__":
    main()
