"""What a probe is: a named source of numbers, asked once a second, that may be gone for a while."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

Clock = Callable[[], float]


class ProbeUnavailable(Exception):
    """The source cannot be read now (no such process, no permission). Data, not a failure: the sampler notes it and
    goes on asking. The text says what and what to do."""


@runtime_checkable
class Probe(Protocol):
    """A source of server-side facts.

    `source` is the name in resources.jsonl.zst: "host", "process:<label>", "network".
    """

    source: str

    def sample(self) -> dict[str, float]:
        """Values now, units in their names; rates are over the time since the last call and absent in the first.

        Raises ProbeUnavailable if there is nothing to read.
        """

    def take_notes(self) -> list[str]:
        """What happened since the last call that a reader of the run should know (a restart); then forgotten."""


@dataclass(frozen=True)
class Observation:
    """Values of a source, and when they were true by this machine's clock, in s since 1970; None: now."""

    source: str
    values: Mapping[str, float]
    at_unix: float | None = None


@runtime_checkable
class Observer(Protocol):
    """A probe that tells of several sources at once, or of an earlier time: a page of metrics, a receiver.

    `source` names it in messages; a `close()` that it has is called when the run has ended.
    """

    source: str

    def observe(self) -> Sequence[Observation]:
        """What is new since the last call; ProbeUnavailable if there is nothing to read."""

    def take_notes(self) -> list[str]:
        """As a probe's."""


class Rates:
    """Turns growing counters into rates per second. A counter that fell (restart, wrap-around) gives no rate once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._before: dict[str, float] = {}
        self._time_before: float | None = None

    def update(self, counters: dict[str, float]) -> tuple[dict[str, float], float]:
        """Rates of the counters seen before and now, and the seconds between (0 at first)."""
        now = self._clock()
        elapsed_s = 0.0 if self._time_before is None else now - self._time_before
        rates = {}
        if elapsed_s > 0:
            for name, value in counters.items():
                before = self._before.get(name)
                if before is not None and value >= before:
                    rates[name] = (value - before) / elapsed_s
        self._before, self._time_before = counters, now
        return rates, elapsed_s
