"""`--summary-mode full` of three scripts: what stands where, and line by line beside k6 2.2 where that is here."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import Cli

ROOT = Path(__file__).parents[4]
K6 = shutil.which("k6") or str(ROOT / "target" / "gauntlet" / "bin" / "k6")
HEAD = """import http from 'k6/http';
import { check, group } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const basket = new Trend('basket_time', true), orders = new Counter('orders');
const get = (path) => http.get(`${__ENV.URL}/${path}`);
const is200 = (name) => ({ [name]: (r) => r.status === 200 });
"""
PLAIN = """const stock = new Gauge('stock'), happy = new Rate('happy');
export const options = { vus: 2, iterations: 20, thresholds: { http_req_duration: ['p(95)<5000'] } };
export default function () {
  check(get('home'), { ...is200('home'), 'odd': () => __ITER % 2 === 1 });
  basket.add(12); orders.add(1); stock.add(__ITER); happy.add(true);
}
"""
GROUPS = """export const options = { vus: 2, iterations: 10 };
export default function () {
  check(get('home'), is200('home'));
  group('shop', () => {
    check(get('shop'), is200('shop'));
    group('cart', () => {
      check(get('cart'), { ...is200('cart'), 'cart is gone': () => false });
      basket.add(7); orders.add(2);
    });
  });
  group('account', () => get('account'));
  group('empty', () => {});
}
"""
SCENARIOS = """export const options = {
  scenarios: {
    readers: { executor: 'shared-iterations', iterations: 6, exec: 'read', startTime: '500ms' },
    buyers: { executor: 'shared-iterations', vus: 2, iterations: 10, exec: 'buy', tags: { kind: 'b' } },
  },
  thresholds: {
    'http_req_duration{scenario:buyers}': ['p(95)<5000', 'avg<4000'],
    'http_req_duration{group:::checkout}': ['p(95)<5000'],
    'checks{scenario:readers}': ['rate>0.9'],
    'http_reqs{kind:b}': ['count>5'],
    http_req_failed: ['rate<0.01'], orders: ['count>3'],
  },
};
export function setup() { get('setup'); group('prepare', () => check(1, { ready: (one) => one === 1 })); }
export function buy() {
  group('checkout', () => {
    check(get('pay'), is200('paid'));
    basket.add(5); orders.add(1);
    group('receipt', () => check(get('receipt'), { ...is200('receipt'), never: () => false }));
  });
}
export function read() { check(get('read'), is200('read')); group('checkout', () => get('again')); }
export function teardown() { check(1, { 'cleaned up': () => true }); }
"""
SCRIPTS = {"plain": PLAIN, "groups": GROUPS, "scenarios": SCENARIOS}

TIMES = ("blocked", "connecting", "duration", "failed", "receiving", "sending", "tls_handshaking", "waiting")
REQUESTS = (*(f"http_req_{part}" for part in TIMES), "http_reqs")
HTTP, EXECUTION = ("HTTP", *REQUESTS), ("EXECUTION", "iteration_duration", "iterations")
NETWORK = ("NETWORK", "data_received", "data_sent")
OWN = ("CUSTOM", "basket_time", "orders")
# Each block: its title, its checks, its sections with their metrics, without what is only ours.
EXPECTED = {
    "plain": [("█ TOTAL RESULTS", ["home", "odd"], [(*OWN[:2], "happy", "orders", "stock"), HTTP, EXECUTION, NETWORK])],
    "groups": [
        ("█ TOTAL RESULTS", ["home", "shop", "cart", "cart is gone"], [OWN, HTTP, EXECUTION, NETWORK]),
        ("█ GROUP: shop", ["shop"], [HTTP]),
        ("  ↳ GROUP: cart", ["cart", "cart is gone"], [OWN, HTTP]),
        ("█ GROUP: account", [], [HTTP]),
        ("█ GROUP: empty", [], []),
    ],
    "scenarios": [
        (
            "█ TOTAL RESULTS",
            ["ready", "paid", "receipt", "never", "read", "cleaned up"],
            [OWN, HTTP, EXECUTION, NETWORK],
        ),
        ("█ GROUP: setup", [], []),
        ("  ↳ GROUP: prepare", ["ready"], []),
        ("█ SCENARIO: buyers", ["paid", "receipt", "never"], [OWN, HTTP, EXECUTION, NETWORK]),
        ("  ↳ GROUP: checkout", ["paid"], [OWN, HTTP]),
        ("    ↳ GROUP: receipt", ["receipt", "never"], [HTTP]),
        ("█ SCENARIO: readers", ["read"], [HTTP, EXECUTION, NETWORK]),
        ("  ↳ GROUP: checkout", [], [HTTP]),
    ],
}
OURS = re.compile(r" *(http_req_response_time|iteration_response_time|arrival_lag|vus|vus_max)\.\.\.| *\(only checks; ")

Block = tuple[str, list[str], list[tuple[str, ...]]]


def blocks(text: str) -> list[Block]:
    """The blocks after the thresholds, as of EXPECTED; submetrics left out."""
    found: list[Block] = []
    for line in text[text.index("  █ TOTAL RESULTS") :].splitlines():
        if title := re.fullmatch(r"  ( *[█↳] (?:TOTAL|GROUP|SCENARIO).*)", line.rstrip()):
            found.append((title[1], [], []))
        elif check := re.fullmatch(r" +[✓✗] (.+)", line):
            found[-1][1].append(check[1])
        elif section := re.fullmatch(r" +([A-Z]+)", line):
            found[-1][2].append((section[1],))
        elif (metric := re.match(r" +(\w+)\.\.\.", line)) and not OURS.match(line) and found[-1][2]:
            found[-1][2][-1] = (*found[-1][2][-1], metric[1])
    return found


def shape(text: str) -> Iterator[str]:
    """The lines without numbers, units of a kind being one, without what is only ours or k6 times differently."""
    for line in text.splitlines():
        if line.strip() and not OURS.match(line):
            line = re.sub(r"^ +↳  (\d)", r"↳  \1", line)  # k6 indents this twice as far in a group
            line = re.sub(r"=[\d.]+(ns|µs|ms|s)\b", "=TIME", line)
            line = re.sub(r"[\d.]+ (B|kB|MB)", "BYTES", line)
            line = re.sub(r"(?<![\w(<>])\d[\d.]*", "N", line)
            yield re.sub(r"(?<=\S) +", " ", line).rstrip()


@pytest.fixture
def summary(cli: Cli, known_server: Callable[..., str]) -> Callable[..., str]:
    url = known_server("--servers", 2, "--service-ms", 5)

    def of(name: str, *flags: str, program: str = "", mode: str = "full") -> str:
        (cli.folder / f"{name}.js").write_text(HEAD + SCRIPTS[name])
        command = [program, "run"] if program else cli.command("run")
        line = [*command, "-q", "--summary-mode", mode, "-e", f"URL={url}", *flags, f"{name}.js"]
        done = subprocess.run(line, cwd=cli.folder, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return of


@pytest.mark.parametrize("name", SCRIPTS)
def test_totals_come_first_then_scenarios_with_their_groups_inside(name: str, summary: Callable[..., str]) -> None:
    assert blocks(summary(name)) == EXPECTED[name]


@pytest.mark.skipif(not os.access(K6, os.X_OK), reason="k6 is not here")
@pytest.mark.parametrize("name", SCRIPTS)
def test_each_line_is_of_the_kind_of_k6_s(name: str, summary: Callable[..., str]) -> None:
    theirs = summary(name, program=K6)
    assert blocks(theirs) == EXPECTED[name]
    assert list(shape(summary(name))) == list(shape(theirs))


def test_scenarios_add_up_to_the_totals(cli: Cli, summary: Callable[..., str]) -> None:
    text = summary("scenarios", "--summary-export", "s.json", "--summary-trend-stats", "count,max")
    _, setup, buyers, readers = re.split(r"  █ (?:GROUP|SCENARIO): ", text)
    metrics = json.loads((cli.folder / "s.json").read_text())["metrics"]
    assert metrics["http_reqs"]["count"] == 10 * 2 + 6 * 2 + 1
    of = lambda name, part: re.search(rf"{name}\.+: (.*)", part)[1].split()  # type: ignore[index]  # noqa: E731
    assert [int(of("http_reqs", part)[0]) for part in (buyers, readers)] == [20, 12]
    assert [of("checks_succeeded", part)[1:] for part in (setup, buyers, readers)] == [
        ["1", "out", "of", "1"], ["20", "out", "of", "30"], ["6", "out", "of", "6"]
    ]  # fmt: skip
    for part, requests in ((buyers, 20), (readers, 12)):
        found = re.findall(r"http_req_duration\.+: count=(\d+) ", part)
        assert int(found[0]) == requests == sum(map(int, found[1:])) + (6 if part is readers else 0)


def test_a_single_scenario_has_the_numbers_of_the_totals(cli: Cli, known_server: Callable[..., str]) -> None:
    script = """import http from 'k6/http';
export const options = { scenarios: { only: { executor: 'shared-iterations', vus: 2, iterations: 200 } } };
export default function () { http.get(__ENV.URL); }"""
    cli.write(script_js=script)
    url = known_server("--servers", 2, "--service-ms", 1)
    done = cli("run", "-q", "--summary-mode", "full", "-e", f"URL={url}", "script.js")
    totals, _, only = done.stdout.partition("  █ SCENARIO: only\n")
    rows = lambda text: {name: re.sub(" +", " ", rest) for name, rest in ROW.findall(text)}  # noqa: E731
    whole, part = rows(totals), rows(only)
    assert len(part) == 14 and {name: whole[name] for name in part} == part
    assert set(whole) - set(part) <= {"vus", "vus_max"}


ROW = re.compile(r"^    (\w+)\.+: (.*)$", re.MULTILINE)


def test_samples_that_the_engine_put_into_no_group_are_said(cli: Cli, known_server: Callable[..., str]) -> None:
    script = """import http from 'k6/http';
import { group } from 'k6';
export const options = { scenarios: { ids: { executor: 'shared-iterations', vus: 4, iterations: 1100 } } };
export default function () { group('page', () => http.get(`${__ENV.URL}/${__VU}-${__ITER}`)); }"""
    cli.write(script_js=script)
    done = cli("run", "-q", "--summary-mode", "full", "-e", f"URL={known_server()}", "script.js")
    totals, _, ids = done.stdout.partition("  █ SCENARIO: ids\n")
    assert "  (over 1,000 distinct series: samples beyond them are in no group)\n" in totals
    scenario, group = map(int, re.findall(r" http_reqs\.+: (\d+)", ids))
    assert (scenario, group < 1100) == (1100, True)


@pytest.mark.parametrize("given", ["flag", "variable"])
def test_a_mode_that_there_is_none_of_is_named_with_those_that_there_are(cli: Cli, given: str) -> None:
    cli.write(script_js=HEAD + PLAIN)
    flags = ["--summary-mode", "ful"] if given == "flag" else []
    done = cli("run", *flags, "script.js", env={**os.environ, "K6_SUMMARY_MODE": "full" if flags else "ful"})
    name = "--summary-mode" if flags else "K6_SUMMARY_MODE"
    assert done.returncode == 255
    assert f"{name}: 'ful' is none of compact, full, legacy, disabled. Did you mean full?" in done.stderr


def test_the_variable_asks_for_a_full_summary_and_the_flag_counts_before_it(cli: Cli) -> None:
    cli.write(script_js="import { group } from 'k6'; export default function () { group('g', () => {}); }")
    environment = {**os.environ, "K6_SUMMARY_MODE": "full"}
    assert "  █ GROUP: g\n" in cli("run", "-q", "script.js", env=environment).stdout
    assert "GROUP: g" not in cli("run", "-q", "--summary-mode", "compact", "script.js", env=environment).stdout
