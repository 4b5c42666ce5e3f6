"""A run ends at its end and at Ctrl-C, whatever its script does, and a script that computes leaves others their turn.

Times are bounds of a hang: a script that computes without end is stopped after 10 s by itself, and most of these never.
"""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest
from command_line import Cli, wait_until

from plimsoll.runs.reader import RunReader

WELL_BEFORE_THE_WATCHDOG_S = 8.0
BUSY = "const t = Date.now(); while (Date.now() - t < 400) {}"
# QuickJS looks for an order once in 10,000 calls. Where a script repeats itself that is always at the same place of it,
# unless each iteration begins with another number of calls.
ANY_PHASE = "const step = () => {}; for (let steps = __ITER % 7; steps > 0; steps--) step();"
BODIES = {
    "400 ms": BUSY,
    "a loop": "while (true) {}",
    "a loop that catches": "for (;;) { try { for (;;) {} } catch (error) {} }",
    "microtasks": "for (;;) await null;",
    "chained promises": f"{ANY_PHASE} const again = () => Promise.resolve().then(again); await again();",
    "thenables": f"""{ANY_PHASE}
      const again = () => {{ Promise.resolve({{ then: (done) => {{ again(); done(); }} }}).catch(() => {{}}); }};
      again(); await new Promise(() => {{}});""",
    "timers of 0": "for (;;) await new Promise((resolve) => setTimeout(resolve, 0));",
    "sleeps of 0": f"for (;;) {{ {BUSY} sleep(0); }}",
    "rejections": "for (;;) Promise.reject(1).catch(() => {});",
}
EXECUTORS = """
import { sleep } from 'k6';
const most = { gracefulStop: '500ms' };
const closed = { ...most, executor: 'ramping-vus', startVUs: 2, gracefulRampDown: '500ms' };
const open = { ...most, timeUnit: '1s', preAllocatedVUs: 2, maxVUs: 3 };
const counted = { ...most, vus: 2, maxDuration: '1s' };
export const options = { scenarios: {
  constant: { ...most, executor: 'constant-vus', vus: 2, duration: '1s' },
  ramping: { ...closed, stages: [{ duration: '1s', target: 3 }] },
  arrivals: { ...open, executor: 'constant-arrival-rate', rate: 20, duration: '1s' },
  ramp: { ...open, executor: 'ramping-arrival-rate', startRate: 5, stages: [{ duration: '1s', target: 20 }] },
  shared: { ...counted, executor: 'shared-iterations', iterations: 1000000 },
  each: { ...counted, executor: 'per-vu-iterations', iterations: 1000000 },
} };
"""


@pytest.mark.timeout(60)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_every_executor_ends_whatever_its_script_does(cli: Cli, body: str) -> None:
    cli.write(script_js=f"{EXECUTORS}export default async function () {{ {body} }}")
    running = cli.begin("run", "-q", "--vu-memory", "64MB", "script.js")
    output, errors = running.communicate(timeout=20)  # after 1.5 s
    threw_all = "the script made no request: " in errors  # with an exception in each
    assert running.returncode == (3 if threw_all else 0), errors
    [run_directory] = cli.runs()
    assert RunReader(run_directory).state == "finished" and "vus_max" in output


DEAF = "Array.prototype.reverse.call({ length: 2 ** 53 - 1 });"


@pytest.mark.timeout(60)
@pytest.mark.parametrize("executor", ["constant-vus", "constant-arrival-rate"])
def test_a_function_that_nothing_can_interrupt_is_left_behind(cli: Cli, executor: str) -> None:
    """The other thread ends as ever, and what was measured until then is told."""
    load = {"constant-vus": "vus: 2", "constant-arrival-rate": "rate: 20, preAllocatedVUs: 4"}[executor]
    cli.write(
        script_js=f"""import {{ sleep }} from 'k6';
        export const options = {{ scenarios: {{ a: {{ executor: '{executor}', {load}, duration: '2s',
          gracefulStop: '500ms' }} }} }};
        export default function () {{ if (__VU === 1 && __ITER === 3) {{ {DEAF} }} sleep(0.1); }}"""
    )
    running = cli.begin("run", "-q", "--threads", "2", "script.js")
    output, errors = running.communicate(timeout=20)  # after 3.1 s
    assert running.returncode == 108 and "its thread is left behind" in errors, errors
    assert "iterations" in output and RunReader(cli.runs()[0]).state == "finished"


LIGHT = """
import { sleep } from 'k6';
export const options = { scenarios: {
  heavy: { executor: 'constant-vus', vus: 1, duration: '4s', exec: 'heavy' },
  light: { executor: 'constant-vus', vus: 1, duration: '4s', exec: 'light', gracefulStop: '0s' },
} };
export function heavy() { const t = Date.now(); while (Date.now() - t < 200) {} }
export function light() { sleep(0.01); }
"""


@pytest.mark.timeout(60)
def test_a_script_that_computes_takes_other_vus_no_more_than_its_own_iteration(cli: Cli) -> None:
    cli.write(script_js=LIGHT)
    done = cli("run", "-q", "script.js")
    [run_directory] = cli.runs()
    done_by: dict[str, float] = {}
    for snapshot in RunReader(run_directory).snapshots():
        for series in snapshot.series:
            if series.metric == "iterations":
                name = str(series.tags["scenario"])
                done_by[name] = done_by.get(name, 0.0) + float(series.value or 0.0)
    assert done_by["heavy"] <= 25 and done_by["light"] >= 8, (done_by, done.stderr)


STEPS = f"for (;;) {{ {BUSY} sleep(0.001); }}"
PLACES = {
    "init": "console.log('here'); BODY\nexport default function () {}",
    "setup": "export function setup() { console.log('here'); BODY }\nexport default function () {}",
    "default": "export default function () { if (__ITER === 0) console.log('here'); BODY }",
    "teardown": "export default function () {}\nexport function teardown() { console.log('here'); BODY }",
    "handleSummary": "export default function () {}\nexport function handleSummary() { console.log('here'); BODY }",
}


class Watched:
    """A run whose stderr goes to a file, so that it can be read while it goes on."""

    def __init__(self, cli: Cli, script: str, *flags: str) -> None:
        cli.write(script_js=f"import {{ sleep }} from 'k6';\n{script}")
        self._said = cli.folder / "said.txt"
        with self._said.open("w") as file:
            command = cli.command("run", "-q", *flags, "script.js")
            self.process = subprocess.Popen(command, cwd=cli.folder, stdout=subprocess.DEVNULL, stderr=file)

    def until_it_says(self, words: str) -> None:
        wait_until(lambda: words in self._said.read_text() or self.process.poll() is not None, words)
        assert words in self._said.read_text(), self._said.read_text()

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """The signal, which is expected to be the last one; the exit code and what was said."""
        self.process.send_signal(number)
        try:
            code = self.process.wait(WELL_BEFORE_THE_WATCHDOG_S)
        finally:
            self.process.kill()
        return code, self._said.read_text()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("place", ["setup", "default", "teardown", "handleSummary"])
@pytest.mark.parametrize("body", ["while (true) {}", STEPS], ids=["a loop", "steps"])
def test_the_second_ctrl_c_ends_it_wherever_the_script_computes(cli: Cli, place: str, body: str) -> None:
    watched = Watched(cli, PLACES[place].replace("BODY", body), "-u", "3", "-d", "1s" if place != "default" else "1m")
    watched.until_it_says("here")
    watched.process.send_signal(signal.SIGINT)
    watched.until_it_says("stopping:")
    code, said = watched.end(signal.SIGINT)
    assert code == 105 and "Traceback" not in said and "computed for over" not in said, said
    assert RunReader(cli.runs()[0]).state == "interrupted"
    assert "must return an object" not in said
    assert (f"{place}() was interrupted" in said) is (place in ("teardown", "handleSummary"))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_a_script_that_computes_while_it_is_loaded(cli: Cli, number: signal.Signals) -> None:
    watched = Watched(cli, PLACES["init"].replace("BODY", "for (;;) { try { for (;;) {} } catch (error) {} }"))
    watched.until_it_says("here")
    code, said = watched.end(number)
    assert code == 130 and "plimsoll: interrupted" in said and not cli.runs()


@pytest.mark.timeout(60)
def test_one_ctrl_c_lets_iterations_that_compute_end(cli: Cli) -> None:
    watched = Watched(cli, PLACES["default"].replace("BODY", BUSY), "-u", "3", "-d", "1m")
    watched.until_it_says("here")
    code, said = watched.end(signal.SIGINT)
    assert code == 105 and "cut off" not in said, said


@pytest.mark.timeout(60)
def test_the_second_sigterm_ends_a_loop_that_computes(cli: Cli) -> None:
    watched = Watched(cli, PLACES["default"].replace("BODY", STEPS), "-u", "3", "-d", "1m")
    watched.until_it_says("here")
    watched.process.send_signal(signal.SIGTERM)
    watched.until_it_says("stopping:")
    time.sleep(1.2)  # two within a second are one
    code, said = watched.end(signal.SIGTERM)
    assert code == 105 and "cut off before" in said, said


@pytest.mark.timeout(60)
def test_a_function_that_cannot_be_interrupted_is_left_behind(cli: Cli) -> None:
    native = "'a'.repeat(1e7).indexOf('a'.repeat(5e6) + 'b');"  # compared at each of 5 million places
    watched = Watched(cli, PLACES["default"].replace("BODY", native), "-u", "1", "-d", "1m")
    watched.until_it_says("here")
    watched.process.send_signal(signal.SIGINT)
    watched.until_it_says("stopping:")
    code, said = watched.end(signal.SIGINT)
    assert code == 105 and "cannot be interrupted" in said, said


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        (f"export function setup() {{ {DEAF} }}\nexport default function () {{}}", 100, "setup() took over 1 s"),
        (f"export default function () {{}}\nexport function teardown() {{ {DEAF} }}", 101, "teardown() took over 1 s"),
        (f"{DEAF}\nexport default function () {{}}", 108, "the code outside of functions: the script did not end"),
    ],
    ids=["setup", "teardown", "init"],
)
def test_functions_outside_of_iterations_are_left_behind_too(cli: Cli, script: str, code: int, words: str) -> None:
    limits = "{ setupTimeout: '1s', teardownTimeout: '1s', iterations: 1 }"
    cli.write(script_js=f"export const options = {limits};\n{script}")
    running = cli.begin("run", "-q", "script.js")
    _, errors = running.communicate(timeout=40)  # after 1.6 s, and after 11.6 s of init code
    assert running.returncode == code and words in errors, errors


@pytest.mark.timeout(60)
def test_a_time_limit_of_setup_holds_for_one_that_computes(cli: Cli) -> None:
    script = (
        f"export const options = {{ setupTimeout: '200ms' }};\n{PLACES['setup'].replace('BODY', 'while (true) {}')}"
    )
    cli.write(script_js=script)
    done = cli("run", "-q", "script.js")
    assert done.returncode == 100 and "setup() took over 0.2 s" in done.stderr, done.stderr


@pytest.mark.timeout(60)
@pytest.mark.parametrize("verb", ["capacity", "hold"])
def test_the_second_ctrl_c_ends_the_load_of_every_verb(cli: Cli, verb: str, tmp_path: Path) -> None:
    cli.write(
        script_js="export const options = { vus: 2, duration: '1m' };\nexport default function () { while (true) {} }"
    )
    said = tmp_path / "said.txt"
    with said.open("w") as file:
        command = cli.command(verb, "-q", "script.js")
        running = subprocess.Popen(command, cwd=cli.folder, stdout=subprocess.DEVNULL, stderr=file)
    try:
        wait_until(cli.runs, "a run directory")
        time.sleep(2)
        running.send_signal(signal.SIGINT)
        wait_until(lambda: "stopping:" in said.read_text() or running.poll() is not None, "the first to be served")
        running.send_signal(signal.SIGINT)
        running.wait(WELL_BEFORE_THE_WATCHDOG_S)
    finally:
        running.kill()
    assert "Traceback" not in said.read_text()
