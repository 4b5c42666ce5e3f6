"""Does Plimsoll name what stops a target? Limits planted on real processes, and how often the answer is right.

    make planted                                           12 variations of each kind and 60 healthy trials (about 3 h)
    python benches/planted/suite.py --kinds lock,healthy --variations 3 --seed 2
    python benches/planted/suite.py --table                only the table, of the trials that are kept

Each trial is a `plimsoll capacity` or `plimsoll hold` of a study that watches the target. Records are appended to
benches/planted/trials.jsonl as they end; a trial that is there (kind, seed, variation, revision of the code) is not
made again, so that a suite that was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from plants import DEVELOPMENT, HEALTHY, HELD_OUT, KINDS, plant_of
from table import write_page
from trial import ROOT, try_out

KEPT = Path(__file__).with_name("trials.jsonl")


def main() -> None:
    """Make the trials that are asked for and not there yet, then the table."""
    asked = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what stands is taken down
    signal.signal(signal.SIGINT, signal.default_int_handler)
    kinds = [*KINDS, HEALTHY] if asked.kinds == "all" else _kinds(asked.kinds)
    if not asked.table:
        wanted = trials(kinds, asked.variations, asked.healthy)
        at = asked.revision or revision()
        there = {
            (one["kind"], one["variation"]) for one in kept() if (one["seed"], one["revision"]) == (asked.seed, at)
        }
        for kind, variation in islice((one for one in wanted if one not in there), asked.at_most):
            make_one(kind, variation, asked.seed, at, asked.keep)
    write_page(KEPT, ROOT / "docs" / "attribution.md", asked.revision, printed=True)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kinds", default="all", help="some of them with commas, or development, held_out, all")
    parser.add_argument("--variations", type=int, default=12, help="of each kind")
    parser.add_argument("--healthy", type=int, default=60, help="healthy trials, if they are among the kinds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--revision", help="what the trials are counted under; that of git if left out")
    parser.add_argument("--table", action="store_true", help="make no trial, only the table")
    parser.add_argument("--at-most", type=int, default=sys.maxsize, help="end after so many trials; it goes on later")
    parser.add_argument("--keep", type=Path, help="keep the run directories in this folder")
    return parser.parse_args()


def _kinds(words: str) -> list[str]:
    groups = {"development": list(DEVELOPMENT), "held_out": list(HELD_OUT)}
    found = [kind for word in words.split(",") for kind in groups.get(word, [word])]
    wrong = [kind for kind in found if kind not in KINDS and kind != HEALTHY]
    if wrong:
        sys.exit(f"--kinds: there is no {', '.join(wrong)}. Use some of {', '.join([*KINDS, HEALTHY])}.")
    return found


def revision() -> str:
    """The commit of the product's code."""
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%h", "--", "python", "crates"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def trials(kinds: list[str], variations: int, healthy: int) -> Iterator[tuple[str, int]]:
    """(kind, variation), variation by variation, so that a suite that ends early has some of each kind."""
    per_round = max(1, round(healthy / max(1, variations)))
    for number in range(max(variations, -(-healthy // per_round))):
        for kind in kinds:
            if kind == HEALTHY:
                yield from ((kind, one) for one in range(number * per_round, min(healthy, (number + 1) * per_round)))
            elif number < variations:
                yield kind, number


def make_one(kind: str, variation: int, seed: int, at: str, keep: Path | None) -> None:
    """One trial, recorded and told in a line."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-planted-") as name:
        folder = Path(name) if keep is None else keep / f"{kind}-{seed}-{variation}"
        folder.mkdir(parents=True, exist_ok=True)
        record = {"kind": kind, "seed": seed, "variation": variation, "revision": at}
        record |= try_out(plant_of(kind, seed, variation), folder) | {"day": time.strftime("%Y-%m-%d")}
    with KEPT.open("a") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")
    print(line_of(record), flush=True)


def line_of(record: dict[str, Any]) -> str:
    """A trial in a line."""
    about = f"{record['kind']} {record['seed']}.{record['variation']} ({record['took_s']:.0f} s): "
    if "verdict" not in record:
        return about + f"{record['status']}: {record['why']}"
    first, second = record["verdict"]["first"], record["verdict"]["second"]
    mark = "right" if record["right_first"] else "second" if record["right_second"] else "WRONG"
    other = f", then {second['kind']}" if second else ""
    disturbed = f" (disturbed: {record['machine']})" if record["status"] == "disturbed" else ""
    return about + f"{mark}: {first['kind']} {first['where'] or ''}{other} {record['bracket']}{disturbed}"


def kept() -> list[dict[str, Any]]:
    """All records so far."""
    return [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []


if __name__ == "__main__":
    main()
