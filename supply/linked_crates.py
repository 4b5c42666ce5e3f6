"""The crates of Cargo.lock that end up in the native module, for every platform that it is built for."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULE = "plimsoll-py"


@dataclass(frozen=True, order=True)
class Crate:
    """One crate of a registry; `folder` is its source on this machine."""

    name: str
    version: str
    licence: str
    authors: tuple[str, ...]
    folder: Path


def linked_crates(root: Path = ROOT) -> list[Crate]:
    """Every crate that the native module depends on, itself or through others, in the order of names. Crates for tests
    and for build scripts alone are none; macros count, as what they write is compiled into it."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    told = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    metadata = json.loads(told.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    below = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    waiting = [identity for identity, package in packages.items() if package["name"] == MODULE]
    reached: set[str] = set()
    while waiting:
        identity = waiting.pop()
        if identity not in reached:
            reached.add(identity)
            waiting += [one["pkg"] for one in below[identity] if any(kind["kind"] is None for kind in one["dep_kinds"])]
    return sorted(_crate(packages[identity]) for identity in reached if packages[identity]["source"] is not None)


def _crate(package: dict) -> Crate:
    folder = Path(package["manifest_path"]).parent
    return Crate(package["name"], package["version"], package["license"] or "", tuple(package["authors"]), folder)
