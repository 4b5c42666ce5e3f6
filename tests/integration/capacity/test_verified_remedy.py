"""`plimsoll capacity --verify` on a server that the remedy gives more workers: it says "more", and by how much."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from plimsoll.lab.ports import free_port

SERVER = """
import sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

changed, busy = threading.Condition(), 0

class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        global busy
        workers = int(Path("workers").read_text())
        with changed:
            changed.wait_for(lambda: busy < workers)
            busy += 1
        time.sleep(0.08)
        with changed:
            busy -= 1
            changed.notify()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
"""
SCRIPT = "import http from 'k6/http';\nexport default function () { http.get(__ENV.BASE_URL); }\n"
STUDY = """\
target:
  url: http://127.0.0.1:{port}
  start: exec {python} server.py {port}
  ready: http://127.0.0.1:{port}/
workload: {{script: script.js, operations: [{{name: view, exec: default, per_user_hour: 3600}}]}}
"""


def test_a_remedy_that_makes_it_carry_more_is_told_by_how_much(tmp_path: Path) -> None:
    """Four workers of 80 ms carry 50 operations a second, sixteen 200."""
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "script.js").write_text(SCRIPT)
    (tmp_path / "study.yaml").write_text(STUDY.format(port=free_port(), python=sys.executable))
    (tmp_path / "workers").write_text("4")
    command = [sys.executable, "-m", "plimsoll", "capacity", "study.yaml", "--step", "2", "--width", "0.5", "--json"]
    command += ["--min-users", "35", "--max-users", "110", "--verify", "echo 16 > workers"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode in (0, 3), done.stderr
    findings = json.loads(done.stdout)
    told = next(one for one in findings if one["question"] == "What did the remedy change?")
    assert 35 <= told["before"]["good"] <= 50 < told["before"]["bad"] <= 80
    assert told["after"]["good"] >= 90
    low = told["after"]["good"] / told["before"]["bad"]
    assert told["ratio_at_least"] == low > 1
    if told["valid"]:
        assert told["verdict"] == "more" and told["answer"].startswith("It carries more: ")
    else:  # a machine busy with other things, which says so
        assert told["verdict"] == "cannot tell" and f"+{100 * (low - 1):.0f} %" in told["answer"]
