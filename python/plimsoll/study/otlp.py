"""A receiver of OpenTelemetry metrics beside the load, as the study's `probes.otlp`."""

from __future__ import annotations

import ipaddress

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

LOOPBACK = "127.0.0.1"


class OtlpOptions(BaseModel):
    """Where it listens, who may send, and which metrics are kept. Off loopback it needs a token, which checks.py sees
    to."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    listen: str = Field(
        default=LOOPBACK, description="address of this machine to listen on; 0.0.0.0 or :: for all, which needs a token"
    )
    port: int | None = Field(
        default=4318, ge=1, le=65535, description="to listen on; null takes a free one and tells it"
    )
    token: str | None = Field(
        default=None,
        pattern=r"^\$\{[A-Za-z_][A-Za-z0-9_]*\}$",
        description="${NAME} of an environment variable: what exporters must send as their bearer token",
    )
    every_s: float | None = Field(
        default=None, gt=0, description="how often exporters send; after three times that without any a gap is noted"
    )
    metrics: list[str] = Field(
        default_factory=lambda: ["*"], min_length=1, description="names of metrics to keep, with * and ?"
    )

    @field_validator("listen")
    @classmethod
    def _is_an_address(cls, text: str) -> str:
        if address_of(text) is None:
            details = {
                "what": f"{text!r} is no IP address",
                "next_step": f"Write {LOOPBACK}, 0.0.0.0, or an address that this machine has.",
            }
            raise PydanticCustomError("listen", "{what}", details)
        return text


def address_of(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address of that text; None if it is none."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
