"""The routes of a service's tracked resource set (feed.py). They need no token: what they hold are addresses, and who
reads them are services."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from plimsoll_lab.configurations import change_log, feed
from plimsoll_lab.configurations.answers import Refusal, endpoint, identity, parameters, whole
from plimsoll_lab.configurations.change_log import ChangeTables

Members = Callable[[Connection, int, int, int], list[tuple[int, str]]]


class Runs(Protocol):
    """Who runs pieces of work, each as a transaction."""

    async def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """The result of `work(connection, *arguments)`."""


@dataclass(frozen=True)
class PublishedFeed:
    """The feed of the service at `url`; `members(connection, cutoff, after, limit)` gives what its base holds."""

    service: str
    url: str
    database: Runs
    tables: ChangeTables
    members: Members

    @property
    def root(self) -> str:
        """What addresses of its resources begin with."""
        return f"{self.url}/{self.service}"

    def routes(self) -> list[BaseRoute]:
        """Its routes."""
        path = f"/{self.service}/trs"
        return [
            Route(path, endpoint(self._set), methods=["GET"]),
            Route(f"{path}/base", endpoint(self._base), methods=["GET"]),
            Route(f"{path}/changes/{{page}}", endpoint(self._older), methods=["GET"]),
        ]

    async def _set(self, request: Request) -> Response:
        parameters(request, ())
        form = feed.form_of(request.headers.get("accept", ""))
        page = await self.database.run(self._newest)
        return _answer(feed.set_text(self.root, self.service, page, form), form)

    async def _older(self, request: Request) -> Response:
        parameters(request, ())
        form = feed.form_of(request.headers.get("accept", ""))
        text = request.path_params["page"]
        number = 0 if text == "0" else identity(request, "page")
        page = await self.database.run(self._page, number)
        return _answer(feed.log_text(self.root, self.service, page, form), form)

    async def _base(self, request: Request) -> Response:
        values = parameters(request, ("cutoff", "after"))
        form = feed.form_of(request.headers.get("accept", ""))
        page = await self.database.run(self._members, whole(values, "cutoff", None, 0), whole(values, "after", 0, 0))
        return _answer(feed.base_text(self.root, self.service, page, form), form)

    def _newest(self, connection: Connection) -> feed.LogPage:
        clock = change_log.clock(connection, self.tables)
        number = feed.newest_page(clock)
        return feed.LogPage(number, change_log.between(connection, self.tables, feed.bounds_of(number)[0], clock))

    def _page(self, connection: Connection, number: int) -> feed.LogPage:
        if number > feed.newest_page(change_log.clock(connection, self.tables)):
            raise Refusal(404, f"There is no page {number} yet.")
        return feed.LogPage(number, change_log.between(connection, self.tables, *feed.bounds_of(number)))

    def _members(self, connection: Connection, cutoff: int | None, after: int) -> feed.BasePage:
        clock = change_log.clock(connection, self.tables)
        cutoff = clock if cutoff is None else cutoff
        if cutoff > clock:
            raise Refusal(404, f"There is no change {cutoff} yet.")
        found = self.members(connection, cutoff, after, feed.PAGE_MEMBERS + 1)
        here = found[: feed.PAGE_MEMBERS]
        following = here[-1][0] if len(found) > len(here) else None
        return feed.BasePage([path for _, path in here], cutoff, after, following)


def _answer(text: str, form: str) -> Response:
    return Response(text, headers={"Content-Type": form, "Vary": "Accept"})
