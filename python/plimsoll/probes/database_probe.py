"""What the probes of databases share, whatever the driver: the frame of steps and of the run, and who blocked whom."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from plimsoll.errors import InputError
from plimsoll.probes.database_link import DatabaseLink
from plimsoll.probes.probe import Clock, ProbeUnavailable, Rates

SECOND_LIMIT_S, SECOND_WAIT_S = 1.5, 0.7
STEP_LIMIT_S = 4.0
MOST_BLOCKING_NOTES = 20
Event = tuple[str, dict[str, Any]]
S = TypeVar("S")
Moment = TypeVar("Moment")


class DatabaseProbe(ABC, Generic[S, Moment]):
    """A probe that also tells events. `S`: a session of its driver; `Moment`: everything that counts up, at one moment.

    `check` connects once and says what is missing; `step_started` and `step_ended` frame a step, `run_started` and
    `run_ended` the whole. Those that return events give (kind, details) for the run's events: database_statement (a
    text, once each), database_step, database_run, database_lost. Nothing is ever created in the database.
    """

    run_end_limit_s = STEP_LIMIT_S
    run_end_wait_s: float | None = None

    def __init__(self, source: str, connection: DatabaseLink[S], clock: Clock = time.monotonic, key: str | None = None):
        self.source = source
        self._connection = connection
        self._key, self._clock = key, clock
        self._rates = Rates(clock)
        self._notes: list[str] = []
        self._blocking: set[tuple[str, str]] = set()
        self._step: Moment | None = None
        self._run: Moment | None = None

    @property
    def cpu_s(self) -> float:
        """CPU time that its questions took in their thread until now, those about steps included, in s."""
        return self._connection.cpu_s

    @abstractmethod
    def _missing(self, session: S) -> list[str]:
        """What is missing in the database, in sentences."""

    @abstractmethod
    def _second(self, session: S) -> dict[str, float]:
        """Values of this second."""

    @abstractmethod
    def _moment(self, session: S) -> Moment:
        """The counters now."""

    @abstractmethod
    def _window(self, session: S, before: Moment, kind: str) -> Iterator[Event]:
        """Texts that are new, then the event of a step or a run."""

    def _begin_run(self, session: S) -> None:
        """What else is read when the run begins."""

    def _whole(self, session: S, details: dict[str, Any]) -> dict[str, Any]:
        """What the end of a run adds to its event."""
        return {}

    def check(self) -> list[str]:
        """Connect for the first time; what is missing, in sentences. InputError where it cannot connect: a mistake is
        told before any load."""
        try:
            return self._connection.ask(self._missing, STEP_LIMIT_S)
        except ProbeUnavailable as error:
            raise InputError(str(error), "Correct its dsn, or start the server.", key=self._key) from None

    def sample(self) -> dict[str, float]:
        """Values of this second; rates are absent in the first. ProbeUnavailable while the server is gone."""
        return self._connection.ask(self._second, SECOND_LIMIT_S, SECOND_WAIT_S)

    def take_notes(self) -> list[str]:
        """Who blocked whom since the last call, each pair of statements once."""
        notes, self._notes = self._notes, []
        return notes

    def run_started(self) -> list[Event]:
        """Read the counters that the whole run is counted from."""

        def begin(session: S) -> None:
            self._run = self._moment(session)
            self._begin_run(session)

        return self._tried(begin, STEP_LIMIT_S, "the run's beginning")

    def step_started(self) -> list[Event]:
        """Read the counters before a step."""

        def begin(session: S) -> None:
            self._step = self._moment(session)

        self._step = None
        return self._tried(begin, STEP_LIMIT_S, "a step's beginning")

    def step_ended(self) -> list[Event]:
        """What the statements and tables of the step were, as database_step; nothing where its beginning is not
        known."""
        before, self._step = self._step, None
        if before is None:
            return []
        found: list[Event] = []

        def end(session: S) -> None:
            found.extend(self._window(session, before, "database_step"))

        return self._tried(end, STEP_LIMIT_S, "a step's end") or found

    def run_ended(self) -> list[Event]:
        """The whole run's statements and tables, and what only its end tells, as database_run."""
        before, self._run = self._run, None
        if before is None:
            return []
        found: list[Event] = []

        def end(session: S) -> None:
            found.extend(self._window(session, before, "database_run"))
            found[-1][1].update(self._whole(session, found[-1][1]))

        return self._tried(end, self.run_end_limit_s, "the run's end", self.run_end_wait_s) or found

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _note_blocking(self, holding: str, waiting: str, state: str = "") -> None:
        """Note a pair of statements, each pair once and not too many."""
        if (holding, waiting) not in self._blocking and len(self._blocking) < MOST_BLOCKING_NOTES:
            self._blocking.add((holding, waiting))
            self._notes.append(f"a session waits for a lock that another holds{state}: {waiting} waits for {holding}")

    def _tried(
        self, question: Callable[[S], None], limit_s: float, when: str, wait_s: float | None = None
    ) -> list[Event]:
        """Empty if it went well, else the event that says what is missing from the run."""
        try:
            self._connection.ask(question, limit_s, wait_s)
        except ProbeUnavailable as error:
            return [("database_lost", {"source": self.source, "message": f"{self.source}, {when}: {error}"})]
        return []


def shortened(text: str) -> str:
    """A statement, cut short."""
    return text if len(text) <= 160 else f"{text[:160]} …"
