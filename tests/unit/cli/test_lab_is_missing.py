"""Without the package plimsoll-lab, its commands say how to get it, and the rest of the tool does without."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any

import pytest

from plimsoll.cli import main
from plimsoll.cli.lab import installed_lab
from plimsoll.errors import InputError


class Lacks(MetaPathFinder):
    """Finds anything but one package, as where that is not installed."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> None:
        if name.partition(".")[0] == self.package:
            raise ModuleNotFoundError(f"No module named {self.package!r}", name=self.package)


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def lack(package: str) -> None:
        for name in [one for one in sys.modules if one.partition(".")[0] in (package, "plimsoll_lab")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(sys, "meta_path", [Lacks(package), *sys.meta_path])

    yield lack


@pytest.mark.parametrize("words", [["lab", "tracker"], ["lab", "--help"], ["lab"], ["demo"]])
def test_its_commands_say_how_to_install_it(
    words: list[str], without: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without("plimsoll_lab")
    monkeypatch.setattr(sys, "argv", ["plimsoll", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    told = " ".join(capsys.readouterr().err.split())
    assert ended.value.code == 2 and "plimsoll-lab, which is not installed" in told and "pip install ./lab" in told


def test_a_library_of_its_own_that_lacks_is_named(without: Any) -> None:
    without("argparse")
    with pytest.raises(InputError, match="it lacks argparse"):
        installed_lab()


def test_where_it_is_installed_it_has_what_the_tool_takes_of_it() -> None:
    lab = installed_lab()
    assert lab.TRACKER_STUDY.is_file() and 20_000 <= lab.free_port() < 32_000
    assert lab.command("tracker", "--port", 1)[-4:] == ["plimsoll_lab", "tracker", "--port", "1"]
    assert "tracker" in lab.parser().format_help()
