"""Probes asked once per second of load, those of processes that are found while it is on among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plimsoll.experiments.target.awake import Awake
from plimsoll.probes import Sampler
from plimsoll.probes.load_seconds import LoadSeconds
from plimsoll.probes.probe import Observer, Probe
from plimsoll.probes.probe_cost import Cost
from plimsoll.probes.processes.peers import Peers
from plimsoll.probes.processes.target_probes import TargetProbes
from plimsoll.probes.processes.variant_processes import Watched
from plimsoll.probes.selection import common_probes, probes_of_target
from plimsoll.runs.writer import RunWriter
from plimsoll.study import Probes, ProcessSelector


@dataclass
class TargetWatch:
    """What is read of the target while one of its variants runs: the processes, their probes so far, those that its
    peers got included, and what looks for peers."""

    watched: Watched
    target: TargetProbes
    probes: list[Probe | Observer] = field(default_factory=list)
    look: Callable[[], None] = lambda: None


class Sampling:
    """Probes asked once per second of load, so that their rows and the load's seconds are the same seconds. A context:
    at its end the receivers and files of `probes` are closed, and the run says what all of them cost; `guests` are
    asked too, and closed by those who made them. `watch_of` makes what is read of the target's processes, first of
    those that are `watched`; `turn_to` goes on with those of another variant."""

    def __init__(
        self,
        probes: Sequence[Probe | Observer],
        guests: Sequence[Probe | Observer],
        note: Callable[[str, str], None],
        told: Callable[[Mapping[str, Any]], None] = lambda cost: None,
        say: Callable[[str], None] = lambda words: None,
        watch_of: Callable[[Watched], TargetWatch] | None = None,
        watched: Watched | None = None,
    ) -> None:
        self._rows: list[dict[str, Any]] = []
        self._told, self._say, self._watch_of = told, say, watch_of
        self._now = watch_of(watched or Watched()) if watch_of is not None else None
        self._watches = [self._now] if self._now is not None else []
        own = self._now.probes if self._now is not None else ()
        self._probes = [*probes, *own]
        self._load = LoadSeconds()
        self._sampler = Sampler(
            [*self._probes, *guests],
            self._rows.append,
            lambda kind, _t_unix, source, message: note(kind, f"{source}: {message}"),
            t0_unix=0.0,
        )
        self.cost: Cost | None = None
        self._looks: list[Callable[[], None]] = []

    def before_each(self, look: Callable[[], None]) -> None:
        """Call this before each second's probes are asked."""
        self._looks.append(look)

    def watch(self, processes: Sequence[ProcessSelector], *, are_peers: bool = False) -> None:
        """Probe these processes of the target as well from now on, but for ports that are watched already."""
        if self._now is not None:
            target = self._now.target
            ports = {one.port for one in target.selectors} - {None}
            fresh = target.of([one for one in processes if one.port not in ports], are_peers=are_peers)
            self._now.probes += fresh
            self.add(fresh)

    def turn_to(self, watched: Watched) -> None:
        """Read the target's processes of another variant from now on, each time with probes of their own, so that
        nothing of one variant is told of another."""
        before = self._now
        if before is None or self._watch_of is None or before.watched == watched:
            return
        known = next((one for one in self._watches if one.watched == watched), None)
        self._now = known or self._watch_of(watched)
        if known is None:
            self._watches.append(self._now)
            self._open(self._now.probes)
        for probe in before.probes:
            if hasattr(probe, "rest"):
                probe.rest()
        self._sampler.turn_to(self._now.probes, before.probes)

    def unseen(self) -> dict[str, str]:
        """Labels of the target's processes that cannot be read now, and why; peers are none of these."""
        if self._now is None:
            return {}
        probes = {probe.source: probe for probe in self._now.probes}
        why = {one.label: probes.get(f"process:{one.label}") for one in self._now.watched.selectors}
        missing = {label: self._sampler.why_unavailable(probe) for label, probe in why.items() if probe is not None}
        return {**self._now.watched.unseen, **{label: words for label, words in missing.items() if words}}

    @property
    def followed(self) -> Mapping[str, int]:
        """The ports to which entries of the study followed the variant that runs, by label."""
        return self._now.watched.followed if self._now is not None else {}

    @property
    def target_cores(self) -> dict[str, set[int]]:
        """The cores that each process of the target, by label, might use so far; empty where that was not watched."""
        cores = self._now.target.cores if self._now is not None else None
        return cores.seen if cores is not None else {}

    def add(self, probes: Sequence[Probe | Observer]) -> None:
        """Ask these as well from now on, and close them at the end."""
        self._open(probes)
        self._sampler.add(probes)

    def _open(self, probes: Sequence[Probe | Observer]) -> None:
        for probe in probes:
            if hasattr(probe, "open"):
                probe.open()
        self._probes = [*self._probes, *probes]

    def __call__(self, second: int, t_unix: float) -> list[dict[str, Any]]:
        """The rows of that second, which began at `t_unix`, and what came late of earlier ones."""
        self._load.add(second, t_unix)
        self._rows.clear()
        with self._sampler.cost.of_looking():
            for look in self._looks:
                look()
            if self._now is not None:
                self._now.look()
        self._sampler.sample_once()
        return [row for row in (self._placed(row, second) for row in self._rows) if row is not None]

    def _placed(self, row: dict[str, Any], second: int) -> dict[str, Any] | None:
        if not row.pop("is_late", False):
            return row | {"second": second}
        at = self._load.second_of(row["t_unix"])
        return None if at is None else row | {"second": at}

    def __enter__(self) -> Sampling:
        try:
            for probe in self._probes:
                words = probe.open() if hasattr(probe, "open") else None
                if words:
                    self._say(words)
        except BaseException:
            self._close()
            raise
        return self

    def _close(self) -> None:
        for probe in self._probes:
            if hasattr(probe, "close"):
                probe.close()

    def __exit__(self, *_: object) -> None:
        self._close()
        self._sampler.tell_last_notes()
        cost = self._sampler.cost.so_far()
        if cost.wall_s:
            self._told(cost.to_json())
            self.cost = cost

    def tell_cost(self, tell: Callable[[str], None], keep: Callable[[str], None]) -> None:
        """What the probes took, once it has ended: told where that is more than the goal, else kept as a note."""
        words = self.cost.words() if self.cost is not None else None
        if words and self.cost is not None:
            (tell if self.cost.is_high else keep)(words)


def sampling_of(
    wanted: Probes,
    processes: Sequence[ProcessSelector] | Watched,
    writer: RunWriter,
    awake: Awake,
    *,
    directory: Path = Path(),
    more: Sequence[Probe | Observer] = (),
    say: Callable[[str], None] = lambda words: None,
    tell: Callable[[str], None] = lambda words: None,
) -> Sampling:
    """The study's probes and `more` (closed by their makers), noted and told in the run. InputErrors if one cannot be
    made as asked for, on entry if its port is taken; `say` gets what a user must know to feed one, `tell` what the
    answer repeats: which peers of the target were found."""
    watched = processes if isinstance(processes, Watched) else Watched(tuple(processes))

    def note(kind: str, message: str) -> None:
        writer.append_event(kind, message=message)

    def found(peers: Sequence[ProcessSelector]) -> None:
        sampling.watch(peers, are_peers=True)

    def watch_of(watched: Watched) -> TargetWatch:
        target = TargetProbes(wanted)
        watch = TargetWatch(watched, target, probes_of_target(wanted, watched.selectors, target))
        if wanted.peers:
            watch.look = Peers(lambda: target.sockets, found, tell, lambda: target.selectors).look
        return watch

    labels = [*(one.label for one in watched.selectors), *watched.unseen]
    common = common_probes(wanted, labels, awake.cpu_s, directory, writer.redactor)
    sampling = Sampling(
        common, more, note, lambda cost: writer.append_event("probe_cost", **cost), say, watch_of, watched
    )
    return sampling
