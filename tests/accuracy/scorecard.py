"""`make accuracy`: how often the answers are right, as a table, printed and kept as docs/accuracy.md.

    python tests/accuracy/scorecard.py [--rows C1] [--scale 0.1] [--seed 40000] [--workers 2]

`rows`: only lines whose goal or name contains this; then the page stays as it is. `scale`: so many times the
repetitions of the published table. Rows are spread over processes. A module of MODULES has `jobs(scale, first_seed)`,
an iterator of Job; one that has only `rows(n)`, whose rows have a name ("A3 …"), hits, trials, sign and target, is
taken as one job.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import compare_scorecard
import longrun_scorecard
from score_line import Job, Line, Lines, Ratio

# A scorecard is added here; the slowest first, so that no core idles at the end.
MODULES = ("capacity_goals", "scorecard:long_runs", "scorecard:comparisons", "knee_scorecard")
PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"
FIRST_SEED = 40_000
COMPARISONS, LONG_RUNS, ROWS = 5000, 300, 300
COLUMNS = ["goal", "what", "target", "rate (95 %)", "answered", ""]


def comparisons(scale: float, first_seed: int) -> Iterator[Job]:
    """C1 and C2."""
    for call in compare_scorecard.calls(max(100, round(COMPARISONS * scale)), first_seed):
        yield Job(call.args[0], partial(_taken, lambda call=call: [call()]))


def long_runs(scale: float, first_seed: int) -> Iterator[Job]:
    """A6, B1, D1, D2, D3; a million requests a fifth as often."""
    for cell in longrun_scorecard.cells():
        repeat = max(20, round(LONG_RUNS * scale * (0.2 if "10⁶" in cell.name else 1)))
        yield Job(f"{cell.goal} {cell.name}", partial(_long_run, cell, repeat, first_seed))


def _long_run(cell: longrun_scorecard.Cell, repeat: int, first_seed: int) -> Lines:
    found = longrun_scorecard.score(cell, repeat, first_seed)
    sign = "≥" if cell.sense == longrun_scorecard.LEAST else "≤"
    told = found.hits, found.answered, found.trials
    return [Line(cell.goal, cell.name, *told, sign, cell.target, cell.well_posed)]


def _taken(rows: Callable[[], Any]) -> Lines:
    """Lines of rows that have name, hits, trials, sign and target, and `answered` where a trial may refuse."""
    made: Lines = []
    for row in rows():
        if isinstance(row, Line | Ratio):
            made.append(row)
            continue
        goal, _, what = row.name.partition(" ")
        if not (len(goal) == 2 and goal[1].isdigit()):
            goal, what = "", row.name
        answered = getattr(row, "answered", row.trials)
        must = getattr(row, "well_posed", False)
        made.append(Line(goal, what, row.hits, answered, row.trials, row.sign or "≥", row.target, must))
    return made


def jobs_of(module: str, scale: float, first_seed: int) -> list[Job]:
    """The jobs of an entry of MODULES."""
    name, _, function = module.partition(":")
    loaded = sys.modules[__name__] if name == "scorecard" else importlib.import_module(name)
    make = getattr(loaded, function or "jobs", None)
    if make is not None:
        return list(make(scale, first_seed))
    return [Job(name, partial(_taken, partial(loaded.rows, max(20, round(ROWS * scale)))))]


def run_job(module: str, place: int, scale: float, first_seed: int) -> tuple[Lines, float]:
    """The lines of one job, and the seconds of CPU they took; made anew here, as jobs cannot be sent to a process."""
    began = time.process_time()
    made = jobs_of(module, scale, first_seed)[place].run()
    return made, time.process_time() - began


def row_text(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def page_text(lines: Lines, command: str, took_s: float, first_seed: int, workers: int) -> str:
    """docs/accuracy.md."""
    judged = [line for line in lines if line.met is not None]
    missed = [line for line in judged if not line.met]
    ordered = sorted(lines, key=lambda line: line.goal or "~")
    facts = f"Python {platform.python_version()}, {workers} processes, {took_s / 60:.1f} minutes"
    return "\n".join(
        [
            "# How often the answers are right\n",
            "Made by `make accuracy`, which simulates anew and rewrites this page. Every line is a set of seeded",
            "simulations whose truth is known: queues in virtual time behind the protocol of the engine, series and",
            "runs with planted faults. Rates are of the trials that gave an answer, with Wilson's 95 % interval;",
            "*answered* counts those, the others said “cannot tell” or that the bracket stays wider. *Met*: the",
            "interval does not exclude the target, and in well-posed cells at least 90 % of the trials (by the same",
            "rule) answered. Few trials meet a target easily: look at n. Lines without a target are published to",
            "compare; *peer* is what others do in our place. The formulas are in [measurement.md](measurement.md).\n",
            f"`{command}`, first seed {first_seed}, {time.strftime('%Y-%m-%d')}, {facts}. "
            f"{len(judged) - len(missed)} of {len(judged)} targets met.\n",
            row_text(COLUMNS),
            row_text(["---"] * len(COLUMNS)),
            *(row_text(line.cells) for line in ordered),
            "",
            "Not compared: apache-otava (it pins numpy 2.2 and scipy below 1.17, so it cannot live beside us) and the",
            "MLRsearch package. Not simulated: a capacity search of a target whose throughput falls again (USL).",
            "",
        ]
    )


def main() -> None:
    """Run the rows, print them as they end, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", default="", help="only lines whose goal or name contains this; no page is written")
    parser.add_argument("--scale", type=float, default=1.0, help="times the repetitions of the published table")
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    began, lines, futures = time.monotonic(), [], []
    print(
        f"first seed {options.seed}, scale {options.scale:g}\n\n{row_text(COLUMNS)}\n{row_text(['---'] * len(COLUMNS))}"
    )
    with ProcessPoolExecutor(options.workers) as pool:
        for module in MODULES:
            for place, job in enumerate(jobs_of(module, options.scale, options.seed)):
                if options.rows in job.name:
                    futures.append((job.name, pool.submit(run_job, module, place, options.scale, options.seed)))
        if not futures:
            sys.exit(f"No row's name contains {options.rows!r}; without --rows all are run.")
        costs = []
        for name, future in futures:
            made, cpu_s = future.result()
            costs.append((cpu_s, name))
            lines += made
            for line in made:
                print(row_text(line.cells), flush=True)
    took_s = time.monotonic() - began
    dearest = ", ".join(f"{name} {cpu_s:.0f} s" for cpu_s, name in sorted(costs, reverse=True)[:3])
    print(f"\n{took_s / 60:.1f} minutes, {sum(cost for cost, _ in costs) / 60:.1f} of CPU; most: {dearest}")
    if not options.rows:
        scale = "" if options.scale == 1 else f"SCALE={options.scale:g} "
        PAGE.write_text(page_text(lines, f"{scale}make accuracy", took_s, options.seed, options.workers))
        print(f"written: {PAGE}")


if __name__ == "__main__":
    main()
