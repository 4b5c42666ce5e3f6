"""Secrets planted wherever a user may write one, beside a target that logs all that it is given: no output has them.

Looked for are the secrets themselves, in every file of every run (Parquet read, not searched packed), in the study's
copy, the page of a study, and in all that is printed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pyarrow.parquet
import pytest
from command_line import Cli
from postgresql_server import PostgresqlServer

from plimsoll.runs.format.lines import unpacked
from plimsoll.runs.reader import RunReader
from plimsoll_lab.ports import free_port

DSN, TOKEN, OWN, COOKIE, BASIC = "dsn-pl4nted", "token-pl4nted", "own-pl4nted", "cookie-pl4nted", "basic-pl4nted"
PASS, KEY, SEED = "pass-pl4nted", "key-pl4nted", "seed-pl4nted"
REMEDY, HEADER, VARIABLE, QUERY = "remedy-pl4nted", "header-pl4nted", "variable-pl4nted", "query-pl4nted"
LOGGED, SCHEME = "logged-pl4nted", "scheme-pl4nted"  # of the target's users: no study names them
JOLOKIA, PPROF, OTLP, SWITCH, FEED = (
    "jolokia-pl4nted",
    "pprof-pl4nted",
    "otlp-pl4nted",
    "switch-pl4nted",
    "feed-pl4nted",
)
PLANTED = [DSN, TOKEN, OWN, COOKIE, BASIC, PASS, KEY, SEED, REMEDY, HEADER, VARIABLE, QUERY, LOGGED, SCHEME]
PLANTED += [JOLOKIA, PPROF, OTLP, SWITCH, FEED]

TARGET = f"""
import os, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Talkative(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.headers.get("X-Own") or self.headers.get("Cookie") or "token" in self.path:
            print("got", self.path, dict(self.headers), *map(str, self.headers.values()), flush=True)
        body = b"process_open_fds 5" if self.path == "/metrics" else b'{{"used": "1 MB"}}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) + 1))
        self.end_headers()
        self.wfile.write(body + b"\\n")
        with open("app.log", "a") as log:
            log.write("ERROR login Cookie: theme=dark; JSESSIONID={LOGGED} failed\\n")
            log.write("java.lang.OutOfMemoryError for Authorization: ApiKey {SCHEME}\\n")

    def log_message(self, *_):
        pass

print("begun", sys.argv, os.environ["DB_PASS"], os.environ["START_WITH"], flush=True)
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Talkative).serve_forever()
"""
SCRIPT = """import http from 'k6/http';
export default function () {
  const headers = { Authorization: __ENV.SHOP_PASS };
  http.get(`${__ENV.BASE_URL}/page?token=${__ENV.SHOP_QUERY_TOKEN}&r=${__ENV.R}`, { headers });
}
"""
STUDY = """\
target:
  url: http://127.0.0.1:{port}
  start: DB_PASS={PASS} exec {python} target.py {port} --api-key {KEY}
  ready: http://127.0.0.1:{port}/ready
  environment: {{START_WITH: {SEED}}}
  variants:
    old: {{switch: ": mysql -p{SWITCH} app"}}
    new: {{switch: ": curl -u me:{SWITCH} http://h/"}}
workload:
  script: script.js
  operations: [{{name: a, exec: default, per_user_hour: 3600}}]
probes:
  core_speed: false
  prometheus:
    - label: app
      url: http://127.0.0.1:{port}/metrics
      headers: {{Authorization: "Bearer ${{SHOP_ACCESS}}", X-Own: "${{SHOP_OWN}}"}}
    - {{label: other, url: "http://me:{BASIC}@127.0.0.1:{port}/metrics?token={QUERY}"}}
  telemetry: [{{url: "http://127.0.0.1:{port}/telemetry", headers: {{Cookie: "theme=dark; SID={COOKIE}"}}}}]
  logs: [{{label: app, files: [app.log]}}]
  postgresql: [{{label: db, dsn: "env:SHOP_DATABASE"}}]
  otlp: {{port: null, token: "${{SHOP_OTLP}}"}}
  jvm: [{{url: "http://me:{JOLOKIA}@127.0.0.1:{port}/jolokia", headers: {{X-Jolokia: "{JOLOKIA}"}}}}]
  profile: [{{label: go, url: "http://me:{PPROF}@127.0.0.1:{port}/debug/pprof/profile"}}]
experiments:
  - hold: {{users: 20, duration_s: 4, warm_up_s: 1, baseline_s: 0}}
  - capacity: {{step_s: 2, min_users: 100, max_users: 100, verify: "{remedy}"}}
"""
# The shell tells each command before it runs it, so that the log of the remedy has what was meant.
REMEDY_COMMAND = (
    f"set -x; : mysql -p{REMEDY} app; : curl -u me:$SHOP_REMEDY -H 'Authorization: Digest {HEADER}' http://h/"
)
VARIABLES = ("-e", f"SHOP_PASS={VARIABLE}", "-e", f"SHOP_QUERY_TOKEN={QUERY}")


@pytest.fixture
def shop(cli: Cli, postgresql_server: PostgresqlServer) -> Callable[..., CompletedProcess[str]]:
    """plimsoll in a folder with the study, its target and script; the environment holds what the study takes of it."""
    given = {
        "SHOP_ACCESS": TOKEN,
        "SHOP_OWN": OWN,
        "SHOP_REMEDY": REMEDY,
        "SHOP_OTLP": OTLP,
        "SHOP_DATABASE": postgresql_server.dsn(password=DSN),
    }
    names = {name: value for name, value in globals().items() if isinstance(value, str)}
    study = STUDY.format(port=free_port(), python=sys.executable, remedy=REMEDY_COMMAND, **names)
    cli.write(study_yaml=study, target_py=TARGET, script_js=SCRIPT)

    def run(*arguments: str) -> CompletedProcess[str]:
        return cli(*arguments, env={**os.environ, **given})

    return run


def told_secrets(folder: Path, done: CompletedProcess[str]) -> dict[str, list[str]]:
    """Of each output that has planted secrets, which."""
    outputs = {"stdout": done.stdout, "stderr": done.stderr}
    for path in folder.rglob("*"):
        if path.suffix == ".parquet":
            outputs[str(path)] = str(pyarrow.parquet.read_table(path).to_pydict())
        elif path.is_file():
            outputs[str(path)] = unpacked(path).decode("utf-8", "replace")
    found = {name: [one for one in PLANTED if one in text] for name, text in outputs.items()}
    return {name: secrets for name, secrets in found.items() if secrets}


def notes_of(run: Path) -> str:
    return "\n".join(str(event.get("message")) for event in RunReader(run).events())


def test_a_study_with_secrets_everywhere_leaves_none_in_its_runs_copy_page_and_output(shop, cli: Cli) -> None:
    done = shop("study", "study.yaml", "--only", "hold", *VARIABLES)
    assert "Traceback" not in done.stderr
    [run] = [path.parent for path in (cli.folder / "runs").glob("*/*/manifest.json")]
    assert told_secrets(cli.folder / "runs", done) == {}
    texts = {path.name: path.read_text() for path in (cli.folder / "runs").rglob("*.log")}
    assert "begun" in texts["start.log"] and "'X-Own': '***'" in texts["start.log"]  # it did log what it was given
    told = notes_of(run)
    assert "started: DB_PASS=*** exec" in told and "--api-key ***" in told
    assert "first line of error_level in app.log: ERROR login Cookie: *** failed" in told
    assert "for Authorization: ApiKey ***" in told
    sources = {row["source"] for row in RunReader(run).resources()}
    assert {"telemetry:target", "process:app", "postgresql:db"} <= sources  # all were asked with their secrets
    [copy] = (cli.folder / "runs").glob("*/study.json")
    assert "http://***@127.0.0.1" in copy.read_text() and "mysql -p*** app" in copy.read_text()
    assert "probe_cost" in (run / "events.jsonl").read_text()
    (cli.folder / "out").mkdir()
    for output in ("page.html", "findings.json"):
        assert told_secrets(cli.folder / "out", shop("report", run, "-o", cli.folder / "out" / output)) == {}
        assert (cli.folder / "out" / output).stat().st_size > 1_000
    for verb in (("report", run, "--json"), ("size", run, "--json"), ("analyze", run, "--details")):
        done = shop(*verb)
        assert "Traceback" not in done.stderr and len(done.stdout) > 200, (verb, done.stderr)
        assert told_secrets(cli.folder / "runs", done) == {}


def test_readings_of_a_drain_with_passwords_leave_none(shop, cli: Cli, postgresql_server: PostgresqlServer) -> None:
    load = ("--users", 20, "--duration", 2, "--warm-up", 0, "--drain-limit", 1, *VARIABLES)
    waits = f"sql:{postgresql_server.dsn(password=DSN)} SELECT 3"
    done = shop("drain", "study.yaml", "--backlog", waits, "--json", *load)
    [run] = cli.runs()
    assert {"consumer"} <= {row["source"] for row in RunReader(run).resources()}, done.stderr
    assert told_secrets(cli.folder / "runs", done) == {}
    places = {
        "--backlog": f"sql:postgresql://me:{DSN}@127.0.0.1:9/shop SELECT 1",
        "--produced": f"trs:http://me:{FEED}@127.0.0.1:9/trs?access_token={FEED}",
        "--consumed": f"http://me:{FEED}@127.0.0.1:9/status#waiting",
        "--index": f": PGPASSWORD={FEED} psql -h 127.0.0.1 -c 'SELECT 1'",
    }
    done = shop("drain", "study.yaml", *(word for pair in places.items() for word in pair), *load)
    assert "Traceback" not in done.stderr and done.returncode == 2, done.stdout
    assert all(f"{flag} " in done.stderr for flag in places) and "4 mistakes" in done.stderr, done.stderr
    assert told_secrets(cli.folder / "runs", done) == {}


def test_a_load_of_items_with_secrets_around_it_leaves_none(shop, cli: Cli) -> None:
    done = shop("grow", "study.yaml", "--items", 300, "--max-users", 2, "--json", *VARIABLES)
    assert "Traceback" not in done.stderr and "How long" in done.stdout
    assert told_secrets(cli.folder / "runs", done) == {}


@pytest.mark.parametrize(
    "verb",
    [
        ("compare", "study.yaml", "--a", "old", "--b", "new", "--pairs", 2),
        ("decompose", "study.yaml", "--variant", "old", "--variant", "new", "--rounds", 2),
        ("sweep", "study.yaml", "--over", "R=1,2", "--repeats", 2),
    ],
)
def test_trials_of_variants_with_passwords_leave_none(shop, cli: Cli, verb: tuple[object, ...]) -> None:
    done = shop(*verb, "--users", 20, "--trial", 1, "--warm-up", 0, "--details", *VARIABLES)
    [run] = cli.runs()
    assert len(RunReader(run).trials()) >= 2, done.stderr
    assert told_secrets(cli.folder / "runs", done) == {}


def test_capacity_with_verify_prints_no_secret_of_its_command(shop, cli: Cli) -> None:
    study = cli.folder / "study.yaml"
    study.write_text(study.read_text().partition("experiments:")[0])
    flags = ("--step", "1", "--min-users", "100", "--max-users", "100", "--verify", REMEDY_COMMAND, "--details")
    done = shop("capacity", "study.yaml", *flags, *VARIABLES)
    assert "What did the remedy change?" in done.stdout and "mysql -p***" in " ".join(done.stdout.split()), done.stderr
    assert told_secrets(cli.folder / "runs", done) == {}
    _, run = cli.runs()
    shown = "set -x; : mysql -p*** app; : curl -u me:$SHOP_REMEDY -H 'Authorization: ***' http://h/"
    assert f"remedy: {shown}" in notes_of(run)
    log = (run / "logs" / "remedy.log").read_text()
    assert "mysql -p*** app" in log and "me:***" in log  # the shell told what the command meant


def test_mistakes_and_failures_of_commands_with_secrets_print_none(shop, cli: Cli) -> None:
    study = cli.folder / "study.yaml"
    whole = study.read_text()
    study.write_text(whole.replace("exec ", f"echo in vain {PASS}; exit 3; exec "))
    done = shop("hold", "study.yaml", "--duration", "2", "--details", *VARIABLES)
    assert "the start command ended with exit code 3" in done.stderr and "in vain ***" in done.stderr
    assert told_secrets(cli.folder / "runs", done) == {}
    away = f"url: http://me:{BASIC}@127.0.0.1:9\n  time_limits: {{ready_s: 0.5}}\n"
    study.write_text(f"target:\n  {away}workload:{whole.partition('workload:')[2].partition('probes:')[0]}")
    done = shop("hold", "study.yaml", "--users", "1", "--duration", "2", "--details", *VARIABLES)
    assert "the target was not ready within 0.5 s: http://***@127.0.0.1:9 does not answer" in done.stderr
    assert told_secrets(cli.folder / "runs", done) == {}
    dsn = f"mysql://me:{DSN}@127.0.0.1:9/shop"
    done = shop(
        "hold", "study.yaml", "--users", "1", "--duration", "2", "--details", "--probe", f"mysql={dsn}", *VARIABLES
    )
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert told_secrets(cli.folder / "runs", done) == {}
