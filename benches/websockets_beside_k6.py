"""The same scripts with WebSockets by k6 and by Plimsoll, by turns against a server that is neither's: do both say the
same, and what does a message cost?

    .venv/bin/python benches/websockets_beside_k6.py [ROUNDS]       K6=path/to/k6 where it is not on the PATH

Compared are exit codes, checks, thresholds' outcomes and each metric of the summary, as benches/compare_k6.py does it.
The cost is CPU of the whole process, its start included, by messages sent and received: users that each wait for the
echo before they send again.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from compare_k6 import RUNS, Ended, differences, run

ROOT = Path(__file__).parents[1]
SERVER = ROOT / "tests" / "integration" / "websockets" / "websocket_server.py"
HEAD = (
    "import { WebSocket } from 'k6/websockets';\nimport ws from 'k6/ws';\nimport { check, group, sleep } from 'k6';\n"
)
SAME = {
    "echo": """export const options = { vus: 3, iterations: 9, thresholds: {
      ws_msgs_received: ['count==90'], 'ws_sessions{status:101}': ['count==9'], ws_session_duration: ['p(95)<5000'] } };
    export default function () {
      const socket = new WebSocket(`${__ENV.URL}/echo`, 'chat', { tags: { mine: 'yes' } });
      let came = 0;
      socket.onopen = () => { socket.ping(); socket.send('0'); };
      socket.onmessage = ({ data }) => {
        check(data, { 'is its own': (text) => text === `${came}` });
        if (++came < 10) socket.send(`${came}`); else setTimeout(() => socket.close(), 20);
      };
    }""",
    "several": """export const options = { iterations: 4 };
    export default function () {
      for (let number = 0; number < 4; number++) {
        const socket = new WebSocket(`${__ENV.URL}/push/5`);
        socket.onclose = ({ code }) => check(code, { 'closed by the server': (said) => said === 1000 });
      }
    }""",
    "blocking": """export const options = { vus: 2, iterations: 6 };
    export default function () {
      const response = ws.connect(`${__ENV.URL}/echo`, {}, (socket) => {
        let [sent, came] = [0, 0];
        socket.on('open', () => {
          socket.ping();
          socket.setInterval(() => { if (++sent <= 3) socket.send('tick'); }, 20);
        });
        socket.on('message', (text) => {
          check(text, { tick: (said) => said === 'tick' });
          if (++came === 3) socket.setTimeout(() => socket.close(), 20);
        });
      });
      check(response, { 'status is 101': (r) => r && r.status === 101 });
    }""",
    "ends": """export const options = { iterations: 3 };
    export default function () {
      for (const path of ['close/1000', 'close/1001', 'close/1011', 'close/4001', 'raw/8800', 'refuse', 'echo']) {
        const socket = new WebSocket(`${__ENV.URL}/${path}`);
        let error = 'none';
        socket.onopen = () => { if (path === 'echo') socket.send('die'); };
        socket.onerror = (event) => { error = event.error; };
        socket.onclose = ({ code, reason }) => check(null, { [`${path}: ${error}, ${code}, ${reason}`]: () => true });
      }
      const gone = new WebSocket('ws://127.0.0.1:1/');
      gone.onerror = ({ error }) => check(error, { refused: (text) => text.includes('connection refused') });
      for (const path of ['close/1000', 'close/4001', 'refuse']) {
        ws.connect(`${__ENV.URL}/${path}`, {}, (socket) => {
          socket.on('error', (told) => check(null, { [`ws ${path}: ${told.error()}`]: () => true }));
          socket.on('close', (code) => check(null, { [`ws ${path}: ${code}`]: () => true }));
        });
      }
    }""",
    "threshold": """export const options = { iterations: 1, thresholds: { ws_msgs_sent: ['count>5'] } };
    export default function () {
      group('inner', () => {
        const socket = new WebSocket(`${__ENV.URL}/parts`, null, { compression: 'deflate' });
        socket.onmessage = ({ data }) => {
          check(data, { whole: (text) => text === 'one two ünd drei' });
          socket.close();
        };
      });
    }""",
    "interrupted": """export const options = { scenarios: {
      all: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '500ms' } } };
    export default function () {
      const socket = new WebSocket(`${__ENV.URL}/echo`);
      socket.onopen = () => socket.send('once');
    }""",
}
COST = {
    "k6/websockets": """export const options = { vus: 20, duration: '5s', gracefulStop: '2s' };
    export default function () {
      const socket = new WebSocket(`${__ENV.URL}/echo`);
      let came = 0;
      socket.onopen = () => socket.send('x'.repeat(100));
      socket.onmessage = ({ data }) => { if (++came < 500) socket.send(data); else socket.close(); };
    }""",
    "k6/ws": """export const options = { vus: 20, duration: '5s', gracefulStop: '2s' };
    export default function () {
      ws.connect(`${__ENV.URL}/echo`, (socket) => {
        let came = 0;
        socket.on('open', () => socket.send('x'.repeat(100)));
        socket.on('message', (data) => { if (++came < 500) socket.send(data); else socket.close(); });
      });
    }""",
}


@contextmanager
def server() -> Iterator[str]:
    """The URL of the server, a process of its own."""
    process = subprocess.Popen([sys.executable, str(SERVER), "0"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"ws://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.communicate()


def compare(commands: dict[str, list[str]], url: str, folder: Path) -> int:
    """How many scripts the two do not tell alike; each difference in a line."""
    differing = 0
    for name, text in SAME.items():
        script = folder / f"{name}.js"
        script.write_text(HEAD + text, encoding="utf-8")
        ran: dict[str, list[Ended]] = {who: [] for who in commands}
        for _ in range(RUNS):
            for who, command in commands.items():
                ran[who].append(run(command, script, url, folder))
        found = list(differences(ran["k6"], ran["ours"], times_count=False))
        differing += bool(found)
        print(f"{name:<12} {'differs' if found else 'same'}, exit codes {[one.exit_code for one in ran['ours']]}")
        for line in found:
            print(f"    {line}", flush=True)
    return differing


def messages(ended: Ended) -> float:
    return float(ended.metrics["ws_msgs_sent"]["count"] + ended.metrics["ws_msgs_received"]["count"])


def cost(commands: dict[str, list[str]], url: str, folder: Path, rounds: int) -> None:
    """CPU per message in interleaved rounds."""
    for name, text in COST.items():
        script = folder / "cost.js"
        script.write_text(HEAD + text, encoding="utf-8")
        found: dict[str, list[float]] = {who: [] for who in commands}
        for number in range(rounds):
            for who, command in commands.items():
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                count = messages(run(command, script, url, folder))
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                found[who].append(1e6 * cpu_s / count)
                print(f"{name:<14} round {number + 1} {who:<5} {found[who][-1]:7.2f} µs of {count:,.0f}", flush=True)
        ratios = [theirs / ours for theirs, ours in zip(found["k6"], found["ours"], strict=True)]
        print(f"{name:<14} k6 over ours: {statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})")


def main() -> None:
    k6 = os.environ.get("K6") or shutil.which("k6")
    if not k6:
        sys.exit("k6 is not installed: go install go.k6.io/k6@latest, or name it in K6")
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    ours = [sys.executable, "-m", "plimsoll", "run"]
    commands = {"k6": [k6, "run"], "ours": ours}
    with tempfile.TemporaryDirectory() as folder, server() as url:
        differing = compare(commands, url, Path(folder))
        if rounds:
            cost(commands, url, Path(folder), rounds)
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
