"""The seven experiments, as a user types them, on the lab's issue tracker and on servers whose truth is known.

    make experiments                  about 30 minutes; it wants a machine to itself
    ONLY=compare make experiments     those whose name holds this

The testkit's server answers after a set time, whatever the machine does while it is not short of CPU; the consumer of
`drain` takes items at a set rate. Of the tracker's known defects one is on where that is what should be found. A row
"held" says that the answer's interval holds what is known; "invalid" what the answer itself says of a disturbed run.
`drain` wants a consumer: the tracker's indexer, at a set rate (`--index-per-s`).
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll_lab.ports import free_port

ROOT = Path(__file__).parents[1]
PLIMSOLL = ROOT / ".venv" / "bin" / "plimsoll"
TESTKIT = ROOT / "target" / "release" / "plimsoll-testkit"
CONSUMER = ROOT / "tests" / "integration" / "long_runs" / "known_consumer.py"
RUNS = ROOT / "runs" / "experiments"  # kept, to be looked at where an answer is not understood
READY_S = 120.0
LIMIT_S = 900.0
DECLARED = """export const options = { scenarios: { arrivals: {
  executor: 'constant-arrival-rate', rate: 60, duration: '1m', preAllocatedVUs: 50 } } };
"""
REQUESTS = """
const token = __ENV.USERS_JSON ? JSON.parse(open(__ENV.USERS_JSON))[0].token : '';
const get = (times) => {
  for (let i = 0; i < times; i++) {
    http.get(__ENV.URL, { headers: { Authorization: `Bearer ${token}` }, tags: { name: 'GET' } });
  }
};
export default function () { get(Number(__ENV.R || 1)); }
export function five() { get(5); }
export function three() { get(3); }
export function one() { get(1); }
"""
IMPORT = "import http from 'k6/http';\n"
SCRIPT = IMPORT + DECLARED + REQUESTS
PUT = "{ http.post(`${__ENV.URL}/put`, 'x'); }"
CREATES = """import http from 'k6/http';
export const options = { scenarios: { creates: {
  executor: 'constant-arrival-rate', rate: 30, duration: '1m', preAllocatedVUs: 50 } } };
const token = JSON.parse(open(__ENV.USERS_JSON))[0].token;
export default function () {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const issue = { summary: 'The door sticks', description: 'It opens when pushed twice.' };
  http.post(`${__ENV.BASE_URL}/api/issues`, JSON.stringify(issue), { headers, tags: { name: 'POST /issues' } });
}
"""
Findings = list[dict[str, Any]]
Check = Callable[[Findings], bool | None]


@dataclass(frozen=True)
class Case:
    """`servers`: name: command that starts it. In both commands {NAME} is a server's address, {FOLDER} the folder."""

    name: str
    known: str
    servers: Mapping[str, str]
    command: str
    held: Check


def testkit(words: str) -> str:
    """A server of known times."""
    return f"{TESTKIT} {words}"


def tracker(words: str = "") -> str:
    """The lab's issue tracker on a port of its own."""
    return f"{PLIMSOLL} lab tracker --port {{PORT}} --data {{FOLDER}}/{{NAME}} {words}"


def carries(per_s: float, declared: float) -> Check:
    """The bracket holds a rate."""
    return lambda found: (
        (found[0]["capacity"]["good"] or 0) * declared <= per_s <= (found[0]["capacity"]["bad"] or 1e9) * declared
    )


def has_bracket(found: Findings) -> bool:
    """An answer with both ends."""
    return None not in (found[0]["capacity"]["good"], found[0]["capacity"]["bad"])


def verdict(expected: str, low: float = 0.0, high: float = float("inf")) -> Check:
    """p50 of all requests has that verdict, and its interval meets a range."""

    def check(found: Findings) -> bool:
        one = next(one for one in found[0]["comparisons"] if one["primary"] and one["statistic"] == "p50")
        return one["verdict"] == expected and one["interval"][0] <= high and one["interval"][1] >= low

    return check


def shares(*truth: float) -> Check:
    """Each layer's interval holds its share."""

    def check(found: Findings) -> bool:
        layers = found[0]["levels"][0]["layers"]
        ends = [one["interval"] for one in layers]
        return len(ends) == len(truth) and all(low <= at <= high for at, (low, high) in zip(truth, ends, strict=True))

    return check


def exponent(truth: float) -> Check:
    """The interval of the law of an iteration's duration holds it, to the 5% that connections and timers add."""

    def check(found: Findings) -> bool:
        [law] = [one for one in found[0]["dependencies"] if one["metric"] == "work"]
        return law["interval"][0] - 0.05 <= truth <= law["interval"][1] + 0.05

    return check


def short_of(share: float) -> Check:
    """It falls behind, and the interval of what is left over holds the share."""

    def check(found: Findings) -> bool:
        judged = found[0]["consumer"]
        low, high = judged["overload_interval"]
        return judged["verdict"] == "falls behind" and low <= share <= high

    return check


def period(truth_s: float) -> Check:
    """A period within 2%."""

    def check(found: Findings) -> bool:
        [about] = [one["periodic"] for one in found if "periodic" in one]
        return about is not None and abs(about["period_s"] / truth_s - 1) <= 0.02

    return check


def ages(*families: str) -> Check:
    """By one of these laws; None while none is told, or several fit and one of these is among them."""

    def check(found: Findings) -> bool | None:
        about = next((one["ageing"] for one in found if one.get("ageing")), None)
        if about is None:
            return None
        if about["family"] is None:
            return None if set(families) & {fit["family"] for fit in about["fits"]} else False
        return about["family"] in families

    return check


def settled(found: Findings) -> bool:
    """Nothing happens and nothing is said to."""
    return not [one for one in found if one.get("trouble")]


CONSTANT = "--servers 0 --constant --service-ms"
SCRIPTED = "{FOLDER}/script.js -e URL={A}"
ISSUE = "{FOLDER}/script.js -e URL={A}/api/issues/DEMO-7 -e USERS_JSON={FOLDER}/A/users.json"
LAYERS = "--variant five --variant three --variant one --rounds 6 --trial 6"
CASES = (
    Case("capacity, testkit", "one server of 2.5 ms: 400/s", {"A": testkit("--servers 1 --service-ms 2.5 --seed 3")},
         f"capacity {SCRIPTED} --step 20", carries(400, 60)),
    Case("capacity, tracker", "-", {"A": tracker("--issues 20000")}, "capacity {FOLDER}/A/study.yaml", has_bracket),
    Case("hold, testkit", "a server of 5 ms, 60/s: nothing happens", {"A": testkit(f"{CONSTANT} 5")},
         f"hold {SCRIPTED} --duration 90", settled),
    Case("hold, tracker", "a job every 20 s", {"A": tracker("--issues 5000 --job-every 20 --job-work 1000")},
         "hold {FOLDER}/A/study.yaml --users 2000 --duration 120 --baseline 10 -e ISSUES=5000", period(20)),
    Case("grow, testkit", "10 ms an item, however many", {"A": testkit(f"{CONSTANT} 10")},
         f"grow {SCRIPTED} --items 40000 --max-users 4", ages("constant")),
    Case("grow, tracker", "creates count all issues: a + b n", {"A": tracker("--issues 600 --age-recount")},
         "grow {FOLDER}/A/study.yaml --items 20000 --exec uploadIssue --max-users 8", ages("linear")),
    Case("compare, testkit", "20 and 26 ms: +28% with connection and timer",
         {"A": testkit(f"{CONSTANT} 20"), "B": testkit(f"{CONSTANT} 26")},
         "compare {FOLDER}/compared.js --a {A} --b {B} --pairs 5 --trial 8", verdict("slower", 1.26, 1.3)),
    Case("compare, testkit with itself", "the same", {"A": testkit(f"{CONSTANT} 20")},
         "compare {FOLDER}/compared.js --a {A} --b {A} --pairs 5 --trial 8", verdict("same", 1, 1)),
    Case("compare, tracker", "creates of B count all issues",
         {"A": tracker("--issues 8000"), "B": tracker("--issues 8000 --age-recount")},
         "compare {FOLDER}/creates.js --a {A} --b {B} --pairs 5 --trial 8 -e USERS_JSON={FOLDER}/A/users.json",
         verdict("slower")),
    Case("compare, tracker with itself", "the same", {"A": tracker("--issues 8000"), "B": tracker("--issues 8000")},
         "compare {FOLDER}/creates.js --a {A} --b {B} --pairs 12 --trial 8 -e USERS_JSON={FOLDER}/A/users.json",
         lambda found: verdict("same", 1, 1)(found) or None),
    Case("decompose, testkit", "5, 3 and 1 of the same: 40, 40 and 20%", {"A": testkit(f"{CONSTANT} 10")},
         f"decompose {SCRIPTED} {LAYERS}", shares(0.4, 0.4, 0.2)),
    Case("decompose, tracker", "5, 3 and 1 of the same: 40, 40 and 20%", {"A": tracker("--issues 5000")},
         f"decompose {ISSUE} {LAYERS}", shares(0.4, 0.4, 0.2)),
    Case("sweep, testkit", "R requests: exponent 1", {"A": testkit(f"{CONSTANT} 10")},
         "sweep {FOLDER}/swept.js -e URL={A} --over R=1,2,4,8 --users 1 --repeats 3 --trial 5", exponent(1)),
    Case("sweep, tracker", "R requests: exponent 1", {"A": tracker("--issues 5000")},
         "sweep {FOLDER}/swept.js -e URL={A}/api/issues/DEMO-7 -e USERS_JSON={FOLDER}/A/users.json --over R=2,4,8,16"
         " --users 1 --repeats 3 --trial 5", exponent(1)),
    Case("drain, testkit", "40/s done of 60/s put in: 33% left over",
         {"A": f"{sys.executable} {CONSUMER} {{PORT}} 40"},
         "drain {FOLDER}/puts.js -e URL={A} --backlog {A}/status#waiting --consumed {A}/status#done"
         " --duration 60 --drain-limit 60", short_of(1 / 3)),
    Case("drain, tracker", "20/s indexed of 30/s created: 33% left over",
         {"A": tracker("--issues 5000 --index-per-s 20")},
         "drain {FOLDER}/creates.js -e USERS_JSON={FOLDER}/A/users.json -e BASE_URL={A}"
         " --backlog {A}/indexing#issuesToIndex --consumed {A}/indexing#issuesIndexed --duration 60 --drain-limit 60",
         short_of(1 / 3)),
)  # fmt: skip


@contextmanager
def served(name: str, command: str, folder: Path, cpu: int | None) -> Iterator[str]:
    """Start a server on the target's processor; its address once it answers."""
    port = free_port()
    words = shlex.split(command.format(PORT=port, NAME=name, FOLDER=folder))
    if "plimsoll-testkit" in words[0]:
        words += ["--port", str(port)]
    pinned = ["taskset", "-c", str(cpu)] if cpu is not None else []
    process = subprocess.Popen([*pinned, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + READY_S
        while not answers(url):
            if process.poll() is not None or time.monotonic() > until:
                sys.exit(f"it does not answer: {' '.join(words)}")
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


def answers(url: str) -> bool:
    """Whether there is a server."""
    try:
        urllib.request.urlopen(url, timeout=2).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def run(case: Case) -> tuple[Findings, float]:
    """Its findings, and the seconds it took."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        (folder / "script.js").write_text(SCRIPT)
        (folder / "swept.js").write_text(IMPORT + REQUESTS)
        (folder / "compared.js").write_text(SCRIPT.replace("__ENV.URL", "__ENV.BASE_URL"))
        (folder / "creates.js").write_text(CREATES)
        (folder / "puts.js").write_text(SCRIPT.replace("{ get(Number(__ENV.R || 1)); }", PUT))
        cpu = max(os.sched_getaffinity(0)) if len(os.sched_getaffinity(0)) > 1 else None
        urls = {key: stack.enter_context(served(key, words, folder, cpu)) for key, words in case.servers.items()}
        words = shlex.split(case.command.format(FOLDER=folder, **urls))
        command = [str(PLIMSOLL), *words, "--isolate", "--json", "-q", "--runs", str(RUNS)]
        began = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if not done.stdout.strip():
            sys.exit(f"no finding of {' '.join(command)}:\n{done.stderr}")
        return json.loads(done.stdout), time.monotonic() - began


def main() -> None:
    about = argparse.RawDescriptionHelpFormatter
    argparse.ArgumentParser(description=__doc__, formatter_class=about).parse_args()
    only = os.environ.get("ONLY", "")
    print("| experiment | what is known | answer | took | |\n|---|---|---|---|---|")
    missed = 0
    for case in CASES:
        if only not in case.name:
            continue
        findings, seconds = run(case)
        if not findings[0]["valid"]:
            mark = "invalid: " + "; ".join(findings[0]["invalid_because"])
        else:
            held = case.held(findings)
            missed += held is False
            mark = {True: "held", False: "**missed**", None: "not told"}[held]
        said = " ".join(one["answer"] for one in findings[: 3 if "hold" in case.name or "grow" in case.name else 1])
        print(f"| {case.name} | {case.known} | “{said}” | {seconds:.0f} s | {mark} |", flush=True)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
