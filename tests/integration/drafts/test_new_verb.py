"""`plimsoll new` as a user types it: from a log to a capacity without touching a file."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "unit" / "drafts"))
from plans import sampler, threads, written

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "new.md"
K6 = shutil.which("k6") or str(ROOT / "target" / "gauntlet" / "bin" / "k6")
LINE = '10.0.{0}.1 - - [28/Nov/2026:10:{1:02}:{2:02} +0000] "{3} HTTP/1.1" 200 12 "-" "Firefox" 0.0{0:02}\n'
ENTRY = {
    "startedDateTime": "2026-11-28T10:00:00Z",
    "time": 5,
    "request": {"method": "GET", "url": "https://app.example.org/issues"},
    "response": {"status": 200, "content": {"mimeType": "application/json", "text": "[]"}},
}
TARGETS = ("GET /issues/{0}", "GET /issues?state=open&page={0}", "GET /", "POST /issues")


def _log(folder: Path) -> Path:
    """Twenty users who make a request each five seconds, for five minutes."""
    lines = [
        LINE.format(user, tick // 12, tick % 12 * 5 + user % 5, TARGETS[(user + tick) % 4].format(tick))
        for tick in range(60)
        for user in range(20)
    ]
    path = folder / "access.log"
    path.write_text("".join(lines))
    return path


def _plimsoll(folder: Path, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "plimsoll", *map(str, arguments)]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,  # type: ignore[call-overload]
    )


def test_from_a_log_to_a_capacity_unchanged(tmp_path: Path, known_server: Callable[..., str]) -> None:
    _log(tmp_path)
    url = known_server("--servers", 2, "--service-ms", 20)
    done = _plimsoll(tmp_path, "new", url, "--access-log", "access.log")
    assert done.returncode == 0, done.stderr
    assert "1,200 requests of users in 20 sessions, 2026-11-28 10:00 to 10:04 UTC." in done.stdout
    assert "Written: load/study.yaml, load/script.js, load/values.json" in done.stdout
    assert done.stdout.rstrip().endswith("Next: plimsoll capacity load/study.yaml")
    found = _plimsoll(tmp_path, "capacity", "load/study.yaml", "--step", 1, "--for", "20s", "-q", "--json")
    assert found.returncode in (0, 3, 99), found.stderr
    assert json.loads(found.stdout)[0]["capacity"]["unit"] == "users"
    series = _plimsoll(tmp_path, "runs", "show", "latest", "--series").stdout
    assert all(f'"name":"{name}"' in series for name in ("GET /issues/{id}", "GET /issues", "GET /"))
    checks = _plimsoll(
        tmp_path, "run", "load/script.js", "-e", "DURATION=2s", "-e", "USERS=20", "--summary-export", "s.json"
    )
    assert checks.returncode == 0, checks.stderr
    metrics = json.loads((tmp_path / "s.json").read_text())["metrics"]
    assert metrics["checks"]["fails"] == 0 and metrics["http_reqs"]["count"] >= 3


@pytest.mark.skipif(not os.access(K6, os.X_OK), reason="k6 is not here")
def test_k6_runs_the_script_too(tmp_path: Path, known_server: Callable[..., str]) -> None:
    _log(tmp_path)
    url = known_server("--servers", 2, "--service-ms", 5)
    assert _plimsoll(tmp_path, "new", url, "--access-log", "access.log").returncode == 0
    command = [K6, "run", "-q", "-e", "DURATION=2s", "-e", "USERS=20", "--summary-export", "s.json", "load/script.js"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "s.json").read_text())["metrics"]["checks"]["fails"] == 0


def test_standard_input_json_and_writing_again(tmp_path: Path) -> None:
    log = gzip.compress(_log(tmp_path).read_bytes())
    command = [sys.executable, "-m", "plimsoll", "new", "--access-log", "-", "-o", "a/b", "--json"]
    done = subprocess.run(command, cwd=tmp_path, input=log, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert {one["request"] for one in data["operations"]} == {"GET /issues/{id}", "GET /issues", "GET /"}
    assert data["activity"]["sessions"] == 20 and data["files"][0] == "a/b/study.yaml"
    again = _plimsoll(tmp_path, "new", "--access-log", "access.log", "-o", "a/b")
    assert again.returncode == 2 and "--force" in again.stderr
    assert _plimsoll(tmp_path, "new", "--access-log", "access.log", "-o", "a/b", "--force").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing to begin with"),
        (["--access-log", "none.log"], "none.log cannot be read"),
        (["--access-log", "other.log"], "These formats are read"),
        (["--openapi", "other.log"], "no OpenAPI description"),
        (["--har", "other.log"], "the recording is no JSON"),
        (["--har", "none.har"], "the recording cannot be read"),
        (
            ["--har", "a", "--openapi", "b", "--access-log", "c"],
            "--access-log and --openapi and --har are given together",
        ),
        (["--access-log", "access.log", "--least", "many"], "--least"),
        (["http://127.0.0.1:1", "--token", "s3cr3t"], "it is no env:NAME"),
        (["http://127.0.0.1:1", "--token", "env:NOT_SET"], "NOT_SET is not set"),
        (["http://127.0.0.1:1"], "does not answer"),
    ],
)
def test_what_cannot_be_ends_with_2_one_message_and_nothing_written(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    _log(tmp_path)
    (tmp_path / "other.log").write_text("a,b,c\n" * 9)
    done = _plimsoll(tmp_path, "new", *arguments)
    assert done.returncode == 2 and words in done.stderr and "Traceback" not in done.stderr
    assert "s3cr3t" not in done.stderr and not (tmp_path / "load").exists()


def test_every_command_of_the_page_works(tmp_path: Path, known_server: Callable[..., str]) -> None:
    """Those with `plimsoll new`; the address and the files that it names are put in place."""
    log = _log(tmp_path)
    url = known_server("--servers", 2, "--service-ms", 5)
    (tmp_path / "access.log.2.gz").write_bytes(gzip.compress(log.read_bytes()))
    shutil.copy(log, tmp_path / "access.log.1")
    (tmp_path / "openapi.yaml").write_text("openapi: 3.0.0\npaths: {/pets: {get: {}}}")
    plan = written(tmp_path, threads("Shop", sampler("GET", "/")))
    (tmp_path / "plans").mkdir()
    shutil.copy(plan, tmp_path / "plans" / "shop.jmx")
    (tmp_path / "use.har").write_text(json.dumps({"log": {"entries": [ENTRY]}}))
    blocks = re.findall(r"```(?:sh)?\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    commands = [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if "plimsoll new" in line]
    assert len(commands) >= 5
    environment = {
        **os.environ,
        "API_TOKEN": "t",
    }
    for number, command in enumerate(commands):
        command = command.partition("  #")[0].replace("http://127.0.0.1:8080", url)
        command = command.replace("plimsoll new", f"{sys.executable} -m plimsoll new --force")
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env=environment,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, (number, command, done.stderr)
