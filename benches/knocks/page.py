"""The table of docs/reliability.md, made of what is kept of each knock."""

from __future__ import annotations

from pathlib import Path
from typing import Any

BEGIN, END = "<!-- made by `make knocks`: -->", "<!-- end of what `make knocks` makes -->"
MOST_BROKEN = 12


def write(page: Path, kept: dict[str, dict[str, Any]], machine: str) -> None:
    """Puts the table in place of the old one."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{table(kept, machine)}\n{END}{after}", encoding="utf-8")


def table(kept: dict[str, dict[str, Any]], machine: str) -> str:
    """The table, and below it what did not hold."""
    lines = [f"On {machine}.", "", "| knock | what is promised | tried | held | most that was seen | made |",
             "|---|---|---|---|---|---|"]  # fmt: skip
    for name, one in kept.items():
        most = "; ".join(f"{value:,.3g} {unit}" for unit, value in one["measured"].items()) or "–"
        tried = f"{one['tried']:,}" + (f"; some not: {one['skipped']}" if one["skipped"] else "")
        lines.append(
            f"| {name} | {one['promised']} | {tried} | {one['held']:,} | {most} | {one['day']}, {one['revision']} |"
        )
    broken = {name: one["broken"] for name, one in kept.items() if one["broken"]}
    if broken:
        lines += ["", "What did not hold:", ""]
        for name, cases in broken.items():
            lines += [f"- {name}: {case}" for case in cases[:MOST_BROKEN]]
            lines += [f"- {name}: {len(cases) - MOST_BROKEN} more"] if len(cases) > MOST_BROKEN else []
    return "\n".join(lines) + "\n"
