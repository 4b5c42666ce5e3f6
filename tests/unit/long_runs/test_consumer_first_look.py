"""Each place of a consumer's numbers is read before there is any load; what cannot be read is wrong input, at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import EXIT_INPUT, InputErrors
from plimsoll.study import Redactor
from plimsoll.study.experiments import DrainOptions
from plimsoll.verbs.consumer import FollowedConsumer

HIDDEN = "hunter2x"


def followed(folder: Path, **places: str) -> FollowedConsumer:
    return FollowedConsumer(DrainOptions(**places), "http://127.0.0.1:9", folder)


def test_all_places_that_cannot_be_read_are_told_with_flag_reason_and_next_step(tmp_path: Path) -> None:
    consumer = followed(
        tmp_path,
        backlog="/status#waiting",
        produced=f"sql:sqlite:///{tmp_path}/none/x.db SELECT 1",
        consumed=f"echo no login postgresql://app:{HIDDEN}@db/x >&2; PGPASSWORD={HIDDEN} exit 1",
        index="size:nowhere",
        polls=f"http://me:{HIDDEN}@127.0.0.1:9/history#members",
    )
    with pytest.raises(InputErrors) as caught:
        consumer.first_look(Redactor())
    told = {error.place.key: str(error) for error in caught.value.errors}
    reasons = {
        "backlog": "--backlog /status#waiting cannot be read: http://127.0.0.1:9/status gave no JSON",
        "produced": "unable to open database file",
        "consumed": "ended with",
        "index": "size:nowhere cannot be read: there is no",
        "polls": "/history gave no JSON",
    }
    assert list(told) == [f"drain.{option}" for option in reasons]
    for option, reason in reasons.items():
        words = told[f"drain.{option}"]
        assert f"--{option} " in words and reason in words and "No load was put on. Try it by hand" in words
    assert HIDDEN not in str(caught.value) and caught.value.exit_code == EXIT_INPUT


@pytest.mark.parametrize("place", ["trs:http://127.0.0.1:9/trs", "echo many", "log:. x"])
def test_a_place_of_any_form_is_refused_alone(tmp_path: Path, place: str) -> None:
    with pytest.raises(InputErrors, match=r"drain\.consumed: --consumed .* cannot be read"):
        followed(tmp_path, backlog="echo 3", consumed=place).first_look(Redactor())


def test_a_log_that_does_not_exist_yet_is_none_of_them_and_counts_whole_when_it_comes(tmp_path: Path) -> None:
    consumer = followed(tmp_path, backlog="echo 3", consumed="log:late.log done")
    assert consumer.first_look(Redactor()) == {"waiting": 3.0}
    (tmp_path / "late.log").write_text("done\ndone\n")
    assert consumer.first_look(Redactor()) == {"waiting": 3.0, "taken_out": 2.0}


def test_all_places_that_cannot_be_understood_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputErrors) as caught:
        followed(tmp_path, backlog="sql:sqlite:///x", consumed="log:x (")
    assert [error.place.key for error in caught.value.errors] == ["drain.backlog", "drain.consumed"]
