"""A run goes on and ends as its thresholds say, whatever becomes of standard output and error; special files stay."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from command_line import Cli, wait_until
from null_device import null_device

from plimsoll.runs.reader import RunReader

SCRIPT = """import { sleep } from 'k6';
export const options = { vus: 1, duration: '7s', thresholds: { iterations: ['count>1000000'] } };
export default function () { sleep(0.05); }
"""
FIVE_A_SECOND = """import http from 'k6/http';
export const options = { scenarios: {
  a: { executor: 'constant-arrival-rate', rate: 5, preAllocatedVUs: 5, duration: '9s' } } };
export default function () { http.get(__ENV.URL); }
"""
STARTED = """target: {url: 'URL', start: 'echo started; sleep 100', ready: 'true'}
workload: {script: script.js, operations: [{name: a, exec: default, per_user_hour: 3600}]}
"""
SHORT = SCRIPT.replace("7s", "1s")
THRESHOLDS_FAILED = 99


def begin(cli: Cli, *words: str, **options: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "plimsoll", *words], cwd=cli.folder, **options)


@pytest.mark.parametrize("closed", [(2,), (1,), (1, 2), (0, 1, 2)])
def test_a_run_whose_streams_are_closed_ends_as_its_thresholds_say(cli: Cli, closed: tuple[int, ...]) -> None:
    cli.write(script_js=SHORT)
    how: dict[str, Any] = {"preexec_fn": lambda: [os.close(descriptor) for descriptor in closed]}
    running = begin(cli, "run", "script.js", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)
    assert running.wait(60) == THRESHOLDS_FAILED
    [reader] = map(RunReader, cli.runs())
    assert reader.state == "finished" and len(list(reader.snapshots())) >= 1


def test_a_run_whose_log_collector_leaves_goes_on_and_counts_what_it_could_not_say(cli: Cli) -> None:
    """As in `plimsoll run … 2>&1 | head -1`."""
    load = "scenarios: { a: { executor: 'constant-arrival-rate', rate: 5, preAllocatedVUs: 5, duration: '7s' } }"
    cli.write(script_js=SCRIPT.replace("vus: 1, duration: '7s'", load))
    running = begin(cli, "run", "script.js", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert running.stdout is not None and b"No maxVUs" in running.stdout.readline()  # before the load
    running.stdout.close()
    assert running.wait(60) == THRESHOLDS_FAILED
    [reader] = map(RunReader, cli.runs())
    assert reader.state == "finished" and len(list(reader.snapshots())) >= 6
    told = [str(event.get("message")) for event in reader.events("note")]
    assert any("lines to standard output or error were lost" in message for message in told), told


def test_other_verbs_go_on_too(cli: Cli, known_server: Callable[..., str]) -> None:
    cli.write(script_js=FIVE_A_SECOND)
    words = ("hold", "script.js", "-e", f"URL={known_server()}", "--duration", "8", "--warm-up", "0", "--baseline", "0")
    running = begin(cli, *words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert running.stdout is not None and running.stdout.readline()
    running.stdout.close()
    assert running.wait(80) in (0, 3, 99)
    [reader] = map(RunReader, cli.runs())
    assert reader.state == "finished" and reader.findings()


CHATTY = """import { sleep } from 'k6';
export const options = { vus: 2, duration: '3s', thresholds: { iterations: ['count>20'] } };
export default function () { for (let n = 0; n < 20; n++) console.log('x'.repeat(200)); sleep(0.01); }
"""


def test_a_standard_error_that_nobody_reads_holds_up_neither_load_nor_verdict(cli: Cli) -> None:
    cli.write(script_js=CHATTY)
    reading, writing = os.pipe()
    with begin(cli, "run", "-q", "script.js", stdout=subprocess.PIPE, stderr=writing) as running:
        try:
            os.close(writing)
            assert running.wait(60) == 0  # with a pipe of 64 KiB it never ended
            assert running.stdout is not None and b"iterations" in running.stdout.read()
        finally:
            running.kill()
            os.close(reading)
    [reader] = map(RunReader, cli.runs())
    told = [str(event.get("message")) for event in reader.events("note")]
    assert reader.state == "finished" and any("lines to standard output or error were lost" in one for one in told)


@pytest.mark.parametrize(("threshold", "code"), [("count>0", 2), ("count>1000000", THRESHOLDS_FAILED)])
def test_a_summary_that_a_full_disk_did_not_take_is_told_and_no_success(cli: Cli, threshold: str, code: int) -> None:
    cli.write(script_js=SHORT.replace("count>1000000", threshold))
    with Path("/dev/full").open("w") as full:
        running = begin(cli, "run", "-q", "script.js", stdout=full, stderr=subprocess.PIPE)
        _, errors = running.communicate(timeout=60)
    [run] = cli.runs()
    assert running.returncode == code and errors.count(b"standard output did not take") == 1
    assert f"No space left on device. `plimsoll runs show runs/{run.name}` shows".encode() in errors, errors
    shown = cli("runs", "show", f"runs/{run.name}")
    assert shown.returncode == 0 and "finished" in shown.stdout


@pytest.mark.parametrize("words", [("runs", "list"), ("schema",), ("run", "--help"), ("--help",)])
def test_any_verb_whose_answer_a_full_disk_did_not_take_has_not_succeeded(cli: Cli, words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        running = begin(cli, *words, stdout=full, stderr=subprocess.PIPE)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 2 and b"Make room where it goes, and run again." in errors


def test_a_reader_that_has_enough_is_no_loss(cli: Cli) -> None:
    running = begin(cli, "schema", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None and running.stderr is not None and running.stdout.readline()
    running.stdout.close()
    assert running.wait(60) == 0 and running.stderr.read() == b""
    running.stderr.close()


def test_a_terminal_without_the_characters_gets_a_summary(cli: Cli) -> None:
    cli.write(script_js=SHORT)
    done = cli("run", "-q", "script.js", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == THRESHOLDS_FAILED and "iterations" in done.stdout and "Traceback" not in done.stderr


@pytest.fixture
def device(cli: Cli) -> Path:
    return null_device(cli.folder / "null")


def test_devices_that_are_named_for_output_stay_devices(cli: Cli, device: Path) -> None:
    handled = "export function handleSummary() { return { null: 'x' }; }\n"
    cli.write(script_js=SHORT.replace("count>1000000", "count>0") + handled)
    outputs = [f"--out={kind}={device}" for kind in ("json", "csv")]
    done = cli("run", "-q", "--summary-export", device, "--console-output", device, *outputs, "script.js")
    assert done.returncode == 0, done.stderr
    report = cli("report", cli.runs()[0], "-o", device)
    assert report.returncode == 0, report.stderr
    assert stat.S_ISCHR(device.stat().st_mode)


def test_links_that_are_named_for_output_are_written_through(cli: Cli) -> None:
    cli.write(script_js="export default function () {}\n")
    for name in ("s.json", "r.html", "raw.json"):
        (cli.folder / f"link-{name}").symlink_to(name)
    done = cli("run", "-q", "--summary-export", "link-s.json", "--out", "json=link-raw.json", "script.js")
    assert done.returncode == 0, done.stderr
    assert cli("report", cli.runs()[0], "-o", "link-r.html").returncode == 0
    for name in ("s.json", "r.html", "raw.json"):
        assert (cli.folder / f"link-{name}").is_symlink() and (cli.folder / name).stat().st_size > 100
    assert json.loads((cli.folder / "s.json").read_text())["metrics"]


def test_standard_output_takes_a_report_and_a_summary(cli: Cli) -> None:
    cli.write(script_js="export default function () {}\n")
    (cli.folder / "out").symlink_to("/proc/self/fd/1")  # as /dev/stdout is; that one a mistake here would replace
    done = cli("run", "-q", "--no-summary", "--summary-export", "out", "script.js")
    assert json.loads(done.stdout)["metrics"], done.stderr
    page = cli("report", cli.runs()[0], "-o", "out")
    assert page.stdout.startswith("<!") and page.stdout.rstrip().endswith("</html>"), page.stderr


FIFOS = [("--out", "json=pipe"), ("--out", "csv=pipe"), ("--out", "parquet=pipe"), ("--console-output", "pipe")]


@pytest.mark.parametrize(("flag", "value"), [*FIFOS, ("--summary-export", "pipe")])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_pipe_that_nobody_reads_does_not_make_a_run_deaf(cli: Cli, flag: str, value: str, number: int) -> None:
    cli.write(script_js=SHORT)
    os.mkfifo(cli.folder / "pipe")
    words = ("run", "-q", flag, value, "script.js")
    with begin(cli, *words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as running:
        try:
            assert running.stderr is not None
            wanted = b"Waiting for its reader; Ctrl-C ends this."
            assert any(wanted in line for line in running.stderr)
            running.send_signal(number)
            assert running.wait(30) == 130
            assert b"interrupted" in running.stderr.read()
        finally:
            running.kill()


@pytest.mark.parametrize(("flag", "value"), FIFOS)
def test_a_pipe_with_a_reader_gets_all(cli: Cli, flag: str, value: str) -> None:
    cli.write(
        script_js="export const options = { iterations: 3 }; export default function () { console.log('line'); }\n"
    )
    os.mkfifo(cli.folder / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((cli.folder / "pipe").read_bytes()))
    reader.start()
    done = cli("run", "-q", flag, value, "script.js")
    reader.join(30)
    assert done.returncode == 0 and not reader.is_alive(), done.stderr
    if flag == "--console-output":
        assert read[0].count(b"line") == 3
    elif value.startswith("parquet"):
        assert pyarrow.parquet.read_table(pyarrow.BufferReader(read[0])).num_rows > 3
    else:
        assert read[0].count(b"iterations") >= 3


def modes(folder: Path) -> dict[str, int]:
    return {path.relative_to(folder).as_posix(): stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}


def test_all_of_a_run_is_its_owners_alone_whatever_the_umask(cli: Cli, known_server: Callable[..., str]) -> None:
    url = known_server()
    cli.write(script_js=FIVE_A_SECOND, study_yaml=STARTED.replace("URL", url))
    umask = {"preexec_fn": lambda: os.umask(0)}
    short = ("--users", "3", "--duration", "4", "--warm-up", "0", "--baseline", "0")
    assert cli("hold", "study.yaml", "-q", "-e", f"URL={url}", *short, **umask).returncode in (0, 3, 99)
    flags = ("--out", "json=raw.json", "--console-output", "log", "--summary-export", "s.json")
    assert cli("run", "-q", "-e", f"URL={url}", *flags, "-d", "2s", "script.js", **umask).returncode == 0
    for run in cli.runs():
        assert cli("report", run, **umask).returncode == 0
        assert cli("report", run, "-o", run / "findings-again.json", **umask).returncode == 0
        found = modes(run)
        assert {"manifest.json", "series.jsonl.zst", "events.jsonl", "report.html", "series.parquet", "logs"} <= set(
            found
        )
        wrong = {name: oct(mode) for name, mode in found.items() if mode != (0o700 if (run / name).is_dir() else 0o600)}
        assert not wrong and stat.S_IMODE(run.stat().st_mode) == 0o700
    assert "logs/start.log" in modes(cli.runs()[0])
    beside = modes(cli.folder)
    assert (beside["raw.json"], beside["log"], beside["s.json"]) == (0o600, 0o600, 0o666)


def test_a_log_that_cannot_be_written_is_dropped_and_counted_and_the_target_runs(cli: Cli) -> None:
    from plimsoll.experiments.target.control import TargetControl
    from plimsoll.study.models import Target

    logs, notes = cli.folder / "logs", []
    logs.mkdir()
    (logs / "start.log").mkdir()  # so that no file can be opened there
    target = Target(start="echo one; echo two; exec sleep 60", ready="true")
    with TargetControl(target, logs, on_event=lambda kind, message: notes.append(message)) as control:
        started = control._started
        assert started is not None
        wait_until(lambda: started.lost_lines == 2, "both lines to be counted")
    assert "2 lines of the output of start did not get into its log" in notes
