"""Each weakness of the studies' targets, switched on and off: found, and gone.

    make weaknesses                   about 50 minutes; it wants a machine to itself
    ONLY=edx make weaknesses          those whose name holds this

Each row is two runs of a command that a user types, one with the switch and one without. "found, gone" says that the
answer with it names it and the answer without it does not; "invalid" what an answer itself says of a disturbed run.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PLIMSOLL = ROOT / ".venv" / "bin" / "plimsoll"
RUNS = ROOT / "runs" / "weaknesses"
LIMIT_S = 1200.0
Findings = list[dict[str, Any]]
Named = Callable[[Findings], bool]


@dataclass(frozen=True)
class Weakness:
    """`on` and `off` are the environment of the command; `named` whether the findings name it; `question` is that of
    the finding to be printed, the first one without."""

    name: str
    switch: str
    command: str
    on: Mapping[str, str]
    off: Mapping[str, str]
    named: Named
    question: str | None = None


@dataclass(frozen=True)
class Told:
    """What one run said: its findings, why it does not count, and the seconds it took."""

    findings: Findings
    invalid: str
    seconds: float


def ages(found: Findings) -> bool:
    """The cost of an item grows with the volume, by half at the least."""
    [about] = [one["ageing"] for one in found if "ageing" in one]
    return about is not None and about["family"] != "constant" and about["change"] > 0.5


def has_period(of_s: float) -> Named:
    """That period, to 2 %."""

    def named(found: Findings) -> bool:
        [about] = [one["periodic"] for one in found if "periodic" in one]
        return about is not None and abs(about["period_s"] / of_s - 1) <= 0.02

    return named


def restarted(label: str) -> Named:
    """This process was started again under the load."""
    return lambda found: any(f"{label} was restarted" in one["answer"] for one in found)


def slower(found: Findings) -> bool:
    """B is slower than A."""
    return bool(found[0]["verdict"] == "slower")


def steeper_than(exponent: float) -> Named:
    """The duration of an iteration grows with a higher power, by the whole interval."""

    def named(found: Findings) -> bool:
        [law] = [one for one in found[0]["dependencies"] if one["metric"] == "work"]
        return bool(law["interval"][0] > exponent)

    return named


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


AGEING = "How does a create age as the data grow?"
YOUTRACK = "study studies/youtrack/study.yaml --only"
FOLIO = "studies/folio/study.yaml"
EDX = "compare studies/edx/study.yaml --pairs 5"
WEAKNESSES = (
    Weakness("youtrack: creates age", "--age-recount", f"{YOUTRACK} 1",
             {"AGEING": "1", "JOB_EVERY": "0"}, {"AGEING": "0", "JOB_EVERY": "0"}, ages, AGEING),
    Weakness("youtrack: a background job", "--job-every 15", f"{YOUTRACK} 3",
             {"AGEING": "0", "JOB_EVERY": "15"}, {"AGEING": "0", "JOB_EVERY": "0"}, has_period(15),
             "Does something slow it down periodically?"),
    Weakness("folio: results are held whole", "--load-all",
             f"hold {FOLIO} -e SIZE=4000 --users 5 --duration 60", {"LOAD_ALL": "1"}, {"LOAD_ALL": "0"},
             restarted("storage"), "Did it restart?"),
    Weakness("folio: a profiler runs", "--profiler",
             f"compare {FOLIO} -e SIZE=500 --a FORM=product --b FORM=profiled --users 1 --pairs 5",
             {"PROFILER": "1"}, {"PROFILER": "0"}, slower),
    Weakness("folio: indexes are missing", "--missing-index",
             f"compare {FOLIO} --a FORM=fixed --b FORM=unindexed --users 3 --pairs 5",
             {"MISSING_INDEX": "1"}, {"MISSING_INDEX": "0"}, slower),
    Weakness("edx: profile images", "requested_fields=profile_image", f"{EDX} --a PROFILE_IMAGE=0 --users 240",
             {"B": "PROFILE_IMAGE=1"}, {"B": "PROFILE_IMAGE=0"}, slower),
    Weakness("edx: unread counts by an index that they cannot use", "--unread-index old",
             "study studies/edx/study.yaml --only 2", {"UNREAD_INDEX": "old"}, {"UNREAD_INDEX": "new"}, slower),
    Weakness("kiwi: each result reads all results of its run", "--recount-results",
             "study studies/kiwi/study.yaml --only 2", {"DEFECT": "--recount-results"}, {"DEFECT": ""},
             steeper_than(2.0)),
    Weakness("clm-gc: creates count all artifacts", "--recount-artifacts",
             "study studies/clm-gc/study.yaml --only 4", {"DEFECT": "--recount-artifacts"}, {"DEFECT": ""}, ages,
             AGEING),
    Weakness("clm-gc: lists ask gc for each artifact", "--resolve-each", "study studies/clm-gc/lists.yaml",
             {"DEFECT": "--resolve-each"}, {"DEFECT": ""}, slower),
    Weakness("clm-ldx: each poll does all there is", "--reindex-all", "study studies/clm-ldx/study.yaml --only 3",
             {"DEFECT": "--reindex-all"}, {"DEFECT": ""}, items_per_operation_above(2.0),
             "How fast is the consumer while it works?"),
    Weakness("clm-ldx: versions that are gone stay in the index", "--keep-versions",
             "study studies/clm-ldx/study.yaml --only 2", {"DEFECT": "--keep-versions"}, {"DEFECT": ""},
             index_bytes_per_item_above(200.0), "How does its index grow?"),
)  # fmt: skip


def run(weakness: Weakness, switches: Mapping[str, str]) -> Told:
    """The command with these switches. B of a comparison is one of them, as A is the same in both runs."""
    given = dict(switches)
    own = ["--b", given.pop("B")] if "B" in given else []
    command = [str(PLIMSOLL), *shlex.split(weakness.command), *own, "--isolate", "--json", "-q", "--runs", str(RUNS)]
    environment = {**os.environ, "PLIMSOLL": str(PLIMSOLL), **given}
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
    because = "" if told[0]["valid"] else "; ".join(told[0]["invalid_because"])
    return Told(told, because, seconds)


def mark(weakness: Weakness, on: Told, off: Told) -> str:
    """What the two answers come to."""
    if on.invalid or off.invalid:
        return "invalid: " + "; ".join(filter(None, (on.invalid, off.invalid)))
    found, gone = weakness.named(on.findings), not weakness.named(off.findings)
    return ", ".join(("found" if found else "**not found**", "gone" if gone else "**still there**"))


def said(weakness: Weakness, told: Told) -> str:
    """The answer to its question, the first one without."""
    asked = [one for one in told.findings if one["question"] == weakness.question] or told.findings
    return f"“{asked[0]['answer']}”" if asked else "–"


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
