"""Makes docs/k6-compatibility.md from the tables beside this file: `python docs/k6-surface/compatibility_page.py`.

`names.toml` lists every name of k6's surface by section; the other files hold an entry per name that was looked at.
A name without an entry is not yet supported. `mistakes` says what does not fit together.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
STATES = ("supported", "differs", "not yet")
HEAD = """# k6 compatibility, name by name

Made by `make docs` from [k6-surface](k6-surface/); a test compares the two and every test named here exists. How whole
features differ is in [k6.md](k6.md).

"""


@dataclass(frozen=True)
class Entry:
    """What is known of a name; `how` says in a sentence what differs or is missing."""

    name: str
    state: str = "not yet"
    how: str = ""
    test: str = ""


@dataclass(frozen=True)
class Section:
    """A module or another part of the surface: its names in the order of names.toml, and the entries of its files."""

    title: str
    names: tuple[str, ...]
    entries: tuple[Entry, ...]

    def entry(self, name: str) -> Entry:
        return next((entry for entry in self.entries if entry.name == name), Entry(name))

    def count(self, *states: str) -> int:
        return sum(self.entry(name).state in states for name in self.names)


def sections(folder: Path = FOLDER) -> list[Section]:
    """The surface with what is known of it."""
    rows = tomllib.loads((folder / "names.toml").read_text(encoding="utf-8"))["section"]
    return [
        Section(
            row["title"], tuple(row["names"]), tuple(entry for file in row["files"] for entry in _entries(folder, file))
        )
        for row in rows
    ]


def _entries(folder: Path, file: str) -> list[Entry]:
    path = folder / f"{file}.toml"
    rows = tomllib.loads(path.read_text(encoding="utf-8")).get("name", []) if path.exists() else []
    return [Entry(**row) for row in rows]


def mistakes(found: list[Section], root: Path = ROOT) -> list[str]:
    """Entries that fit no name, come twice, have no such state, lack their sentence or name a test that is nowhere."""
    said = []
    for section in found:
        names = [entry.name for entry in section.entries]
        said += [
            f"{section.title}: '{name}' is no name of it in names.toml" for name in names if name not in section.names
        ]
        said += [
            f"{section.title}: '{name}' has two entries" for name in sorted({n for n in names if names.count(n) > 1})
        ]
        for entry in section.entries:
            place = f"{section.title}: '{entry.name}'"
            if entry.state not in STATES:
                said.append(f"{place}: '{entry.state}' is no state; use one of {', '.join(STATES)}")
            if entry.state == "differs" and not entry.how:
                said.append(f"{place}: differs, but 'how' is empty")
            if entry.state != "not yet" and not entry.test:
                said.append(f"{place}: no test shows it")
            if entry.test and not _test_exists(root, entry.test):
                said.append(f"{place}: there is no test {entry.test}")
    listed = {file for row in _section_files() for file in row} | {"names"}
    said += [f"{path.name} belongs to no section" for path in sorted(FOLDER.glob("*.toml")) if path.stem not in listed]
    return said


def _section_files() -> list[list[str]]:
    return [row["files"] for row in tomllib.loads((FOLDER / "names.toml").read_text(encoding="utf-8"))["section"]]


def _test_exists(root: Path, test: str) -> bool:
    """`path::function` of a Python test, or `path::module::function` of a Rust one."""
    path, _, name = test.partition("::")
    file = root / path
    function = name.rpartition("::")[2].partition("[")[0]
    return (
        file.is_file()
        and re.search(rf"\b(?:def|fn) {re.escape(function)}\(", file.read_text(encoding="utf-8")) is not None
    )


def page(found: list[Section]) -> str:
    """The whole page as Markdown."""
    lines = [HEAD + _totals(found)]
    for section in found:
        lines += [f"## {section.title}", "", "| name | state | how | test |", "|---|---|---|---|"]
        for name in section.names:
            entry = section.entry(name)
            test = f"`{entry.test}`" if entry.test else ""
            lines.append(f"| `{_cell(name)}` | {entry.state} | {_cell(entry.how)} | {_cell(test)} |")
        lines.append("")
    return "\n".join(lines)


def _totals(found: list[Section]) -> str:
    rows = [(section.title, len(section.names), *(section.count(state) for state in STATES)) for section in found]
    total = ("**all**", *(sum(row[column] for row in rows) for column in range(1, 5)))
    lines = ["| | names | supported | differs | not yet | there |", "|---|---:|---:|---:|---:|---:|"]
    for title, names, supported, differs, missing in [total, *rows]:
        there = f"{100 * (supported + differs) / names:.0f}%"
        lines.append(f"| {title} | {names} | {supported} | {differs} | {missing} | {there} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    print(page(sections()), end="")
