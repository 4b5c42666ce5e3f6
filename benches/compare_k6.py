"""The same scripts by k6 and by Plimsoll: do both say the same?

    make compare-k6                        every script of tests/integration/engine/k6_style, three runs by each
    .venv/bin/python benches/compare_k6.py tags.js batch.js

Each script runs against the testkit's site by turns. Compared are the exit codes and what --summary-export says:

- exactly: which metrics there are, counters, rates, gauges, every check, every threshold's outcome. Where k6's own runs
  differ (an arrival at the last moment), ours must be what one of them says;
- trends that k6 says to the digit in all runs: within 0.1%, p(95) and median within 5%, as k6 interpolates them;
- p(95) of times in scripts whose requests take a known time (`/wait/…`): the ranges over the runs overlap when each is
  widened by 5% and 5 ms. In the others a request takes less than a generator does, so a time is the generator's own;
- bytes sent and received: within 10% (port numbers, what the site echoes, the client's part of digest authentication).

Not compared: `vus` and `vus_max`, which depend on the moment, and the metrics that only Plimsoll has.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "tests" / "integration" / "engine" / "k6_style"
RUNS = 3
OURS_ONLY = {"arrival_lag", "iteration_response_time", "http_req_response_time"}
OF_THE_MOMENT = {"vus", "vus_max"}
TIME_LIMIT_S = 60


@dataclass
class Ended:
    """One run: its exit code, and what it exported."""

    exit_code: int
    metrics: dict[str, dict[str, Any]]
    checks: dict[str, tuple[int, int]]


def checks_of(group: dict[str, Any]) -> dict[str, tuple[int, int]]:
    found = {check["path"]: (check["passes"], check["fails"]) for check in group["checks"].values()}
    for child in group["groups"].values():
        found |= checks_of(child)
    return found


def run(command: list[str], script: Path, url: str, folder: Path) -> Ended:
    export = folder / "export.json"
    export.unlink(missing_ok=True)
    flags = ["--quiet", "--env", f"URL={url}", "--user-agent", "compared/1", "--summary-export", str(export)]
    done = subprocess.run(
        [*command, *flags, script.name],
        cwd=script.parent,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_S,
        check=False,
    )
    if not export.exists():
        sys.exit(f"{' '.join([*command, *flags, script.name])} wrote no summary:\n{done.stdout}{done.stderr}")
    told = json.loads(export.read_text())
    ignored = OURS_ONLY | OF_THE_MOMENT
    metrics = {name: values for name, values in told["metrics"].items() if name.split("{")[0] not in ignored}
    return Ended(done.returncode, metrics, checks_of(told["root_group"]))


def differences(theirs: list[Ended], ours: list[Ended], times_count: bool) -> Iterator[str]:
    """What k6 and Plimsoll do not say alike, a sentence each."""
    for told, pick in (("exit code", lambda run: run.exit_code), ("checks", lambda run: run.checks)):
        said = [[pick(run) for run in runs] for runs in (theirs, ours)]
        if any(value not in said[0] for value in said[1]):
            yield f"{told}: k6 {said[0]}, ours {said[1]}"
    names = [{name for run in runs for name in run.metrics} for runs in (theirs, ours)]
    if names[0] != names[1]:
        yield f"metrics: only k6 has {sorted(names[0] - names[1])}, only ours {sorted(names[1] - names[0])}"
    for name in sorted(names[0] & names[1]):
        rows = ([run.metrics.get(name, {}) for run in theirs], [run.metrics.get(name, {}) for run in ours])
        yield from metric_differences(name, *rows, times_count)


def metric_differences(
    name: str, theirs: list[dict[str, Any]], ours: list[dict[str, Any]], times_count: bool
) -> Iterator[str]:
    for field in sorted({field for row in theirs + ours for field in row}):
        said: tuple[list[Any], list[Any]] = ([row.get(field) for row in theirs], [row.get(field) for row in ours])
        if field == "thresholds" or None in said[0] + said[1]:
            same = all(value in said[0] for value in said[1])
        elif name.startswith("data_"):
            same = field == "rate" or overlap(said, 0.1, 0)
        elif "avg" in theirs[0]:
            same = trend_is_same(field, said, times_count)
        else:
            # The rate of a counter follows from its count and the time that the run took.
            same = ("count" in theirs[0] and field == "rate") or all(value in said[0] for value in said[1])
        if not same:
            yield f"{name} {field}: k6 {said[0]}, ours {said[1]}"


def trend_is_same(field: str, said: tuple[list[float], list[float]], times_count: bool) -> bool:
    if len(set(said[0])) == 1:
        share = 0.001 if field in ("min", "max", "avg", "count") else 0.05
        return all(math.isclose(value, said[0][0], rel_tol=share) for value in said[1])
    return field != "p(95)" or not times_count or overlap(said, 0.05, 5)


def overlap(said: tuple[list[float], list[float]], share: float, more: float) -> bool:
    lowest = [min(values) * (1 - share) - more for values in said]
    highest = [max(values) * (1 + share) + more for values in said]
    return max(lowest) <= min(highest)


@contextmanager
def site() -> Iterator[str]:
    """The URL of the testkit's site."""
    command = [str(ROOT / "target" / "release" / "plimsoll-testkit"), "--site"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.communicate()


def main() -> None:
    if not shutil.which("k6"):
        sys.exit("k6 is not installed: go install go.k6.io/k6@latest")
    wanted = sys.argv[1:] or sorted(path.name for path in SCRIPTS.iterdir() if path.suffix in (".js", ".ts"))
    version = subprocess.run(["k6", "version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{len(wanted)} scripts, {RUNS} runs each by {version} and by Plimsoll", flush=True)
    differing = 0
    with tempfile.TemporaryDirectory() as name, site() as url:
        folder = Path(name)
        k6 = ["k6", "run", "--no-usage-report"]
        plimsoll = [sys.executable, "-m", "plimsoll", "run", "--runs", str(folder / "runs")]
        for script in wanted:
            theirs, ours = [], []
            for _ in range(RUNS):
                theirs.append(run(k6, SCRIPTS / script, url, folder))
                ours.append(run(plimsoll, SCRIPTS / script, url, folder))
            times_count = "/wait/" in (SCRIPTS / script).read_text()
            found = list(differences(theirs, ours, times_count))
            differing += bool(found)
            print(f"{script}: {'differs' if found else 'same'}", *found, sep="\n  ", flush=True)
    print(f"{len(wanted) - differing} of {len(wanted)} scripts have the same summary")
    sys.exit(differing > 0)


if __name__ == "__main__":
    main()
