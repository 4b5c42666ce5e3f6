"""The consumer of a run of drain: how it is read, that it can be read before there is any load, and its own history."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from plimsoll.errors import InputError, InputErrors
from plimsoll.findings.drain.polls import EVENT
from plimsoll.probes.consumer.poll_history import PollHistory
from plimsoll.probes.consumer.probe import ConsumerProbe
from plimsoll.probes.consumer.reading import reading
from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.runs.writer import RunWriter
from plimsoll.study import Redactor
from plimsoll.study.experiments import DrainOptions

OPTION_OF = {"waiting": "backlog", "put_in": "produced", "taken_out": "consumed", "index_bytes": "index"}
NEXT_STEP = (
    "No load was put on. Try it by hand as this user on this host, correct the place or start what answers there, and "
    "run it again."
)


class FollowedConsumer:
    """The consumer that the options name. Raises InputErrors with all places that cannot be understood."""

    def __init__(self, options: DrainOptions, url: str | None, directory: Path) -> None:
        self._places = {name: text for name in ("polls", *OPTION_OF.values()) if (text := getattr(options, name))}
        readings, problems = {}, []
        for name, option in OPTION_OF.items():
            if option not in self._places:
                continue
            try:
                readings[name] = reading(self._places[option], url=url, directory=directory, key=f"drain.{option}")
            except InputError as error:
                problems.append(error)
        if problems:
            raise InputErrors(problems)
        self.probe = ConsumerProbe(readings)
        self._history = PollHistory(options.polls, url) if options.polls else None

    def first_look(self, redactor: Redactor) -> dict[str, float]:
        """What each place says before the load; polls of before count no more. Raises InputErrors with all places
        that cannot be read."""
        values, reasons = self.probe.first_look()
        unread = {OPTION_OF[name]: reason for name, reason in reasons.items()}
        if self._history is not None:
            try:
                self._history.begin()
            except ProbeUnavailable as error:
                unread["polls"] = str(error)
        if unread:
            raise InputErrors(self._unread(option, reason, redactor) for option, reason in unread.items())
        return values

    def _unread(self, option: str, reason: str, redactor: Redactor) -> InputError:
        what = f"--{option} {redactor.command(self._places[option])} cannot be read: {redactor.text(reason)}"
        return InputError(what, NEXT_STEP, key=f"drain.{option}")

    @contextlib.contextmanager
    def polls_kept(self, writer: RunWriter) -> Iterator[None]:
        """Whatever the consumer says of its polls within is an event of the run, or why it could not be read."""
        yield
        if self._history is None:
            return
        try:
            writer.append_event(EVENT, second=0.0, polls=self._history.polls(), problem=None)
        except ProbeUnavailable as error:
            writer.append_event(EVENT, second=0.0, polls=[], problem=str(error))
