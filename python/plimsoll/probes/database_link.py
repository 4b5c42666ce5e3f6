"""One connection to a watched database server, in a thread of its own, whatever its driver.

Questions run in that thread, so that a server that hangs (stopped, network gone) holds up nobody: an overdue
question is ended by shutting its socket, and the next one connects anew. Connecting that failed is tried
again after 1, 2, 4 … 15 s.
"""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from plimsoll.errors import InputError
from plimsoll.probes.probe import Clock, ProbeUnavailable
from plimsoll.study.secrets.redactor import Redactor

Answer = TypeVar("Answer")
S = TypeVar("S")
CONNECT_LIMIT_S = 3
GRACE_S = 1.0
LONGEST_WAIT_S = 15.0


class DatabaseLink(ABC, Generic[S]):
    """Answers questions about one database, put as functions of a connected session; a failure is ProbeUnavailable,
    without any of the `secrets` in its text. `generation`: how often it connected; `cpu_s`: CPU time of the
    questions that ended, in s."""

    def __init__(self, secrets: Iterable[str], clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._redactor = Redactor(secrets)
        self._session: S | None = None
        self._questions: queue.SimpleQueue[tuple[Callable[[], Any], queue.SimpleQueue[Any]] | None]
        self._questions = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._pending: queue.SimpleQueue[Any] | None = None
        self._overdue_at = 0.0
        self._failures = 0
        self._not_before = 0.0
        self._reason = ""
        self.generation = 0
        self.cpu_s = 0.0

    @property
    @abstractmethod
    def is_open(self) -> bool:
        """Whether there is a connection that was not lost."""

    @abstractmethod
    def connect(self) -> S:
        """A new session; raises the driver's errors. Runs in the thread."""

    @abstractmethod
    def limit(self, session: S, limit_s: float) -> None:
        """No statement of the session may take longer from now on."""

    @abstractmethod
    def disconnect(self) -> None:
        """Close the connection, if there is one."""

    @abstractmethod
    def descriptor(self) -> int | None:
        """Of the socket, to be shut under an overdue question; None without one."""

    @abstractmethod
    def is_drivers(self, error: BaseException) -> bool:
        """Whether the driver raised it."""

    @abstractmethod
    def is_late(self, error: BaseException) -> bool:
        """Whether the server ended a statement for its time limit."""

    def ask(self, question: Callable[[S], Answer], limit_s: float, wait_s: float | None = None) -> Answer:
        """What `question` returns, given a session whose statements end after `limit_s`; ProbeUnavailable if it fails.

        With `wait_s` nobody waits longer than that: the question goes on by itself, its answer is dropped, and others
        are refused until it has ended.
        """
        whole_s = limit_s + GRACE_S + (0 if self.is_open else CONNECT_LIMIT_S)
        self._settle(wait_s if wait_s is not None else whole_s)
        if not self.is_open and self._clock() < self._not_before:
            raise ProbeUnavailable(self._reason)
        answer: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._begin()
        self._questions.put((lambda: question(self._connected(limit_s)), answer))
        try:
            ended, value = answer.get(timeout=whole_s if wait_s is None else wait_s)
        except queue.Empty:
            self._pending, self._overdue_at = answer, self._clock() + whole_s - (wait_s or whole_s)
            self._reason = "the server does not answer in time. See whether it is overloaded or stopped."
            raise ProbeUnavailable(self._reason) from None
        if ended:
            return value  # type: ignore[no-any-return]
        raise self._failure(value) from None

    def _settle(self, wait_s: float) -> None:
        """Have an earlier question ended, by shutting its socket once it is overdue; ProbeUnavailable if it goes on."""
        if self._pending is None:
            return
        if self._clock() >= self._overdue_at:
            self._shut_socket()
        try:
            ended, value = self._pending.get(timeout=wait_s)
        except queue.Empty:
            raise ProbeUnavailable(self._reason) from None
        self._pending = None
        if not ended:
            raise self._failure(value)

    def close(self) -> None:
        """End the thread and the connection; neither is waited for long."""
        if self._thread is not None:
            self._questions.put(None)
            self._thread.join(1.0)
            self._thread = None

    def hide(self, text: str) -> str:
        """The text without the secrets."""
        return self._redactor.text(text)

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="plimsoll-database", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while (asked := self._questions.get()) is not None:
            question, answer = asked
            before_s = time.thread_time()
            try:
                ended = (True, question())
            except BaseException as error:  # handed over to whoever asked
                ended = (False, error)
            self.cpu_s += time.thread_time() - before_s
            answer.put(ended)
        self.disconnect()

    def _connected(self, limit_s: float) -> S:
        """Runs in the thread."""
        if self._session is not None and not self.is_open:
            self._session = None
        if self._session is None:
            self._session = self.connect()
            self.generation += 1
            self._failures = 0
        self.limit(self._session, limit_s)
        return self._session

    def _failure(self, error: BaseException) -> Exception:
        if isinstance(error, ProbeUnavailable | InputError):
            return error
        if not self.is_drivers(error):
            return error if isinstance(error, Exception) else RuntimeError(str(error))
        text = self.hide(_one_line(str(error)))
        if not self.is_open:
            self._failures += 1
            self._not_before = self._clock() + min(LONGEST_WAIT_S, 2.0 ** (self._failures - 1))
            self._reason = f"the server cannot be reached: {text}"
        elif self.is_late(error):
            self._reason = "the server did not answer in time. See whether it is overloaded."
        else:
            self._reason = f"the server refused a question: {text}"
        return ProbeUnavailable(self._reason)

    def _shut_socket(self) -> None:
        with contextlib.suppress(Exception):
            descriptor = self.descriptor()
            if descriptor is not None:
                with socket.socket(fileno=os.dup(descriptor)) as shut:
                    shut.shutdown(socket.SHUT_RDWR)


def _one_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[:3])[:300]
