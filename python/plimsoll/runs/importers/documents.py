"""JSON documents of summaries: reading one, and numbers out of it that are really numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.runs import quick_json
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import BadRecord


def document(file: SourceFile) -> dict[str, Any]:
    """The JSON object that the file is. InputError if it is cut or none."""
    try:
        data = quick_json.loads(file.whole_text())
    except ValueError as error:
        line = getattr(error, "lineno", None)
        step = "It may be cut: export it again."
        raise file.error(BadRecord(f"this is no whole JSON ({error})", None, step), line) from error
    if not isinstance(data, dict):
        raise file.error(BadRecord("this is no JSON object"))
    return data


def number(file: SourceFile, data: Any, *path: str, least: float = 0.0) -> float | None:
    """The number at that path, None where there is none. InputError for NaN, text or a number below `least`."""
    for key in path:
        data = data.get(key) if isinstance(data, Mapping) else None
    if data is None:
        return None
    is_number = isinstance(data, int | float) and not isinstance(data, bool)
    if not is_number or not least <= data <= 1e15:
        raise file.error(BadRecord(f"{data!r} is no number that can be", ".".join(path), "Export it again."))
    return float(data)


def needed(file: SourceFile, data: Any, *path: str) -> float:
    """As `number`; InputError where it is missing."""
    found = number(file, data, *path)
    if found is None:
        raise file.error(BadRecord("it is missing", ".".join(path), "Is this the whole file?"))
    return found


def exact(**times_ms: float | None) -> dict[str, tuple[float, float]]:
    """Statistics that a source states exactly, as a row of a step table holds them."""
    return {name: (value, value) for name, value in times_ms.items() if value is not None}
