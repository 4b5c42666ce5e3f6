"""What `plimsoll lab` and `plimsoll demo` take of this package, and nothing else of it."""

from __future__ import annotations

from pathlib import Path

from plimsoll.own_programs import command as own_program
from plimsoll_lab.__main__ import main, parser
from plimsoll_lab.ports import free_port

__all__ = ["TRACKER_STUDY", "command", "free_port", "main", "parser"]

TRACKER_STUDY = Path(__file__).parent / "tracker" / "load" / "study.yaml"


def command(target: str, *options: object) -> list[str]:
    """The command that serves a target as a process of its own."""
    return own_program("plimsoll_lab", target, *options)
