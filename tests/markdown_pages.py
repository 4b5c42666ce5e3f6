"""The pages of the repository as text: what is prose in them, their fences, their links and their anchors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "lab/*.md", "lab/docs/*.md", "lab/studies/*/README.md", "benches/**/*.md")
    for path in ROOT.glob(pattern)
)
FENCE = re.compile(r"^( *)```(\w*)([^\n]*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]*(?:\([^()]*\)[^()\s]*)*)(?: \"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.MULTILINE)
ABBREVIATIONS = re.compile(r"\b(e\.g|i\.e|vs|etc|Fig|No)\.")


def fences(text: str) -> list[tuple[str, str, str]]:
    """Language, what stands behind it (a title), and the lines of each block of code."""
    return [(match[2], match[3].strip(), match[4]) for match in FENCE.finditer(text)]


def sentences(text: str) -> list[str]:
    """The sentences of a page, without code, tables, headings and addresses; a line of a list stands for itself."""
    return [sentence for paragraph in _paragraphs(text) for sentence in _sentences(paragraph)]


def words(sentence: str) -> int:
    """How many words it has; a piece of code is one."""
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def links(text: str) -> list[str]:
    """Where the page's links lead to, those in code left out."""
    return [match[2] for match in LINK.finditer(CODE.sub("``", FENCE.sub("", text)))]


def anchors(text: str) -> set[str]:
    """The names that headings have as anchors."""
    names: set[str] = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        plain = LINK.sub(lambda match: match[1], heading).replace("`", "").lower()
        names.add(re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", plain)))
    return names


def _paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in [*FENCE.sub("\n\n", text).splitlines(), ""]:
        begins = re.match(r"\s*(?:[-*]|\d+\.) +(.*)", line)
        apart = not line.strip() or line.lstrip().startswith(("|", "#", "<", "---")) or line.startswith("    ")
        if (begins or apart) and lines:
            yield " ".join(lines)
            lines = []
        if begins or not apart:
            lines.append(begins[1] if begins else line.strip())


def _sentences(paragraph: str) -> list[str]:
    plain = LINK.sub(lambda match: match[1], CODE.sub("code", paragraph)).replace("*", "")
    plain = ABBREVIATIONS.sub(lambda match: match[1], plain)
    return [part for part in re.split(r"(?<=[.!?])[\"”)]*\s+", plain) if part]
