"""What a run takes on disk: loads of known series and rates, made for real, and an hour of each by their growth.

    python benches/run_size.py [--seconds 180]

A server answers after an exponential time about 20 ms; each request has a name of its own, which makes 12 series, and
iterations, checks and lateness make the rest. "Lines before" are the same seconds as JSON lines of earlier versions.
An hour is what the files took for each second, times 3,600. "Tables" are the Parquet files, which experiments make at
their end and `plimsoll report` of a plain run, beside that. "Least": what the trends of these seconds take as columns
that nobody could append to or read a second of, each of the best of zstd 19 and LZMA, without any copy.
"""

from __future__ import annotations

import argparse
import json
import lzma
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from backports import zstd
from target import ROOT, await_listening, free_port, pinned

from plimsoll.runs import directory
from plimsoll.runs.format.minutes import SECONDS
from plimsoll.runs.format.tables import write_tables
from plimsoll.runs.reader import RunReader
from plimsoll.runs.snapshot import Snapshot

CASES = ((1, 190), (15, 50), (15, 190), (15, 1000))  # names of requests, requests a second
SCRIPT = """import http from 'k6/http';
import exec from 'k6/execution';
import { check } from 'k6';
export const options = { scenarios: { load: { executor: 'constant-arrival-rate', rate: %d, timeUnit: '1s',
  duration: '%ds', preAllocatedVUs: 300, maxVUs: 1000 } } };
export default function () {
  const name = `GET /things/${exec.scenario.iterationInTest %% %d}`;
  const response = http.get(__ENV.URL, { tags: { name } });
  check(response, { 'is there': (r) => r.status === 200 });
}
"""


@dataclass(frozen=True)
class Size:
    """Of one run: its series in a second, and bytes an hour by file."""

    series: int
    per_hour: dict[str, float]
    before_per_hour: float
    tables_per_hour: float
    least_per_hour: float


def grown(path: Path, seconds: int) -> float:
    """Bytes an hour of a file."""
    return path.stat().st_size / seconds * 3600 if path.exists() else 0.0


def least(snapshots: Sequence[Snapshot]) -> int:
    """Bytes of the trends of some seconds as columns, by metric and by what they hold."""
    columns: dict[tuple[str, str], list[float]] = {}
    for one in (series for snapshot in snapshots for series in snapshot.series if series.kind == "trend"):
        buckets = np.asarray(one.buckets, dtype=np.int64).reshape(-1, 2)
        told = {"sum": one.sum, "min": one.min, "max": one.max}
        parts = {
            "size": [len(buckets)],
            "count": [one.count],
            "first": buckets[:1, 0].tolist(),
            "steps": np.diff(buckets[:, 0]).tolist(),
            "times": buckets[:, 1].tolist(),
            **{name: [value] for name, value in told.items() if value is not None and one.count > (name == "sum")},
        }
        for name, values in parts.items():
            columns.setdefault((one.metric, name), []).extend(values)
    return sum(
        _packed(values, "<f4" if name in ("sum", "min", "max") else "<i8") for (_, name), values in columns.items()
    )


def _packed(values: Sequence[float], kind: str) -> int:
    wide = np.array(values, kind)
    planes = wide.view(np.uint8).reshape(-1, wide.itemsize).T.tobytes()
    return min(len(zstd.compress(planes, level=19)), len(lzma.compress(planes)))


def size_of(run: Path, seconds: int) -> Size:
    """The sizes of a finished run."""
    names = (directory.SERIES, directory.MINUTES, directory.RESOURCES)
    reader = RunReader(run)
    snapshots = list(reader.snapshots())
    before = sum(len(json.dumps(one.to_json(), separators=(",", ":"))) + 1 for one in snapshots)
    write_tables(run)
    tables = sum(path.stat().st_size for path in run.glob("*.parquet"))
    middle = snapshots[len(snapshots) // 2]
    return Size(
        len(middle.series),
        {name: grown(run / name, seconds) for name in names},
        before / seconds * 3600,
        tables / seconds * 3600,
        least(snapshots) / len(snapshots) * 3600,
    )


def made(folder: Path, names: int, rate: int, seconds: int, url: str) -> Path:
    """A run of that load."""
    (folder / "load.js").write_text(SCRIPT % (rate, seconds, names))
    command = [*pinned(1), sys.executable, "-m", "plimsoll", "run", "-q", "--runs", f"runs-{names}-{rate}"]
    subprocess.run([*command, "-e", f"URL={url}", "load.js"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return next((folder / f"runs-{names}-{rate}").iterdir())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=int, default=3 * SECONDS)
    seconds = parser.parse_args().seconds
    port = free_port()
    testkit = [str(ROOT / "target/release/plimsoll-testkit"), "--servers", "64", "--service-ms", "20", "--seed", "1"]
    server = subprocess.Popen([*pinned(0), *testkit, "--port", str(port)], stdout=subprocess.DEVNULL)
    print("| series | requests/s | lines before | lines | minutes | resources | an hour | tables | least |")
    print("|---|---|---|---|---|---|---|---|---|")
    try:
        await_listening(port)
        with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
            for names, rate in CASES:
                run = made(Path(folder), names, rate, seconds, f"http://127.0.0.1:{port}/")
                found = size_of(run, seconds)
                files = [f"{one / 1e6:.1f} MB" for one in found.per_hour.values()]
                total = f"**{sum(found.per_hour.values()) / 1e6:.1f} MB**"
                cells = [str(found.series), f"{rate:,}", f"{found.before_per_hour / 1e6:.0f} MB", *files, total]
                cells += [f"{found.tables_per_hour / 1e6:.1f} MB", f"{found.least_per_hour / 1e6:.1f} MB"]
                print("| " + " | ".join(cells) + " |", flush=True)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
