"""CPU per request beside the peers that are installed (wrk, k6): interleaved rounds against the same server.

    make bench                 5 rounds of 5 s each; the median and the range are printed
    ROUNDS=9 SECONDS=10 make bench

The target is nginx where it is installed, else the testkit's server. Figures are user + system CPU of the generator's
whole process, its start included. Pin and quiet the machine for figures worth quoting; prefer the ratios.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROUNDS, SECONDS, CONNECTIONS = int(os.environ.get("ROUNDS", 5)), int(os.environ.get("SECONDS", 5)), 50
ROOT = Path(__file__).parents[1]
BODY = '{"id":1,"items":[{"name":"a"},{"name":"b"}],"text":"' + "x" * 140 + '"}'
MINIMAL = "import http from 'k6/http';\nexport default function () { http.get(__ENV.URL); }\n"
REALISTIC = """import http from 'k6/http';
import { check } from 'k6';
import { Trend } from 'k6/metrics';
const seen = new Trend('items_time', true);
export default function () {
  const body = JSON.stringify({ a: 1, b: 'two', c: [1, 2, 3] });
  const params = { headers: { 'Content-Type': 'application/json' }, tags: { name: 'POST /' } };
  const response = http.post(__ENV.URL, body, params);
  const data = response.json();
  check(response, { ok: (r) => r.status === 200 && data.items.length === 2 });
  seen.add(response.timings.duration);
}
"""


@contextmanager
def target(folder: Path) -> Iterator[str]:
    """The URL of a server on one core (the first), where pinning is possible."""
    pin = ["taskset", "-c", "0"] if shutil.which("taskset") and (os.cpu_count() or 1) > 1 else []
    if not shutil.which("nginx"):
        command = [*pin, str(ROOT / "target/release/plimsoll-testkit"), "--servers", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        url = server.stdout.readline().strip()
    else:
        configuration = folder / "nginx.conf"
        configuration.write_text(
            f"worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/error.log;\n"
            "events { worker_connections 10000; }\nhttp { access_log off; keepalive_requests 1000000000;\n"
            "server { listen 127.0.0.1:18099; location / { default_type application/json; "
            f"return 200 '{BODY}'; }} }} }}\n"
        )
        server = subprocess.Popen([*pin, "nginx", "-c", str(configuration)])
        url = "http://127.0.0.1:18099/"
        await_listening(18099)
    try:
        yield url
    finally:
        server.terminate()
        server.wait()


def await_listening(port: int) -> None:
    """Returns when the port answers; ends the bench if it does not within 10 s."""
    for _ in range(100):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    sys.exit(f"nothing listens on port {port}")


def measured(command: list[str], count: Callable[[str], int]) -> float:
    """Microseconds of CPU per request of one run."""
    pin = ["taskset", "-c", "1"] if shutil.which("taskset") and (os.cpu_count() or 1) > 1 else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*pin, *command], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    requests = count(done.stdout + done.stderr)
    return 1e6 * cpu_s / requests


def number_after(pattern: str) -> Callable[[str], int]:
    """Reads the count of requests from a tool's output; ends the bench with the output if it is not there."""

    def read(output: str) -> int:
        found = re.search(pattern, output)
        if found is None:
            sys.exit(f"no count of requests in the output:\n{output}")
        return int(found.group(1))

    return read


def contenders(folder: Path, url: str) -> dict[str, Callable[[], float]]:
    """What can be measured on this machine, by name."""
    scripts = {"minimal": folder / "minimal.js", "realistic": folder / "realistic.js"}
    scripts["minimal"].write_text(MINIMAL)
    scripts["realistic"].write_text(REALISTIC)
    load = ["-u", str(CONNECTIONS), "-d", f"{SECONDS}s", "-e", f"URL={url}"]
    counted = number_after(r"http_reqs\.*: *(\d+)")
    found: dict[str, Callable[[], float]] = {}
    if shutil.which("wrk"):
        wrk = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", url]
        found["wrk"] = lambda: measured(wrk, number_after(r"(\d+) requests in"))
    plain = [str(ROOT / ".venv/bin/plimsoll"), "run", "-q", "--runs", str(folder / "runs"), "--url", url]
    plain += ["-u", str(CONNECTIONS), "-d", f"{SECONDS}s"]
    found["plimsoll --url"] = lambda: measured(plain, counted)
    for name, script in scripts.items():
        ours = [str(ROOT / ".venv/bin/plimsoll"), "run", "-q", "--runs", str(folder / "runs"), *load, str(script)]
        found[f"plimsoll {name}"] = lambda command=ours: measured(command, counted)
        if shutil.which("k6"):
            theirs = ["k6", "run", "-q", "--no-usage-report", *load, str(script)]
            found[f"k6 {name}"] = lambda command=theirs: measured(command, counted)
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as name, target(Path(name)) as url:
        todo = contenders(Path(name), url)
        times: dict[str, list[float]] = {contender: [] for contender in todo}
        for _ in range(ROUNDS):
            for contender, measure in todo.items():
                times[contender].append(measure())
    print(
        f"CPU µs per request, {CONNECTIONS} connections, {ROUNDS} interleaved rounds of {SECONDS} s: median (min-max)"
    )
    for contender, values in times.items():
        print(f"  {contender:<20} {statistics.median(values):7.1f}  ({min(values):.1f}-{max(values):.1f})")
    for kind in ("minimal", "realistic"):
        if f"k6 {kind}" in times:
            pairs = zip(times[f"k6 {kind}"], times[f"plimsoll {kind}"], strict=True)
            print(f"  k6 / plimsoll, {kind}: {statistics.median(theirs / ours for theirs, ours in pairs):.1f}")
    if "wrk" in times:
        pairs = zip(times["plimsoll --url"], times["wrk"], strict=True)
        print(f"  plimsoll --url / wrk: {statistics.median(ours / theirs for ours, theirs in pairs):.2f}")
    if not shutil.which("k6"):
        print("  k6 is not installed: go install go.k6.io/k6@latest")


if __name__ == "__main__":
    main()
