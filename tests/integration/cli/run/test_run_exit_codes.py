"""How `plimsoll run` ends: k6's exit codes, and what is still printed."""

from __future__ import annotations

import pytest
from command_line import Cli

from plimsoll.runs.format.lines import unpacked

ABORT = "import exec from 'k6/execution';\nimport { check, sleep } from 'k6';\n"
THRESHOLD = "export const options = { duration: '20s', thresholds: { checks: [RULE] } };\n"
FAILS = "export default function () { check(1, { no: () => false }); sleep(0.1); }\n"
EMPTY = "export default function () {}\n"


@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        ("export const options = { duration: 'soon' };\n" + EMPTY, 104, "not a duration"),
        ("export const options = { scenarios: { a: { executor: 'warp' } } };\n" + EMPTY, 104, "'warp'"),
        ("export const options = { thresholds: { 'cheks{a:b}': ['rate>0.9'] } };\n" + EMPTY, 104, "no metric 'cheks'"),
        ("export const options = { thresholds: { checks: ['p(95)<1'], vus: ['value>0'] } };\n" + EMPTY, 104,
         "'p(95)<1' does not apply to a rate; use one of: rate"),
        ("export function other() {}", 104, "exports no function 'default'"),
        ("const x = ;", 107, "script.js:1"),
        ("import './nix.js';\n" + EMPTY, 107, "nix.js"),
        ("nope();\n" + EMPTY, 107, "nope is not defined"),
        ("// scenario: none\nnope();\n" + EMPTY, 107, "nope is not defined"),
        ("// scenario: none\nexport const options = { thresholds: { checks: ['p(95)<1'] } };\n" + EMPTY, 104,
         "does not apply to a rate"),
        ("export function setup() { throw new Error('early'); }\n" + EMPTY, 107, "setup() failed"),
        (ABORT + "export function setup() { exec.test.abort('enough'); }\n" + EMPTY, 108, "enough"),
        (ABORT + "try { exec.test.abort('enough'); } catch (error) {}\n" + EMPTY, 108, "test aborted: enough"),
        (ABORT + "export const options = { setupTimeout: '100ms' };\n"
         "export function setup() { sleep(5); }\n" + EMPTY, 100, "options.setupTimeout"),
    ],
)  # fmt: skip
def test_a_run_that_never_began_ends_with_the_code_of_k6(cli: Cli, script: str, code: int, words: str) -> None:
    cli.write(script_js=script)
    done = cli("run", "-q", "script.js")
    assert (done.returncode, done.stdout) == (code, "") and words in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        (ABORT + "export default function () { exec.test.abort('enough'); }", 108, "enough"),
        (ABORT + THRESHOLD.replace("RULE", "'rate>0.5'")
         + "export default function () { check(1, { no: () => false }); exec.test.abort('enough'); }", 108, "enough"),
        (ABORT + THRESHOLD.replace("RULE", "{ threshold: 'rate>0.5', abortOnFail: true }") + FAILS, 99, "rate>0.5"),
        (ABORT + "export default function () { exec.test.fail('unfit'); }", 110, "test marked as failed: unfit"),
        (ABORT + THRESHOLD.replace("RULE", "'rate>0.5'").replace("duration: '20s'", "iterations: 1")
         + "export default function () { check(1, { no: () => false }); exec.test.fail(); }", 110, "marked as failed"),
        ("export function teardown() { throw new Error('late'); }\n" + EMPTY, 107, "teardown() failed"),
        (ABORT + "export function teardown() { exec.test.abort('enough'); }\n" + EMPTY, 108, "enough"),
        (ABORT + "export const options = { teardownTimeout: '100ms' };\n"
         "export function teardown() { sleep(5); }\n" + EMPTY, 101, "options.teardownTimeout"),
        ("export function handleSummary() { throw new Error('unfit'); }\n" + EMPTY, 0, "unfit"),
        ("export function handleSummary() { return 5; }\n" + EMPTY, 0, "must return an object"),
        ("export default function () { throw new Error('once'); }", 3, "made no request"),
        ("export default function () { if (__ITER === 0) throw new Error('once'); }\n"
         "export const options = { iterations: 2 };", 0, "once"),
    ],
)  # fmt: skip
def test_what_was_measured_is_printed_however_the_run_ended(cli: Cli, script: str, code: int, words: str) -> None:
    cli.write(script_js=script)
    done = cli("run", "-q", "script.js")
    assert done.returncode == code and words in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert "vus_max" in done.stdout


def test_secret_sources_are_flags_and_their_mistakes_end_with_104(cli: Cli) -> None:
    cli.write(
        script_js="import secrets from 'k6/secrets';\n"
        "export default async function () { console.log(`it is ${await secrets.get('token')}`); }\n"
    )
    done = cli("run", "-q", "--secret-source", "mock=token=hunter2", "script.js")
    assert done.returncode == 0 and "it is ***SECRET_REDACTED***" in done.stderr
    written = [path for path in cli.folder.rglob("*") if path.is_file()]
    assert written and not [path for path in written if b"hunter2" in unpacked(path)]
    done = cli("run", "-q", "--secret-source", "vault=token=hunter2", "script.js")
    assert done.returncode == 104 and "no kind of source 'vault'" in done.stderr


def test_a_summary_that_takes_too_long_is_named_and_the_usual_one_printed(cli: Cli) -> None:
    slow = "export function handleSummary() { sleep(5); return {}; }\n"
    cli.write(script_js=ABORT + "export const options = { handleSummaryTimeout: '100ms' };\n" + slow + EMPTY)
    done = cli("run", "-q", "script.js")
    assert done.returncode == 0 and "handleSummary() took over 0.1 s" in done.stderr and "vus_max" in done.stdout


def test_a_threshold_is_not_judged_to_abort_before_its_delay(cli: Cli) -> None:
    rule = "{ threshold: 'rate>0.5', abortOnFail: true, delayAbortEval: '1h' }"
    cli.write(script_js=ABORT + THRESHOLD.replace("RULE", rule).replace("20s", "2s") + FAILS)
    done = cli("run", "-q", "script.js")
    assert done.returncode == 99 and "test aborted" not in done.stderr and "vus_max" in done.stdout
