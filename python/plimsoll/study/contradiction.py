"""A contradiction in a study, and what those who look for them share: places as keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Contradiction:
    """A mistake at `path` (keys and list positions from the root of the file)."""

    path: KeyPath
    what: str
    next_step: str

    @property
    def key(self) -> str:
        return dotted(self.path)


def dotted(path: KeyPath) -> str:
    """("workload", "operations", 0, "name") → "workload.operations[0].name"."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def entries(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Position and mapping of each mapping of a list."""
    for position, item in enumerate(value if isinstance(value, list) else []):
        if isinstance(item, dict):
            yield position, item


def parts_of(data: dict[str, Any]) -> list[str]:
    """Names of the workload's operations or groups."""
    workload = mapping(data.get("workload"))
    parts = [*entries(workload.get("operations")), *entries(workload.get("groups"))]
    return [str(item["name"]) for _, item in parts if item.get("name")]
