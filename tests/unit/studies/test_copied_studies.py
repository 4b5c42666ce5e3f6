"""A study's folder is whole: copied elsewhere, as somebody does who begins from it, its studies load."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from plimsoll.study import load_study

STUDIES = Path(__file__).parents[3] / "lab" / "studies"
STARTED_AFTER = {"clm-ldx": ["clm-gc"]}  # whose script is that of the other half of its report
FOLDERS = sorted(folder.name for folder in STUDIES.iterdir() if (folder / "study.yaml").exists())


def test_all_six_are_there() -> None:
    assert FOLDERS == ["clm-gc", "clm-ldx", "edx", "folio", "kiwi", "youtrack"]


@pytest.mark.parametrize("name", FOLDERS)
def test_a_copy_loads_and_names_nothing_outside_of_itself(name: str, tmp_path: Path) -> None:
    for folder in [name, *STARTED_AFTER.get(name, [])]:
        shutil.copytree(STUDIES / folder, tmp_path / folder, symlinks=True, ignore=shutil.ignore_patterns(".*"))
    studies = sorted((tmp_path / name).glob("*.yaml"))
    assert studies
    for path in studies:
        study = load_study(path)
        script = (path.parent / study.workload.script).resolve()
        assert script.is_file() and script.is_relative_to(tmp_path)
        start = (study.target.start or "").split()
        program = next(word for word in start if "=" not in word)
        assert (path.parent / program).is_file()
        assert f"../{STUDIES.name}" not in path.read_text()


@pytest.mark.parametrize("name", FOLDERS)
def test_each_says_in_sentences_what_it_cannot_decide(name: str) -> None:
    said = load_study(STUDIES / name / "study.yaml").cannot_decide
    assert len(said) >= 3 and all(text[0].isupper() and text.endswith(".") for text in said), said
