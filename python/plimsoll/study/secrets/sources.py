"""The values of k6's `--secret-source`, read as the engine reads them (crates/script/src/secrets.rs):
`mock=name=value,…` and `file=path` of `name=value` lines. A source that cannot be read is the engine's to refuse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

MOST_BYTES = 16 << 20
_SETTINGS = ("name", "filename")


def values_of_sources(flags: Iterable[str]) -> list[str]:
    """The secrets that these flags state."""
    return [value for flag in flags for value in _values_of(flag)]


def _values_of(flag: str) -> Iterator[str]:
    kind, _, settings = flag.partition("=")
    parts = [part for part in settings.split(",") if part]
    if kind == "file":
        for part in parts:
            name, equals, path = part.partition("=")
            if not equals or name == "filename":
                yield from _in_file(Path(path if equals else part))
        return
    for part in parts:
        name, equals, value = part.partition("=")
        if equals and name not in _SETTINGS:
            yield value
        elif not equals and part != "default":  # a value whose name was forgotten
            yield part


def name_given_twice(flag: str) -> str | None:
    """The first name to which `mock=name=value,…` gives two values."""
    kind, _, settings = flag.partition("=")
    names = [part.partition("=")[0] for part in settings.split(",") if "=" in part] if kind == "mock" else []
    return next((name for place, name in enumerate(names) if name in names[:place]), None)


def _in_file(path: Path) -> Iterator[str]:
    with suppress(OSError):
        if path.is_file():
            with path.open(encoding="utf-8", errors="replace") as file:
                for line in file.read(MOST_BYTES).splitlines():
                    yield line.partition("=")[2]
