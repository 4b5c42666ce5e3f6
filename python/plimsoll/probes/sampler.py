"""Asks all probes, once each time that it is told to, and hands the rows on. It outlives whatever a probe does."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from plimsoll.probes.probe import Clock, Observation, Observer, Probe, ProbeUnavailable
from plimsoll.probes.probe_cost import ProbeCost

_EARLY_WAKE_S = 0.05
OnRow = Callable[[dict[str, Any]], None]
OnEvent = Callable[[str, float, str, str], None]


class Sampler:
    """Rows {"t_unix", "second", "source", "values"} go to `on_row`; what happens to a probe goes to `on_event` as
    (kind, t_unix, source, message), kind "note" or "error", once per change and not each second. A row of an earlier
    time than now (Observation) has `is_late` as well. `cost`: the CPU time that sampling took.
    """

    def __init__(
        self,
        probes: Sequence[Probe | Observer],
        on_row: OnRow,
        on_event: OnEvent,
        *,
        t0_unix: float,
        clock: Clock = time.time,
    ) -> None:
        self._probes = list(probes)
        self.cost = ProbeCost(self._probes)
        self._on_row, self._on_event = on_row, on_event
        self._t0_unix, self._clock = t0_unix, clock
        self._unavailable: dict[int, str] = {}  # of each probe, of which several may have one source

    def add(self, probes: Sequence[Probe | Observer]) -> None:
        """Ask these as well from now on."""
        self._probes.extend(probes)
        self.cost.add(probes)

    def turn_to(self, probes: Sequence[Probe | Observer], instead_of: Sequence[Probe | Observer]) -> None:
        """Ask these from now on in the place of others. They are asked once at once, for what they know of earlier
        times: what comes after is of no time before."""
        left = {id(probe) for probe in instead_of}
        self._probes = [probe for probe in self._probes if id(probe) not in left]
        self.add(probes)
        for probe in probes:
            with self.cost.of(probe):
                self._ask(probe, self._clock())

    def why_unavailable(self, probe: Probe | Observer) -> str | None:
        """What it said when it was last asked, if it could not be read."""
        return self._unavailable.get(id(probe))

    def sample_once(self) -> None:
        """Ask every probe once. Raises only what a callback raises."""
        for probe in self._probes:
            t_unix = self._clock()
            with self.cost.of(probe):
                observed = self._ask(probe, t_unix)
            for one in observed:
                if one.values:
                    self._on_row(self._row(one, t_unix))

    def tell_last_notes(self) -> None:
        """What the probes still have to say once they are closed."""
        for probe in self._probes:
            self._tell_notes(probe, self._clock())

    def _row(self, observed: Observation, now_unix: float) -> dict[str, Any]:
        at_unix = now_unix if observed.at_unix is None else min(observed.at_unix, now_unix)
        row = {"t_unix": at_unix, "second": self._second(at_unix), "source": observed.source}
        row["values"] = dict(observed.values)
        return row if observed.at_unix is None else row | {"is_late": True}

    def _second(self, t_unix: float) -> int:
        """The second of the run that a sample describes: rates taken at 13.0 s are those of [12, 13), so 12."""
        return max(0, math.floor(t_unix - self._t0_unix + _EARLY_WAKE_S) - 1)

    def _ask(self, probe: Probe | Observer, t_unix: float) -> Sequence[Observation]:
        try:
            values = probe.observe() if isinstance(probe, Observer) else [Observation(probe.source, probe.sample())]
        except Exception as error:  # a probe reads a world that changes under it; nothing it meets may end the run
            self._lost(probe, t_unix, error)
            self._tell_notes(probe, t_unix)
            return ()
        if self._unavailable.pop(id(probe), None) is not None:
            self._on_event("note", t_unix, probe.source, f"{probe.source} can be read again")
        self._tell_notes(probe, t_unix)
        return values

    def _tell_notes(self, probe: Probe | Observer, t_unix: float) -> None:
        for note in probe.take_notes():
            self._on_event("note", t_unix, probe.source, note)

    def _lost(self, probe: Probe | Observer, t_unix: float, error: Exception) -> None:
        source, message = probe.source, str(error) or type(error).__name__
        if self._unavailable.get(id(probe)) == message:
            return
        self._unavailable[id(probe)] = message
        expected = isinstance(error, ProbeUnavailable)
        text = message if expected else f"{source} failed: {type(error).__name__}: {message}. Report this as a bug."
        self._on_event("note" if expected else "error", t_unix, source, text)
