"""The locks of Python packages agree with what they are made of, and fit each supported Python and platform."""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[3]
LOCKS = ROOT / "supply" / "locks"
PROJECT, LAB = (tomllib.loads((ROOT / name / "pyproject.toml").read_text())["project"] for name in ("", "lab"))
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})(?: \\)?")
PLATFORMS = [("linux", "Linux", "x86_64"), ("linux", "Linux", "aarch64"), ("darwin", "Darwin", "arm64")]
ENVIRONMENTS = [
    {
        "python_version": python, "python_full_version": f"{python}.1", "implementation_name": "cpython",
        "platform_python_implementation": "CPython", "os_name": "posix", "sys_platform": system,
        "platform_system": name, "platform_machine": machine, "extra": "",
    }
    for python in ("3.11", "3.12", "3.13")
    for system, name, machine in PLATFORMS
]  # fmt: skip


@dataclass
class Pin:
    """One line of a lock with its hashes and whether a source itself asks for it."""

    name: str
    version: str
    marker: Marker | None
    hashes: list[str]
    direct: bool

    def holds_in(self, environment: dict[str, str]) -> bool:
        return self.marker is None or self.marker.evaluate(environment)


def pins(name: str, source: str = "pyproject.toml") -> list[Pin]:
    found: list[Pin] = []
    for line in (LOCKS / name).read_text().splitlines():
        if line and line[0] not in " #":
            asked = Requirement(line.removesuffix("\\").strip())
            (only,) = asked.specifier
            assert only.operator == "==", line
            found.append(Pin(canonicalize_name(asked.name), only.version, asked.marker, [], False))
        elif told := HASH.fullmatch(line.strip()):
            found[-1].hashes.append(told[1])
        elif found:
            found[-1].direct |= source in line
    return found


def asked_for(name: str) -> list[Requirement]:
    """What pyproject.toml asks for, as the lock of that name holds it; the lab's as well in that of the development."""
    asked = list(PROJECT["dependencies"])
    if name == "development.txt":
        asked += [*PROJECT["optional-dependencies"]["development"], *LAB["dependencies"]]
    return [Requirement(text) for text in asked if text != PROJECT["name"]]


@pytest.mark.parametrize("name", ["development.txt", "runtime.txt"])
def test_a_lock_has_each_package_that_the_project_asks_for_and_no_other_directly(name: str) -> None:
    asked = asked_for(name)
    direct = {pin.name for pin in pins(name) if pin.direct}
    assert direct == {canonicalize_name(one.name) for one in asked}, "run `make lock`"
    for environment in ENVIRONMENTS:
        there = {pin.name: pin.version for pin in pins(name) if pin.holds_in(environment)}
        for one in asked:
            version = there.get(canonicalize_name(one.name))
            assert version is not None, f"{one} is not locked for {environment}; run `make lock`"
            assert one.specifier.contains(Version(version), prereleases=True), f"{one}: {version}; run `make lock`"


@pytest.mark.parametrize("name", ["development.txt", "runtime.txt", "audit.txt", "site.txt"])
def test_each_package_of_a_lock_has_hashes_and_one_version_in_each_environment(name: str) -> None:
    locked = pins(name)
    assert locked and [pin.name for pin in locked if not pin.hashes] == []
    for environment in ENVIRONMENTS:
        here = [pin.name for pin in locked if pin.holds_in(environment)]
        assert len(here) == len(set(here)), environment


def test_the_wheel_is_tried_with_the_versions_that_the_tests_ran_with() -> None:
    tested = {(pin.name, pin.version, str(pin.marker)) for pin in pins("development.txt")}
    assert {(pin.name, pin.version) for pin in pins("runtime.txt")} <= {(name, version) for name, version, _ in tested}


@pytest.mark.parametrize("name", ["audit", "site"])
def test_a_tool_with_an_environment_of_its_own_is_the_one_that_is_asked_for(name: str) -> None:
    asked = [Requirement(line) for line in (LOCKS / f"{name}.in").read_text().splitlines() if line[:1] not in ("", "#")]
    there = {pin.name: pin.version for pin in pins(f"{name}.txt", f"{name}.in") if pin.direct}
    assert {canonicalize_name(one.name): str(one.specifier) for one in asked} == {
        name: f"=={version}" for name, version in there.items()
    }


def test_the_lab_asks_for_the_tool_and_the_tool_for_nothing_that_the_lab_alone_needs() -> None:
    assert PROJECT["name"] in LAB["dependencies"]
    assert LAB["version"] == tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    of_the_tool = {pin.name for pin in pins("runtime.txt")}
    assert of_the_tool.isdisjoint({"faker", "httpx", "starlette", "uvicorn", "uvloop", "watchfiles"})


def test_locks_name_no_place_to_get_packages_from() -> None:
    for path in LOCKS.iterdir():
        text = path.read_text()
        assert not re.search(r"://|--(extra-)?index-url|--find-links|--trusted-host| @ ", text), path


def test_uv_can_be_installed_alone_from_the_lock_with_its_hashes() -> None:
    sys.path.insert(0, str(ROOT / "supply"))
    from install import lines_of

    lines = lines_of("uv", (LOCKS / "development.txt").read_text()).splitlines()
    assert lines[0].startswith("uv==") and all(line.startswith((" ", "#")) for line in lines[1:])
    assert len([line for line in lines if HASH.search(line)]) > 5
    assert lines_of("v", "uv==1 \\\n    --hash=sha256:a\nuvloop==2\n") == ""
