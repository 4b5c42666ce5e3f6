"""Numbers that no machine makes are refused before they take memory or time, with their bound and why; numbers that
JSON does not have cost no summary."""

from __future__ import annotations

import json
import resource

import pytest
from command_line import Cli, wait_until

from plimsoll.runs.format.lines import unpacked
from plimsoll.runs.reader import RunReader

EMPTY = "export default function () {}\n"
OPEN = "export const options = { scenarios: { a: { executor: 'constant-arrival-rate', duration: '1s', FIELDS } } };\n"
PORT_OF_NOBODY = "http://127.0.0.1:9/"
LITTLE_BYTES = 4 * 2**30


def with_little_memory() -> None:
    """So that what takes memory without bound fails here, and not on the whole machine."""
    resource.setrlimit(resource.RLIMIT_DATA, (LITTLE_BYTES, LITTLE_BYTES))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (("-u", "99999999999", "-d", "1s"), 255, "'99999999999' is too many; at most 1,000,000 make sense"),
        (("-u", "900000", "-d", "1s"), 104, "VUs are more than this machine holds"),
        (("-u", "1" + "0" * 30), 255, "is too many; at most 1,000,000 make sense"),
        (("-i", "9223372036854775807"), 255, "is too many; at most 9,007,199,254,740,992 make sense"),
        (("-s", "1s:999999999999"), 255, "'999999999999' is too many; at most 1,000,000 make sense"),
        (("--threads", "99999999999"), 255, "from 1 to 1,024"),
        (("--seed", "9" * 40), 255, "from 0 to"),
        (("--vu-memory", "9" * 40), 2, "not a size of memory"),
        (("-c", "/dev/zero"), 104, "it has over 1 MiB. Give a JSON file"),
        (("-c", "/dev"), 104, "Is a directory"),
        (("-d", "999999h999999h999999h"), 255, "is over 30 days"),
    ],
)  # fmt: skip
def test_flags_beyond_what_a_machine_makes_are_refused(cli: Cli, flags: tuple[str, ...], code: int, words: str) -> None:
    cli.write(script_js=EMPTY)
    done = cli("run", "-q", *flags, "script.js", preexec_fn=with_little_memory)
    assert done.returncode == code and words in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert not cli.runs()


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--rate", "1e18"), "'1e18' is not a number above 0 and at most 1,000,000"),
        (("-u", "99999999999", "-d", "1s"), "is too many; at most 1,000,000 make sense"),
        (("--body", "@/dev/zero", "-i", "1"), "it has over 64 million characters"),
    ],
)
def test_so_are_those_of_one_url(cli: Cli, flags: tuple[str, ...], words: str) -> None:
    done = cli("run", "-q", "--url", PORT_OF_NOBODY, *flags, preexec_fn=with_little_memory)
    assert done.returncode in (104, 255) and words in done.stderr and "Traceback" not in done.stderr, done.stderr


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ("rate: 1e300, preAllocatedVUs: 1", "options.scenarios.a.rate: 1.000e300 arrivals per second"),
        ("rate: 20000000, preAllocatedVUs: 1", "options.scenarios.a.rate: 20,000,000 arrivals per second"),
        ("rate: 1, preAllocatedVUs: 99999999999", "options.scenarios.a.preAllocatedVUs: 99,999,999,999 VUs"),
    ],
)
def test_so_are_those_of_scripts(cli: Cli, fields: str, words: str) -> None:
    cli.write(script_js=OPEN.replace("FIELDS", fields) + EMPTY)
    done = cli("run", "-q", "script.js", preexec_fn=with_little_memory)
    assert done.returncode == 104 and words in done.stderr, done.stderr


@pytest.mark.timeout(300)
@pytest.mark.parametrize("script", ["/dev/zero", "script.js"])
def test_a_file_without_an_end_is_refused(cli: Cli, script: str) -> None:
    cli.write(script_js="open('/dev/zero');\n" + EMPTY)
    done = cli("run", "-q", script, preexec_fn=with_little_memory)
    assert done.returncode in (2, 107) and "Traceback" not in done.stderr, done.stderr
    if script == "script.js":
        assert "it is no regular file, and has" in done.stderr and "64 MiB or no end" in done.stderr


@pytest.mark.timeout(300)
def test_a_level_that_no_generator_makes_is_refused_and_the_run_goes_on(cli: Cli) -> None:
    fields = "rate: 20, preAllocatedVUs: 2"
    cli.write(script_js=OPEN.replace("FIELDS", fields).replace("'1s'", "'6s'") + EMPTY)
    running = cli.begin("run", "-q", "script.js")
    wait_until(lambda: [path for path in cli.folder.glob("runs/*/series.jsonl.zst") if path.stat().st_size], "a second")
    assert cli("control", "runs", "level", "1e300").returncode == 2
    told = cli("control", "runs", "level", "900000")
    assert told.returncode == 0 and "refused: level" in told.stdout and "At most 1,000,000 make sense" in told.stdout
    _, errors = running.communicate(timeout=30)
    assert running.returncode == 0, errors
    [run_directory] = cli.runs()
    assert max(snapshot.planned for snapshot in RunReader(run_directory).snapshots()) <= 40


ODD = """
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const gauge = new Gauge('a_gauge'), never = new Gauge('no_gauge'), counter = new Counter('a_counter');
const rate = new Rate('a_rate'), trend = new Trend('a_trend'), time = new Trend('a_time', true);
export const options = { vus: 1, iterations: 3, thresholds: {
  a_trend: ['max<100'], a_gauge: ['value<100'], no_gauge: ['value<100'], a_counter: ['count>1'] } };
export default function () {
  for (const value of [1 / 0, -1 / 0, 0 / 0, 1e308, 1e308, 1 / 0]) {
    for (const metric of [gauge, counter, rate, trend, time]) metric.add(value);
  }
}
"""


@pytest.mark.timeout(300)
def test_numbers_that_json_does_not_have_cost_no_summary(cli: Cli) -> None:
    cli.write(script_js=ODD)
    done = cli("run", "-q", "--summary-export", "summary.json", "script.js")
    assert done.returncode == 99 and "Traceback" not in done.stderr, done.stderr
    verdicts = {name: f"{name}\n    {mark} '" for name, mark in (("a_gauge", "✗"), ("a_trend", "✗"), ("no_gauge", "?"))}
    assert all(text in done.stdout for text in verdicts.values()), done.stdout
    assert "Infinity counts as the largest number" in done.stderr and max(map(len, done.stdout.splitlines())) < 200
    exported = json.loads((cli.folder / "summary.json").read_text(), parse_constant=pytest.fail)
    assert exported["metrics"]["a_gauge"]["value"] > 1e308 and exported["metrics"]["a_counter"]["count"] > 1e307
    [run_directory] = cli.runs()
    lines = unpacked(run_directory / "series.jsonl.zst").decode().splitlines()
    assert [json.loads(line, parse_constant=pytest.fail) for line in lines]
    report = cli("report", run_directory)
    assert report.returncode == 0 and "Traceback" not in report.stderr, report.stderr


TIMERS = "const open = { executor: 'constant-arrival-rate', rate: 10, duration: '1s', preAllocatedVUs: 1 };\n"


@pytest.mark.timeout(300)
def test_a_timer_that_cannot_be_made_is_told_before_the_load(cli: Cli) -> None:
    """They were scenarios that ended at once, as if they had been finished."""
    cli.write(
        script_js=TIMERS + "const scenarios = {};\nfor (let n = 0; n < 60; n += 1) scenarios[`s${n}`] = open;\n"
        "export const options = { scenarios };\n" + EMPTY
    )

    def with_few_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))

    done = cli("run", "-q", "script.js", preexec_fn=with_few_files)
    assert done.returncode not in (0, 99) and "ulimit -n" in done.stderr and "Traceback" not in done.stderr, done.stderr
