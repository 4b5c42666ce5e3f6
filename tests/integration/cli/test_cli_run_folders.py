"""Run folders that cannot be written, or only for a while: said before any load, or with what was measured."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli, assert_one_clear_message

from plimsoll.runs.reader import RunReader

SCRIPT = """import http from 'k6/http';
export const options = { scenarios: { a: {
  executor: 'constant-arrival-rate', rate: 100, timeUnit: '1s', duration: '40s', preAllocatedVUs: 5,
} } };
let n = 0;
export default function () { http.get(__ENV.URL, { tags: { name: `page ${n++ % 30}` } }); }
"""  # many series, so that seconds are large
ROOM_BYTES = 56 * 1024


def mounted(folder: Path, *options: str) -> bool:
    """Whether a file system in memory could be mounted there, which takes root."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "none", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A folder that takes nothing: a read-only file system for root, withdrawn permissions for others."""
    folder = tmp_path / "read-only"
    if os.geteuid() == 0:
        if not mounted(folder, "ro"):
            pytest.skip("root may write anywhere, and may not mount a read-only file system here")
        yield folder
        subprocess.run(["umount", str(folder)], check=True)
        return
    folder.mkdir(mode=0o500)
    yield folder


@pytest.fixture
def little_room(tmp_path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """A folder with room for a few seconds of a run, and what to start the command with: a small file system where it
    may be mounted (which takes root), else a limit of the size of files, which refuses writes as a full disk does."""
    folder = tmp_path / "little"
    if mounted(folder, f"size={ROOM_BYTES}"):
        yield folder, {}
        subprocess.run(["umount", str(folder)], check=True)
        return
    limits = (ROOM_BYTES, ROOM_BYTES)
    yield folder, {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits)}


@pytest.mark.parametrize("verb", ["run", "capacity"])
def test_a_folder_that_takes_nothing_is_said_before_any_load(
    cli: Cli, known_server: Callable[..., str], read_only: Path, verb: str
) -> None:
    cli.write(script_js="export default function () { console.log('load began'); }\n", file="in the way")
    for folder, said in ((read_only, "Choose another place"), ("file", "move it away"), ("file/below", "is a file")):
        done = cli(verb, "--runs", folder, "script.js")
        assert done.returncode == 2 and not done.stdout
        assert_one_clear_message(done.stderr)
        if folder != read_only or os.geteuid() == 0:
            assert said in done.stderr
        assert "load began" not in done.stderr and "--runs" in done.stderr


@pytest.mark.parametrize(("verb", "shown"), [("run", "http_reqs"), ("capacity", "")])
def test_a_disk_that_fills_up_loses_nothing_that_was_measured(
    cli: Cli, known_server: Callable[..., str], little_room: tuple[Path, dict[str, Any]], verb: str, shown: str
) -> None:
    folder, options = little_room
    cli.write(script_js=SCRIPT)
    environment = {**os.environ, "PLIMSOLL_MIN_FREE_MB": "0"}
    done = cli(verb, "-q", "-e", f"URL={known_server()}", "--runs", folder, "script.js", env=environment, **options)
    assert done.returncode == 2 and shown in done.stdout
    assert_one_clear_message(done.stderr)
    assert "cannot write" in done.stderr and "choose another place" in done.stderr
    (run_directory,) = folder.iterdir()
    reader = RunReader(run_directory)
    assert reader.state == "failed" and len(list(reader.snapshots())) >= 2
    assert str(run_directory) in done.stderr
    assert not [path for path in run_directory.rglob("*") if path.name.startswith(".") or path.suffix == ".part"]
    report = cli("report", run_directory, "-o", "report.html")
    assert report.returncode == 0 and (cli.folder / "report.html").stat().st_size > 10_000


def test_a_full_summary_is_not_made_of_a_part_of_the_seconds(
    cli: Cli, known_server: Callable[..., str], little_room: tuple[Path, dict[str, Any]]
) -> None:
    folder, options = little_room
    cli.write(script_js=SCRIPT)
    given = ("-q", "--summary-mode", "full", "-e", f"URL={known_server()}", "--runs", folder)
    done = cli("run", *given, "script.js", env={**os.environ, "PLIMSOLL_MIN_FREE_MB": "0"}, **options)
    assert done.returncode == 2 and "the summary is the compact one: seconds that a full one needs" in done.stderr
    assert "http_reqs" in done.stdout and "http_req_waiting" not in done.stdout


def test_a_disk_that_is_nearly_full_takes_no_run_and_says_what_to_do(
    cli: Cli, known_server: Callable[..., str], little_room: tuple[Path, dict[str, Any]]
) -> None:
    folder, options = little_room
    if options:
        pytest.skip("only root may mount a small file system")
    cli.write(script_js="export default function () { console.log('load began'); }\n")
    for verb in ("run", "capacity"):
        done = cli(verb, "-q", "--runs", folder, "script.js")
        assert done.returncode == 2 and "load began" not in done.stderr
        assert_one_clear_message(done.stderr)
        assert "are free for" in done.stderr and "plimsoll runs prune" in done.stderr
        assert "PLIMSOLL_MIN_FREE_MB" in done.stderr and list(folder.iterdir()) == []
    found = cli("doctor", "--runs", folder)
    assert "✗ disk" in found.stdout and "KiB free" in found.stdout


def test_a_report_that_finds_no_room_says_where_else(cli: Cli, read_only: Path) -> None:
    cli.write(script_js="export default function () {}\n")
    assert cli("run", "-q", "script.js").returncode == 0
    done = cli("report", cli.runs()[0], "-o", read_only / "report.html")
    assert done.returncode == 2 and "-o report.html" in done.stderr
    assert_one_clear_message(done.stderr)
    done = cli("report", cli.runs()[0], "-o", cli.folder / "nowhere" / "findings.json")
    assert done.returncode == 2 and "findings.json: No such file or directory" in done.stderr
    assert_one_clear_message(done.stderr)
    done = cli("report", "runs")
    assert done.returncode == 2 and "not a run directory" in done.stderr
