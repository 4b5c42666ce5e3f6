"""A receiver of OpenTelemetry metrics beside the load, as the study's `probes.otlp`."""

from __future__ import annotations

import ipaddress
import re
from typing import Any

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from plimsoll.study.part import StudyPart

LOOPBACK = "127.0.0.1"
_VARIABLE = re.compile(r"^\$\{[A-Za-z_][A-Za-z0-9_]*\}$")


class OtlpOptions(StudyPart):
    """Where it listens, who may send, and which metrics are kept. Off loopback it needs a token, which checks.py sees
    to."""

    listen: str = Field(
        default=LOOPBACK, description="address of this machine to listen on; 0.0.0.0 or :: for all, which needs a token"
    )
    port: int | None = Field(
        default=4318, ge=1, le=65535, description="to listen on; null takes a free one and tells it"
    )
    token: str | None = Field(
        default=None,
        pattern=_VARIABLE.pattern,
        description="${NAME} of an environment variable: what exporters must send as their bearer token",
    )
    every_s: float | None = Field(
        default=None,
        gt=0,
        le=3600,
        description="how often exporters send; after three times that without any a gap is noted",
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

    @field_validator("token", mode="before")
    @classmethod
    def _is_a_variable(cls, given: Any) -> Any:
        """Told without what is given, which may be the token itself."""
        if given is not None and not (isinstance(given, str) and _VARIABLE.fullmatch(given)):
            details = {
                "what": "it names no environment variable",
                "next_step": 'Write "${NAME}" of an environment variable that holds the token.',
            }
            raise PydanticCustomError("token", "{what}", details)
        return given


def address_of(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address of that text; None if it is none."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
