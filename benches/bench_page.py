"""docs/bench.md, made of the tables that the benches keep in docs/bench/, each with its command, machine and day."""

from __future__ import annotations

import json
import os
import platform
import time
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
KEPT = DOCS / "bench"
ORDER = ["get", "script", "outputs", "rate", "threads", "scale"]


def keep(
    name: str, title: str, command: str, how: str, columns: list[str], rows: list[list[str]], versions: dict[str, str]
) -> None:
    """Keeps a table in place of the one of the same name, and writes the page anew."""
    table = {
        "title": title,
        "command": command,
        "how": how,
        "columns": columns,
        "rows": rows,
        "day": time.strftime("%Y-%m-%d"),
        "machine": machine(),
        "versions": versions,
    }
    KEPT.mkdir(exist_ok=True)
    (KEPT / f"{name}.json").write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n")
    write_page()


def rows_of(name: str) -> dict[str, list[str]]:
    """The rows of a kept table by their first column; none if there is no such table."""
    path = KEPT / f"{name}.json"
    return {row[0]: row for row in json.loads(path.read_text())["rows"]} if path.exists() else {}


def machine() -> str:
    """Processor, cores and kernel."""
    facts = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":", 1)[1].strip() for line in facts if line.startswith("model name")), platform.machine())
    kind = ", virtual" if any(line.startswith("flags") and "hypervisor" in line for line in facts) else ""
    return f"{os.cpu_count()} cores of {model}{kind}, Linux {platform.release()}, Python {platform.python_version()}"


def write_page() -> None:
    parts = [
        "# Measured beside its peers\n",
        "Made by `make bench` and `make bench-scale`, which measure afresh on your machine and rewrite this page.",
        "Compare within a table: all of it was measured in one run, round by round, each tool in turn. Across machines",
        "and days only ratios hold. ± is the median absolute deviation over the rounds, in brackets is the range.\n",
    ]
    for name in ORDER:
        path = KEPT / f"{name}.json"
        if path.exists():
            parts += [section(json.loads(path.read_text()))]
    (DOCS / "bench.md").write_text("\n".join(parts))


def section(table: dict[str, Any]) -> str:
    tools = ", ".join(f"{name} {version}" for name, version in table["versions"].items())
    where = f"`{table['command']}`, {table['day']}, {table['machine']}. {tools}."
    lines = [f"## {table['title']}\n", f"{where}\n", table["how"], ""]
    lines += [row_text(table["columns"]), row_text(["---"] * len(table["columns"]))]
    lines += [row_text(row) for row in table["rows"]]
    return "\n".join([*lines, ""])


def row_text(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
