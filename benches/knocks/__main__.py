"""Does it hold what docs/reliability.md promises? Faults on purpose, tried and counted.

    make knocks                                                  every knock, 100 kills; about an hour
    python benches/knocks --knocks 'kill -9,full disk' --kills 20   some of them
    python benches/knocks --list                                 their names and promises
    python benches/knocks --table                                only the page, from what is kept

What a knock found is kept in benches/knocks/outcomes.json until it is tried again, with day and revision. The exit
code is 1 if a promise was broken. Some knocks need root, and say so where they cannot be tried.
"""

from __future__ import annotations

import argparse
import functools
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "python"))
# Each registers its knocks.
import disk  # noqa: F401
import hostile  # noqa: F401
import kills  # noqa: F401
import machine_faults  # noqa: F401
import page
import stops  # noqa: F401
from bench_page import machine
from knock import KNOCKS, Bench, CannotTry, Knock, Try

ROOT = Path(__file__).parents[2]
KEPT = Path(__file__).with_name("outcomes.json")


def main() -> None:
    asked = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what stands is taken down
    if asked.list:
        for one in KNOCKS.values():
            print(f"{one.name}\n    {one.promised}")
        return
    wanted = [] if asked.table else chosen(asked.knocks)
    found = {one.name: keep(one.name, tried(one, asked.kills, asked.seed)) for one in wanted}
    page.write(ROOT / "docs" / "reliability.md", kept(), machine())
    sys.exit(any(outcome["broken"] for outcome in found.values()))


def kept() -> dict[str, dict[str, Any]]:
    """The last outcome of each knock, in the order of the registry."""
    there = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    return {name: there[name] for name in KNOCKS if name in there}


def keep(name: str, outcome: dict[str, Any]) -> dict[str, Any]:
    """Keeps an outcome in place of the one before; another process may have kept others meanwhile."""
    KEPT.write_text(json.dumps({**kept(), name: outcome}, indent=1, ensure_ascii=False) + "\n")
    return outcome


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--knocks", default="all", help="names of knocks by commas; all")
    parser.add_argument("--kills", type=int, default=100, help="how many kills, over all verbs; 100")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="for the moments of kills; printed")
    parser.add_argument("--list", action="store_true", help="say which knocks there are")
    parser.add_argument("--table", action="store_true", help="make the page only")
    return parser.parse_args()


def chosen(names: str) -> list[Knock]:
    """The knocks of these names. Exits with those that are none."""
    if names == "all":
        return list(KNOCKS.values())
    wanted = [name.strip() for name in names.split(",")]
    unknown = [name for name in wanted if name not in KNOCKS]
    if unknown:
        sys.exit(f"unknown knocks: {', '.join(unknown)}. There are: {', '.join(KNOCKS)}")
    return [KNOCKS[name] for name in wanted]


def tried(one: Knock, most_kills: int, seed: int) -> dict[str, Any]:
    """What the tries of a knock found, as it is kept."""
    print(f"== {one.name} (seed {seed}, {revision()})", flush=True)
    found: list[Try] = []
    skipped, deadline = None, time.monotonic() + one.limit_s
    with tempfile.TemporaryDirectory(prefix="plimsoll-knocks-") as folder:
        bench = Bench(Path(folder), random.Random(seed), most_kills)
        tries = one.tries(bench)
        try:
            for result in tries:
                print(f"   {state(result):9} {result.case} {'; '.join(result.broken)}{result.skipped}", flush=True)
                skipped = result.skipped or skipped
                found += [] if result.skipped else [result]
                if time.monotonic() > deadline:
                    print(f"   no more after {one.limit_s:.0f} s")
                    tries.close()  # type: ignore[attr-defined]
                    break
        except CannotTry as reason:
            skipped = str(reason)
            print(f"   NOT TRIED: {skipped}", flush=True)
    held = sum(not result.broken for result in found)
    print(f"   tried {len(found)}, held {held}", flush=True)
    units = {unit for result in found for unit in result.measured}
    return {
        "promised": one.promised,
        "tried": len(found),
        "held": held,
        "skipped": skipped,
        "broken": [f"{result.case}: {'; '.join(result.broken)}" for result in found if result.broken],
        "measured": {unit: max(result.measured.get(unit, 0.0) for result in found) for unit in sorted(units)},
        "day": time.strftime("%Y-%m-%d"),
        "revision": revision(),
        "seed": seed,
    }


def state(result: Try) -> str:
    """How a try ended, in a word."""
    return "NOT TRIED" if result.skipped else "BROKEN" if result.broken else "held"


@functools.cache
def revision() -> str:
    """The commit that is checked out, with a + where files differ from it; first asked for before outcomes are kept."""
    told = subprocess.run(
        ["git", "describe", "--always", "--dirty=+"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return told.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
