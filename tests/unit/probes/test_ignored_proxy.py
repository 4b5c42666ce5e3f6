"""A proxy that the environment names is not used, and that is told."""

from __future__ import annotations

import pytest

from plimsoll.probes.ignored_proxy import ignored_proxy

FAR = [("127.0.0.1", 80), ("192.0.2.7", 8080)]


def test_a_proxy_that_is_not_used_is_told_without_its_password() -> None:
    told = ignored_proxy({"HTTP_PROXY": "http://me:secret@proxy.example:3128"}, FAR)
    assert told is not None and told.startswith(
        "HTTP_PROXY is set and not used: requests went straight to 192.0.2.7:8080."
    )
    assert "secret" not in told and "k6 sends them through the proxy" in told
    both = ignored_proxy({"http_proxy": "p", "HTTPS_PROXY": "p", "NO_PROXY": ".internal"}, FAR)
    assert both is not None and both.startswith("http_proxy and HTTPS_PROXY are set") and "NO_PROXY" in both


@pytest.mark.parametrize(
    ("environment", "reached"),
    [
        ({}, FAR),
        ({"HTTP_PROXY": ""}, FAR),
        ({"ALL_PROXY": "p"}, FAR),
        ({"HTTP_PROXY": "p", "NO_PROXY": "*"}, FAR),
        ({"HTTP_PROXY": "p"}, [("127.0.0.1", 80), ("::1", 80)]),
        ({"HTTP_PROXY": "p"}, []),
    ],
    ids=["none", "empty", "one that k6 ignores too", "excluded", "loopback", "nothing reached"],
)
def test_nothing_is_told_where_k6_would_use_no_proxy_either(
    environment: dict[str, str], reached: list[tuple[str, int]]
) -> None:
    assert ignored_proxy(environment, reached) is None
