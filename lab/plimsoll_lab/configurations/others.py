"""Calls of one service to another, with the token of the user for whom it calls, over connections that are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import anyio
import httpx

from plimsoll_lab.configurations.admission import ASKED_BY_SERVICE
from plimsoll_lab.configurations.answers import Refusal

ANSWER_LIMIT_S = 30
CONNECT_LIMIT_S = 5
CONNECTIONS = 32
NAMES = {
    "gc": "the global configuration service",
    "jts": "the user service",
    "rm": "requirements",
    "qm": "tests",
    "cm": "defects",
}


class Others:
    """The other services by name: gc, jts, rm, qm, cm.

    At most CONNECTIONS calls at a time, the others wait their turn here: httpx looks at every call and connection of
    its pool whenever one ends, so that hundreds that wait there take most of the processor's time.
    """

    def __init__(self, urls: Mapping[str, str]) -> None:
        self._urls = dict(urls)
        self._client: httpx.AsyncClient | None = None
        self._turns = anyio.Semaphore(CONNECTIONS)

    async def ask(self, service: str, path: str, token: str, query: str = "") -> tuple[int, bytes]:
        """Status and body of GET `path`. Raises Refusal (502, 503, 504): it did not answer."""
        url = f"{self._urls[service]}{path}{'?' + query if query else ''}"
        try:
            async with self._turns:
                answer = await self._open().get(url, headers={"Authorization": f"Bearer {token}"})
        except httpx.ConnectError:
            raise Refusal(503, f"{NAMES[service]} ({service}) does not run. Try again in a moment.") from None
        except httpx.TimeoutException:
            raise Refusal(504, f"{NAMES[service]} ({service}) did not answer within {ANSWER_LIMIT_S} s.") from None
        except (httpx.TransportError, httpx.InvalidURL):
            raise Refusal(502, f"{NAMES[service]} ({service}) broke off.") from None
        if answer.status_code >= 500:
            status = answer.status_code if answer.status_code in (503, 504) else 502
            raise Refusal(status, f"{NAMES[service]} ({service}) answered {answer.status_code}.")
        return answer.status_code, answer.content

    async def found(self, service: str, path: str, token: str) -> dict[str, Any] | None:
        """The JSON object at `path`; None where there is nothing. Raises Refusal: no answer, or refused there."""
        status, body = await self.ask(service, path, token)
        if status == 404:
            return None
        if status == 401:
            raise Refusal(401, f"{NAMES[service]} ({service}) refused the token.")
        if status != 200:
            raise Refusal(502, f"{NAMES[service]} ({service}) answered {status}.")
        value: dict[str, Any] = json.loads(body)
        return value

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = httpx.AsyncClient(
                headers=[ASKED_BY_SERVICE],
                timeout=httpx.Timeout(ANSWER_LIMIT_S, connect=CONNECT_LIMIT_S),
                limits=httpx.Limits(
                    max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS, keepalive_expiry=60
                ),
                trust_env=False,
            )
        return self._client
