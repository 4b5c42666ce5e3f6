"""No output of `plimsoll run` or `plimsoll report` goes into another one, or over a file that is read or kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.cli.app import app
from plimsoll.cli.run.flags import FlagError, parse
from plimsoll.cli.run.settings import settings
from plimsoll.cli.run.verb import _run
from plimsoll.errors import InputError

SCRIPT = "export const options = {iterations: 1, vus: 1};\nexport default function () {}\n"
RUN = "runs/20260101-000000-run-0001"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a script, a link to it, and a run."""
    monkeypatch.chdir(tmp_path)
    Path("s.js").write_text(SCRIPT)
    Path("link.js").symlink_to("s.js")
    Path("k.json").write_text("{}")
    Path("secrets").write_text("a=b\n")
    Path(RUN, "logs").mkdir(parents=True)
    Path(RUN, "manifest.json").write_text('{"schema": 1, "status": "finished", "experiment": "run"}')
    Path("dangling").symlink_to("later.json")
    return tmp_path


def run(*words: str, environment: dict[str, str] | None = None) -> None:
    flags = parse(["-q", "--runs", "made", "s.js", *words])
    assert _run(flags, settings(flags, environment or {})) == 0


@pytest.mark.parametrize(
    ("words", "first", "second"),
    [
        ("--out json=b.json --out csv=b.json", "--out csv=b.json", "--out json=b.json"),
        ("--out json=c.json --out csv=./c.json", "--out csv=./c.json", "--out json=c.json"),
        ("--out json=a.json --out json=a.json", "--out json=a.json", "--out json=a.json"),
        ("--out json=later.json --out csv=dangling", "--out csv=dangling", "--out json=later.json"),
        ("--out json=- --out csv=/dev/stdout", "--out csv=/dev/stdout", "--out json=-"),
        ("--out json=d.json --summary-export d.json", "--summary-export d.json", "--out json=d.json"),
        ("--console-output e --summary-export e", "--summary-export e", "--console-output e"),
        ("--out json=s.js", "--out json=s.js", "the script s.js"),
        ("--out json=link.js", "--out json=link.js", "the script s.js"),
        ("--summary-export s.js", "--summary-export s.js", "the script s.js"),
        ("--console-output s.js", "--console-output s.js", "the script s.js"),
        ("--config k.json --out json=k.json", "--out json=k.json", "--config k.json"),
        ("--secret-source file=secrets --out json=secrets", "--out json=secrets", "file=secrets"),
        (f"--out json={RUN}/manifest.json", f"{RUN}/manifest.json", "a file of the run directory"),
        (f"--summary-export {RUN}/findings.json", f"{RUN}/findings.json", "a file of the run directory"),
        (f"--out csv={RUN}/logs/start.log", f"{RUN}/logs/start.log", "a file of the run directory"),
    ],
)
def test_two_names_of_one_file_are_refused_and_both_are_named(words: str, first: str, second: str) -> None:
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    with pytest.raises(FlagError) as raised:
        run(*words.split())
    assert first in str(raised.value) and second in str(raised.value)
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "words",
    [
        "--out json=a.json --out csv=b.csv --summary-export c.json --console-output d.log",
        "--out json=/dev/null --out csv=/dev/null --summary-export /dev/null",
        f"--out json={RUN}/samples.json",
    ],
)
def test_outputs_of_their_own_are_written(words: str) -> None:
    run(*words.split())


@pytest.mark.parametrize("name", ["findings.json", "manifest.json", "plan.json"])
def test_a_report_replaces_no_file_of_a_run(name: str) -> None:
    done = CliRunner().invoke(app, ["report", RUN, "-o", f"{RUN}/{name}"])
    assert isinstance(done.exception, InputError) and "a file of the run directory" in str(done.exception)
