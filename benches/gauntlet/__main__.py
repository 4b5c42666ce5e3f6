"""Are the answers right on real products? `plimsoll capacity` on products from registries, each checked by k6.

    make gauntlet                                                  3 runs of each product; about 8 hours
    python benches/gauntlet --products webdis,roundup --runs 1     some of them
    python benches/gauntlet --table                                only the page, from the records that are kept

A record is appended to benches/gauntlet/answers.jsonl when its run ends. A run that is there (product, number, revision
of the code) is not made again unless others disturbed it, so a bench that was ended goes on where it was.
README.md has the rules.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
import page
from catalogue import HELD_OUT, every
from processes import prefer, preferred_descendants
from registries import ROOT, Cache
from scoring import end_score, is_disturbed
from trial import Asked, five_minutes, tried

KEPT = Path(__file__).with_name("answers.jsonl")


def main() -> None:
    """Make the runs that are asked for and not there yet, then the page."""
    asked, cache = arguments(), Cache()
    own_session()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what stands is taken down
    at = asked.revision or revision()
    if not asked.table:
        counted = [one for one in kept() if one["revision"] == at and not is_disturbed(one)]
        there = {(one["product"], one["run"]) for one in counted}
        wanted = [(name, run) for run in range(1, asked.runs + 1) for name in names(asked.products)]
        with preferred_descendants():
            for name, run in wanted:
                if (name, run) not in there:
                    make_one(name, run, at, cache, asked)
    page.write(ROOT / "docs" / "gauntlet.md", kept(), at)


def own_session() -> None:
    """What this process starts without a session of its own, databases and generators, comes first on the host."""
    with suppress(PermissionError):
        os.setsid()  # refused to a leader of a group, which has one already or shares that of its shell
    prefer()


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="gauntlet", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--products", default="all", help="names with commas, or all, tuned, held_out")
    parser.add_argument("--runs", type=int, default=3, help="runs of each product [default: 3]")
    parser.add_argument("--words", help="words added to `plimsoll capacity`, as one argument [default: --for 5m]")
    parser.add_argument("--keep", type=Path, default=Cache().folder / "runs", help="folder of the runs' directories")
    parser.add_argument("--lock", type=Path, help="a file that is locked for each run, on a shared machine")
    parser.add_argument("--revision", help="what the runs are counted under [default: the commit of the code]")
    parser.add_argument("--table", action="store_true", help="make no run, only the page")
    return parser.parse_args()


def names(words: str) -> list[str]:
    """The products meant."""
    there = list(every())
    groups = {"all": there, "held_out": [name for name in there if name in HELD_OUT]}
    groups["tuned"] = [name for name in there if name not in HELD_OUT]
    found = [name for word in words.split(",") for name in groups.get(word, [word])]
    wrong = [name for name in found if name not in there]
    if wrong:
        sys.exit(f"--products: there is no {', '.join(wrong)}. Use some of {', '.join(there)}.")
    return found


def revision() -> str:
    """The commit of the product's code."""
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%h", "--", "python", "crates"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def make_one(name: str, run: int, at: str, cache: Cache, asked: argparse.Namespace) -> None:
    """One run with its truth trials, recorded and told in a line."""
    product, folder = every()[name], asked.keep / name / f"{at}-{run}"
    record: dict[str, Any] = {"product": name, "run": run, "revision": at, "day": time.strftime("%Y-%m-%d")}
    folder.mkdir(parents=True, exist_ok=True)
    try:
        product.install(cache)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        print(f"{name}: not installed, so left out: {error}", flush=True)
        return
    words = five_minutes() if asked.words is None else tuple(shlex.split(asked.words))
    record |= {"words": list(words)} | tried(product, cache, folder, Asked(words, asked.lock))
    with KEPT.open("a") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")
    print(line_of(record), flush=True)


def line_of(record: dict[str, Any]) -> str:
    """A run in a line."""
    about = f"{record['product']} {record['run']} ({record['took_s']:.0f} s): "
    if record["status"] != "answered":
        return about + f"no answer: {record['why']}"
    rate = record["declared_per_s"]
    ends = [
        f"{end} {record[end] * rate:.4g}/s {end_score(record, end)}"
        for end in ("good", "bad")
        if record[end] is not None
    ]
    disturbed = [f"not counted: others took {record['machine']['foreign_cores']} cores"] if is_disturbed(record) else []
    return about + "; ".join([*disturbed, *ends, f"valid {record['valid']}", f"{record['limit']['kind']}"])


def kept() -> list[dict[str, Any]]:
    """All records so far."""
    return [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []


if __name__ == "__main__":
    main()
