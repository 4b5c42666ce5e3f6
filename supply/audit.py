"""`make audit`: licences, sources and bans of crates, and known vulnerabilities of crates and Python packages.

A part that cannot be done here (no network, a missing tool) is told as SKIPPED with the reason, at its place and
again in the last line; with --strict it fails. Exit code 1 if a part failed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LIMIT_S = 300.0
# Words of cargo-deny and pip-audit for an index or a database that did not answer, as against one that has findings.
UNREACHABLE = (
    "failed to fetch advisory database",
    "ConnectionError",
    "ServiceError",
    "Failed to connect",
    "Max retries exceeded",
)


@dataclass(frozen=True)
class Part:
    """How one part ended: `ok`, `FAILED` or `SKIPPED`, and why."""

    name: str
    state: str
    why: str = ""


def main() -> None:
    parts = [part() for part in PARTS]
    for part in parts:
        print(f"{part.state:8}{part.name}{': ' if part.why else ''}{part.why}")
    skipped = [part.name for part in parts if part.state == "SKIPPED"]
    if skipped:
        print(f"NOT AUDITED HERE: {', '.join(skipped)}. Run `make audit` where the network is open.")
    strict = "--strict" in sys.argv[1:]
    sys.exit(any(part.state == "FAILED" or (strict and part.state == "SKIPPED") for part in parts))


def crates() -> Part:
    """Licences, bans and sources of every crate by deny.toml; needs no network."""
    return _cargo_deny("licences, bans and sources of crates", ["check", "licenses", "bans", "sources"])


def advisories() -> Part:
    """Known vulnerabilities of crates; the database is fetched."""
    name = "advisories of crates"
    fetched = _cargo_deny(name, ["fetch", "db"])
    if fetched.state != "ok":
        return Part(name, "SKIPPED", fetched.why or "the advisory database cannot be fetched here")
    return _cargo_deny(name, ["check", "--disable-fetch", "advisories"])


def python_packages() -> Part:
    """Known vulnerabilities of the locked Python packages; the package index is asked."""
    name = "advisories of Python packages"
    tool = ROOT / "target" / "audit" / "bin" / "pip-audit"
    if not tool.exists():
        return Part(name, "SKIPPED", "pip-audit could not be installed here")
    words = ["--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json"]
    done = _run([str(tool), *words, "-r", "supply/locks/development.txt"])
    try:
        return _judged(name, json.loads(done.stdout)["dependencies"])
    except (ValueError, KeyError):
        return _ended(name, done)


def _judged(name: str, packages: Sequence[Mapping[str, Any]]) -> Part:
    """Of what pip-audit says of each package. It calls those that it could not ask about skipped, and ends well."""
    weak = [
        f"{package['name']} {package['version']}: {', '.join(one['id'] for one in package['vulns'])}"
        for package in packages
        if package.get("vulns")
    ]
    if weak:
        return Part(name, "FAILED", "; ".join(weak))
    unasked = [package["name"] for package in packages if "skip_reason" in package]
    if unasked:
        return Part(name, "SKIPPED", f"the index told nothing about {len(unasked)} of {len(packages)} packages")
    return Part(name, "ok", f"{len(packages)} packages")


PARTS: tuple[Callable[[], Part], ...] = (crates, advisories, python_packages)


def _cargo_deny(name: str, words: list[str]) -> Part:
    tools = ROOT / "target" / "tools" / "bin" / "cargo-deny"
    tool = str(tools) if tools.exists() else shutil.which("cargo-deny")
    if tool is None:
        return Part(name, "SKIPPED", "cargo-deny could not be installed here (cargo install cargo-deny)")
    return _ended(name, _run([tool, "--log-level", "error", *words]))


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CARGO_NET_RETRY": "1", "NO_COLOR": "1"}
    try:
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"{UNREACHABLE[0]}: no answer within {LIMIT_S:.0f} s")


def _ended(name: str, done: subprocess.CompletedProcess[str]) -> Part:
    """Of a command without a result that can be read otherwise."""
    told = done.stdout + done.stderr
    if done.returncode == 0:
        return Part(name, "ok")
    if any(words in told for words in UNREACHABLE):
        last = [line for line in told.splitlines() if line.strip()][-1]
        return Part(name, "SKIPPED", last.strip()[:200])
    print(told, file=sys.stderr)
    return Part(name, "FAILED", "see above")


if __name__ == "__main__":
    main()
