"""SIGINT, SIGTERM and SIGHUP on every verb that puts load on, and loads that do not want to stop."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

from commands import Commands, Hung, Running, wait_until
from knock import Bench, Try, knock
from verbs import LOADING, Verb, of, server, write_inputs
from written import findings, seconds_of, unreadable

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOADED_S = 60.0
#: gracefulStop of the scripts, teardown, judging and the report.
AFTER_ONE_S = 30.0
AFTER_TWO_S = 2.0


@knock(
    "signals",
    "SIGINT, SIGTERM and SIGHUP end a load within its gracefulStop; what was measured is judged and reported, the "
    "target is stopped, the exit code says interrupted.",
    limit_s=1800.0,
)
def signals(bench: Bench) -> Iterator[Try]:
    with server() as url:
        for verb in LOADING:
            for number in SIGNALS:
                yield _one(bench, verb, number, url)


def _one(bench: Bench, verb: Verb, number: signal.Signals, url: str) -> Try:
    case = f"{number.name} in {verb.name}"
    folder = bench.try_folder()
    write_inputs(folder)
    with Commands(folder) as commands:
        running = commands.begin(*of(verb, url))
        if not wait_until(lambda: seconds_written(commands) >= 2, LOADED_S):
            return Try(case, (f"no load within {LOADED_S:.0f} s: {running.errors.read_text()[-200:]!r}",))
        at_s = time.monotonic()
        running.send(number)
        try:
            ended = running.end(AFTER_ONE_S)
        except Hung as hung:
            return Try(case, (f"it {hung}", *commands.left_behind()))
        took_s = time.monotonic() - at_s
        broken = ended.mistakes(105 if verb.name.startswith("run") else 130)
        for run in commands.runs():
            broken += unreadable(run, "interrupted") + ([] if findings(run) else [f"{run.name} has no findings"])
        broken += commands.left_behind()
        if (folder / "started").exists() and not (folder / "stopped").exists():
            broken.append("the target's stop command did not run")
    return Try(case, tuple(broken), {"s to the end": took_s})


def seconds_written(commands: Commands) -> int:
    """Seconds in the newest run directory."""
    return sum(seconds_of(run) for run in commands.runs()[-1:])


BUSY = """export const options = { scenarios: { a: %s } };
export default function () { const t = Date.now(); while (Date.now() - t < %d) {} }
"""
OF = {
    "constant-vus": "{executor: 'constant-vus', vus: 2, duration: '%s', gracefulStop: '1s'}",
    "ramping-vus": "{executor: 'ramping-vus', startVUs: 2, stages: [{duration: '%s', target: 2}], gracefulStop: '1s'}",
    "constant-arrival-rate": "{executor: 'constant-arrival-rate', rate: 10, duration: '%s', preAllocatedVUs: 4, "
    "gracefulStop: '1s'}",
    "ramping-arrival-rate": "{executor: 'ramping-arrival-rate', startRate: 10, preAllocatedVUs: 4, "
    "stages: [{duration: '%s', target: 10}], gracefulStop: '1s'}",
    "shared-iterations": "{executor: 'shared-iterations', vus: 2, iterations: 1e6, maxDuration: '%s', "
    "gracefulStop: '1s'}",
    "per-vu-iterations": "{executor: 'per-vu-iterations', vus: 2, iterations: 1e6, maxDuration: '%s', "
    "gracefulStop: '1s'}",
}
NATIVE = "Array.prototype.reverse.call({ length: 2 ** 53 - 1 });"
OUTSIDE = {  # of iterations: the script, and the exit code that says where it ended
    "setup": (f"export function setup() {{ {NATIVE} }}\nexport default function () {{}}", 100),
    "teardown": (f"export default function () {{}}\nexport function teardown() {{ {NATIVE} }}", 101),
    "init code": (f"{NATIVE}\nexport default function () {{}}", 108),
}
DEAF_ENDS_S = 11.0 + 6.0  # eleven seconds without a sign, and what starting and reporting take
DURATION_S, GRACE_S = 2.0, 1.0
#: Of the duration and the graceful stop: a second more, and what starting and reporting take.
BUSY_ENDS_S = DURATION_S + GRACE_S + 1.0 + 4.0


@knock(
    "scripts that never wait",
    "Every executor ends within its gracefulStop + 1 s, and a second Ctrl-C ends it within 1 s, whatever the "
    "script does.",
)
def busy_scripts(bench: Bench) -> Iterator[Try]:
    for executor, scenario in OF.items():
        for busy_ms in (1, 400, 1_000_000):
            yield _ends_by_itself(bench, executor, scenario, busy_ms)
        yield _ends_at_the_second(bench, executor, scenario)
    for place, (script, code) in OUTSIDE.items():
        yield _ends_outside(bench, place, script, code)


def _ends_outside(bench: Bench, place: str, script: str, code: int) -> Try:
    folder = bench.try_folder()
    options = "{ iterations: 1, setupTimeout: '1s', teardownTimeout: '1s' }"
    (folder / "script.js").write_text(f"export const options = {options};\n{script}")
    case = f"{place}, in a function that nothing can interrupt"
    with Commands(folder) as commands:
        try:
            ended = commands.begin("run", "-q", "script.js").end(DEAF_ENDS_S)
        except Hung as hung:
            return Try(case, (f"it {hung}",))
        return Try(case, tuple(ended.mistakes(code)))


def _busy(bench: Bench, scenario: str, busy_ms: int) -> tuple[Commands, Running]:
    folder = bench.try_folder()
    (folder / "script.js").write_text(BUSY % (scenario, busy_ms))
    commands = Commands(folder)
    return commands, commands.begin("run", "-q", "script.js")


def _ends_by_itself(bench: Bench, executor: str, scenario: str, busy_ms: int) -> Try:
    case = f"{executor}, {busy_ms} ms of JavaScript"
    commands, running = _busy(bench, scenario % f"{DURATION_S:g}s", busy_ms)
    with commands:
        try:
            ended = running.end(BUSY_ENDS_S)
        except Hung as hung:
            return Try(case, (f"of {DURATION_S:g} s it {hung}",))
        return Try(case, tuple(ended.mistakes()), {"s of a run of 2": ended.seconds})


def _ends_at_the_second(bench: Bench, executor: str, scenario: str) -> Try:
    case = f"{executor}, Ctrl-C twice"
    commands, running = _busy(bench, scenario % "60s", 400)
    with commands:
        if not wait_until(lambda: seconds_written(commands) >= 1, 20.0):
            return Try(case, ("no second was written within 20 s",))
        running.send(signal.SIGINT)
        time.sleep(0.5)  # the second one itself
        running.send(signal.SIGINT)
        at_s = time.monotonic()
        try:
            ended = running.end(AFTER_TWO_S)
        except Hung as hung:
            return Try(case, (f"after the second it {hung}",))
        return Try(case, tuple(ended.mistakes(105)), {"s after the second": time.monotonic() - at_s})
