"""Tags and notes of a run, from Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_trend import write

import plimsoll
from plimsoll.errors import InputError
from plimsoll.runs.kept.labels import notes_of, tags_of


def test_a_text_is_one_tag_and_a_run_is_named_as_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen: the tags "s", "l", "o", "w" of "slow"."""
    run = write(tmp_path / "runs", 1, 100.0)
    monkeypatch.chdir(tmp_path)
    assert plimsoll.tag_run(run, "slow") == ("slow",) == tags_of(run)
    assert plimsoll.tag_run("latest", ["a", "b", "a"]) == ("a", "b")
    plimsoll.note_run("0001", "after the index")
    assert [one["text"] for one in notes_of(run)] == ["after the index"]


@pytest.mark.parametrize("wrong", [[1], [b"x"], b"x"])
def test_what_is_no_text_is_refused(tmp_path: Path, wrong: Any) -> None:
    run = write(tmp_path, 1, 100.0)
    with pytest.raises(InputError, match="a tag is no text"):
        plimsoll.tag_run(run, wrong)
    with pytest.raises(InputError, match="the note is no text"):
        plimsoll.note_run(run, wrong)
    assert tags_of(run) == ()
