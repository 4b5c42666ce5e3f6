"""The one tree of exceptions that Plimsoll raises on purpose.

    PlimsollError                 everything below; carries what, where and what to do next
    ├── InputError                one mistake in a study file, a script, an option
    │   ├── InputErrors           all mistakes of one file at once
    │   └── ScriptError           a script that cannot be loaded, or whose setup or teardown failed
    ├── TargetError               the target did not start, get ready, reset or stop
    ├── EngineError               the load generator could not do its work
    └── RunDirectoryError         a run directory could not be written or read

A failed request is data and never an exception. Every message ends with the next step, so
`next_step` is required throughout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

EXIT_INPUT = 2
EXIT_INVALID_RUN = 3


@dataclass(frozen=True)
class Place:
    """Where a mistake is: file, line (counted from 1) and dotted key; each may be unknown."""

    file: str | Path | None = None
    line: int | None = None
    key: str | None = None

    def __str__(self) -> str:
        where = str(self.file) if self.file is not None else ""
        if self.line is not None:
            where = f"{where}:{self.line}" if where else f"line {self.line}"
        return ": ".join(part for part in (where, self.key) if part)


class PlimsollError(Exception):
    """Root of the tree. `what` went wrong, and the `next_step` that the reader can take.

    `exit_code` is what the command line ends with: 2 the input is wrong, 3 no valid run came out.
    """

    exit_code = EXIT_INVALID_RUN

    def __init__(self, what: str, next_step: str) -> None:
        self.what = what.rstrip()
        self.next_step = next_step.strip()
        super().__init__(self.what, self.next_step)

    def __str__(self) -> str:
        if "\n" in self.what:  # it ends with lines of a script or a log, which are no sentence
            return f"{self.what}\n{self.next_step}".strip()
        what = self.what if self.what.endswith((".", "!", "?", ":")) else f"{self.what}."
        return f"{what} {self.next_step}".strip()


class InputError(PlimsollError):
    """One mistake in what the user gave, with its place: `file:line: key: what. Next step`."""

    exit_code = EXIT_INPUT

    def __init__(
        self,
        what: str,
        next_step: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        key: str | None = None,
    ) -> None:
        super().__init__(what, next_step)
        self.place = Place(file, line, key)

    def __reduce__(self) -> tuple:
        return _rebuild_input_error, (type(self), self.what, self.next_step, self.place), self.__dict__

    def __str__(self) -> str:
        where = str(self.place)
        return f"{where}: {super().__str__()}" if where else super().__str__()


def _rebuild_input_error(kind: type[InputError], what: str, next_step: str, place: Place) -> InputError:
    """Unpickle: errors cross process borders when a run is spread over hosts."""
    return kind(what, next_step, file=place.file, line=place.line, key=place.key)


class InputErrors(InputError):
    """All mistakes of one input at once; `errors` is a non-empty tuple ordered as given."""

    def __init__(self, errors: Iterable[InputError]) -> None:
        self.errors = tuple(errors)
        if not self.errors:
            raise ValueError("InputErrors needs at least one InputError; raise nothing when there is none")
        super().__init__(f"{len(self.errors)} mistakes", "Correct them and run the command again.")

    @classmethod
    def of(cls, errors: Sequence[InputError]) -> InputError:
        """All of them as one error; a single one is itself."""
        return errors[0] if len(errors) == 1 else cls(errors)

    def __reduce__(self) -> tuple:
        return type(self), (self.errors,)

    def __str__(self) -> str:
        lines = [str(error) for error in self.errors]
        if len(lines) == 1:
            return lines[0]
        return "\n".join([*lines, f"{self.what}. {self.next_step}"])


ScriptEnd = Literal["exception", "options", "abort", "output", "setup_timeout", "teardown_timeout"]


class ScriptError(InputError):
    """A script that cannot be loaded, or whose setup or teardown failed; `end` says how it ended, `missing_module` is
    the address of the remote module that is not here, if that is why."""

    end: ScriptEnd = "exception"
    missing_module: str | None = None


class TargetError(PlimsollError):
    """The target did not start, become ready, reset or stop within its time limit."""


class EngineError(PlimsollError):
    """The load generator could not do its work (a script that fails at once, no free port, a lost thread)."""


class RunDirectoryError(PlimsollError):
    """A run directory cannot be written (read-only, disk full) or read (not one, another schema)."""

    exit_code = EXIT_INPUT
