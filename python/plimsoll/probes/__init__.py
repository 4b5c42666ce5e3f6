"""Facts of the server side, one source a file, sampled each second beside the load."""

from plimsoll.probes.core_speed import CoreSpeedProbe
from plimsoll.probes.host import HostProbe
from plimsoll.probes.network import NetworkProbe
from plimsoll.probes.probe import Probe, ProbeUnavailable
from plimsoll.probes.process import ProcessProbe
from plimsoll.probes.sampler import Sampler
from plimsoll.probes.selection import probes_for

__all__ = [
    "CoreSpeedProbe",
    "HostProbe",
    "NetworkProbe",
    "Probe",
    "ProbeUnavailable",
    "ProcessProbe",
    "Sampler",
    "probes_for",
]
