"""A proxy that requests went through is told."""

from __future__ import annotations

from plimsoll.probes.processes.proxy_between import proxy_words


def test_each_proxy_is_told_with_its_variable_and_what_to_do() -> None:
    told = proxy_words(["a.example:3128 of HTTP_PROXY", "b.example:1080 of HTTPS_PROXY"])
    assert told is not None and told.startswith(
        "Requests went through the proxy a.example:3128 of HTTP_PROXY and the proxy b.example:1080 of HTTPS_PROXY. "
    )
    assert "NO_PROXY" in told


def test_nothing_is_told_without_one() -> None:
    assert proxy_words([]) is None
