"""What `plimsoll control` may tell a run that goes on: pause, resume, level, stop."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from plimsoll.errors import InputError
from plimsoll.runs.control import Listener, Word

if TYPE_CHECKING:
    from plimsoll.engine import EngineConfig, EngineRun
    from plimsoll.runs.writer import RunWriter

LOOK_AGAIN_S = 0.05
_HARMLESS_LEVEL = 10.0  # whatever is declared, as a run began with a tenth of it


class RunControl:
    """Carries out words and answers them with events; `stopped` says whether one of them was to stop."""

    def __init__(self, engine: EngineRun, writer: RunWriter, config: EngineConfig) -> None:
        self.stopped = False
        self._config = config
        self.engine = engine
        self.writer = writer
        self._listener = Listener(writer.path)
        self._level = 1.0
        self._paused = False

    def wait_until_resumed(self) -> None:
        """Returns when a word to resume or to stop has come."""
        self._paused = True
        told = "paused before the load: resume begins it"
        self.writer.append_event("control", second=0.0, verb="pause", level=0.0, paused=True, answer=told)
        while self._paused and not self.stopped:
            time.sleep(LOOK_AGAIN_S)
            self.serve()

    def serve(self) -> None:
        """Carry out what came since the last call."""
        for word in self._listener.words():
            answer = self._carry_out(word)
            self.writer.append_event(
                "control", id=word.id, verb=word.verb, level=self._in_force(), paused=self._paused, answer=answer
            )

    def _carry_out(self, word: Word) -> str:
        if word.verb == "stop":
            self.engine.stop()
            self.stopped = True
            return "stopping: running iterations may end"
        before = self._level, self._paused
        if word.verb == "level" and word.level is not None:
            refused = self._refused(word.level)
            if refused:
                return refused
            self._level = word.level
        else:
            self._paused = word.verb == "pause"
        try:
            self.engine.set_level(self._in_force())
        except InputError as error:
            self._level, self._paused = before
            return f"refused: {error}"
        return self._words() + self._unmoved_words()

    def _refused(self, level: float) -> str:
        """Why that level cannot be; empty if it can. The script is loaded once more for what it declares."""
        from plimsoll.engine import inspect
        from plimsoll.plans.load import held_scenarios
        from plimsoll.plans.load_bounds import check_load

        if level <= _HARMLESS_LEVEL:
            return ""
        try:
            check_load(held_scenarios(inspect(self._config)["options"]), level, f"level {level:g}")
        except InputError as error:
            return f"refused: {error} The level stays {self._level:g}."
        return ""

    def _in_force(self) -> float:
        return 0.0 if self._paused else self._level

    def _words(self) -> str:
        if self._paused:
            waits = f"(level {self._level:g} waits)"
            return f"paused: running iterations end, no new ones begin; the plan's time goes on {waits}"
        return f"level {self._level:g}: {self._level:g} times the declared load"

    def _unmoved_words(self) -> str:
        unmoved = ", ".join(self.engine.fixed_iterations)
        return f"; not so {unmoved}: a fixed number of iterations follows no level" if unmoved else ""
