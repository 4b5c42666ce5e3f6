"""Each weakness of the studies' targets, switched on and off: found, and gone.

    make weaknesses                   about 50 minutes; it wants a machine to itself
    ONLY=edx make weaknesses          those whose name holds this

Each row is two runs of a command that a user types, one with the switch and one without. "found, gone" says that the
answer with it names it and the answer without it does not; "invalid" what an answer itself says of a disturbed run.
Where two are compared, "gone" wants more than no verdict: the whole interval without it lies below that with it.
The run directories stay in runs/weaknesses.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plimsoll.findings.grow import WORTH_A_PROFILE
from plimsoll.stats.growth.cliff import LEAST_RISE
from plimsoll.stats.growth.growth_family import LEAST_WEIGHT, Fit

ROOT = Path(__file__).parents[1]
PLIMSOLL = ROOT / ".venv" / "bin" / "plimsoll"
RUNS = ROOT / "runs" / "weaknesses"
LIMIT_S = 1200.0
Findings = list[dict[str, Any]]
Named = Callable[[Findings], bool | None]


@dataclass(frozen=True)
class Arm:
    """With the switch, or without it: by variables of the environment, by further words of the command, or by both."""

    environment: Mapping[str, str] = field(default_factory=dict)
    words: str = ""


@dataclass(frozen=True)
class Weakness:
    """`named` says whether the findings name it, None where they cannot tell; `question` is that of the finding to be
    printed, the first one without."""

    name: str
    switch: str
    command: str
    on: Arm
    off: Arm
    named: Named
    question: str | None = None


@dataclass(frozen=True)
class Told:
    """What one run said: its findings, why it does not count, and the seconds it took."""

    findings: Findings
    invalid: str
    seconds: float


def ages(found: Findings) -> bool | None:
    """The cost of an item grows with the volume, by so much that the answer sends one to look for the reason: an index
    that gets deeper makes it grow by a tenth or two."""
    [about] = [one["ageing"] for one in found if "ageing" in one]
    if about is None:
        return None
    if about["grows"] is None:
        return False if _grows_by_less(about) else None
    return bool(about["grows"] and about["change"] > WORTH_A_PROFILE)


def _grows_by_less(about: Mapping[str, Any]) -> bool:
    """Whether growth that is worth a profile is ruled out where it cannot be told if there is any: it was told from a
    constant, and is too little, or at four times the volume the interval ends below it."""
    [constant] = [one for one in about["fits"] if one["family"] == "constant"]
    if constant["weight"] < LEAST_WEIGHT and about["change"] < LEAST_RISE:
        return True
    best, later = about["fits"][0], about["at_four_times"]
    at_first = float(Fit(best["family"], best["a"], best["b"] or 0.0, best["cv"], 0.0).at(about["from_volume"]))
    return later is not None and later["interval_s"][1] < (1 + WORTH_A_PROFILE) * at_first


def has_period(of_s: float) -> Named:
    """That period, to 2%."""

    def named(found: Findings) -> bool:
        [about] = [one["periodic"] for one in found if "periodic" in one]
        return about is not None and abs(about["period_s"] / of_s - 1) <= 0.02

    return named


def restarted_at_limit(label: str, share: float) -> Named:
    """This process was started again under the load, and once had at least this share of its limit just before."""

    def named(found: Findings) -> bool:
        [rows] = [one["restarts"] for one in found if "restarts" in one]
        own = [row for row in rows if row.get("label") == label and row.get("memory_limit_bytes")]
        return any(row["memory_bytes"] >= share * row["memory_limit_bytes"] for row in own)

    return named


@dataclass(frozen=True)
class Slower:
    """B is slower than A, and the weakness's process, `a` in A and `b` in B, uses more CPU an operation at
    the highest level, by the whole of both intervals. Whether it is no more without the switch, `apart` says."""

    a: str
    b: str

    def __call__(self, found: Findings) -> bool | None:
        """None: slower, but that process is not told to be why."""
        if found[0]["verdict"] != "slower":
            return False
        [cells] = [one["process_work"] for one in found if "process_work" in one]
        top = max(cell["level"] for cell in cells)
        a, b = (self._interval(cells, arm, top) for arm in "ab")
        return True if b[0] > a[1] else None

    def _interval(self, cells: list[dict[str, Any]], arm: str, level: float) -> list[float]:
        [cell] = [one for one in cells if (one["variant"], one["level"]) == (arm, level)]
        [found] = [one["interval_ms"] for one in cell["processes"] if one["process"] == getattr(self, arm)]
        return list(found or (0.0, float("inf")))


def apart(on: Findings, off: Findings) -> bool | None:
    """Whether B ÷ A without the switch lies below that with it, by the whole of both intervals. Of what decides with
    the switch the one that is slower by the most, at the least; None if the intervals meet, or there is none."""
    told = [one for one in on[0]["comparisons"] if one["primary"] and one["verdict"] == "slower" and one["interval"]]
    clearest = max(told, key=lambda one: one["interval"][0], default=None)
    if clearest is None:
        return None
    same = next((one for one in off[0]["comparisons"] if place(one) == place(clearest)), None)
    if same is None or same["interval"] is None:
        return None
    return True if same["interval"][1] < clearest["interval"][0] else None


def place(compared: Mapping[str, Any]) -> tuple[Any, ...]:
    """Which comparison it is, in both arms."""
    return tuple(compared[name] for name in ("load", "operation", "request", "statistic"))


def more_of(metric: str) -> Named:
    """B has more of the script's own metric than A: the whole interval of its mean lies above that of A."""

    def named(found: Findings) -> bool | None:
        [loads] = [one["loads"] for each in found for one in each.get("script_metrics", ()) if one["metric"] == metric]
        a, b = (next((one["mean_interval"] for one in loads if one["variant"] == arm), None) for arm in "ab")
        return bool(b[0] > a[1]) if a and b else None

    return named


def takes_longer(request: str) -> Named:
    """A request that holds this word takes longer the larger the parameter."""
    return lambda found: any(request in one["request"] and one["exponent"] > 0 for one in found[0]["requests"])


def items_per_operation_above(bound: float) -> Named:
    """The consumer does more items for each operation of the load."""

    def named(found: Findings) -> bool:
        [polls] = [one["polls"] for one in found if one.get("polls")]
        return bool(polls["items"] / polls["operations"] > bound)

    return named


def index_bytes_per_item_above(bound: float) -> Named:
    """The index grows by more for each item, by the whole interval."""

    def named(found: Findings) -> bool:
        [index] = [one["index"] for one in found if one.get("index")]
        return bool(index["interval"] and index["interval"][0] > bound)

    return named


def variables(on: str, off: str) -> tuple[Arm, Arm]:
    """Both arms by variables of the environment: NAME=value words."""
    return Arm(dict(word.split("=", 1) for word in on.split())), Arm(dict(word.split("=", 1) for word in off.split()))


AGEING = "How does a create age as the data grow?"
METRICS = "What did the script's own metrics say?"
PERIODIC = "Does something slow it down periodically?"
WORK = "Which process does the work?"
POLLS, INDEX = "How fast is the consumer while it works?", "How does its index grow?"
GROW = "grow lab/studies/youtrack/study.yaml --exec uploadIssue --max-users 35"
FOLIO = "lab/studies/folio/study.yaml"
LDX = "study lab/studies/clm-ldx/study.yaml --only"
WEAKNESSES = (
    Weakness("youtrack: creates age", "--age-recount", GROW,  # without it, more items until there is anything to tell
             Arm({"AGEING": "1", "JOB_EVERY": "0"}, "--items 12000"),
             Arm({"AGEING": "0", "JOB_EVERY": "0"}, "--items 40000"), ages, AGEING),
    Weakness("youtrack: a background job", "--job-every 15", "study lab/studies/youtrack/study.yaml --only 3",
             *variables("AGEING=0 JOB_EVERY=15", "AGEING=0 JOB_EVERY=0"), has_period(15), PERIODIC),
    Weakness("folio: results are held whole", "--load-all",
             f"hold {FOLIO} -e SIZE=4000 --users 5 --duration 60 --warm-up 5 --baseline 10 --memory-limit 190",
             *variables("MEMORY_MB=190 LOAD_ALL=1", "MEMORY_MB=190 LOAD_ALL=0"),
             restarted_at_limit("storage", 0.8), "Did it restart?"),
    Weakness("folio: a profiler runs", "--profiler",
             f"compare {FOLIO} -e SIZE=500 --a FORM=product --b FORM=profiled --users 1 --pairs 5",
             *variables("PROFILER=1", "PROFILER=0"),
             Slower("storage", "profiled storage"), WORK),
    Weakness("folio: indexes are missing", "--missing-index",
             f"compare {FOLIO} --a FORM=fixed --b FORM=unindexed --users 3 --pairs 5",
             *variables("MISSING_INDEX=1", "MISSING_INDEX=0"),
             Slower("fixed storage", "unindexed storage"), WORK),
    Weakness("edx: profile images", "requested_fields=profile_image",
             "compare lab/studies/edx/study.yaml --a PROFILE_IMAGE=0 --users 240 --pairs 10",
             Arm(words="--b PROFILE_IMAGE=1"), Arm(words="--b PROFILE_IMAGE=0"),
             Slower("accounts", "accounts"), WORK),
    Weakness("edx: an accounts call for each author", "--accounts-calls author",
             "compare lab/studies/edx/study.yaml -e PROFILE_IMAGE=1 --a new --b author --users 120 --pairs 5 --trial 8",
             *variables("ACCOUNTS_CALLS=author", "ACCOUNTS_CALLS=page"),
             more_of("server_transactions_per_request"), METRICS),
    Weakness("edx: unread counts by an index that they cannot use", "--unread-index old",
             "compare lab/studies/edx/study.yaml --of view_threads --a new --b old --users 2400 --pairs 10",
             *variables("UNREAD_INDEX=old", "UNREAD_INDEX=new"),
             Slower("forum", "forum with the old index"), WORK),
    Weakness("kiwi: each result reads all results of its run", "--recount-results",
             "sweep lab/studies/kiwi/study.yaml --over R=5,10,20 --users 1 --repeats 6 --trial 8",  # (the study: 3)
             *variables("DEFECT=--recount-results", "DEFECT="),
             takes_longer("TestExecution.update")),
    Weakness("clm-gc: creates count all artifacts", "--recount-artifacts",
             "study lab/studies/clm-gc/study.yaml --only 4",
             *variables("DEFECT=--recount-artifacts", "DEFECT="), ages, AGEING),
    Weakness("clm-gc: lists ask gc for each artifact", "--resolve-each", "study lab/studies/clm-gc/lists.yaml",
             *variables("DEFECT=--resolve-each", "DEFECT="),
             Slower("gc", "gc that is asked for each"), WORK),
    Weakness("clm-ldx: each poll does all there is", "--reindex-all", f"{LDX} 3",
             *variables("DEFECT=--reindex-all", "DEFECT="), items_per_operation_above(2.0), POLLS),
    Weakness("clm-ldx: versions that are gone stay in the index", "--keep-versions",
             "study lab/studies/clm-ldx/saves.yaml",
             *variables("DEFECT=--keep-versions", "DEFECT="), index_bytes_per_item_above(50.0), INDEX),
)  # fmt: skip


def run(weakness: Weakness, arm: Arm) -> Told:
    """The command with the switch, or without."""
    words = shlex.split(f"{weakness.command} {arm.words}")
    command = [str(PLIMSOLL), *words, "--isolate", "--json", "-q", "--runs", str(RUNS)]
    environment = {**os.environ, **arm.environment}
    began = time.monotonic()
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    seconds = time.monotonic() - began
    if not done.stdout.strip():
        return Told([], f"no finding: {done.stderr.strip()[-300:]}", seconds)
    told = json.loads(done.stdout)
    if isinstance(told, dict):
        [part] = told["parts"]
        if not part["findings"]:
            return Told([], part["problem"], seconds)
        told = part["findings"]
    because = "" if asked(weakness, told)["valid"] else "; ".join(told[0]["invalid_because"])
    return Told(told, because, seconds)


def asked(weakness: Weakness, findings: Findings) -> dict[str, Any]:
    """The finding of its question, the first one without."""
    return next((one for one in findings if one["question"] == weakness.question), findings[0])


def mark(weakness: Weakness, on: Told, off: Told) -> str:
    """What the two answers come to."""
    if on.invalid or off.invalid:
        return "invalid: " + "; ".join(filter(None, (on.invalid, off.invalid)))
    found, there = weakness.named(on.findings), weakness.named(off.findings)
    without = {True: "**still there**", False: "gone", None: "not told"}[there]
    if isinstance(weakness.named, Slower) and there is False and not apart(on.findings, off.findings):
        without = "**not told apart**"
    with_it = {True: "found", False: "**not found**", None: "**cannot tell**"}[found]
    return f"{with_it}, {without}"


def said(weakness: Weakness, told: Told) -> str:
    """The answer to its question; where two are compared, with the intervals that the answer itself leaves out."""
    if not told.findings:
        return "–"
    answer, main = f"“{asked(weakness, told.findings)['answer']}”", told.findings[0]
    if not isinstance(weakness.named, Slower):
        return answer
    answer = f"“{main['answer']}” {answer}"
    left_out = [one for one in main["comparisons"] if one["primary"] and one["verdict"] != main["verdict"]]
    return f"{answer} ({'; '.join(map(interval_words, left_out))})" if left_out else answer


def interval_words(compared: Mapping[str, Any]) -> str:
    """ "p95 at 5 users −12 to +30%"."""
    where = f"{compared['statistic']} at {compared['load']}"
    if compared["interval"] is None:
        return f"{where}: no interval"
    low, high = (100 * (bound - 1) for bound in compared["interval"])
    return f"{where} {low:+.0f} to {high:+.0f}%".replace("-", "−")


def main() -> None:
    about = argparse.RawDescriptionHelpFormatter
    argparse.ArgumentParser(description=__doc__, formatter_class=about).parse_args()
    only = os.environ.get("ONLY", "")
    print("| weakness | switch | with it | without it | took | |\n|---|---|---|---|---|---|")
    missed = 0
    for weakness in WEAKNESSES:
        if only not in weakness.name:
            continue
        on, off = run(weakness, weakness.on), run(weakness, weakness.off)
        judged = mark(weakness, on, off)
        missed += "**" in judged
        answers = f"{said(weakness, on)} | {said(weakness, off)}"
        print(
            f"| {weakness.name} | `{weakness.switch}` | {answers} | {on.seconds + off.seconds:.0f} s | {judged} |",
            flush=True,
        )
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
