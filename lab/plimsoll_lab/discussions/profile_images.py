"""The client of the accounts service: profile images of the people on a page.

One call fetches all people of a page. With `calls="author"` each of them costs a call of its own: a known defect,
off by default, that multiplies server-side transactions. If the service fails or is slow, the page comes without images
rather than not at all; /status counts it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import httpx

from plimsoll_lab.discussions.transactions import Fan

AccountsCalls = Literal["page", "author"]
TIMEOUT_S = 5.0
CONNECTIONS = 32
KEY_HEADER = "x-api-key"
NO_IMAGE: dict[str, Any] = {"has_image": False}


class ProfileImages:
    """Images by username from the service at `url`; `transport` replaces the network."""

    def __init__(
        self, url: str, key: str, calls: AccountsCalls = "page", transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._calls = calls
        self._client = httpx.AsyncClient(
            base_url=url,
            headers={KEY_HEADER: key},
            timeout=TIMEOUT_S,
            limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS),
            trust_env=False,
            transport=transport,
        )

    async def of(self, usernames: Iterable[str], fan: Fan) -> dict[str, dict[str, Any]]:
        """The image of each; counts its calls in `fan`."""
        wanted = sorted(set(usernames))
        groups = [wanted] if self._calls == "page" else [[name] for name in wanted]
        found: dict[str, dict[str, Any]] = dict.fromkeys(wanted, NO_IMAGE)
        for group in groups if wanted else []:
            found.update(await self._fetch(group, fan))
        return found

    async def _fetch(self, usernames: list[str], fan: Fan) -> dict[str, dict[str, Any]]:
        fan.calls += 1
        try:
            answer = await self._client.get("/api/user/v1/accounts", params={"username": ",".join(usernames)})
            answer.raise_for_status()
            return {row["username"]: row["profile_image"] for row in answer.json()}
        except (httpx.HTTPError, ValueError, LookupError, TypeError):
            fan.failed += 1
            return {}

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()
