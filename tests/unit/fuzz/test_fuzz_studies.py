"""Study files with changed keys and bytes: each is a study that can be planned, or its mistakes with lines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from fuzzing import bounded, holds
from hypothesis import strategies as st
from odd_values import changed, changes, cut, cuts
from whole_study import STUDY

from plimsoll.errors import InputError, InputErrors
from plimsoll.plans.load import Choices, plan_of
from plimsoll.study import load_study, parse_study


def read(text: str, folder: Path) -> None:
    try:
        study = parse_study(text, file="study.yaml", directory=folder)
    except InputErrors as error:
        assert str(error)
        return
    try:
        plan_of(study, Choices())
    except InputError as error:
        assert str(error)


def test_changed_keys_of_a_study_are_read_or_refused(folder: Path) -> None:
    def check(given: list) -> None:
        read(yaml.safe_dump(changed(STUDY, given), allow_unicode=True), folder)

    holds("study keys", changes, check)


def test_changed_bytes_of_a_study_are_read_or_refused(folder: Path) -> None:
    whole = yaml.safe_dump(STUDY).encode()

    def check(given: list) -> None:
        (folder / "changed.yaml").write_bytes(cut(whole, given))
        try:
            load_study(folder / "changed.yaml")
        except InputErrors as error:
            assert str(error)

    holds("study bytes", cuts, check)


def test_any_text_is_read_or_refused(folder: Path) -> None:
    pieces = st.sampled_from(
        [
            "a: ",
            "- ",
            "&a ",
            "*a",
            "<<: *a",
            "[",
            "]",
            "{",
            "}",
            ", ",
            "\n",
            "  ",
            "? ",
            "!!int ",
            "|\n",
            "'",
            "1:2:3",
            "0x",
            "~",
        ]
    )
    texts = st.lists(pieces | st.text(max_size=3), max_size=40).map("".join)
    holds("study texts", texts, lambda text: read(text, folder))


LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (LAUGHS, None, "stands for over 20,000 values"),
        ("a:\n  " + "[" * 50_000, 2, "nested more than 40 deep"),
        ("a: " + "{a: " * 5_000, 1, "nested more than 40 deep"),
        ("".join(f"{' ' * depth}a:\n" for depth in range(300)), None, "nested more than 40 deep"),
        ("name: " + "x" * 100_000, 1, "100,000 characters is too long"),
        ("seed: " + "9" * 4_000, 1, "4,000 characters is too long"),
        ("seed: 1" + ":1" * 40_000, 1, "characters is too long"),
        ("a: b\n" * 100_000, 1, "500,000 characters is too large"),
    ],
)  # fmt: skip
def test_what_unfolds_to_more_than_a_study_can_be_is_refused_with_its_line(
    text: str, line: int | None, what: str, tmp_path: Path
) -> None:
    with bounded(), pytest.raises(InputErrors) as caught:
        parse_study(text, file="study.yaml", directory=tmp_path)
    first = caught.value.errors[0]
    assert what in str(first) and (line is None or first.place.line == line), str(first)


def test_a_study_that_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")
    for name in ("pipe.yaml", "zero.yaml"):
        with bounded(), pytest.raises(InputErrors, match="no regular file"):
            load_study(tmp_path / name)


def test_thousands_of_mistakes_are_told_as_fifty(tmp_path: Path) -> None:
    with pytest.raises(InputErrors) as caught:
        parse_study("".join(f"k{number}: 1\n" for number in range(3_000)), directory=tmp_path)
    assert len(caught.value.errors) == 51 and "more mistakes" in str(caught.value.errors[-1])
