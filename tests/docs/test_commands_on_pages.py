"""Commands that pages show are commands that there are, with flags that they have; studies on new pages load.

What they answer is looked at elsewhere: the tutorial is executed by tests/integration/capacity/test_tutorial.py.
"""

from __future__ import annotations

import re
import textwrap
from functools import cache
from pathlib import Path

import pytest
import yaml
from certificates import self_signed
from markdown_pages import PAGES, ROOT, fences

from plimsoll.cli.reference import reference
from plimsoll.study import load_study

# Decisions and the changelog tell of commands as they were.
READ = [page for page in PAGES if "decisions" not in page.parts and page.name != "CHANGELOG.md"]
STUDIES = ("docs/remote-targets.md", "docs/coming-from-locust.md", "docs/study.md")
FLAG = re.compile(r"(?<!\S)--?[A-Za-z][\w-]*")


@cache
def flags() -> dict[str, set[str]]:
    """Each command with the flags that the reference has of it."""
    parts = re.split(r"^## plimsoll ", reference(), flags=re.MULTILINE)[1:]
    found = {}
    for part in parts:
        rows = [line for line in part.splitlines() if line.startswith("| `-")]
        found[part.splitlines()[0].strip()] = {
            flag for row in rows for flag in re.findall(r"(?<![\w-])/?(--?[A-Za-z][\w-]*)", row.split("|")[1])
        } | {"--help"}
    return found


def commands(text: str) -> list[str]:
    """The lines of a page's code that call plimsoll, without what is said behind them."""
    shown = [
        line for language, _, code in fences(text) if language in ("", "console", "sh") for line in code.splitlines()
    ]
    shown += [line[4:] for line in text.splitlines() if line.startswith("    ")]
    shown += re.findall(r"`(plimsoll [a-z][^`\n]*)`", text)
    lines = (re.sub(r"^\$ ", "", line.strip()) for line in shown)
    return [re.split(r" {3,}| # | \| |; |: ", line)[0] for line in lines if re.match(r"plimsoll [a-z]", line)]


def mistakes(line: str) -> list[str]:
    """What there is not of a line's command and flags; what stands in quotes is the reader's."""
    words = re.sub(r"\"[^\"]*\"|'[^']*'", "TEXT", line).split()[1:]
    named = next((name for name in (" ".join(words[:2]), words[0]) if name in flags()), None)
    if named is None:
        of_several = any(name.startswith(f"{words[0]} ") for name in flags())
        return [] if of_several or not re.fullmatch(r"[a-z]+", words[0]) else [f"no command {words[0]}"]
    return [flag for flag in FLAG.findall(" ".join(words)) if flag not in flags()[named]]


@pytest.mark.parametrize("page", READ, ids=[str(page.relative_to(ROOT)) for page in READ])
def test_commands_on_a_page_are_there_with_their_flags(page: Path) -> None:
    found = {line: wrong for line in commands(page.read_text(encoding="utf-8")) if (wrong := mistakes(line))}
    assert found == {}


def test_there_are_commands_to_look_at_and_mistakes_are_seen() -> None:
    assert sum(len(commands(page.read_text(encoding="utf-8"))) for page in READ) > 100
    assert mistakes("plimsoll capacity s.js --for 1m -e A=--no --nope") == ["--nope"]
    assert mistakes("plimsoll capacty s.js") == ["no command capacty"]
    assert mistakes("plimsoll runs show latest --details") == []


@pytest.mark.parametrize("name", STUDIES)
def test_whole_studies_on_a_page_load(name: str, tmp_path: Path) -> None:
    whole = [code for language, _, code in fences((ROOT / name).read_text(encoding="utf-8")) if "\nworkload:" in code]
    assert whole
    for place, code in enumerate(whole):
        study = tmp_path / f"{place}.yaml"
        study.write_text(textwrap.dedent(code), encoding="utf-8")
        script = re.search(r"script: (\S+)", code)
        assert script is not None
        names = re.findall(r"exec: (\w+)", code)
        (tmp_path / script[1]).write_text("".join(f"export function {one}() {{}}\n" for one in names))
        load_study(study)


def test_parts_of_studies_on_the_page_of_remote_targets_fit_into_a_study(tmp_path: Path) -> None:
    (tmp_path / "script.js").write_text("export function view() {}\n")
    self_signed(tmp_path, "kubelet-ca")
    least = {
        "target": {"url": "http://10.0.0.7:8080"},
        "workload": {"script": "script.js", "operations": [{"name": "view", "exec": "view", "per_user_hour": 60}]},
    }
    page = (ROOT / "docs" / "remote-targets.md").read_text(encoding="utf-8")
    parts = [
        yaml.safe_load(code) for language, _, code in fences(page) if language == "yaml" and "workload:" not in code
    ]
    assert len(parts) == 3
    for part in parts:
        study = tmp_path / "study.yaml"
        study.write_text(yaml.safe_dump({**least, **part}), encoding="utf-8")
        load_study(study)
