"""Makes lab/docs/conclusions.md from the tables of the studies' READMEs: `python lab/docs/conclusions_page.py`.

Each study's README has one table of what its authors say, with four columns: the author says, line, from the author's
data, mark. The mark may be followed by what our lab measured.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

LAB = Path(__file__).parents[1]
STUDIES = ("youtrack", "folio", "edx", "kiwi", "clm-gc", "clm-ldx")
HEAD = (
    "# What the field reports' authors say, conclusion by conclusion\n\n"
    "Made by `make docs` from the tables of the studies' READMEs; a test compares the two. Beside each conclusion: the "
    "report's lines, what follows from its own printed figures, the mark, and what our lab measured (“–”: nothing, as "
    "the figures alone decide, or as it is no matter of measuring). The conclusions that each report was written for, "
    "and whether the answers repeat: [field-reports.md](field-reports.md).\n\n"
)
COLUMNS = "| the author says | line | from the author's figures | mark | from our lab |\n|---|---|---|---|---|\n"
_BEGINS = re.compile(r"^\| the author(?: says)? \| line \|")
_LAB = re.compile(r"[;:,.] (?:our lab(?::| differs:|, | does not)|(?:this is |which is |but )?not measured by the lab)")


@dataclass(frozen=True)
class Conclusion:
    """A row of a README; `lab` is empty where it says nothing of ours."""

    says: str
    line: str
    figures: str
    mark: str
    lab: str


def conclusions_of(readme: str) -> list[Conclusion]:
    """The rows of its table. ValueError without one, or for a row of another shape."""
    lines = readme.splitlines()
    first = next((at for at, line in enumerate(lines) if _BEGINS.match(line)), None)
    if first is None:
        raise ValueError("it has no table that begins with: | the author says | line |")
    found = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if len(cells) not in (3, 4):
            raise ValueError(f"not three or four cells: {line}")
        says, where, *rest = cells
        found.append(_conclusion(says, where, rest))
    return found


def _conclusion(says: str, where: str, rest: list[str]) -> Conclusion:
    """`rest`: figures and mark, or the mark with its reason alone."""
    figures, mark = rest if len(rest) == 2 else ("", rest[0])
    split = _LAB.search(mark)
    if split is None:
        return Conclusion(says, where, figures, mark, "")
    lab = mark[split.start() + 2 :].removeprefix("our lab").lstrip(":, ")
    return Conclusion(says, where, figures, mark[: split.start()], lab)


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for study in STUDIES:
        rows = conclusions_of((LAB / "studies" / study / "README.md").read_text(encoding="utf-8"))
        parts.append(f"## [{study}](../studies/{study}/README.md)\n\n{COLUMNS}")
        for one in rows:
            cells = (one.says, one.line, one.figures or "–", one.mark, one.lab or "–")
            parts.append("| " + " | ".join(_linked(cell) for cell in cells) + " |\n")
        parts.append("\n")
    return "".join(parts).rstrip("\n") + "\n"


def _linked(cell: str) -> str:
    """Links of a README, from the page."""
    return re.sub(r"\]\((?:\.\./\.\./docs/)?([\w-]+\.md)\)", r"](\1)", cell)


if __name__ == "__main__":
    print(page(), end="")
