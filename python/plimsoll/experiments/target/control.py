"""Controlling the target: start, ready, switch, reset, stop, each a shell command with a time limit.

Output of every command is kept, without secrets, in the run's logs/. Commands run in process groups of their own;
`stop` ends the started one with all its descendants, also when its own stop command fails; when Plimsoll itself is
killed, a guard does both (guard.py).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

from plimsoll.errors import TargetError
from plimsoll.experiments.target.commands import Command, last_lines
from plimsoll.experiments.target.guard import Guard
from plimsoll.experiments.target.port_holder import Holders, holders_of, names_of
from plimsoll.experiments.target.readiness import answers
from plimsoll.interruptions import interruptions_held
from plimsoll.study.models import Target
from plimsoll.study.secrets.redactor import Redactor
from plimsoll.words import time_words

OnEvent = Callable[[str, str], None]
_TOLD_AFTER_S = 3.0
_POLL_S = 0.1
_UNSTARTED_S = 10.0  # for a target that the study does not start: it runs already, or somebody forgot it
_FREE_THE_PORT = "Stop it, take another port, or leave target.start out to measure what runs there."


def _path() -> str:
    """Where programs are looked for: as by this process, and at last where `plimsoll` itself is."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), sysconfig.get_path("scripts")])


class TargetControl:
    """Starts and stops the target of a study. As a context manager: start and ready on entry, stop on exit.

    `on_event` gets (kind, message) with kind "note", "ready", "switch" or "reset", `on_waiting` what is waited for
    when that takes seconds. Commands run in `directory`, the
    study file's folder. Raises TargetError with the last lines of the output when a command fails or takes too long.
    """

    def __init__(
        self,
        target: Target,
        logs: Path,
        *,
        directory: Path = Path(),
        redactor: Redactor | None = None,
        on_event: OnEvent = lambda kind, message: None,
        on_waiting: Callable[[str], None] = lambda message: None,
    ) -> None:
        self.target = target
        self.logs = logs
        self._directory = directory
        self._redactor = redactor or Redactor.for_data(target.model_dump(), environment=os.environ)
        self._on_event, self._on_waiting = on_event, on_waiting
        self._started: Command | None = None
        self._early_end = self._stop_failure = ""
        self._there_before: Holders = frozenset()
        self._environment = {**os.environ, "PATH": _path(), **target.environment}

    def __enter__(self) -> TargetControl:
        try:
            self.start()
            self.wait_ready(self._first_limit_s())
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Run the start command and leave it running; without one the target is taken to run already.

        A command that ends with 0 has put the target in the background; another code is a TargetError at once.
        """
        if self.target.start is None:
            return
        if self._started is not None:
            raise TargetError("the target is started already", "Stop it before starting it again.")
        self._there_before = holders_of(self._watched_url())
        with interruptions_held():
            limit_s, farewell = self.target.time_limits.stop_s, self.target.stop
            guard = Guard(limit_s, farewell, self._directory, self._environment)
            self._started = self._run("start", self.target.start, guard)
        self._on_event("note", f"started: {self._redactor.command(self.target.start)}")

    def _first_limit_s(self) -> float:
        """How long the target may take at first: no more than a moment where no command of the study starts it or waits
        for it, unless the study says how long."""
        limits, ready = self.target.time_limits, self.target.ready
        has_command = self.target.start is not None or not (ready or "/").startswith(("http://", "https://", "/"))
        return limits.ready_s if has_command or "ready_s" in limits.model_fields_set else _UNSTARTED_S

    def wait_ready(self, limit_s: float | None = None) -> None:
        """Wait until the target is ready: its `ready` URL answers below 400, its `ready` command ends with 0 or, with
        neither, `url` answers anything below 500. `limit_s`: else as the study has it."""
        ready, limit_s = self.target.ready, limit_s if limit_s is not None else self.target.time_limits.ready_s
        if ready is None and self.target.url is None:
            return
        began = time.monotonic()
        deadline = began + limit_s
        problem, is_told = "nothing was tried yet", False
        while True:
            self._fail_if_start_failed()
            problem = self._taken_port() or self._why_not_ready(deadline)
            if not problem:
                self._on_event("ready", f"the target was ready after {time_words(time.monotonic() - began)}")
                return
            if time.monotonic() >= deadline:
                break
            if not is_told and time.monotonic() - began >= _TOLD_AFTER_S:
                is_told = True
                self._on_waiting(
                    f"Waiting for the target to be ready, for {limit_s:g} s at most "
                    f"(target.time_limits.ready_s): {problem}"
                )
            time.sleep(_POLL_S)
        if taken := self._taken_port():
            raise TargetError(f"the target was not ready within {limit_s:g} s: {taken}", _FREE_THE_PORT)
        shown = self._output_of("start") or self._output_of("ready")
        raise TargetError(
            f"the target was not ready within {limit_s:g} s: {problem}{shown}",
            "Check `ready` and `url` in the study, or raise target.time_limits.ready_s."
            if self.target.start is not None
            else "Start the target, or correct `url` and `ready` in the study; give it longer with "
            "target.time_limits.ready_s.",
        )

    def reset(self) -> None:
        """Run the reset command to its end; without one nothing happens."""
        if self.target.reset is None:
            return
        self._complete("reset", self.target.reset, self.target.time_limits.reset_s)
        self._on_event("reset", f"reset: {self._redactor.command(self.target.reset)}")

    def switch(self, variant: str) -> None:
        """Make the target one of the study's variants, which it then is, and wait until it is ready again.

        Raises InputError for a name that the study does not have.
        """
        wanted = self.target.variant(variant)
        if wanted.switch is not None:
            self._complete("switch", wanted.switch, self.target.time_limits.switch_s)
        how = self._redactor.command(wanted.switch or str(wanted.url))
        self._on_event("switch", f"variant {variant}: {how}")
        self.target = self.target.as_variant(variant)
        self.wait_ready()

    def remedy(self, command: str) -> None:
        """Run a command that may make the target carry more, and wait until it is ready again."""
        self._complete("remedy", command, self.target.time_limits.reset_s, limit="reset_s")
        self._on_event("remedy", f"remedy: {self._redactor.command(command)}")
        self.wait_ready()

    def stop(self) -> None:
        """Run the stop command, then end what `start` left running: SIGTERM, after the time limit SIGKILL. A stop
        command that fails takes nothing from what was measured: it is noted, see `stop_failure`."""
        limit_s = self.target.time_limits.stop_s
        try:
            if self.target.stop is not None:
                self._complete("stop", self.target.stop, limit_s)
        except TargetError as error:
            what = "The target may still run" if self.target.start is None else "What `start` began was ended"
            self._stop_failure = f"{what}: {error}"
            self._on_event("note", self._stop_failure)
        finally:
            if self._started is not None:
                started, self._started = self._started, None
                if code := started.exit_code():
                    self._early_end = f"The start command had ended by itself before, with {_meaning(code)}."
                    self._on_event("note", self._early_end + self._output_of("start"))
                killed = started.end(limit_s)
                self._note_lost("start", started)
                if killed:
                    self._on_event(
                        "note", f"{killed} process(es) of the target did not stop in {limit_s:g} s and were killed"
                    )

    @property
    def stop_failure(self) -> str:
        """Why the stop command failed; empty if it did not. Known after `stop`."""
        return self._stop_failure

    @property
    def early_end(self) -> str:
        """How the start command failed while the target was in use; empty if it did not. Known after `stop`."""
        return self._early_end

    @property
    def pid(self) -> int | None:
        """Process id of the running start command; None without one."""
        return self._started.pid if self._started is not None else None

    def _why_not_ready(self, deadline: float) -> str:
        """Empty if ready, else the reason."""
        ready = self.target.ready
        left_s = max(0.5, deadline - time.monotonic())
        if ready is None:
            return self._redactor.text(answers(str(self.target.url), below=500, limit_s=left_s))
        if ready.startswith(("http://", "https://")):
            return self._redactor.text(answers(ready, below=400, limit_s=left_s))
        if ready.startswith("/") and self.target.url and " " not in ready and shutil.which(ready) is None:
            return self._redactor.text(answers(self.target.url.rstrip("/") + ready, below=400, limit_s=left_s))
        command, code = self._run_to_end("ready", ready, left_s)
        command.end(1.0)
        return (
            ""
            if code == 0
            else "the ready command did not end"
            if code is None
            else f"the ready command ended with {code}"
        )

    def _complete(self, name: str, text: str, limit_s: float, limit: str | None = None) -> None:
        """Run a command to its end; TargetError if it fails or takes too long."""
        command, code = self._run_to_end(name, text, limit_s)
        if code == 0:
            command.release()
            self._note_lost(name, command)
            return
        command.end(1.0)
        self._note_lost(name, command)
        if code is None:
            what = f"the {name} command did not end within {limit_s:g} s{self._output_of(name)}"
            raise TargetError(what, f"Raise target.time_limits.{limit or f'{name}_s'}, or make it faster.")
        what = f"the {name} command ended with {_meaning(code)}{self._output_of(name)}"
        where = f"target.{name} in the study" if limit is None else "it"
        raise TargetError(what, f"Run it by hand and correct {where}.")

    def _fail_if_start_failed(self) -> None:
        code = self._started.exit_code() if self._started is not None else None
        if self._started is not None and code:
            self._started.wait(0)  # lets the last of its output reach the log
            what = f"the start command ended with {_meaning(code)}{self._output_of('start')}"
            if self._there_before:
                raise TargetError(f"{what}\n{self._there_words()}", _FREE_THE_PORT)
            raise TargetError(what, "Run it by hand and correct target.start in the study.")

    def _watched_url(self) -> str | None:
        ready = self.target.ready
        return ready if ready is not None and ready.startswith(("http://", "https://")) else self.target.url

    def _taken_port(self) -> str:
        """Why an answer would not come from what `start` started; empty if it may.

        A start command that ended with 0 (`systemctl restart`, `docker compose up -d`) is believed.
        """
        if self._started is None or not self._there_before or self._started.exit_code() is not None:
            return ""
        return self._there_words() if holders_of(self._watched_url()) & self._there_before else ""

    def _there_words(self) -> str:
        url = self._redactor.text(str(self._watched_url()))
        return f"{names_of(self._there_before)} listened on the port of {url} before `start` ran"

    def _run_to_end(self, name: str, text: str, limit_s: float) -> tuple[Command, int | None]:
        """The command and its exit code, None if the limit came first; an interrupted one is ended."""
        command: Command | None = None
        try:
            with interruptions_held():
                command = self._run(name, text)
            return command, command.wait(limit_s)
        except BaseException:
            if command is not None:
                command.end(1.0)
            raise

    def _run(self, name: str, text: str, guard: Guard | None = None) -> Command:
        try:
            return Command(text, self._log(name), self._directory, self._environment, self._redactor, guard)
        except (OSError, subprocess.SubprocessError) as error:
            raise TargetError(
                f"cannot run the {name} command: {error}", "Check the study's folder and the shell."
            ) from error

    def _note_lost(self, name: str, command: Command) -> None:
        if command.lost_lines:
            self._on_event("note", f"{command.lost_lines:,} lines of the output of {name} did not get into its log")

    def _log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def _output_of(self, name: str) -> str:
        lines = last_lines(self._log(name))
        return "\n" + "\n".join(f"    {line}" for line in lines) + "\n" if lines else ""


def _meaning(code: int) -> str:
    hints: dict[int, str] = {126: "126 (not executable)", 127: "127 (command not found)"}
    if 128 < code < 160:  # the shell's way to say that a signal ended its command
        return f"exit code {code} (signal {code - 128})"
    return f"signal {-code}" if code < 0 else hints.get(code, f"exit code {code}")
