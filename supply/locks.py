"""The locks of Python packages: every package that is installed, one version, and the hashes of its files.

    python supply/locks.py              make what is missing, keep versions that still fit (`make lock`)
    python supply/locks.py --upgrade    take the newest versions

uv resolves once for every Python from 3.11 on and every platform (docs/decisions/0022); pip installs from the
result with --require-hashes. The locks name no package index: which one is asked is a matter of the machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCKS = Path(__file__).with_name("locks")
OLDEST_PYTHON = "3.11"
TOOL = "plimsoll-line"  # on which the lab depends; it is built here
PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin", "x86_64-apple-darwin")
# Each lock and what it is made of; the later ones keep to the versions of the first.
MADE_OF = {
    "development.txt": ["pyproject.toml", "lab/pyproject.toml", "--extra", "development", "--no-emit-package", TOOL],
    "runtime.txt": ["pyproject.toml", "--constraints", "supply/locks/development.txt"],
    "audit.txt": ["supply/locks/audit.in"],
    "site.txt": ["supply/locks/site.in"],
}


def main() -> None:
    upgrade = ["--upgrade"] if "--upgrade" in sys.argv[1:] else []
    for name, sources in MADE_OF.items():
        _uv("pip", "compile", *sources, *upgrade, "--universal", "--python-version", OLDEST_PYTHON,
            "--generate-hashes", "--quiet", "--custom-compile-command", "make lock",
            "--output-file", f"supply/locks/{name}")  # fmt: skip
        for python in PYTHONS:
            for platform in PLATFORMS:
                _check(name, python, platform)


def _check(name: str, python: str, platform: str) -> None:
    """That all of it could be installed there; only what the index says of the packages is read."""
    target = ["--python-version", python, "--python-platform", platform, "--target", "target/lock-check"]
    _uv("pip", "install", "--dry-run", "--quiet", "--require-hashes", *target, "-r", f"supply/locks/{name}")


def _uv(*words: str) -> None:
    done = subprocess.run([_path(), *words], cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"`uv {' '.join(words)}` failed: see above")


def _path() -> str:
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if os.access(beside, os.X_OK) else "uv"


if __name__ == "__main__":
    main()
