"""Commands of the pages for those who come from another tool, as they stand there, on files that such a tool writes."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from markdown_pages import ROOT, fences

RECORDED = ROOT / "tests" / "unit" / "importers" / "data"
T0_MS = 1_790_000_000_000
JTL_HEAD = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,"
    "grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
)
# These put a load on; what they do is tested where they are.
LOADS = ("plimsoll run", "plimsoll capacity")
PAGES = [f"docs/coming-from-{tool}.md" for tool in ("k6", "locust", "jmeter", "gatling")]


def jtl(folder: Path) -> None:
    """40 s of logins by two users, twice a second each, and then by four."""
    lines = [
        f"{T0_MS + half * 500 + user * 7},{100 + half % 5},Login,200,OK,Shop 1-{user},text,true,,2781,133,"
        f"{users},{users},u,90,0,1\n"
        for half in range(80)
        for users in (2 if half < 40 else 4,)
        for user in range(users)
    ]
    (folder / "results.jtl").write_text(JTL_HEAD + "".join(lines))


def resources(folder: Path) -> None:
    rows = [f"{T0_MS // 1000 + second},{20 if second < 20 else 40}\n" for second in range(40)]
    (folder / "cpu.csv").write_text("time,db cpu (%)\n" + "".join(rows))


def gatling(folder: Path) -> None:
    lines = [f"RUN\tshop.Simulation\tshop\t{T0_MS}\t \t3.9.5\n", f"USER\tBuy\tSTART\t{T0_MS}\n"]
    lines += [
        f"REQUEST\tBuy\tGET /tickets\t{T0_MS + n * 200}\t{T0_MS + n * 200 + 100 + n % 7}\tOK\t \n" for n in range(150)
    ]
    (folder / "simulation.log").write_text("".join([*lines, f"USER\tBuy\tEND\t{T0_MS + 31_000}\n"]))


def access_log(folder: Path) -> None:
    lines = [
        f'10.0.0.{user} - - [28/Nov/2026:10:{minute:02}:{user:02} +0000] "GET /tickets/{minute * 7 + user} HTTP/1.1" '
        f'200 512 "-" "Browser {user}"\n'
        for minute in range(20)
        for user in range(1, 6)
    ]
    (folder / "access.log").write_text("".join(lines))


def recording(folder: Path) -> None:
    answer = {"status": 200, "headers": [], "content": {"mimeType": "application/json", "text": '{"id": 1}'}}
    entries = [
        {
            "startedDateTime": f"2026-11-28T10:00:{second:02}.000Z",
            "time": 20,
            "request": {"method": "GET", "url": f"http://shop.example{path}", "headers": [], "queryString": []},
            "response": answer,
        }
        for second, path in enumerate(("/tickets", "/prices"))
    ]
    (folder / "recording.har").write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))


def recorded(name: str, saved_as: str) -> Callable[[Path], None]:
    return lambda folder: shutil.copyfile(RECORDED / name, folder / saved_as) and None


FILES = {
    "results.json.gz": recorded("k6.json.gz", "results.json.gz"),
    "results_stats_history.csv": recorded("locust_history.csv", "results_stats_history.csv"),
    "results.jtl": jtl,
    "cpu.csv": resources,
    "simulation.log": gatling,
    "access.log": access_log,
    "recording.har": recording,
}


def typed(page: str) -> list[str]:
    """The commands of a page's fences that put no load on."""
    shown = [code for language, _, code in fences((ROOT / page).read_text(encoding="utf-8")) if language == ""]
    lines = [line for code in shown for line in code.splitlines() if line.startswith("plimsoll ")]
    return [line for line in lines if not line.startswith(LOADS)]


COMMANDS = [(page, command) for page in PAGES for command in typed(page)]


def test_each_page_has_a_command_that_reads_results() -> None:
    assert [page for page in PAGES if not any(of == page and " analyze " in line for of, line in COMMANDS)] == []


@pytest.mark.parametrize(("page", "command"), COMMANDS, ids=[f"{page[17:-3]}: {line[9:]}" for page, line in COMMANDS])
def test_a_command_of_a_page_does_what_it_says(page: str, command: str, tmp_path: Path) -> None:
    words = shlex.split(command)
    for word in words:
        if word in FILES:
            FILES[word](tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode in (0, 99), f"{page}: {done.stdout}{done.stderr}"
    if words[1] == "analyze":
        (written,) = tmp_path.glob("runs/*/findings.json")
        findings = json.loads(written.read_text(encoding="utf-8"))
        assert findings and ("--objective" in words) == any(finding.get("objectives") for finding in findings)
        assert ("--budget" in words) == any(finding.get("scaled") for finding in findings)
    else:
        assert (tmp_path / "load" / "study.yaml").is_file() and (tmp_path / "load" / "script.js").is_file()
