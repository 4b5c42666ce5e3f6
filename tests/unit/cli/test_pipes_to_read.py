"""Pipes among what is read: a writer that is waited for is told, and what reads more than once refuses a pipe."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

import plimsoll
from plimsoll.cli.run.secret_pipes import without_pipe
from plimsoll.errors import InputError
from plimsoll.runs.format.small_files import read_small
from plimsoll.study.secrets.sources import values_of_sources


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def writer(pipe: Path, text: str) -> threading.Thread:
    return threading.Thread(target=pipe.write_text, args=[text], daemon=True)


@pytest.mark.parametrize("setting", ["{}", "filename={},name=vault", "{},default"])
def test_a_pipe_of_secrets_says_what_is_waited_for_and_is_read_once(pipe: Path, setting: str) -> None:
    said: list[str] = []

    def say(words: str) -> None:  # the writer comes when the wait was told
        said.append(words)
        writer(pipe, "token=hunter2\n").start()

    flag = without_pipe(f"file={setting.format(pipe)}", say=say, after_s=0.0)
    assert len(said) == 1 and f"{pipe} is a pipe that nobody writes yet" in said[0]
    assert values_of_sources([flag]) == ["hunter2"] == values_of_sources([flag])
    assert flag.count(",") == setting.count(",") and str(pipe) not in flag


@pytest.mark.parametrize("flag", ["mock=a=b", "file=there", "file=filename=there,name=a", "file=", "http=x"])
def test_other_sources_stay_as_they_are(flag: str) -> None:
    assert without_pipe(flag) == flag


def test_a_pipe_with_a_writer_is_read_without_a_word(pipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    writer(pipe, "{}").start()
    assert read_small(pipe, or_pipe=True) == b"{}" and capsys.readouterr().err == ""


def test_what_is_read_more_than_once_is_no_pipe(pipe: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a pipe"):
        plimsoll.import_run(pipe, tmp_path / "runs")
    with pytest.raises(InputError, match="it is a pipe"):
        plimsoll.analyze([pipe])
