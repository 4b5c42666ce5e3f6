"""Proxies that the environment names and the engine does not use: k6 sends requests through them, so that they are a
part of what it measures.

Which variables count, and that a loopback address is never reached through a proxy, is as in k6, which follows Go's
net/http (golang.org/x/net/http/httpproxy, FromEnvironment).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping

VARIABLES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy")


def ignored_proxy(environment: Mapping[str, str], reached: Iterable[tuple[str, int]]) -> str | None:
    """What to tell of a load that connected to these addresses (IP, port); None where no proxy is named or all of them
    are of this machine. The proxy's own address is not told, as it may hold a password."""
    named = [name for name in VARIABLES if environment.get(name, "").strip()]
    excluded = environment.get("NO_PROXY") or environment.get("no_proxy") or ""
    others = [address for address in reached if not _is_loopback(address[0])]
    if not named or not others or excluded.strip() == "*":
        return None
    unless = " Where NO_PROXY excludes the target, k6 connects to it as well." if excluded else ""
    host, port = others[0]
    return (
        f"{' and '.join(named)} {'is' if len(named) == 1 else 'are'} set and not used: requests went straight to "
        f"{f'[{host}]' if ':' in host else host}:{port}. k6 sends them through the proxy, which then is a part of what "
        f"it measures; here the proxy is not.{unless}"
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
