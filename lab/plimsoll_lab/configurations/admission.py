"""How many requests a service works on at a time.

A handler that asks another service is taken up again and again by the event loop, once for each part of that call.
While thousands of requests are worked on at once a turn of the loop takes seconds, and such a handler tens of them,
though the service that it asks answers in milliseconds. So only some are in work, and the others wait their turn in the
order in which they came. What another service asks on behalf of a request that is in work there does not wait: the two
could wait for each other.
"""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Receive, Scope, Send

IN_WORK = 32
ASKED_BY_SERVICE = (b"x-asked-by", b"service")


class Admission:
    """An application of which at most `most` requests of users are in work."""

    def __init__(self, app: ASGIApp, most: int = IN_WORK) -> None:
        self._app = app
        self._turns = asyncio.Semaphore(most)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, when it is its turn."""
        if scope["type"] != "http" or ASKED_BY_SERVICE in scope["headers"]:
            await self._app(scope, receive, send)
            return
        async with self._turns:
            await self._app(scope, receive, send)
