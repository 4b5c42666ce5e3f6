"""What Ctrl-C may not cut: the answer of a load that has ended."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from plimsoll.cli.signals import serve_signals
from plimsoll.interruptions import Ending


@pytest.fixture(autouse=True)
def served() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    serve_signals()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_the_first_interruption_after_a_load_is_told_and_waits_and_the_second_is_served() -> None:
    told: list[str] = []
    with pytest.raises(KeyboardInterrupt), Ending(lambda: told.append("it comes")) as ending:
        ending.begin("finished")
        signal.raise_signal(signal.SIGINT)
        assert ending.came and told == ["it comes"]
        signal.raise_signal(signal.SIGINT)


def test_one_that_timeout_sends_twice_is_one() -> None:
    with Ending(lambda: None) as ending:
        ending.begin("finished")
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        assert ending.came


@pytest.mark.parametrize("begun", [False, True])
def test_before_the_end_and_behind_an_interrupted_load_the_first_is_served(begun: bool) -> None:
    with pytest.raises(KeyboardInterrupt), Ending(lambda: None) as ending:
        if begun:
            ending.begin("interrupted")
        signal.raise_signal(signal.SIGINT)


def test_behind_the_answer_all_is_as_before() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Ending(lambda: None) as ending:
        ending.begin("finished")
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before and not ending.came
