"""The probes that a study asks for."""

from __future__ import annotations

from collections.abc import Callable

from plimsoll.probes.core_speed import CoreSpeedProbe
from plimsoll.probes.generator import GeneratorProbe
from plimsoll.probes.host import HostProbe
from plimsoll.probes.network import NetworkProbe
from plimsoll.probes.probe import Probe
from plimsoll.probes.process import ProcessProbe
from plimsoll.study.models import Probes, ProcessSelector


def probes_for(
    wanted: Probes, processes: list[ProcessSelector], idle_work_s: Callable[[], float] = lambda: 0.0
) -> list[Probe]:
    """One probe per source: the host and the generator's limits on it, its network, each process of the target, the
    speed of the target's cores.

    `idle_work_s`: see HostProbe.
    """
    probes: list[Probe] = []
    if wanted.host:
        probes += [HostProbe(idle_work_s=idle_work_s), GeneratorProbe()]
    if wanted.network:
        probes.append(NetworkProbe())
    if wanted.processes:
        probes += [ProcessProbe(selector) for selector in processes]
    if wanted.core_speed and processes:
        probes.append(CoreSpeedProbe(processes))
    return probes
