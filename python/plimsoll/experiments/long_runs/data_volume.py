"""How much data the target holds: a number from a command of the study, or from a JSON document of the target.

A workload that creates things ages its target; read between the steps, this number tells by how much.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plimsoll.errors import TargetError
from plimsoll.experiments.target.commands import Command, last_lines
from plimsoll.probes.http.json_place import JsonPlace
from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.study.models import Target
from plimsoll.study.secrets.redactor import Redactor

NEXT_STEP = "Correct target.data_volume of the study, or raise target.time_limits.data_volume_s."


class DataVolume:
    """Reads the data volume of a target whose study says how (`target.data_volume`); a call gives the number now.

    The first reading raises TargetError if it fails, as that is a mistake in the study. Later ones give None then, and
    `on_note` gets the reason once.
    """

    def __init__(
        self,
        target: Target,
        logs: Path,
        *,
        directory: Path = Path(),
        on_note: Callable[[str], None] = lambda text: None,
        redactor: Redactor | None = None,
    ) -> None:
        assert target.data_volume is not None, "the study says how"
        self._target, self._what = target, target.data_volume
        self._log, self._directory = logs / "data_volume.log", directory
        self._redactor = redactor or Redactor.for_data(target.model_dump(), environment=os.environ)
        self._on_note = on_note
        self._has_answered = self._has_failed = False

    def __call__(self) -> float | None:
        """The number now; None if it cannot be read any more."""
        try:
            value = self._of_url() if self._url else self._of_command()
        except TargetError as error:
            if not self._has_answered:
                raise
            if not self._has_failed:
                self._has_failed = True
                self._on_note(str(error))
            return None
        self._has_answered = True
        return value

    @property
    def _url(self) -> str | None:
        if self._what.startswith(("http://", "https://")):
            return self._what
        is_path = re.fullmatch(r"/[^\s]*", self._what) and not Path(self._what.partition("#")[0]).exists()
        return self._target.url.rstrip("/") + self._what if is_path and self._target.url else None

    def _of_url(self) -> float:
        where = JsonPlace(str(self._url), self._target.time_limits.data_volume_s)
        try:
            found = where.value()
        except ProbeUnavailable as error:
            raise self._failure(str(error)) from None
        return self._number(found, f"{where.place or 'the JSON'} of {where.url}")

    def _of_command(self) -> float:
        limit_s = self._target.time_limits.data_volume_s
        self._log.unlink(missing_ok=True)  # what an earlier reading printed must not pass for this one
        environment = {**os.environ, **self._target.environment}
        try:
            command = Command(self._what, self._log, self._directory, environment, self._redactor)
        except OSError as error:
            raise self._failure(f"its command cannot run ({error})") from None
        code = command.wait(limit_s)
        if code != 0:
            command.end(1.0)
            ended = f"did not end within {limit_s:g} s" if code is None else f"ended with {code}"
            raise self._failure(f"its command {ended}: {' / '.join(last_lines(self._log, 3))}")
        command.release()
        printed = last_lines(self._log, 1)
        return self._number(printed[0].strip() if printed else "", "what its command printed last")

    def _number(self, value: Any, of: str) -> float:
        try:
            number = float(value) if not isinstance(value, bool) else math.nan
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise self._failure(f"{of} is no number: {str(value)[:80]!r}")
        return number

    def _failure(self, what: str) -> TargetError:
        return TargetError(f"the data volume cannot be read: {self._redactor.text(what)}", NEXT_STEP)
