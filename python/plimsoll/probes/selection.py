"""The probes that a study asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from plimsoll.errors import InputError, InputErrors
from plimsoll.probes.beside import Beside
from plimsoll.probes.machine.generator import GeneratorProbe
from plimsoll.probes.machine.host import HostProbe
from plimsoll.probes.machine.network import NetworkProbe
from plimsoll.probes.probe import Observer, Probe
from plimsoll.probes.processes.target_probes import TargetProbes
from plimsoll.study.models import Probes, ProcessSelector
from plimsoll.study.secrets.redactor import Redactor


def probes_for(
    wanted: Probes,
    processes: list[ProcessSelector],
    idle_work_s: Callable[[], float] = lambda: 0.0,
    directory: Path = Path(),
    redactor: Redactor | None = None,
) -> list[Probe | Observer]:
    """One probe per source: the host and the generator's limits on it, its network, each process of the target and its
    control group, the load and the speed of the target's cores, and what is read from elsewhere, which may be slow and
    is asked beside.

    `idle_work_s`: see HostProbe. Relative files of the study lie in `directory`; what logs show is cleaned by the
    `redactor`. Raises InputErrors with everything that is wrong.
    """
    common = common_probes(wanted, [one.label for one in processes], idle_work_s, directory, redactor)
    return [*common, *probes_of_target(wanted, processes, TargetProbes(wanted))]


def probes_of_target(
    wanted: Probes, processes: Sequence[ProcessSelector], target: TargetProbes
) -> list[Probe | Observer]:
    """Those of the target's processes, which `target` makes, also of those that are found later."""
    by_label = {one.label: one for one in processes}
    probes = target.of(processes)
    for jvm in wanted.jvm:
        if jvm.url is None and jvm.process in by_label:
            from plimsoll.probes.jvm.local import JvmProbe

            probes.append(Beside(JvmProbe(by_label[jvm.process], jvm.shown)))
    return probes


def common_probes(
    wanted: Probes,
    labels: Sequence[str],
    idle_work_s: Callable[[], float] = lambda: 0.0,
    directory: Path = Path(),
    redactor: Redactor | None = None,
) -> list[Probe | Observer]:
    """Those of host, network and what is read from elsewhere; `labels`: of the target's processes. Raises as
    `probes_for`."""
    probes: list[Probe | Observer] = []
    if wanted.host:
        probes += [HostProbe(idle_work_s=idle_work_s), GeneratorProbe()]
    if wanted.network:
        probes.append(NetworkProbe())
    mistakes: list[InputError] = []
    probes += [Beside(probe) for probe in _remote(wanted, directory, redactor, mistakes)]
    probes += [Beside(probe) for probe in _jvm_pages(wanted, labels, directory, mistakes)]
    if wanted.otlp is not None:
        from plimsoll.probes.otlp.receiver import OtlpProbe

        try:
            probes.append(OtlpProbe(wanted.otlp, token=_token(wanted.otlp.token)))
        except InputError as error:
            mistakes.append(error)
    if mistakes:
        raise InputErrors(mistakes)
    return probes


def _token(written: str | None) -> str | None:
    """What exporters must send; None where the study asks for nothing. InputError for one that is blank, with which
    anyone could send."""
    if written is None:
        return None
    from plimsoll.probes.http.page import with_variables

    key = "probes.otlp.token"
    token = with_variables({"token": written}, key)["token"].strip()
    if not token:
        name = written.strip("${}")
        what = f"{name} is set but empty, so that anyone could send"
        raise InputError(what, f"Set it (export {name}=…).", key=key)
    return token


def _remote(
    wanted: Probes, directory: Path, redactor: Redactor | None, mistakes: list[InputError]
) -> Iterator[Observer]:
    """Those that read pages and files; each is imported where it is wanted."""
    for position, prometheus in enumerate(wanted.prometheus):
        from plimsoll.probes.prometheus.making import prometheus_probe

        try:
            yield prometheus_probe(prometheus, key=f"probes.prometheus[{position}]", directory=directory)
        except InputError as error:
            mistakes.append(error)
    for position, telemetry in enumerate(wanted.telemetry):
        from plimsoll.probes.http.telemetry import telemetry_probe

        try:
            yield telemetry_probe(telemetry, key=f"probes.telemetry[{position}]", directory=directory)
        except InputError as error:
            mistakes.append(error)
    for logs in wanted.logs:
        from plimsoll.probes.files.logs import LogProbe

        yield LogProbe(logs, directory, redactor)
    for files in wanted.files:
        from plimsoll.probes.files.sizes import FilesProbe

        yield FilesProbe(files, directory)


def _jvm_pages(
    wanted: Probes, labels: Sequence[str], directory: Path, mistakes: list[InputError]
) -> Iterator[Observer]:
    """Java virtual machines by pages of Jolokia; those of processes of this host are of the target."""
    for position, jvm in enumerate(wanted.jvm):
        key = f"probes.jvm[{position}]"
        if jvm.url is not None:
            from plimsoll.probes.jvm.jolokia import jolokia_probe

            try:
                yield jolokia_probe(jvm, key=key, directory=directory)
            except InputError as error:
                mistakes.append(error)
        elif jvm.process not in labels:
            there = f"Use one of {', '.join(labels)}." if labels else "Name it in target.processes."
            what = f"no process of the target is called {jvm.process!r}"
            mistakes.append(InputError(what, there, key=f"{key}.process"))
