"""The quick parser takes what `json` takes and says what `json` says."""

from __future__ import annotations

import json
import math
import random
import struct

import pytest

from plimsoll.runs.format import quick_json

TEXTS = [
    '{"a": [1, -0, -0.0, 1E5, 0.1e-400, 1e400, true, null], "a": 2}',
    '{"values": {"x": NaN, "y": -Infinity}}',
    '"\\ud800 alone"',
    "123456789012345678901234567890",
    "[" * 250 + "]" * 250,
    ' "\\u0000\\u00e4ä" ',
]
NOT_JSON = ["", "{", "[1,]", "{'a': 1}", '{"a": 1} x', "01", "1.", "nan", '"a\tb"', "\ufeff{}"]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_values_are_those_of_json(text: str) -> None:
    assert repr(quick_json.loads(text)) == repr(json.loads(text))
    assert repr(quick_json.loads(text.encode())) == repr(json.loads(text))


def test_a_lone_surrogate_that_stands_in_a_text_itself_is_read_as_json_reads_it() -> None:
    text = '{"name": "\ud800 alone"}'
    assert quick_json.loads(text) == json.loads(text) == {"name": "\ud800 alone"}


def test_numbers_come_back_to_the_last_bit() -> None:
    source = random.Random(1)
    for _ in range(5_000):
        [number] = struct.unpack("<d", struct.pack("<Q", source.getrandbits(64)))
        if math.isfinite(number):
            assert quick_json.loads(json.dumps(number)) == number


@pytest.mark.parametrize("text", NOT_JSON, ids=range(len(NOT_JSON)))
def test_what_is_no_json_is_told_in_the_same_words(text: str) -> None:
    with pytest.raises(json.JSONDecodeError) as theirs:
        json.loads(text)
    with pytest.raises(json.JSONDecodeError) as ours:
        quick_json.loads(text)
    assert str(ours.value) == str(theirs.value)


def test_what_is_nested_too_deeply_is_no_value() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        quick_json.loads("[" * 100_000)
