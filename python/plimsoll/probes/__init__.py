"""Facts of the server side and of the generator's own machine, one source a file, read each second beside a load."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.probes.machine.generator import GeneratorProbe
    from plimsoll.probes.machine.host import HostProbe
    from plimsoll.probes.machine.network import NetworkProbe
    from plimsoll.probes.probe import Probe, ProbeUnavailable
    from plimsoll.probes.processes.core_speed import CoreSpeedProbe
    from plimsoll.probes.processes.process import ProcessProbe
    from plimsoll.probes.sampler import Sampler
    from plimsoll.probes.selection import probes_for

__all__ = [
    "CoreSpeedProbe",
    "GeneratorProbe",
    "HostProbe",
    "NetworkProbe",
    "Probe",
    "ProbeUnavailable",
    "ProcessProbe",
    "Sampler",
    "probes_for",
]

_MODULES = {
    "processes.core_speed": ("CoreSpeedProbe",),
    "machine.generator": ("GeneratorProbe",),
    "machine.host": ("HostProbe",),
    "machine.network": ("NetworkProbe",),
    "probe": ("Probe", "ProbeUnavailable"),
    "processes.process": ("ProcessProbe",),
    "sampler": ("Sampler",),
    "selection": ("probes_for",),
}


def __getattr__(name: str) -> Any:
    """Imported at first use: a run that only watches its generator needs no models of a study."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
