"""Installs products from package registries by their ordinary clients, into the cache folder where the client can."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from processes import done

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Cache:
    """Where everything that is fetched or built lies: target/gauntlet of the work tree, which git ignores."""

    folder: Path = ROOT / "target" / "gauntlet"

    @property
    def logs(self) -> Path:
        path = self.folder / "log"
        path.mkdir(parents=True, exist_ok=True)
        return path

    def python(self, name: str, *packages: str) -> Path:
        """The bin folder of a virtual environment with these packages of PyPI."""
        place = self.folder / "python" / name
        if not (place / ".complete").exists():
            log = self.logs / f"python-{name}.log"
            done([sys.executable, "-m", "venv", place], log)
            done([place / "bin" / "pip", "install", "-q", "--disable-pip-version-check", *packages], log)
            (place / ".complete").write_text("\n".join(packages))
        return place / "bin"

    def npm(self, name: str, *packages: str, manifest: str = '{"name": "gauntlet", "version": "1.0.0"}') -> Path:
        """The folder of an npm project with these packages; `manifest`: its package.json."""
        place = self.folder / "npm" / name
        if not (place / ".complete").exists():
            place.mkdir(parents=True, exist_ok=True)
            (place / "package.json").write_text(manifest)
            install = ["npm", "install", "--no-audit", "--no-fund", *packages]
            done(install, self.logs / f"npm-{name}.log", folder=place)
            (place / ".complete").write_text("\n".join(packages))
        return place

    def go(self, name: str, module: str, version: str, package: str) -> Path:
        """A program built from a package of a Go module. Not by `go install`, which refuses some modules."""
        program = self.folder / "bin" / name
        if not program.exists():
            place = self.folder / "go" / name
            place.mkdir(parents=True, exist_ok=True)
            (place / "go.mod").write_text(f"module gauntlet\n\ngo 1.24\n\nrequire {module} {version}\n")
            build = ["go", "build", "-mod=mod", "-trimpath", "-o", program, package]
            done(build, self.logs / f"go-{name}.log", folder=place, limit_s=1800)
        return program

    def cargo(self, name: str, version: str, *flags: str) -> Path:
        """A program of a crate."""
        program = self.folder / "cargo" / "bin" / name
        if not program.exists():
            install = ["cargo", "install", name, "--version", version, "--locked", "--root", self.folder / "cargo"]
            env = {"CARGO_TARGET_DIR": str(self.folder / "cargo-build")}
            done([*install, *flags], self.logs / f"cargo-{name}.log", env=env, limit_s=3600)
        return program

    def maven(self, group: str, artifact: str, version: str, kind: str = "jar") -> Path:
        """A file of Maven Central."""
        place = self.folder / "maven"
        file = place / f"{artifact}-{version}.{kind}"
        if not file.exists():
            copy = ["mvn", "-q", "dependency:copy", f"-Dartifact={group}:{artifact}:{version}:{kind}"]
            flags = [f"-DoutputDirectory={place}", "-Dmdep.useBaseVersion=true"]
            done([*copy, *flags], self.logs / f"maven-{artifact}.log")
        return file

    def debian(self, *packages: str, answers: Sequence[str] = ()) -> None:
        """Packages of Debian, whose services are not started; `answers`: lines for debconf."""
        listed = subprocess.run(
            ["dpkg-query", "-W", "-f", "${binary:Package} ${db:Status-Status}\n", *packages],
            capture_output=True, text=True, check=False,
        ).stdout  # fmt: skip
        there = {line.split()[0].partition(":")[0] for line in listed.splitlines() if line.endswith(" installed")}
        absent = [name for name in packages if name not in there]
        if not absent:
            return
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            raise RuntimeError(f"Debian's packages are missing. Install them: apt-get install {' '.join(absent)}")
        log = self.logs / "debian.log"
        for line in answers:
            done(["debconf-set-selections"], log, stdin=line.encode())
        env = {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
        done(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *absent], log, env=env)
