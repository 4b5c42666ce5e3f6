"""The generators that are compared: how each is told the same work, where it says what it did, and how to get it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HOW_TO_INSTALL = {
    "wrk": "apt-get install wrk",
    "oha": "cargo install oha --locked",
    "vegeta": "go build of a Go module that requires github.com/tsenart/vegeta/v12",
    "k6": "go install go.k6.io/k6@latest",
    "locust": "pip install locust (in an environment of its own)",
}


@dataclass(frozen=True)
class Work:
    """So many connections or VUs for so many seconds: a closed loop, or an open load where there is a rate."""

    url: str
    connections: int
    seconds: int
    per_s: int = 0


@dataclass(frozen=True)
class Contender:
    """A command, and how many requests it made by what it printed."""

    name: str
    command: list[str]
    requests: Callable[[str], int]


def missing() -> dict[str, str]:
    """The peers that are not installed here, and how to install them."""
    return {name: how for name, how in HOW_TO_INSTALL.items() if not shutil.which(name)}


def versions() -> dict[str, str]:
    """What each installed peer says it is."""
    asked = {"wrk": ["-v"], "oha": ["--version"], "vegeta": ["-version"], "k6": ["version"], "locust": ["--version"]}
    return {name: said(name, flags) for name, flags in asked.items() if shutil.which(name)}


def said(name: str, flags: list[str]) -> str:
    path = str(shutil.which(name))
    done = subprocess.run([path, *flags], capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.\d+[.\d]*", done.stdout + done.stderr)
    # Built without its makefile, vegeta does not know what it is, but what it was built from is in the file.
    if name == "vegeta" and "Version: \n" in done.stdout + done.stderr and shutil.which("go"):
        built = subprocess.run(["go", "version", "-m", path], capture_output=True, text=True, check=False)
        found = re.search(r"vegeta/v12\s+v(\S+)", built.stdout)
    return found.group(found.lastindex or 0) if found else "version unknown"


def wrk(work: Work) -> Contender:
    command = ["wrk", "-t1", f"-c{work.connections}", f"-d{work.seconds}s", work.url]
    return Contender("wrk", command, number_after(r"(\d+) requests in"))


def oha(work: Work) -> Contender:
    flags = ["--no-tui", "--output-format", "json", "-c", str(work.connections), "-z", f"{work.seconds}s"]
    flags += ["-q", str(work.per_s)] if work.per_s else []

    def requests(output: str) -> int:
        return sum(json.loads(output)["statusCodeDistribution"].values())

    return Contender("oha", ["oha", *flags, work.url], requests)


def vegeta(work: Work, folder: Path) -> Contender:
    """Without a rate, 50 workers send one request after the other, as the others' connections do."""
    targets, results = folder / "targets.txt", folder / "vegeta.bin"
    targets.write_text(f"GET {work.url}\n")
    workers = ["-rate", str(work.per_s), "-workers", str(work.connections), "-max-workers", str(work.connections)]
    files = ["-targets", str(targets), "-output", str(results)]
    attack = ["vegeta", "attack", *workers, "-duration", f"{work.seconds}s", *files]

    def requests(_output: str) -> int:
        told = subprocess.run(
            ["vegeta", "report", "-type", "json", str(results)], capture_output=True, text=True, check=True
        )
        return int(json.loads(told.stdout)["requests"])

    return Contender("vegeta", attack, requests)


def locust(name: str, work: Work, script: Path) -> Contender:
    users = ["-u", str(work.connections), "-r", str(work.connections), "-t", f"{work.seconds}s"]
    flags = ["--headless", "--only-summary", "--json", "--loglevel", "ERROR", "--host", work.url.rstrip("/")]

    def requests(output: str) -> int:
        return sum(row["num_requests"] for row in json.loads(output[output.index("[") : output.rindex("]") + 1]))

    return Contender(name, ["locust", "-f", str(script), *flags, *users], requests)


def k6(name: str, work: Work, script: Path, *flags: str) -> Contender:
    return Contender(name, ["k6", "run", "-q", "--no-usage-report", *load(work), *flags, str(script)], COUNTED)


def plimsoll(name: str, work: Work, folder: Path, script: Path | None, *flags: str) -> Contender:
    """Ours with a script, or with the URL alone."""
    command = [sys.executable, "-m", "plimsoll", "run", "-q", "--runs", str(folder / "runs"), *flags]
    if script is None:
        return Contender(name, [*command, "--url", work.url, *load(work)[:-2]], COUNTED)
    return Contender(name, [*command, *load(work), str(script)], COUNTED)


def load(work: Work) -> list[str]:
    """The flags that k6 and Plimsoll share; the script states a rate (`open_load`)."""
    closed = [] if work.per_s else ["-u", str(work.connections), "-d", f"{work.seconds}s"]
    return [*closed, "-e", f"URL={work.url}"]


def open_load(work: Work) -> str:
    """The options of a script for k6 and Plimsoll."""
    scenario = f"executor: 'constant-arrival-rate', rate: {work.per_s}, duration: '{work.seconds}s'"
    return f"export const options = {{ scenarios: {{ s: {{ {scenario}, preAllocatedVUs: {work.connections} }} }} }};\n"


def number_after(pattern: str) -> Callable[[str], int]:
    """Reads the count of requests from a tool's output; ends the bench with the output if it is not there."""

    def read(output: str) -> int:
        found = re.search(pattern, output)
        if found is None:
            sys.exit(f"no count of requests in the output:\n{output}")
        return int(found.group(1))

    return read


COUNTED = number_after(r"http_reqs\.*: *(\d+)")
