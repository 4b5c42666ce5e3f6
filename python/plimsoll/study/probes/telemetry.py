"""A JSON document of what a server tells of itself, as an entry of the study's `probes.telemetry`."""

from __future__ import annotations

from pydantic import Field

from plimsoll.study.probes.trust import TrustOptions
from plimsoll.study.probes.url_keys import HttpUrl


class TelemetryOptions(TrustOptions):
    """Where the document is and which of its keys are wanted. Headers are never written to a run."""

    label: str = Field(default="target", min_length=1, description="what reports call it")
    url: HttpUrl = Field(description="of the document")
    host: str | None = Field(default=None, min_length=1, description="the host whose clock its answers have")
    headers: dict[str, str] = Field(
        default_factory=dict, description="sent along; ${NAME} in them is taken from the environment"
    )
    timeout_s: float = Field(default=2.0, gt=0, le=10, description="for one answer")
    every_s: float = Field(default=1.0, ge=1, le=3600, description="how often it is asked for")
    values: dict[str, str] = Field(
        default_factory=dict,
        description="name with unit → place in the document, as in queue.0.length; all numbers when left out",
    )
    rates: list[str] = Field(
        default_factory=list, description="places of counters: they become rates per second as well"
    )
