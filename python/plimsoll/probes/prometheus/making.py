"""The probe that an entry of `probes.prometheus` means."""

from __future__ import annotations

from pathlib import Path

from plimsoll.probes.http.page import HttpPage, with_variables
from plimsoll.probes.http.tls_trust import trust_of
from plimsoll.probes.probe import Observer
from plimsoll.probes.processes.local_targets import is_local
from plimsoll.probes.prometheus.mapping import Named
from plimsoll.probes.prometheus.page import PageProbe
from plimsoll.probes.prometheus.server import ServerProbe
from plimsoll.study.probes.metric_selector import selector_of
from plimsoll.study.probes.prometheus import PrometheusOptions


def prometheus_probe(options: PrometheusOptions, *, key: str, directory: Path = Path()) -> Observer:
    """A server's where there are queries or a selection, else a page's. InputError for a variable that is not set, or a
    ca_file (in `directory`) without certificates."""
    headers = with_variables(options.headers, f"{key}.headers")
    trust = trust_of(options, options.url, key=key, directory=directory)
    page = HttpPage(options.url, headers, trust=trust, limit_s=options.timeout_s)
    if options.is_server:
        return ServerProbe(page, options)
    where = options.host or ("" if is_local(options.url) else page.host)
    selectors = {name: selector_of(text, key=f"{key}.values.{name}") for name, text in options.values.items()}
    return PageProbe(page, Named(options.label, where), selectors)
