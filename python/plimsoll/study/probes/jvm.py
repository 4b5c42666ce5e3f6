"""A Java virtual machine that is watched, as an entry of the study's `probes.jvm`."""

from __future__ import annotations

from pydantic import Field

from plimsoll.study.probes.trust import TrustOptions
from plimsoll.study.probes.url_keys import HttpUrl


class JvmOptions(TrustOptions):
    """A process of this host by its label in target.processes, or Jolokia's page; what two keys say together is checked
    in checks.py. Headers are never written to a run."""

    process: str | None = Field(
        default=None, min_length=1, description="label of the process (target.processes; target where it has none)"
    )
    url: HttpUrl | None = Field(default=None, description="of Jolokia, as in http://10.0.0.7:8778/jolokia")
    label: str | None = Field(
        default=None, min_length=1, description="what reports call it; that of the process, or jvm"
    )
    host: str | None = Field(default=None, min_length=1, description="the host it is on, where that is another one")
    headers: dict[str, str] = Field(
        default_factory=dict, description="sent to Jolokia; ${NAME} in them is taken from the environment"
    )
    timeout_s: float = Field(default=2.0, gt=0, le=10, description="for one answer")

    @property
    def shown(self) -> str:
        """What reports call it."""
        return self.label or self.process or "jvm"
