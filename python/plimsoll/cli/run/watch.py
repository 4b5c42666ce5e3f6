"""The generator of a `plimsoll run` watches itself: each second into the run directory, at the end a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll.findings.capacity.words import asked_words
from plimsoll.findings.outcome import outcome_of_note, outcome_steps
from plimsoll.findings.run import run_finding
from plimsoll.findings.shape.units_of import with_units
from plimsoll.findings.validity.connection_churn import ChurnSeconds
from plimsoll.findings.validity.self_diagnosis import FOREIGN, FOREIGN_CORES, HOST_FULL
from plimsoll.findings.validity.slow_names import with_slow_names, words_of
from plimsoll.probes.machine import kernel_files, remedies
from plimsoll.probes.machine.generator import GeneratorProbe
from plimsoll.runs.readings.flow_seconds import FlowSecond, flow_second
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.readings.name_lookups import NameLookups
from plimsoll.runs.writer import as_written

if TYPE_CHECKING:
    from plimsoll.probes.processes.foreign_processes import ForeignProcesses
    from plimsoll.runs.readings.declared_caps import DeclaredCap
    from plimsoll.runs.snapshot import Snapshot
    from plimsoll.runs.writer import RunWriter

# With fewer ports in use none can be short, and looking at every socket is spared.
_PORTS_WORTH_COUNTING = 0.2


class RunWatch:
    """Gathers the facts of each second, and makes the finding of them."""

    def __init__(self, addresses: Callable[[], Sequence[tuple[str, int]]]) -> None:
        self._probe = GeneratorProbe()
        self._addresses = addresses
        self._foreign: ForeignProcesses | None = None  # most runs have no use for one, nor for its imports
        self._facts = GeneratorSeconds()
        self._flow: list[FlowSecond] = []
        self._connections = ChurnSeconds()
        self._lookups = NameLookups()
        self.proxy: str | None = None  # what went through one, in words
        self.own_runtimes: str | None = None  # that VUs do not share JavaScript runtimes, in words

    def add(self, snapshot: Snapshot, writer: RunWriter) -> None:
        """Add one second, and write what the machine says of it."""
        values = self._probe.sample()
        if (values.get("host_busy_share") or 0.0) >= HOST_FULL:
            self._look(values)
        row = self._row(snapshot.t_unix, snapshot.second, values)
        writer.append_resource(row)
        snapshot = replace(snapshot, generator=as_written(snapshot.generator))
        self._facts.add(snapshot)
        self._flow.append(flow_second(snapshot))
        self._connections.add(snapshot)
        self._lookups.add(snapshot)
        self._facts.add_row(row)

    def end(self, writer: RunWriter) -> None:
        """The load has ended: what foreign processes took since the last look, and their names, are written too."""
        if self._foreign is None:
            return
        values: dict[str, float] = {}
        if self._foreign.tells:
            self._look(values, at_once=True)
        if values:
            last = self._flow[-1].second
            row = self._row(writer.t0_unix + last, last, values)
            writer.append_resource(row)
            self._facts.add_row(row)
        if names := self._foreign_names():
            writer.append_event(FOREIGN, names=names)

    def _foreign_names(self) -> dict[str, float]:
        """CPU seconds of foreign processes by their names."""
        names = self._foreign.names if self._foreign is not None else {}
        return {name: round(cpu_s, 2) for name, cpu_s in names.items()}

    def _row(self, t_unix: float, second: int, values: Mapping[str, float]) -> dict[str, Any]:
        return {"t_unix": t_unix, "second": second, "source": self._probe.source, "values": as_written(values)}

    def _look(self, values: dict[str, float], at_once: bool = False) -> None:
        if self._foreign is None:
            from plimsoll.probes.processes.foreign_processes import ForeignProcesses

            self._foreign = ForeignProcesses(self._addresses)
        if at_once or self._foreign.is_due:
            cores = self._foreign.look()
            if cores is not None:
                values[FOREIGN_CORES] = cores

    def finding(
        self,
        status: str,
        run_path: str,
        note: Mapping[str, Any],
        unanswered: Sequence[str] = (),
        caps: Sequence[DeclaredCap] = (),
    ) -> dict[str, Any] | None:
        """The run's finding; None where not a second was measured. `note`: of its end; `unanswered`: that no request
        was answered; `caps`: that the script declares."""
        if not self._facts.seconds:
            return None
        ports = self._facts.last("local_ports") or 0.0
        used = (self._facts.most("time_wait") or 0.0) + (self._facts.most("tcp_in_use") or 0.0)
        counted = self._facts.total("refused_ports") > 0 or used > _PORTS_WORTH_COUNTING * ports
        busiest = kernel_files.busiest_destination() if counted else None
        found = run_finding(
            self._facts,
            busiest_destination=busiest,
            status=status,
            run_path=run_path,
            caps=caps,
            flow=self._flow,
            names=self._foreign_names(),
        )
        if unanswered:
            found = {
                **found,
                "answer": " ".join([*unanswered, "Nothing was measured.", found["answer"]]),
                "valid": False,
                "invalid_because": [*unanswered, *found["invalid_because"]],
            }
        found = with_slow_names(found, self._lookups)
        found["notes"] = [*found["notes"], *(note for note in (self.proxy, self.own_runtimes) if note)]
        found["outcome"] = outcome_of_note(note)
        found["next"] = list(dict.fromkeys([*outcome_steps(found["outcome"]), *found["next"]]))
        churn = self._connections.found
        if churn is not None:
            found |= {"notes": [*found["notes"], churn.words], "next": [*found["next"], churn.remedy]}
        return with_units(found)

    def warnings(self) -> Iterator[str]:
        """What the target's connections cost this run, where each request made one; what its name and a proxy did."""
        if self._lookups.found:
            yield f"{words_of(self._lookups)} {remedies.LOOKUPS}"
        yield from (note for note in (self.proxy, self.own_runtimes) if note)
        churn = self._connections.found
        if churn is not None:
            yield f"{churn.words} {churn.remedy}"


def is_own_fault(finding: Mapping[str, Any] | None) -> bool:
    """Whether what was sent late or not at all says nothing of the target: the generator stood still, or an option
    of the script was the limit."""
    return finding is not None and any(one["name"] in ("stood_still", "script_cap") for one in finding["diagnoses"])


def not_made(finding: Mapping[str, Any] | None) -> Iterator[str]:
    """The load that was asked for and not reached, which is said before anything else."""
    if finding is not None:
        for words in asked_words(finding.get("asked"), with_reason=finding["valid"]):
            yield words[:1].lower() + words[1:]


def sentences(finding: Mapping[str, Any] | None) -> Iterator[str]:
    """What to tell after the summary: one line for each trouble, with its remedy; none for a healthy run."""
    if finding is None or not finding["diagnoses"]:
        return
    if any(one["words"] in finding["invalid_because"] for one in finding["diagnoses"]):
        yield "the generator was a limit in this run, so its figures are not the target's alone:"
    for one in finding["diagnoses"]:
        yield f"{one['words']} {one['remedy']}"
