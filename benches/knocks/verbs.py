"""The verbs as short commands, on a target that the study starts or on one that is there."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from commands import Commands

from plimsoll_lab.ports import free_port

TESTKIT = Path(__file__).parents[2] / "target" / "release" / "plimsoll-testkit"
SCRIPT = """import http from 'k6/http';
import { sleep } from 'k6';
const all = { executor: 'constant-vus', vus: 2, duration: '60s', gracefulStop: '5s' };
export const options = { scenarios: { all } };
export default function () { http.get(`${__ENV.BASE_URL}/${__ENV.X || ''}`); sleep(0.02); }
"""
STUDY = """name: knocks
target:
  url: 'http://127.0.0.1:{port}'
  start: 'echo started > started; exec {testkit} --port {port} --service-ms 2'
  ready: /
  stop: 'echo stopped > stopped'
workload: {{script: script.js, operations: [{{name: a, exec: default, per_user_hour: 36000}}]}}
expected_users: 5
experiments:
  - hold: {{users: 5, duration_s: 20, warm_up_s: 1, baseline_s: 0}}
"""
TRIALS = ["--trial", 2, "--warm-up", 1]


@dataclass(frozen=True)
class Verb:
    """One verb as a command. `own_target`: it starts the study's target; `continuous`: its seconds follow each other
    without a gap from the first to the last; `within_s`: a kill falls at a random moment within so many seconds."""

    name: str
    arguments: tuple[object, ...]
    own_target: bool = True
    continuous: bool = False
    within_s: float = 8.0


#: Those that put load on; {url} is a server that is there.
LOADING = (
    Verb("run", ("run", "-q", "-e", "BASE_URL={url}", "script.js"), own_target=False, continuous=True),
    Verb("run --url", ("run", "-q", "--url", "{url}", "-d", "60s"), own_target=False, continuous=True),
    Verb("capacity", ("capacity", "-q", "study.yaml", "--for", "60s"), continuous=True),
    Verb("hold", ("hold", "-q", "study.yaml"), continuous=True),
    Verb("grow", ("grow", "-q", "study.yaml", "--items", 1_000_000, "--max-users", 4), continuous=True),
    Verb("drain", ("drain", "-q", "study.yaml", "--backlog", "echo 0", "--duration", 30), continuous=True),
    Verb("compare", ("compare", "-q", "study.yaml", "--a", "X=1", "--b", "X=2", "--pairs", 8, *TRIALS)),
    Verb("decompose", ("decompose", "-q", "study.yaml", "--variant", "all:X=1", "--variant", "part:X=2", *TRIALS)),
    Verb("sweep", ("sweep", "-q", "study.yaml", "--over", "X=1,2", "--repeats", 8, *TRIALS)),
    Verb("study", ("study", "-q", "study.yaml")),
)
#: Those that put none on, or put it on something of their own.
OTHERS = (
    Verb("demo", ("demo", "-q", "--issues", 200), own_target=False, within_s=12.0),
    Verb("lab", ("lab", "tracker", "--port", 0, "--issues", 100, "--data", "data"), own_target=False, within_s=4.0),
    Verb("analyze", ("analyze", "results.jtl"), own_target=False, within_s=3.0),
    Verb("report", ("report", "finished"), own_target=False, within_s=3.0),
    Verb("size", ("size", "finished"), own_target=False, within_s=2.0),
    Verb("doctor", ("doctor",), own_target=False, within_s=2.0),
)


def write_inputs(folder: Path, script: str = SCRIPT) -> None:
    """script.js, study.yaml with a free port, and a file of results."""
    (folder / "script.js").write_text(script)
    (folder / "study.yaml").write_text(STUDY.format(port=free_port(), testkit=TESTKIT))
    rows = "".join(f"{1_700_000_000_000 + 5 * at},{20 + at % 9},home,200,true,10,10\n" for at in range(60_000))
    (folder / "results.jtl").write_text("timeStamp,elapsed,label,responseCode,success,grpThreads,allThreads\n" + rows)


def of(verb: Verb, url: str) -> list[object]:
    """Its arguments, with the address of the server that is there."""
    return [word.replace("{url}", url) if isinstance(word, str) else word for word in verb.arguments]


@contextmanager
def server(*options: object) -> Iterator[str]:
    """A testkit server; its address."""
    process = subprocess.Popen([str(TESTKIT), *map(str, options)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def finished_run(folder: Path) -> Path:
    """A run of `hold` of ten seconds that has ended, for the verbs that read one."""
    write_inputs(folder)
    with Commands(folder) as commands:
        commands.run("hold", "-q", "study.yaml", "--duration", 10, limit_s=120.0)
        return commands.runs()[0]
