"""Does `plimsoll capacity` find a capacity that is known? The real engine against the testkit's server.

    make known-capacity            5 searches each of M/M/1 and M/M/4 with c μ = 400/s and steps of 30 s (about 15 min)
    RUNS=10 RATE=600 make known-capacity

The server computes when each request will be done from an exponential service time, first come first served, so its
capacity is c μ whatever the machine does, as long as the machine is not short of CPU itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

RUNS, RATE, STEP_S = (
    int(os.environ.get(name, default)) for name, default in (("RUNS", 5), ("RATE", 400), ("STEP", 30))
)
DECLARED = 100
ROOT = Path(__file__).parents[1]
TESTKIT = ROOT / "target" / "release" / "plimsoll-testkit"
SCRIPT = f"""import http from 'k6/http';
export const options = {{ scenarios: {{ s: {{
  executor: 'constant-arrival-rate', rate: {DECLARED}, duration: '1m',
}} }} }};
export default function () {{ http.get(__ENV.URL); }}
"""


def search(servers: int, seed: int, folder: Path) -> dict[str, Any]:
    """The finding of one search in a process of its own, as a user types it."""
    service_ms = 1000.0 * servers / RATE
    command = [str(TESTKIT), "--servers", str(servers), "--service-ms", f"{service_ms}", "--seed", str(seed)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        plimsoll = [str(ROOT / ".venv" / "bin" / "plimsoll"), "capacity", str(folder / "script.js")]
        flags = ["-e", f"URL={url}", "--isolate", "--step", str(STEP_S), "--seed", str(seed), "--json", "-q"]
        runs = ["--runs", str(folder / "runs")]
        done = subprocess.run([*plimsoll, *flags, *runs], capture_output=True, text=True, check=False)
    finally:
        server.kill()
        server.communicate()
    try:
        return json.loads(done.stdout)[0]
    except (json.JSONDecodeError, LookupError):
        sys.exit(f"no finding from {plimsoll}:\n{done.stdout}{done.stderr}")


def main() -> None:
    held = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "script.js").write_text(SCRIPT)
        print(f"true capacity {RATE}/s, steps of {STEP_S} s")
        for servers in (1, 4):
            for seed in range(1, RUNS + 1):
                finding = search(servers, seed, folder)
                good, bad = ((finding["capacity"][bound] or 0) * DECLARED for bound in ("good", "bad"))
                inside = 0 < good <= RATE <= bad
                width = (bad - good) / bad if inside else float("nan")
                ok = inside and width <= 0.10
                held += ok
                verdict = "held" if ok else "MISSED"
                reasons = " ".join(finding["invalid_because"])
                print(
                    f"M/M/{servers} seed {seed}: {good:.0f} to {bad:.0f}/s, {width:.1%} wide, {verdict} {reasons}",
                    flush=True,
                )
    print(f"{held} of {2 * RUNS} brackets hold the true capacity and are at most 10% wide")
    sys.exit(held < 0.9 * 2 * RUNS)


if __name__ == "__main__":
    main()
