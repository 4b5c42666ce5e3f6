"""JSON documents of summaries: reading one, and numbers out of it that are really numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.errors import InputError, InputErrors
from plimsoll.runs.format import quick_json
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.order_of_times import Stated, check_order
from plimsoll.runs.importers.source import BadRecord
from plimsoll.runs.readings.step_table import Bounds


def document(file: SourceFile) -> dict[str, Any]:
    """The JSON object that the file is. InputError if it is cut, nested too deeply or none."""
    try:
        data = quick_json.loads(file.whole_text())
    except ValueError as error:
        line = getattr(error, "lineno", None)
        step = "It may be cut: export it again."
        if isinstance(error, quick_json.NestedTooDeeply):
            step = "No tool nests its summary so: give the file that the tool itself wrote."
        raise file.error(BadRecord(f"this is no whole JSON ({error})", None, step), line) from error
    if not isinstance(data, dict):
        raise file.error(BadRecord("this is no JSON object"))
    return data


def number(file: SourceFile, data: Any, *path: str, most: float = 1e15) -> float | None:
    """The number at that path, None where there is none. InputError for NaN, text, or a number below 0 or above
    `most`."""
    for place, key in enumerate(path):
        if data is not None and not isinstance(data, Mapping):
            raise file.error(BadRecord(f"{repr(data)[:40]} is no object", ".".join(path[:place]), "Export it again."))
        data = data.get(key) if data is not None else None
    if data is None:
        return None
    is_number = isinstance(data, int | float) and not isinstance(data, bool)
    if not is_number or not 0 <= data <= most:
        raise file.error(BadRecord(f"{repr(data)[:40]} is no number that can be", ".".join(path), "Export it again."))
    return float(data)


class Numbers:
    """Numbers out of a document whose mistakes are gathered, and raised together."""

    def __init__(self, file: SourceFile) -> None:
        self._file = file
        self._mistakes: list[InputError] = []

    def of(self, data: Any, *path: str, most: float = 1e15) -> float | None:
        """As `number`; None for what is no number that can be, which is a mistake."""
        try:
            return number(self._file, data, *path, most=most)
        except InputError as mistake:
            self.mistake(mistake)
            return None

    def refuse(self, problems: Iterable[BadRecord]) -> None:
        """More mistakes."""
        self._mistakes += map(self._file.error, problems)

    def mistake(self, error: InputError) -> None:
        """One more mistake, unless it is known."""
        if str(error) not in map(str, self._mistakes):
            self._mistakes.append(error)

    def raise_mistakes(self) -> None:
        """InputErrors if there is any, InputError for one."""
        if self._mistakes:
            raise InputErrors.of(self._mistakes)


def needed(file: SourceFile, data: Any, *path: str) -> float:
    """As `number`; InputError where it is missing."""
    found = number(file, data, *path)
    if found is None:
        raise file.error(BadRecord("it is missing", ".".join(path), "Is this the whole file?"))
    return found


def exact(file: SourceFile, data: Any, keys: Mapping[str, tuple[str, ...]], unit_ms: float = 1.0) -> dict[str, Bounds]:
    """Statistics that a source states exactly at these paths, in units of `unit_ms`, as a row of a step table holds
    them. InputError for what is no number, and for statistics that cannot be of the same times."""
    found = {name: value for name, path in keys.items() if (value := number(file, data, *path)) is not None}
    try:
        check_order({name: Stated(".".join(keys[name]), f"{found[name]:g}", found[name] * unit_ms) for name in found})
    except BadRecord as problem:
        raise file.error(problem) from problem
    return {name: (value * unit_ms, value * unit_ms) for name, value in found.items()}
