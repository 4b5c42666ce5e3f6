"""Words to a run that goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.runs.control import CONTROL, Listener, Word, newest, tell
from plimsoll.runs.writer import RunFacts, RunWriter


def writer(folder: Path, experiment: str = "run") -> RunWriter:
    return RunWriter.create(folder, RunFacts(experiment, level_unit="multiple"), tables=False)


def test_a_word_is_heard_once_and_answered(tmp_path: Path) -> None:
    with writer(tmp_path) as run:
        listener = Listener(run.path)
        assert list(listener.words()) == []
        heard: list[Word] = []

        def answer(_: float) -> None:
            for word in listener.words():
                heard.append(word)
                run.append_event("control", id=word.id, answer="done")

        assert tell(run.path, "level", 2.5, sleep=answer)["answer"] == "done"
        assert tell(run.path, "pause", sleep=answer)["answer"] == "done"
        assert [(word.verb, word.level) for word in heard] == [("level", 2.5), ("pause", None)]
        assert list(listener.words()) == []


@pytest.mark.parametrize(
    "line", ['{"id": "1", "verb": "fly"}', '{"id": "1", "verb": "level"}', '{"id": "1", "verb": "level", "level": -1}',
             '{"verb": "stop"}', "[]", "no json", '{"id": "1", "verb": "stop", "level": "x"}'],
)  # fmt: skip
def test_a_line_that_is_no_word_is_passed_over_and_a_torn_one_waits(tmp_path: Path, line: str) -> None:
    (tmp_path / CONTROL).write_text(line + '\n{"id": "2", "verb": "stop"}\n{"id": "3", "verb"')
    listener = Listener(tmp_path)
    assert list(listener.words()) == [Word("2", "stop")]
    with (tmp_path / CONTROL).open("a") as file:
        file.write(': "resume"}\n')
    assert list(listener.words()) == [Word("3", "resume")]


def test_who_is_not_there_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run directory"):
        tell(tmp_path, "pause")
    with writer(tmp_path) as run:
        with pytest.raises(InputError, match="did not answer within 0 s"):
            tell(run.path, "pause", within_s=0)
        with pytest.raises(InputError, match="ended before it heard"):
            tell(run.path, "pause", sleep=lambda _: run.finish())
    with pytest.raises(InputError, match="has ended"):
        tell(run.path, "pause")
    assert [json.loads(line)["verb"] for line in (run.path / CONTROL).read_text().splitlines()] == ["pause", "pause"]
    with writer(tmp_path, "capacity") as search, pytest.raises(InputError, match="plimsoll capacity"):
        tell(search.path, "pause")


def test_of_a_folder_the_newest_run_that_goes_on_is_meant_and_else_the_newest(tmp_path: Path) -> None:
    with writer(tmp_path) as going_on:
        ended = writer(tmp_path, "analyze")
        ended.finish()
        assert newest(tmp_path) == going_on.path
        going_on.finish()
    assert newest(tmp_path) == ended.path
