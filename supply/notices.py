"""THIRD-PARTY-NOTICES.txt: whose code is in the wheel and in the reports, under which licence, with its text.

    python supply/notices.py            write it (`make notices`)

Crates: the licence files of their sources, those of C code that they bring along (QuickJS, mimalloc, Zstandard)
among them. A crate without such a file gets the standard text of its licence with its authors. Texts that several
share stand once. JavaScript of the reports: report/javascript-notices.txt (`make notices-javascript`); of the live
page: ui/static/ (`make uplot`). Python
packages are not in the wheel; each has its own notices where it is installed.
"""

from __future__ import annotations

from pathlib import Path

from linked_crates import ROOT, Crate, linked_crates

NOTICES = ROOT / "THIRD-PARTY-NOTICES.txt"
JAVASCRIPT = ROOT / "python" / "plimsoll" / "report" / "javascript-notices.txt"
UPLOT = ROOT / "python" / "plimsoll" / "ui" / "static" / "uPlot.LICENSE.txt"
STANDARD = Path(__file__).with_name("licences")
RULE = "\n" + "-" * 100 + "\n"
NAMES = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
NOT_TAKEN = ("LICENSE-APACHE", "LICENSE_APACHE", "LICENSE-0BSD", "LICENSE-ZLIB", "LICENSE-BSD", "UNLICENSE")
# Parts of crates that are not compiled: pictures, and a runtime for another platform.
NOT_COMPILED = ("assets", "vendor/wasi-libc", "tests", "examples", "benches", "fuzz")
HEAD = """Plimsoll contains the software below. Its own licence is in the file LICENSE.

1. Crates that are compiled into the native module, with the C libraries that they bring along (QuickJS among them)
2. JavaScript that is in each report, and in the live page
3. The texts of the licences of part 1

Where a licence may be chosen and MIT is one of them, MIT is taken.
"""


def main() -> None:
    crates = linked_crates()
    NOTICES.write_text(notices(crates, javascript()), encoding="utf-8")
    print(f"{NOTICES.name}: {len(crates)} crates")


def javascript() -> str:
    """Whose JavaScript is in pages: vl-convert's packages in reports, uPlot in the live page."""
    reports, uplot = (path.read_text(encoding="utf-8").strip() for path in (JAVASCRIPT, UPLOT))
    return f"{reports}\n\n----\nThe charts of the live page are drawn by uPlot: MIT\n\n{uplot}"


def notices(crates: list[Crate], javascript: str) -> str:
    """The whole file."""
    numbers: dict[str, int] = {}  # of each text, whatever its line breaks
    texts: list[str] = []
    lines = []
    for crate in crates:
        places = []
        for name, text in licence_texts(crate).items():
            words = " ".join(text.split())
            if words not in numbers:
                numbers[words] = len(numbers) + 1
                texts.append(f"[{numbers[words]}]\n\n{text}")
            places.append(f"{name} [{numbers[words]}]")
        lines.append(f"{crate.name} {crate.version}: {crate.licence}; {', '.join(sorted(places))}")
    parts = {"CRATES": "\n".join(lines), "JAVASCRIPT OF THE PAGES": javascript.strip(), "TEXTS": RULE.join(texts)}
    titled = [f"{number}. {title}\n\n{text}\n" for number, (title, text) in enumerate(parts.items(), 1)]
    return RULE.join([HEAD, *titled])


def licence_texts(crate: Crate) -> dict[str, str]:
    """The texts of a crate by the names of their files; never empty."""
    found = {
        str(path.relative_to(crate.folder)): path.read_text(encoding="utf-8", errors="replace").strip()
        for path in sorted(crate.folder.rglob("*"))
        if path.is_file() and path.name.upper().startswith(NAMES) and path.suffix not in (".rs", ".c", ".h")
        if not str(path.relative_to(crate.folder)).startswith(NOT_COMPILED)
    }
    own = any("/" not in name for name in found)
    return _taken(crate, found) if own else _taken(crate, {**found, "standard text": _standard(crate)})


def _taken(crate: Crate, texts: dict[str, str]) -> dict[str, str]:
    """Without the licences that are not taken, where there is a choice: MIT if it is one of them, and never the GPL."""
    is_choice = " AND " not in crate.licence and any(word in crate.licence for word in (" OR ", "/"))
    has_mit = any("MIT" in name.upper() and "/" not in name for name in texts)
    left = {
        name: text
        for name, text in texts.items()
        if not text.startswith("GNU GENERAL PUBLIC LICENSE")
        if not (is_choice and has_mit and "/" not in name and name.upper().startswith(NOT_TAKEN))
    }
    return left or texts


def _standard(crate: Crate) -> str:
    """The standard text of the first licence to choose from that is kept here, with the crate's authors."""
    for choice in crate.licence.replace("/", " OR ").split(" OR "):
        kept = STANDARD / f"{choice.strip()}.txt"
        if kept.exists():
            holders = ", ".join(crate.authors) or f"the authors of {crate.name}"
            return f"Copyright (c) {holders}\n\n{kept.read_text(encoding='utf-8').strip()}"
    raise SystemExit(f"{crate.name} {crate.version} has no licence file; add supply/licences/{crate.licence}.txt")


if __name__ == "__main__":
    main()
