"""Proxies between the generator and the target, in words."""

from __future__ import annotations

from collections.abc import Sequence


def proxy_words(proxies: Sequence[str]) -> str | None:
    """What to tell of a load whose requests went through these ("proxy.example:3128 of HTTP_PROXY"); None if through
    none."""
    if not proxies:
        return None
    return (
        f"Requests went through the proxy {' and the proxy '.join(proxies)}. What it takes and what it limits is a "
        "part of what was measured. NO_PROXY with the target's host leaves it out."
    )
