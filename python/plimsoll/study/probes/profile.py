"""A process whose functions are profiled in each step, as an entry of the study's `probes.profile`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from plimsoll.study.part import StudyPart
from plimsoll.study.probes.url_keys import HttpUrl

Kind = Literal["python", "native", "go"]


class ProfileOptions(StudyPart):
    """A process of this host by its label in target.processes, or the pprof pages of a Go program; what two keys say
    together is checked in checks.py."""

    process: str | None = Field(
        default=None, min_length=1, description="label of the process (target.processes; target where it has none)"
    )
    url: HttpUrl | None = Field(
        default=None,
        description="of a Go program, as in http://10.0.0.7:6060 (net/http/pprof)",
    )
    kind: Kind | None = Field(
        default=None, description="python (py-spy), native (perf) or go; known by itself if left out"
    )
    label: str | None = Field(default=None, min_length=1, description="what reports call it; that of the process")
    samples_per_s: int = Field(default=99, ge=10, le=1000, description="for python and native; Go decides itself")

    @property
    def shown(self) -> str:
        """What reports call it."""
        return self.label or self.process or "go"
