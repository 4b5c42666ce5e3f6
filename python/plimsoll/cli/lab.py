"""`plimsoll lab NAME`: a reference target to try everything on, where the package plimsoll-lab is installed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, cast

import typer


class Lab(Protocol):
    """What the tool takes of the lab: plimsoll_lab/for_plimsoll.py."""

    TRACKER_STUDY: Path

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Serve the target that `argv` names; returns the exit code."""

    def parser(self) -> argparse.ArgumentParser:
        """The command line of every target."""

    def command(self, target: str, *options: object) -> list[str]:
        """The command that serves a target as a process of its own."""

    def free_port(self) -> int:
        """A free port of loopback."""


def installed_lab() -> Lab:
    """The lab; InputError where it is not installed. It is found by name, as the tool must not depend on it."""
    from importlib import import_module

    from plimsoll.errors import InputError

    try:
        return cast(Lab, import_module("plimsoll_lab.for_plimsoll"))
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "plimsoll":
            raise
        what = "the lab, with its targets and the demo, is a package of its own, plimsoll-lab"
        lacking = "which is not installed" if error.name == "plimsoll_lab" else f"and it lacks {error.name}"
        raise InputError(f"{what}, {lacking}", "In a checkout of Plimsoll: pip install ./lab") from error


def lab(context: typer.Context) -> None:
    """Serve a reference target, such as the issue tracker: plimsoll lab tracker --help."""
    raise typer.Exit(installed_lab().main(context.args))
