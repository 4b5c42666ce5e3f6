"""All formats, in the order in which they are tried; a file is recognised by what it holds, never by its name."""

from __future__ import annotations

from plimsoll.errors import InputError
from plimsoll.runs.importers import jtl_csv, level_table
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import Format

FORMATS: tuple[Format, ...] = (jtl_csv.FORMAT, level_table.FORMAT)


def format_of(file: SourceFile, name: str | None = None) -> Format:
    """The format of that name, else the one that its content shows. InputError if it is none of them."""
    if name is not None:
        return format_named(name)
    head = file.head().decode("utf-8-sig", errors="replace")
    found = next((one for one in FORMATS if one.looks_like(head)), None)
    if found is None:
        begin = head.split("\n", 1)[0][:60]
        step = f"Known: {', '.join(one.title for one in FORMATS)}. Force one with --format ({_names()})."
        raise InputError(f"no known tool writes this; it begins with {begin!r}", step, file=file.path)
    return found


def format_named(name: str) -> Format:
    """The format of that name; InputError otherwise."""
    for one in FORMATS:
        if one.name == name:
            return one
    raise InputError(f"--format {name} is not known", f"Use one of {_names()}.")


def _names() -> str:
    return ", ".join(one.name for one in FORMATS)
