"""`make accuracy`: how often the answers are right, as a table, printed and kept as docs/accuracy.md.

    python tests/accuracy/scorecard.py [--rows C1] [--scale 0.1] [--seed 40000] [--workers 2]

`rows`: only lines whose goal or name contains one of these; then the page stays as it is, without `--page`. `scale`: so
many times the repetitions that the modules name; `make accuracy` takes 0.4, to end within 45 minutes on 2 cores.
Rows are spread over processes. A module of MODULES has `jobs(scale, first_seed)`, an iterator of Job.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import compare_scorecard
import longrun_scorecard
import otava_peer
from score_line import Job, Lines

# What another process would disturb: one row after the other, before those of MODULES.
ALONE = ("report_scorecard", "real_aa_scorecard")
# A scorecard is added here; the slowest first, so that no core idles at the end.
MODULES = (
    "capacity_goals",
    "adversary_scorecard",
    "scorecard:long_runs",
    "keep_scorecard",
    "scorecard:comparisons",
    "ciw_scorecard",
    "step_scorecard",
    "objective_scorecard",
    "loading_scorecard",
    "lateness_scorecard",
    "validity_scorecard",
    "flow_scorecard",
    "model_scorecard",
    "knee_scorecard",
    "imported_scorecard",
    "otava_peer",
)
PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"
FIRST_SEED = 40_000
COMPARISONS, LONG_RUNS = 5000, 300
COLUMNS = ["goal", "what", "target", "rate (95%)", "answered", ""]


def comparisons(scale: float, first_seed: int) -> Iterator[Job]:
    """C1 and C2."""
    for call in compare_scorecard.calls(max(100, round(COMPARISONS * scale)), first_seed):
        yield Job(call.args[0], partial(_comparison, call))


def long_runs(scale: float, first_seed: int) -> Iterator[Job]:
    """A6, B1, D1, D2, D3; a million requests a fifth as often."""
    for cell in longrun_scorecard.cells():
        repeat = longrun_scorecard.repetitions(cell, max(20, round(LONG_RUNS * scale)))
        yield Job(f"{cell.goal} {cell.name}", partial(_long_run, cell, repeat, first_seed))


def _long_run(cell: longrun_scorecard.Cell, repeat: int, first_seed: int) -> Lines:
    return [longrun_scorecard.score(cell, repeat, first_seed)]


def _comparison(call: partial[compare_scorecard.Row]) -> Lines:
    return [call().line]


def jobs_of(module: str, scale: float, first_seed: int) -> list[Job]:
    """The jobs of an entry of MODULES."""
    name, _, function = module.partition(":")
    loaded = sys.modules[__name__] if name == "scorecard" else importlib.import_module(name)
    return list(getattr(loaded, function or "jobs")(scale, first_seed))


def run_job(module: str, place: int, scale: float, first_seed: int) -> tuple[Lines, float]:
    """The lines of one job, and the seconds of CPU they took; made anew here, as jobs cannot be sent to a process."""
    began = time.process_time()
    made = jobs_of(module, scale, first_seed)[place].run()
    return made, time.process_time() - began


def row_text(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def absent_peers() -> list[str]:
    """A sentence for the peers that are not installed, and so not in the table."""
    absent = [name for name in ("kneed", "MLRsearch") if importlib.util.find_spec(name) is None]
    if not otava_peer.PYTHON.exists():
        absent.append("apache-otava")
    return ["", f"Not compared, as not installed: {', '.join(absent)}."] if absent else []


def page_text(lines: Lines, command: str, took_s: float, first_seed: int, workers: int) -> str:
    """docs/accuracy.md."""
    verdicts = Counter(line.verdict for line in lines)
    partly = " **Only some rows were run; the others are not here.**" if "ROWS=" in command else ""
    silent = f"; {verdicts['no answer']} without an answer" if verdicts["no answer"] else ""
    ordered = sorted(lines, key=lambda line: line.goal or "~")
    facts = f"Python {platform.python_version()}, {workers} processes, {took_s / 60:.1f} minutes"
    return "\n".join(
        [
            "# How often the answers are right\n",
            "Made by `make accuracy`, which simulates anew and rewrites this page. Every line is a set of seeded",
            "simulations whose truth is known: queues in virtual time behind the protocol of the engine (ours, and",
            "*ciw's*, a simulator by others), series and runs with planted faults; what is measured in real time says",
            "so. Rates are of the trials that gave an answer, with Wilson's 95% interval; *answered* counts those,",
            "the others said “cannot tell” or that the bracket stays wider. *Answers ≥ 90%* marks every well-posed",
            "cell, whether or not a trial was refused: as many must answer there (by the same rule). Where it is",
            "missing, each trial has an answer by construction, or “cannot tell” is a right answer too. *Met*: the",
            "interval does not exclude the target, and well-posed cells answer. *No answer*: no trial answered in a",
            "cell that need not; there is nothing to judge. Few trials meet a target easily: look at n. Lines without",
            "a target are published to compare; *peer* is what others do in our place, *best possible* what no method",
            "can surpass.",
            "The formulas, and why a target is missed, are in [measurement.md](measurement.md). Of all this every",
            "change is held to a part with seeds of its own: the tests in `tests/accuracy` ([CONTRIBUTING.md]"
            "(../CONTRIBUTING.md)).\n",
            f"`{command}`, first seed {first_seed}, {time.strftime('%Y-%m-%d')}, {facts}. "
            f"{verdicts['met']} of {verdicts['met'] + verdicts['missed']} targets met{silent}.{partly}\n",
            row_text(COLUMNS),
            row_text(["---"] * len(COLUMNS)),
            *(row_text(line.cells) for line in ordered),
            *absent_peers(),
            "",
        ]
    )


def main() -> None:
    """Run the rows, print them as they end, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--rows", default="", help="only lines whose goal or name contains one of these (commas between)"
    )
    parser.add_argument("--page", action="store_true", help="write the page with --rows too; it says which")
    parser.add_argument("--scale", type=float, default=1.0, help="times the repetitions; make accuracy: 0.4")
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    began, lines, futures = time.monotonic(), [], []
    print(
        f"first seed {options.seed}, scale {options.scale:g}\n\n{row_text(COLUMNS)}\n{row_text(['---'] * len(COLUMNS))}"
    )
    with ProcessPoolExecutor(options.workers) as pool:
        wanted = options.rows.split(",")
        for module in (*ALONE, *MODULES):
            for place, job in enumerate(jobs_of(module, options.scale, options.seed)):
                if any(part in job.name for part in wanted):
                    futures.append((job.name, pool.submit(run_job, module, place, options.scale, options.seed)))
                    if module in ALONE:
                        wait([futures[-1][1]])
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
    dearest = ", ".join(f"{name} {cpu_s:.0f} s" for cpu_s, name in sorted(costs, reverse=True)[:8])
    print(f"\n{took_s / 60:.1f} minutes, {sum(cost for cost, _ in costs) / 60:.1f} of CPU; most: {dearest}")
    if not options.rows or options.page:
        command = f"SCALE={options.scale:g} make accuracy" + (f" ROWS='{options.rows}'" if options.rows else "")
        PAGE.write_text(page_text(lines, command, took_s, options.seed, options.workers))
        print(f"written: {PAGE}")


if __name__ == "__main__":
    main()
