"""Marked secrets in all that a `plimsoll run` takes: no output has them, but what the script itself writes as its own.

Looked for are the secrets, also percent-encoded and in base64, in every file of the run (Parquet read, gzip unpacked),
in every file that a flag asks for, in the report and in all that is printed.
"""

from __future__ import annotations

import base64
import gzip
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from subprocess import CompletedProcess
from urllib.parse import quote

import pyarrow.parquet
import pytest
from command_line import Cli

from plimsoll.runs.reader import RunReader

MOCK, FILE, SHORT = "mock-pl4nted/x y", "file=pl4nted+ä", "q7Z"
ENV, ENV_KEY, SYSTEM = "env-pl4nted-1", "envkey pl4nted", "system-pl4nted"
QUERY, SIGNED, KEY, CODE, USER, FORM, NESTED = (
    f"{name}-pl4nted" for name in ["query", "signed", "key", "code", "user", "form", "nested"]
)
HEADER, COOKIE, BODY, TAG, THRESHOLD = (f"{name}-pl4nted" for name in ["header", "cookie", "body", "tag", "threshold"])
SECRETS = [MOCK, FILE, ENV, ENV_KEY, SYSTEM, QUERY, SIGNED, KEY, CODE, USER, FORM, NESTED, HEADER, COOKIE, BODY, TAG]
SECRETS += [THRESHOLD]

SCRIPT = """
import http from 'k6/http';
import secrets from 'k6/secrets';
import encoding from 'k6/encoding';
import { check, group } from 'k6';
import { Trend, Counter } from 'k6/metrics';
const tokens = new Counter('tokens');
const times = new Trend('login_token_time', true);
const open = new Counter(__ENV.METRIC);
export const options = {
  iterations: 2, vus: 1,
  tags: { run_token: 'TAG' },
  thresholds: {
    'http_req_duration{name:http://h/?sig=THRESHOLD}': ['p(95)<1000'],
    'checks{check:password=THRESHOLD}': ['rate>=0'],
  },
};
export function setup() { return { token: __ENV.API_TOKEN, list: [1] }; }
export default async function () {
  const url = __ENV.BASE_URL;
  const mock = await secrets.get('mock');
  const vault = await secrets.source('vault');
  const file = await vault.get('file');
  const short = await vault.get('short');
  tokens.add(3); times.add(5); open.add(1);
  http.get(`${url}/a?token=${__ENV.API_TOKEN}&page=2`);
  http.get(`${url}/b?access_token=QUERY&key=KEY`);
  http.get(`${url}/c?sv=1&sig=SIGNED%3D&X-Amz-Signature=SIGNED&X-Amz-Security-Token=SIGNED`);
  http.get(`${url}/d?code=CODE&state=CODE&next=${encodeURIComponent('http://x/?apikey=NESTED&a=1')}`);
  http.get(`${url}/e?q=${encodeURIComponent(mock)}`);
  http.get(url.replace('//', '//me:USER@') + '/f');
  const headers = { Authorization: 'Bearer HEADER', 'X-Api-Key': __ENV.STRIPE_KEY };
  http.get(`${url}/g`, { headers, cookies: { sid: 'COOKIE' } });
  const tags = { session_id: 'TAG', note: `is ${mock}`, short: short };
  const answer = http.post(`${url}/h`, 'user=me&password=BODY&code=FORM', { tags });
  check(answer, {
    [`status with password=FORM`]: (r) => r.status === 200,
    [`has ${encoding.b64encode('me:' + file)}`]: (r) => true,
    [`body of ${mock}`]: (r) => false,
  });
  group(`as ${file}`, () => { http.get(`${url}/i`); });
  http.get('http://127.0.0.1:9/?client_secret=FORM', { timeout: '1s' });
  console.log(`logged in with ${mock} and ${__ENV.API_TOKEN}`);
  throw new Error(`no access to ${url}/k?sig=SIGNED with ${file} and ${__ENV.SHOP_PASSWORD}`);
}
"""
OUTPUTS = ("--out", "json=raw.json", "--out", "csv=raw.csv.gz", "--out", "parquet=raw.parquet")


def forms(secret: str) -> Iterable[str]:
    encoded = (base64.b64encode(secret.encode()).decode().rstrip("="), quote(secret), quote(secret, safe=""))
    return {secret, secret.partition("/")[0], *encoded}


def texts_of(folder: Path, done: CompletedProcess[str], own: Iterable[str]) -> dict[str, str]:
    found = {"stdout": done.stdout, "stderr": done.stderr}
    for path in folder.rglob("*"):
        if not path.is_file() or path.name in own:
            continue
        if path.suffix == ".parquet":
            table = pyarrow.parquet.read_table(path)
            found[str(path)] = str([table[one.name].to_pylist() for one in table.schema if "time" not in str(one.type)])
        else:
            data = path.read_bytes()
            found[str(path)] = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")
    return found


def told(
    folder: Path, done: CompletedProcess[str], own: Iterable[str] = ("script.js", "vault.txt")
) -> dict[str, list[str]]:
    """Of each output that has secrets, which."""
    texts = texts_of(folder, done, own)
    found = {name: [one for one in SECRETS if any(form in text for form in forms(one))] for name, text in texts.items()}
    return {name: secrets for name, secrets in found.items() if secrets}


@pytest.fixture
def shop(cli: Cli, known_server: Callable[..., str]) -> Callable[..., CompletedProcess[str]]:
    script = SCRIPT
    for name in (
        "QUERY",
        "SIGNED",
        "KEY",
        "CODE",
        "USER",
        "FORM",
        "NESTED",
        "HEADER",
        "COOKIE",
        "BODY",
        "TAG",
        "THRESHOLD",
    ):
        script = (
            script.replace(f"{name}", globals()[name]) if name != "KEY" else script.replace("key=KEY", f"key={KEY}")
        )
    cli.write(script_js=script, vault_txt=f"file={FILE}\nshort={SHORT}\n")
    sources = ("--secret-source", f"mock=default,mock={MOCK}", "--secret-source", "file=name=vault,filename=vault.txt")
    given = (
        "-e",
        f"API_TOKEN={ENV}",
        "-e",
        f"STRIPE_KEY={ENV_KEY}",
        "-e",
        "METRIC=seen",
        "-e",
        f"BASE_URL={known_server()}",
    )
    environment = {**os.environ, "SHOP_PASSWORD": SYSTEM}

    def run(*arguments: str) -> CompletedProcess[str]:
        return cli("run", "script.js", *sources, *given, *arguments, env=environment)

    return run


def test_no_output_of_a_run_has_a_secret_of_its_inputs(shop, cli: Cli) -> None:
    done = shop(
        *OUTPUTS, "--summary-export", "summary.json", "--console-output", "console.log", "--summary-mode", "legacy"
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert told(cli.folder, done) == {}
    assert done.returncode == 0 and "iterations" in done.stdout, done.stderr
    # It is there all the same, without its secrets.
    assert (
        "body of ***" in done.stdout
        and "█ as ***" in done.stdout
        and "?access_token=***&key=***" in (cli.folder / "raw.json").read_text()
    )
    assert "logged in with ***SECRET_REDACTED*** and ***" in (cli.folder / "console.log").read_text()
    assert "/k?sig=*** with ***SECRET_REDACTED*** and ***" in done.stderr
    [run] = cli.runs()
    names = {series.tags.get("name") for second in RunReader(run).snapshots() for series in second.series}
    assert any(name and name.endswith("/a?token=***&page=2") for name in names), names
    assert any(name and name.endswith("/e?q=***") for name in names), names
    tags = [series.tags for second in RunReader(run).snapshots() for series in second.series if "note" in series.tags]
    assert {(one["session_id"], one["note"], one["short"], one["run_token"]) for one in tags} == {
        ("***", "is ***", "***", "***")
    }
    # What only sounds like one is there: numbers of a metric of tokens.
    assert "tokens" in done.stdout and '"count": 6' in (cli.folder / "summary.json").read_text()


def test_reports_and_findings_of_such_a_run_have_none(shop, cli: Cli) -> None:
    shop("-q")
    [run] = cli.runs()
    for verb in (("report", run), ("report", run, "-o", "page.html"), ("report", run, "--json"), ("analyze", run)):
        done = cli(*verb)
        assert "Traceback" not in done.stderr and done.returncode == 0, (verb, done.stderr)
        assert told(cli.folder, done) == {}
    assert any(run.glob("*.parquet"))


def test_what_debugging_and_a_failing_setup_print_has_no_known_secret(shop, cli: Cli) -> None:
    script = (cli.folder / "script.js").read_text()
    cli.write(
        script_js=script.replace(
            "export function setup() {",
            "export function setup() { if (__ENV.FAIL) throw new Error(`for ${__ENV.API_TOKEN}: http://h/?sig="
            + SIGNED
            + "`);",
        )
    )
    done = shop("--http-debug=full")
    known = [MOCK, FILE, ENV, ENV_KEY, SYSTEM]
    assert "INFO Request" in done.stderr
    assert [one for one in known if any(form in done.stderr for form in forms(one))] == []
    done = shop("-e", "FAIL=1")
    assert done.returncode == 107 and "for ***: http://h/?sig=***" in done.stderr, done.stderr
    assert told(cli.folder, done) == {}


def test_wrong_flags_are_told_without_the_secrets_in_them(shop, cli: Cli) -> None:
    done = shop("--secret-source", f"vault=name={MOCK}", "--tag", "no-value")
    assert done.returncode == 255 and "no '='" in done.stderr and told(cli.folder, done) == {}
    done = cli(
        "run", "--url", f"http://me:{USER}@127.0.0.1:9/?sig={SIGNED}", "-i", 1, "--header", f"Authorization: {HEADER}"
    )
    assert done.returncode == 3 and told(cli.folder, done) == {}
    done = cli("capacity", "script.js", "-e", f"API_TOKEN={ENV}", "--variant", f"http://h/?key={KEY}&t={ENV}")
    assert done.returncode == 2 and told(cli.folder, done) == {}


LOGGING = """import http from 'k6/http';
export const options = { vus: 1 };
export default function () {
  console.log(`given ${__ENV.API_TOKEN}`);
  http.get(`${__ENV.BASE_URL}/?code=CODE`, { tags: { api_key: 'TAG' } });
  throw new Error(`${__ENV.API_TOKEN} at http://h/?sig=SIGNED`);
}
"""


def test_a_load_that_is_held_prints_and_writes_none_either(shop, cli: Cli, known_server: Callable[..., str]) -> None:
    script = LOGGING.replace("CODE", CODE).replace("'TAG'", f"'{TAG}'").replace("SIGNED", SIGNED)
    cli.write(script_js=script)
    given = ("-e", f"API_TOKEN={ENV}", "-e", f"BASE_URL={known_server('--service-ms', 50)}")
    done = cli("hold", "script.js", "--duration", 3, "--warm-up", 0, "--baseline", 0, *given)
    assert "given ***" in done.stderr and "*** at http://h/?sig=***" in done.stderr, done.stderr
    assert told(cli.folder, done) == {}
    names = [series.tags for second in RunReader(cli.runs()[0]).snapshots() for series in second.series]
    assert any(tags.get("api_key") == "***" and str(tags.get("name")).endswith("/?code=***") for tags in names)


IMPORTED = {
    "jtl.csv": "timeStamp,elapsed,label,responseCode,responseMessage,success,bytes,grpThreads,allThreads,Latency\n"
    + "".join(
        f"{1_700_000_000_000 + 100 * n},{20 + n % 7},GET /a?sig={SIGNED}&token={QUERY},{500 if n % 9 else 200},"
        f"password={BODY},{'false' if n % 9 else 'true'},10,1,1,9\n"
        for n in range(100)
    ),
    "table.csv": "operation,users,throughput (req/s)\n"
    + "".join(f"GET /a?key={KEY},{users},{10 * users}\n" for users in (10, 20, 40)),
    "locust.csv": "timestamp,request_type,name,response_time_ms,response_length,status_code,exception\n"
    + "".join(f"{1_700_000_000 + n / 5},GET,/a?code={CODE},{20 + n % 9},10,200,\n" for n in range(100)),
}


@pytest.mark.parametrize("name", IMPORTED)
def test_what_is_analysed_of_other_tools_has_none(cli: Cli, name: str) -> None:
    (cli.folder / name).write_text(IMPORTED[name])
    for flags in ((), ("--json",)):
        done = cli("analyze", name, *flags)
        assert "Traceback" not in done.stderr and len(done.stdout) > 200, done.stderr
        assert told(cli.folder, done, own=(name,)) == {}


def test_what_handle_summary_returns_is_the_scripts_own(shop, cli: Cli) -> None:
    script = (cli.folder / "script.js").read_text()
    own = "export function handleSummary() { return { stdout: `it says ${__ENV.API_TOKEN}` }; }"
    cli.write(script_js=f"{script}\n{own}")
    done = shop("-q")
    assert done.stdout == f"it says {ENV}"
