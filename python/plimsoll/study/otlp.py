"""A receiver of OpenTelemetry metrics beside the load, as the study's `probes.otlp`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class OtlpOptions(BaseModel):
    """Where it listens, always on loopback, and which metrics are kept."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    port: int | None = Field(
        default=4318, ge=1, le=65535, description="to listen on at 127.0.0.1; null takes a free one and tells it"
    )
    every_s: float | None = Field(
        default=None, gt=0, description="how often exporters send; after three times that without any a gap is noted"
    )
    metrics: list[str] = Field(
        default_factory=lambda: ["*"], min_length=1, description="names of metrics to keep, with * and ?"
    )
