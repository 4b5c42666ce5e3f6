"""Is the index advice right, and what does an advised index bring? Planted and healthy loads, each measured again.

    make bench-index-advice                                     3 variations of each kind, then the table (about 15 min)
    python benches/index_advice.py --kinds "join,range" --variations 1 --seed 5
    python benches/index_advice.py --table                      only the table, of the trials that are kept

Each trial (benches/index_advice/trial.py) has a database of its own on a PostgreSQL server that this starts, filled
and loaded as its seed says (cases.py): the load runs twice without a change, which gives the advice and the noise; what
is advised is made as it stands there; the load runs again. The product's probe of PostgreSQL watches each run, looking
four times a second, since a run here takes seconds. Where a statement has several kinds of conditions (together.py), it
is also run with each index that somebody might make for it (rivals.py); in trials by "run" the probe may make indexes
to run statements with them. Some kinds go through the command line as well (by_command.py): hold, hold again,
`capacity --verify` with the command that the finding names, and hold once more. Records are appended to
benches/index_advice/trials.jsonl; one that is there (path, kind, seed, variation, revision) is not made again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).with_name("index_advice")))
import by_command
import together
from cases import HEALTHIES, PLANTS, case_of
from rates import BEGIN, END, TOGETHER, table_text, write_page
from trial import ROOT, PostgresqlServer, try_out

KEPT, PAGE = Path(__file__).with_name("index_advice") / "trials.jsonl", ROOT / "docs" / "probes" / "postgresql.md"
SETTINGS = ("shared_buffers=512MB", "max_wal_size=4GB")


def main() -> None:
    """Make the trials that are asked for and not there yet, then the table."""
    asked = arguments()
    at = asked.revision or revision()
    if not asked.table:
        there = {(one["path"], one["kind"], one["variation"]) for one in kept() if _is_of(one, asked.seed, at)}
        wanted = [one for one in trials(asked.kinds, asked.variations, asked.commands, asked.runs) if one not in there]
        with PostgresqlServer(*SETTINGS) as server:
            for path, kind, variation in wanted:
                record = {"path": path, "kind": kind, "seed": asked.seed, "variation": variation, "revision": at}
                keep(record | made(path, kind, asked.seed, variation, server, asked.seconds))
    chosen = [one for one in kept() if one["revision"] in at.split(",") and one["seed"] == asked.seed]
    chosen = [one for one in chosen if one["kind"] in asked.kinds]
    if not chosen:
        sys.exit(
            f"There is no trial of seed {asked.seed} and revision {at} in {KEPT.name}: give --seed and --revision."
        )
    text = table_text(chosen)
    print(f"\n{text}")
    if not asked.no_page:
        is_together = set(asked.kinds) <= {*together.PLANTS, *together.HEALTHIES}
        write_page(PAGE, text, TOGETHER if is_together else (BEGIN, END))


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kinds", type=_kinds, default=[*PLANTS, *HEALTHIES], help="some of them with commas; all")
    parser.add_argument("--variations", type=int, default=3, help="of each kind")
    parser.add_argument("--commands", type=int, default=1, help="variations of the kinds that go through commands too")
    parser.add_argument("--runs", type=int, default=1, help="variations of the kinds that have rivals, proven by runs")
    parser.add_argument("--seconds", type=float, default=2.5, help="of each load")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--revision", help="what trials are counted under; git's if left out; several with commas")
    parser.add_argument("--table", action="store_true", help="make no trial, only the table")
    parser.add_argument("--no-page", action="store_true", help="print the table, and leave docs as they are")
    return parser.parse_args()


def _kinds(words: str) -> list[str]:
    found = [word.strip() for word in words.split(",")]
    wrong = [kind for kind in found if kind not in PLANTS | HEALTHIES]
    if wrong:
        raise argparse.ArgumentTypeError(
            f"there is no {', '.join(wrong)}. Use some of {', '.join(PLANTS | HEALTHIES)}."
        )
    return found


def revision() -> str:
    """The commit of the code that gives the advice."""
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%h", "--", "python/plimsoll/probes/postgresql"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def trials(kinds: list[str], variations: int, commands: int, runs: int) -> Iterator[tuple[str, str, int]]:
    """(path, kind, variation), variation by variation."""
    for number in range(max(variations, commands, runs)):
        yield from (("run", kind, number) for kind in kinds if kind in together.PLANTS and number < runs)
        yield from (("probe", kind, number) for kind in kinds if number < variations)
        yield from (("command", kind, number) for kind in kinds if kind in by_command.KINDS and number < commands)


def made(path: str, kind: str, seed: int, variation: int, server: PostgresqlServer, seconds: float) -> dict[str, Any]:
    """One trial; one that could not be made has `why` in place of a verdict."""
    named = (kind, seed + 1_000 if path == "command" else seed, variation)  # by command another case, no repetition
    case = case_of(*named)
    began = time.monotonic()
    record: dict[str, Any] = {"part": case.part, "parameters": case.parameters}
    try:
        if path == "command":
            record |= by_command.try_out(case, server, named)
        else:
            record |= try_out(case, server, seconds, is_run=path == "run")
    except (RuntimeError, OSError) as error:
        record |= {"why": str(error)[:300]}
    return record | {"took_s": round(time.monotonic() - began, 1), "day": time.strftime("%Y-%m-%d")}


def keep(record: dict[str, Any]) -> None:
    """Append a record, and tell it in a line."""
    with KEPT.open("a") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")
    about = f"{record['kind']} {record['seed']}.{record['variation']} by {record['path']} ({record['took_s']:.0f} s): "
    if "verdict" not in record:
        print(f"{about}failed: {record['why']}", flush=True)
        return
    indexes = "; ".join(one["sql"].partition(" ON ")[2] for one in record["advised"]) or "; ".join(record["why_none"])
    print(f"{about}{record['verdict']}: {record['before_ms']} → {record['after_ms']} ms; {indexes}", flush=True)


def kept() -> list[dict[str, Any]]:
    """All records so far."""
    return [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []


def _is_of(record: dict[str, Any], seed: int, at: str) -> bool:
    return record["seed"] == seed and record["revision"] == at


if __name__ == "__main__":
    main()
