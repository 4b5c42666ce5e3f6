"""A page of metrics or a Prometheus server that is read beside the load, as an entry of the study's
`probes.prometheus`."""

from __future__ import annotations

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from plimsoll.errors import InputError
from plimsoll.study.probes.metric_selector import conditions_of, selector_of
from plimsoll.study.probes.trust import TrustOptions
from plimsoll.study.probes.url_keys import HttpUrl


class PrometheusOptions(TrustOptions):
    """Where the metrics are and what reports call them. Headers are never written to a run."""

    label: str = Field(min_length=1, description="what reports call it")
    url: HttpUrl = Field(
        description="of the page of metrics; with `queries` or `select`, of the Prometheus server",
    )
    host: str | None = Field(
        default=None, min_length=1, description="the host it tells of; that of the URL when left out"
    )
    headers: dict[str, str] = Field(
        default_factory=dict, description="sent along; ${NAME} in them is taken from the environment"
    )
    timeout_s: float = Field(default=2.0, gt=0, le=10, description="for one answer")
    values: dict[str, str] = Field(
        default_factory=dict,
        description='further values of the page: name with unit → metric, as in http_requests_total{code="500"}; a '
        "counter becomes its rate, a histogram its mean",
    )
    queries: dict[str, str] = Field(default_factory=dict, description="PromQL for the server: name with unit → query")
    select: str | None = Field(
        default=None,
        description='which series of known exporters to take from the server: labels, as in instance="db1:9100"',
    )
    every_s: float = Field(default=5.0, ge=1, le=3600, description="how often the server is asked")
    step_s: float | None = Field(
        default=None,
        ge=1,
        le=3600,
        description="ask for the whole time since the last answer, in steps of so many seconds",
    )

    @property
    def is_server(self) -> bool:
        """Whether it is a Prometheus server."""
        return bool(self.queries) or self.select is not None

    @model_validator(mode="after")
    def _fits(self) -> PrometheusOptions:
        mistake = self._mistake()
        if mistake is not None:
            raise PydanticCustomError("prometheus", "{what}", {"what": mistake[0], "next_step": mistake[1]})
        return self

    def _mistake(self) -> tuple[str, str] | None:
        if self.values and self.is_server:
            return "`values` are of a page, `queries` and `select` of a server", "Make an entry of each."
        if self.step_s is not None and not self.queries:
            return "step_s is for `queries`, and there are none", "Remove it, or add queries."
        try:
            for name, text in self.values.items():
                selector_of(text, key=name)
            if self.select is not None and not conditions_of(self.select.strip().strip("{}")):
                return "`select` has no label", 'Write labels, as in instance="db1:9100".'
        except InputError as error:
            return f"{error.place.key}: {error.what}" if error.place.key else error.what, error.next_step
        return None
