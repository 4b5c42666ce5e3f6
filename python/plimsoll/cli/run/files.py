"""The files that `plimsoll run` would write: each its own, and none that it reads or that a run directory holds.

Two outputs into one file mix their lines, and an output over the script leaves neither. Paths are compared by what they
lead to, through links. Devices and pipes take what they are given and are not compared.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.cli.run.flags import FlagError
from plimsoll.runs.kept.catalogue import run_whose_file
from plimsoll.written_files import is_own_descriptor

if TYPE_CHECKING:
    from plimsoll.engine import EngineConfig

_STANDARD_OUTPUT = "-"


def check_written_files(config: EngineConfig, run: Mapping[str, Any], config_file: Path | None) -> None:
    """Raises FlagError, which names both, for an output onto another one, onto a file that is read, or onto one of a
    run directory."""
    taken = {place: words for path, words in _read(config, run, config_file) if (place := _place(path)) is not None}
    for path, words in _written(config, run):
        place = _place(path)
        if place is None:
            continue
        if place in taken:
            raise FlagError(f"{words} and {taken[place]} are the same file", "Give another name.")
        taken[place] = words
        of_run = run_whose_file(Path(path))
        if of_run is not None:
            raise FlagError(f"{words} is a file of the run directory {of_run}", "Give another name.")


def _read(config: EngineConfig, run: Mapping[str, Any], config_file: Path | None) -> Iterator[tuple[str, str]]:
    """The files that the run reads, as far as flags name them, each with its words for a message."""
    if config.script is not None:
        yield str(config.script), f"the script {config.script}"
    if config.import_map is not None:
        yield str(config.import_map), f"--import-map {config.import_map}"
    if config_file is not None:
        yield str(config_file), f"--config {config_file}"
    for flag in run.get("secretSource") or ():
        kind, _, settings = flag.partition("=")
        for part in settings.split(",") if kind == "file" else ():
            name, equals, path = part.partition("=")
            if part and (not equals or name == "filename"):
                yield path or part, f"--secret-source file={path or part}"


def _written(config: EngineConfig, run: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for kind, path in config.outputs:
        yield path, f"--out {kind}={path}"
    if config.console_output is not None:
        yield str(config.console_output), f"--console-output {config.console_output}"
    if run.get("summaryExport"):
        yield run["summaryExport"], f"--summary-export {run['summaryExport']}"


def _place(path: str) -> Hashable | None:
    """What two paths to one file have in common; None for what is no file."""
    if path == _STANDARD_OUTPUT:
        return path
    try:
        if is_own_descriptor(Path(path)):
            return _STANDARD_OUTPUT if path in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1") else None
        about = os.stat(path)
    except FileNotFoundError:
        return os.path.realpath(path)
    except (OSError, ValueError):  # a name that no file can have: told where it is opened
        return None
    return (about.st_dev, about.st_ino) if stat.S_ISREG(about.st_mode) else None
